//! Certificates of clients of MPS that may use all SMs: their bounds by hand, and what has none.

use super::Checker;
use super::hosts::{named, with};

/// A stream of one client, which fills a TX2, and a host of another that waits for all of its own.
pub(super) const CLIENTS: &str = r#"{
  "format": "gpusched-scenario/1", "name": "clients", "device": "tx2", "mps": true, "processes": {"p": {}, "q": {}},
  "kernels": {
    "detect": {"blocks": 4, "threads": 1024, "duration": "5 ms"},
    "map": {"blocks": 4, "threads": 1024, "duration": "3 ms"}
  },
  "streams": [
    {"name": "detect", "process": "p", "period": "40 ms", "jobs": 2, "operations": [{"kernel": "detect"}]},
    {"name": "s", "process": "q"}
  ],
  "hosts": [
    {"name": "map", "process": "q", "period": "40 ms", "iterations": 2, "deadline": "15 ms", "steps": [
      {"launch": "map", "stream": "s"}, {"synchronize": "device"}
    ]}
  ]
}"#;

#[test]
fn clients_that_may_use_all_sms_are_proven_as_threads_of_one_process() {
    // One after another 5 and 3 ms.
    let (written, proved) = with(CLIENTS, &[]);
    let both = [("detect", 0, 8), ("detect", 1, 8), ("map", 0, 8), ("map", 1, 8)];
    assert_eq!(proved, named(&both), "{written}");
    // A block is a quarter of the GPU: beside 8 ms of work there are 3.75 ms of the last block of one, and 2.25 ms of
    // the other. The host waits for its own client alone, whenever the other launches.
    let (written, proved) = with(CLIENTS, &["--sporadic"]);
    assert_eq!(proved, named(&[("detect", 0, 11), ("map", 0, 10)]), "{written}");
}

/// With something else in it: the result of the checker, and why gpusched gives no certificate, if it does not.
#[test]
fn other_processes_have_no_certificate_and_the_checker_knows_nothing_of_them() {
    let checker = Checker::new();
    if checker.is_none() {
        println!("the checker is skipped: there is no coqc here, or no OCaml with yojson");
    }
    let alone = "several processes, but for clients of MPS that may use all SMs";
    for (stated, other, reason, expected) in [
        (r#""mps": true, "#, "", Some("contexts that take turns"), 2),
        (r#""q": {}"#, r#""q": {"mps_percentage": 50}"#, Some(alone), 2),
        (r#""stream": "s""#, r#""stream": "NULL""#, Some(alone), 2),
        (r#"{"synchronize": "device"}"#, r#"{"synchronize": "NULL"}"#, Some(alone), 2),
        (r#""q": {}"#, r#""q": {"time_slice": "1 ms"}"#, None, 0),
        (r#""process": "p""#, r#""process": "q""#, None, 0),
        (r#""duration": "3 ms""#, r#""duration": "4 ms""#, None, 1),
    ] {
        let changed = CLIENTS.replace(stated, other);
        assert_ne!(changed, CLIENTS, "{stated}");
        if let Some(reason) = reason {
            let (written, proved) = with(&changed, &[]);
            let rows = written["no_certificate"].as_array().expect("a list");
            let is_told = rows.iter().all(|row| row["reason"].as_str().is_some_and(|said| said.contains(reason)));
            assert!(proved.is_empty() && is_told, "{other}: {written}");
        }
        if let Some(checker) = &checker {
            checker.certificate_of_changed(CLIENTS, &[], &[(stated, other, expected)]);
        }
    }
}
