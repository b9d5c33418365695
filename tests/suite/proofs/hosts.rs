//! Certificates of hosts that launch at fixed instants: their bounds by hand, what has none, and what the checker
//! refuses.

use std::fs;

use serde_json::{Value, json};

use super::{Checker, certificate, proved};
use crate::common::directory;

/// A host that sleeps before it launches, and after that, on a TX2, which is full with four such blocks.
pub(super) const SLEEPING: &str = r#"{
  "format": "gpusched-scenario/1", "name": "a host that sleeps", "device": "tx2",
  "kernels": {
    "detect": {"blocks": 4, "threads": 1024, "duration": "5 ms"},
    "map": {"blocks": 4, "threads": 1024, "duration": "3 ms"}
  },
  "streams": [
    {"name": "map", "period": "40 ms", "jobs": 2, "deadline": "12 ms", "operations": [{"kernel": "map"}]},
    {"name": "s"}
  ],
  "hosts": [
    {"name": "camera", "period": "40 ms", "iterations": 2, "deadline": "16 ms", "steps": [
      {"sleep": "4 ms"},
      {"copy": "host-to-device", "duration": "2 ms", "stream": "s"},
      {"launch": "detect", "stream": "s"},
      {"sleep": "9 ms"}
    ]},
    {"name": "bystander", "period": "10 ms", "iterations": 3, "deadline": "none", "core": 0, "steps": [{"work": "1 ms"}]}
  ]
}"#;

/// Hosts that wait for kernels that run side by side, and a stream with one.
pub(super) const WAITING: &str = r#"{
  "format": "gpusched-scenario/1", "name": "hosts that wait", "device": "tx2",
  "kernels": {"small": {"blocks": 1, "threads": 512, "duration": "10 ms"}},
  "streams": [
    {"name": "A", "priority": 0, "period": "40 ms", "jobs": 2, "deadline": "17 ms", "operations": [{"kernel": "small"}]},
    {"name": "b", "priority": 0}, {"name": "c", "priority": 0}, {"name": "d", "priority": 0}
  ],
  "hosts": [
    {"name": "B", "period": "40 ms", "iterations": 2, "deadline": "18 ms", "steps": [
      {"launch": "small", "stream": "b"}, {"synchronize": "b"}, {"repeat": 2, "steps": [{"sleep": "1 ms"}]}
    ]},
    {"name": "C", "period": "40 ms", "iterations": 2, "deadline": "18 ms", "steps": [
      {"launch": "small", "stream": "c"}, {"synchronize": "last"}
    ]},
    {"name": "D", "period": "40 ms", "iterations": 2, "deadline": "18 ms", "steps": [
      {"sleep": "1 ms"}, {"launch": "small", "stream": "d"}
    ]}
  ]
}"#;

/// Hosts that launch again after they have waited, and work in between.
pub(super) const IN_TURN: &str = r#"{
  "format": "gpusched-scenario/1", "name": "hosts that launch in turn", "device": "tx2",
  "kernels": {
    "small": {"blocks": 1, "threads": 512, "duration": "6 ms"},
    "big": {"blocks": 4, "threads": 1024, "duration": "3 ms"}
  },
  "streams": [
    {"name": "A", "priority": 0, "period": "150 ms", "jobs": 2, "operations": [{"kernel": "small"}]},
    {"name": "b", "priority": 0}, {"name": "c", "priority": 0}
  ],
  "hosts": [
    {"name": "B", "period": "180 ms", "iterations": 2, "deadline": "90 ms", "steps": [
      {"launch": "small", "stream": "b"}, {"synchronize": "b"}, {"work": "6 ms"},
      {"launch": "big", "stream": "b"}, {"synchronize": "last"}
    ]},
    {"name": "C", "period": "120 ms", "iterations": 2, "jitter": "3 ms", "deadline": "84 ms", "steps": [
      {"repeat": 2, "steps": [{"sleep": "3 ms"}]}, {"launch": "small", "stream": "c"}, {"synchronize": "last"}
    ]}
  ]
}"#;

/// The certificate of a text for given releases, and what it proves in ms: name, job, bound.
fn of(text: &str) -> (Value, Vec<(String, u64, u64)>) {
    with(text, &[])
}

/// The same with these options.
pub(super) fn with(text: &str, options: &[&str]) -> (Value, Vec<(String, u64, u64)>) {
    let folder = directory(&format!("certificates of hosts {:?}", std::thread::current().id()));
    let file = folder.join("scenario.json");
    fs::write(&file, text).expect("it can be written");
    let written = certificate(file.to_str().expect("text"), &folder.join("certificate.json"), options);
    let proved = proved(&written).into_iter().map(|(name, job, _, _, bound)| (name, job, bound / 1_000_000)).collect();
    (written, proved)
}

pub(super) fn named(rows: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    rows.iter().map(|&(name, job, bound)| (name.to_owned(), job, bound)).collect()
}

#[test]
fn a_job_of_a_host_is_proven_with_its_last_sleep_and_wait() {
    // The copy and the kernel come 4 ms after the release, when the map is over, and are over 7 ms later; 9 ms after
    // they are launched the host has slept.
    let (_, sleeping) = of(SLEEPING);
    assert_eq!(sleeping, named(&[("map", 0, 3), ("map", 1, 3), ("camera", 0, 13), ("camera", 1, 13)]));
    // One after another takes 40 ms. Four blocks of 10 ms that weigh 1/8 each are 5 ms of work, and 10 ms are a
    // stream's own; B sleeps for another 2 ms, and D comes 1 ms later.
    let (written, waiting) = of(WAITING);
    let job = |job| [("B", job, 17), ("C", job, 15), ("D", job, 16)];
    let mut expected = named(&[("A", 0, 15), ("A", 1, 15)]);
    expected.extend(
        [0, 1].into_iter().flat_map(|number| job(number).map(|(name, number, bound)| (name.to_owned(), number, bound))),
    );
    let (mut found, mut all) = (waiting, expected);
    found.sort();
    all.sort();
    assert_eq!(found, all);
    assert_eq!(written["no_certificate"], json!([]));
}

#[test]
fn a_host_that_launches_again_after_a_wait_is_proven_over_all_phasings() {
    // Three small blocks, or one and a big one, keep a big one out of an SM, so a small block weighs 1/3 of one of the
    // two SMs, a big one 2/3: the work of A and C is 1 ms, that of B 1 + 4 ms. Beside it A has 5 ms of its own, B 6 ms
    // of work of its host, 5 ms, and 2 ms of its big kernel, and C 6 ms of sleep and 5 ms. C may come 3 ms late.
    let (written, proved) = with(IN_TURN, &["--sporadic"]);
    assert_eq!(proved, named(&[("A", 0, 12), ("B", 0, 20), ("C", 0, 21)]), "{written}");
    for (what, with_other, reason) in [
        (r#"{"synchronize": "b"}"#, r#"{"synchronize": "c"}"#, "B waits for what others launch"),
        (r#""stream": "c"}"#, r#""stream": "b"}"#, "C launches into b, as another does"),
        (r#"{"work": "6 ms"}"#, r#"{"barrier": "x"}"#, "B comes to a barrier"),
        (r#""deadline": "90 ms","#, r#""deadline": "90 ms", "core": 1,"#, "B shares a core"),
    ] {
        let (written, proved) = with(&IN_TURN.replace(what, with_other), &["--sporadic"]);
        assert_eq!(proved, [], "{written}");
        let rows = written["no_certificate"].as_array().expect("a list").clone();
        assert!(rows.iter().all(|row| row["reason"].as_str().is_some_and(|said| said.contains(reason))), "{rows:?}");
    }
}

#[test]
fn what_a_host_does_that_no_certificate_covers_is_named() {
    for (what, with, reason) in [
        (r#"{"sleep": "9 ms"}"#, r#"{"work": "1 ms"}"#, "camera works"),
        (
            r#"{"sleep": "9 ms"}"#,
            r#"{"synchronize": "s"}, {"copy": "device-to-host", "duration": "1 us", "stream": "s"}"#,
            "camera launches after a wait",
        ),
        (
            r#""iterations": 2, "deadline": "16 ms","#,
            r#""iterations": 2, "deadline": "16 ms", "core": 1,"#,
            "camera shares a core",
        ),
    ] {
        let text = SLEEPING.replace(what, with);
        assert_ne!(text, SLEEPING);
        let (written, proved) = of(&text);
        assert_eq!(proved, [], "{written}");
        let reasons: Vec<&str> = written["no_certificate"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(|row| row["reason"].as_str())
            .collect();
        assert!(!reasons.is_empty() && reasons.iter().all(|said| said.contains(reason)), "{reasons:?}");
    }
}

#[test]
fn no_job_is_proven_where_a_host_may_still_wait_when_its_next_one_is_released() {
    // By weight B ends 17 ms after its release at the latest; its next job may come just then, and no sooner.
    let next = |period: &str| WAITING.replace("40 ms", period);
    let (_, proved) = of(&next("17 ms"));
    assert!(proved.contains(&("B".to_owned(), 0, 17)), "{proved:?}");
    let (written, proved) = of(&next("16 ms"));
    assert_eq!(proved, [], "{written}");
    let said = written["no_certificate"][0]["reason"].as_str().unwrap_or_default();
    assert!(said.contains("may still wait when its job 1 is released"), "{written}");
}

#[test]
fn where_nothing_is_proven_the_checker_accepts_that_nothing_is_said() {
    // Served one after another B would wait for its next release, so it is followed by weight; all are too late.
    let late = WAITING.replace(r#""17 ms""#, r#""1 ms""#).replace(r#""18 ms""#, r#""1 ms""#);
    let (written, proved) = of(&late);
    assert_eq!((proved, &written["shared"], &written["hosts"]), (Vec::new(), &Value::Null, &Value::Null));
    let Some(checker) = Checker::new() else {
        println!("skipped: there is no coqc here, or no OCaml with yojson");
        return;
    };
    let file = checker.0.join("late.json");
    fs::write(&file, late).expect("it can be written");
    checker.about(file.to_str().expect("text"));
    let output = checker.check(&written);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_checker_refuses_certificates_of_hosts_that_do_something_else() {
    let Some(checker) = Checker::new() else {
        println!("skipped: there is no coqc here, or no OCaml with yojson");
        return;
    };
    for (text, options, others) in [
        (
            SLEEPING,
            &[][..],
            &[
                (r#""sleep": "4 ms""#, r#""sleep": "3 ms""#, 1),
                (r#""sleep": "9 ms""#, r#""sleep": "10 ms""#, 1),
                (r#""iterations": 2"#, r#""iterations": 3"#, 1),
                (r#""release": "0 s""#, r#""release": "1 ms""#, 1),
                (r#""sleep": "9 ms""#, r#""work": "9 ms""#, 2),
                (r#"{"sleep": "9 ms"}"#, r#"{"free": "device"}"#, 2),
                (r#""deadline": "16 ms""#, r#""deadline": "16 ms", "jitter": "1 ms""#, 2),
                (r#""deadline": "16 ms""#, r#""deadline": "16 ms", "time_limit": "9 s""#, 2),
            ][..],
        ),
        (
            WAITING,
            &[],
            &[
                (r#""stream": "b"}, {"synchronize": "b"}"#, r#""stream": "b"}, {"synchronize": "device"}"#, 1),
                (r#""repeat": 2"#, r#""repeat": 3"#, 1),
                (r#""repeat": 2"#, r#""repeat": 26"#, 1),
                (r#""stream": "d"}"#, r#""stream": "c"}"#, 1),
                (r#"{"synchronize": "last"}"#, r#"{"synchronize": "last"}, {"launch": "small", "stream": "c"}"#, 2),
            ],
        ),
        (
            IN_TURN,
            &["--sporadic"],
            &[
                (r#"{"work": "6 ms"}"#, r#"{"work": "7 ms"}"#, 1),
                (r#"{"work": "6 ms"}"#, r#"{"work": "6 ms"}, {"memset": 1, "stream": "c"}"#, 1),
                (r#"{"synchronize": "b"}"#, r#"{"synchronize": "c"}"#, 1),
                (r#"{"synchronize": "b"}"#, r#"{"synchronize": "device"}"#, 1),
                (r#""jitter": "3 ms""#, r#""jitter": "4 ms""#, 1),
                (r#""period": "120 ms""#, r#""period": "119 ms""#, 1),
                (r#""repeat": 2"#, r#""repeat": 3"#, 1),
                (r#""duration": "3 ms""#, r#""duration": "4 ms""#, 1),
                (r#""deadline": "90 ms""#, r#""deadline": "90 ms", "core": 1"#, 2),
                (r#"{"work": "6 ms"}"#, r#"{"barrier": "x"}"#, 2),
            ],
        ),
    ] {
        let text = text.replace(r#""name": "camera","#, r#""name": "camera", "release": "0 s","#);
        checker.certificate_of_changed(&text, options, others);
    }
}
