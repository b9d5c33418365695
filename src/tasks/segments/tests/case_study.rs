//! The case study of ECRTS 2024.

use super::super::SegmentTaskSet;

pub(super) fn case_study() -> SegmentTaskSet {
    let text = include_str!("../../../../witnesses/ecrts2024/case-study.json");
    SegmentTaskSet::from_json("case-study.json", text).expect("it is committed")
}
