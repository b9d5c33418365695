//! Certificates of streams with SM masks: their bounds by hand, and what the checker refuses.

use super::hosts::{named, with};
use super::{Checker, SIDE_BY_SIDE};

/// On a TX2, which holds two blocks of 1024 threads on each of two SMs: the mask leaves `detect` one of them.
pub(super) const MASKED: &str = r#"{
  "format": "gpusched-scenario/1", "name": "masked", "device": "tx2",
  "kernels": {
    "detect": {"blocks": 4, "threads": 1024, "duration": "5 ms"},
    "map": {"blocks": 4, "threads": 1024, "duration": "3 ms"}
  },
  "streams": [
    {"name": "detect", "sm_mask": "0x1", "period": "40 ms", "jobs": 2, "operations": [{"kernel": "detect"}]},
    {"name": "map", "period": "40 ms", "jobs": 2, "deadline": "15 ms", "operations": [{"kernel": "map"}]}
  ]
}"#;

/// Kernels that share the GPU, one of which is left one SM.
pub(super) fn masked_beside() -> String {
    SIDE_BY_SIDE
        .replace("20 ms", "80 ms")
        .replace("15 ms", "20 ms")
        .replace(r#""name": "A","#, r#""name": "A", "sm_mask": "~0x1","#)
}

#[test]
fn a_masked_kernel_takes_as_many_waves_as_the_sms_need_that_its_mask_leaves() {
    // Two waves of 5 ms on one SM, and one of 3 ms on both.
    for (options, jobs) in [(&[][..], 0..2), (&["--sporadic"], 0..1)] {
        let (written, proved) = with(MASKED, options);
        let expected: Vec<_> = jobs.flat_map(|job| named(&[("detect", job, 13), ("map", job, 13)])).collect();
        assert_eq!(proved, expected, "{written}");
    }
    // One after another four kernels take 40 ms. Four of their blocks keep a head out of one SM, so they weigh 1/4 of
    // one each: beside 10 ms of its own there are 10 ms of work, as one may wait that has one SM.
    for (options, jobs) in [(&[][..], 0..2), (&["--sporadic"], 0..1)] {
        let (written, proved) = with(&masked_beside(), options);
        let all = jobs.flat_map(|job| ["A", "B", "C", "D"].map(|name| (name, job, 20)));
        assert_eq!(proved, named(&all.collect::<Vec<_>>()), "{written}");
    }
    // Masks of single kernels are not in the rules.
    let of_kernel = MASKED.replace(r#""duration": "5 ms""#, r#""duration": "5 ms", "sm_mask": "0x1""#);
    let (written, proved) = with(&of_kernel, &[]);
    let said = written["no_certificate"][0]["reason"].as_str().unwrap_or_default();
    assert!(proved.is_empty() && said.contains("masks of single kernels"), "{written}");
}

#[test]
fn the_checker_refuses_certificates_of_streams_with_other_masks() {
    let Some(checker) = Checker::new() else {
        println!("skipped: there is no coqc here, or no OCaml with yojson");
        return;
    };
    for (text, others) in [
        (
            MASKED.to_owned(),
            &[
                (r#""name": "map","#, r#""name": "map", "sm_mask": "0x2","#, 1),
                (r#""sm_mask": "0x1""#, r#""sm_mask": "~0x2""#, 0),
                (r#""sm_mask": "0x1", "#, "", 0),
                (r#""duration": "5 ms""#, r#""duration": "5 ms", "sm_mask": "0x1""#, 2),
            ][..],
        ),
        (masked_beside(), &[(r#""duration": "10 ms""#, r#""duration": "11 ms""#, 1)]),
        (SIDE_BY_SIDE.replace("20 ms", "80 ms"), &[(r#""name": "A","#, r#""name": "A", "sm_mask": "0x1","#, 1)]),
    ] {
        for options in [&[][..], &["--sporadic"]] {
            checker.certificate_of_changed(&text, options, others);
        }
    }
}
