//! Verdicts, and terms of reports.

use super::TopicKind;
use crate::analysis::Verdict;

/// A word and what it means.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) name: &'static str,
    pub(super) kind: TopicKind,
    meaning: Meaning,
    pub(super) more: &'static str,
    /// A command that shows it.
    pub(super) example: Option<&'static str>,
}

#[derive(Debug)]
enum Meaning {
    /// What the verdict's declaration says, and what follows from it.
    Verdict(Verdict),
    Words(&'static str),
}

impl Word {
    pub(super) const fn says(&self) -> &'static str {
        match self.meaning {
            Meaning::Verdict(verdict) => verdict.words(),
            Meaning::Words(words) => words,
        }
    }
}

const VERDICTS: &str = "docs/analysis.md#5-jobs-and-their-verdicts";
const CAMERA: Option<&str> = Some("gpusched analyze scenarios/deadlines/camera-and-lidar.json --verdicts");
const COMPARED: Option<&str> = Some("gpusched compare scenarios/rtss2017/figure-8.json");

const fn verdict(verdict: Verdict) -> Word {
    Word {
        name: verdict.name(),
        kind: TopicKind::Verdict,
        meaning: Meaning::Verdict(verdict),
        more: VERDICTS,
        example: CAMERA,
    }
}

const fn term(name: &'static str, more: &'static str, example: Option<&'static str>, words: &'static str) -> Word {
    Word { name, kind: TopicKind::Term, meaning: Meaning::Words(words), more, example }
}

pub(super) const WORDS: [Word; 11] = [
    verdict(Verdict::Proven),
    verdict(Verdict::Missed),
    verdict(Verdict::Open),
    term(
        "bound",
        VERDICTS,
        CAMERA,
        "No response of that job is longer, in any run: for every placement, for blocks and copies that take less time \
         than stated, and for any order of releases at one instant (or the declared one, if that is asked for).",
    ),
    term(
        "worst found",
        VERDICTS,
        CAMERA,
        "The longest response in any run that was simulated: the scenario's own, and those that were searched.",
    ),
    term(
        "merged SM",
        "docs/analysis.md#7-may-i-use-the-merged-sm-for-my-kernels",
        COMPARED,
        "An analysis that takes all SMs for one large SM with the resources of all. It lets a block start as soon as so \
         much is free on all SMs together, also where no single SM has it.",
    ),
    term(
        "exact",
        "docs/analysis.md#2-when-merging-the-sms-is-exact",
        Some("gpusched analyze scenarios/thesis2019/section-3-5.json"),
        "The merged SM gives the finish times of every work-conserving placement. Where it is not exact, a note says why.",
    ),
    term(
        "optimistic",
        "docs/analysis.md#7-may-i-use-the-merged-sm-for-my-kernels",
        COMPARED,
        "The kernel finishes later than analysed: the unsafe side.",
    ),
    term(
        "pessimistic",
        "docs/analysis.md#7-may-i-use-the-merged-sm-for-my-kernels",
        COMPARED,
        "The kernel finishes earlier than analysed: the safe side.",
    ),
    term(
        "safe finish",
        "docs/analysis.md#4-when-blocks-run-shorter-than-stated",
        Some("gpusched analyze scenarios/thesis2019/section-3-5.json"),
        "By then the kernel has finished in every run, for every placement and also if blocks and copies take \
         less time than stated.",
    ),
    term(
        "g_max",
        "docs/analysis.md#1-the-algorithm-step-by-step",
        Some("gpusched analyze scenarios/thesis2019/section-3-5.json"),
        "How many equal blocks the GPU holds at once. With it, equal blocks of one priority fill one merged SM as they fill \
         the SMs.",
    ),
];
