//! Certificates with another number in one place: what the proven checker accepts claims no more than before.

use std::fs;

use serde_json::{Value, json};

use super::chains::{CAMERA_TO_BRAKE, WITHIN_A_JOB, launching};
use super::clients::CLIENTS;
use super::hosts::{IN_TURN, SLEEPING, WAITING};
use super::masks::{MASKED, masked_beside};
use super::{Checker, PRIORITIES, SIDE_BY_SIDE, beside_a_full_gpu, beside_higher_priorities, proved, queueing};

/// A value with another number in each place where there is one.
fn with_other_numbers(value: &Value, change: &mut dyn FnMut(Value)) {
    match value {
        Value::Number(number) => {
            let number = number.as_u64().expect("no number is negative");
            let others = [number + 1, number.wrapping_sub(1), number * 10];
            others
                .into_iter()
                .filter(|other| *other != number && *other < u64::MAX)
                .for_each(|other| change(json!(other)));
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                with_other_numbers(item, &mut |other| {
                    let mut whole = items.clone();
                    whole[index] = other;
                    change(Value::Array(whole));
                });
            }
        }
        Value::Object(entries) => {
            for (key, entry) in entries {
                with_other_numbers(entry, &mut |other| {
                    let mut whole = entries.clone();
                    whole.insert(key.clone(), other);
                    change(Value::Object(whole));
                });
            }
        }
        _ => {}
    }
}

/// What one part proves, told of by it twice, and hosts and chains that are.
fn what_is_told_twice_is_refused(checker: &Checker, certificate: &Value) {
    let parts = [
        ("parts", Some("intervals")),
        ("shared", Some("intervals")),
        ("windows", None),
        ("responses", None),
        ("phased", None),
    ];
    for (key, inner) in parts {
        let Some(part) = certificate[key].get(0) else { continue };
        let mut twice = certificate.clone();
        // Of priorities by weight the last part is the one that is there for its own sake.
        let last = certificate[key].as_array().map_or(0, |parts| parts.len() - 1);
        let proves = match inner {
            Some(inner) => &mut twice[key][0][inner][0]["proves"],
            None => &mut twice[key][last]["proves"],
        };
        let proves = proves.as_array_mut().expect("a list");
        proves.extend_from_within(..);
        // Where there are hosts or chains, a part may be there for what they wait for, or rest on.
        let is_for_others = certificate["hosts"].is_array() || certificate["chains"].is_array();
        assert!(!proves.is_empty() || is_for_others, "{part}");
        let expected = i32::from(!proves.is_empty());
        assert_eq!(checker.check(&twice).status.code(), Some(expected), "{twice}");
    }
    for key in ["hosts", "pauses", "chains"].into_iter().filter(|key| certificate[key].is_array()) {
        let mut twice = certificate.clone();
        twice[key].as_array_mut().expect("a list").extend_from_within(..);
        assert_eq!(checker.check(&twice).status.code(), Some(1), "{twice}");
    }
}

#[test]
fn the_proven_checker_accepts_certificates_and_with_another_number_only_what_claims_less() {
    let Some(checker) = Checker::new() else {
        println!("skipped: there is no coqc here, or no OCaml with yojson");
        return;
    };
    let priorities = checker.0.join("priorities.json");
    fs::write(&priorities, PRIORITIES).expect("it can be written");
    let mut refused = 0;
    let (given, control) = ("scenarios/deadlines/camera-and-lidar.json", priorities.to_str().expect("text"));
    let over_all_phasings = ["--sporadic", "--jitter", "control=1ms"];
    let side_by_side = checker.0.join("side-by-side.json");
    fs::write(&side_by_side, SIDE_BY_SIDE).expect("it can be written");
    let shared = side_by_side.to_str().expect("text");
    let apart = checker.0.join("apart.json");
    fs::write(&apart, SIDE_BY_SIDE.replace("20 ms", "40 ms")).expect("it can be written");
    let queues = checker.0.join("queues.json");
    fs::write(&queues, queueing()).expect("it can be written");
    let beside = checker.0.join("beside.json");
    fs::write(&beside, beside_higher_priorities()).expect("it can be written");
    let full = checker.0.join("full.json");
    fs::write(&full, beside_a_full_gpu()).expect("it can be written");
    let chained = launching();
    let texts = [
        ("sleeping.json", SLEEPING),
        ("waiting.json", WAITING),
        ("in-turn.json", IN_TURN),
        ("brake.json", CAMERA_TO_BRAKE),
        ("within.json", WITHIN_A_JOB),
        ("chained.json", &chained),
        ("masked.json", MASKED),
        ("clients.json", CLIENTS),
        ("masked-beside.json", &masked_beside()),
    ];
    let [sleeping, waiting, in_turn, brake, within, chained, masked, clients, masked_beside] =
        texts.map(|(name, text)| {
            let file = checker.0.join(name);
            fs::write(&file, text).expect("it can be written");
            file
        });
    let all = [
        (given, &[][..]),
        (sleeping.to_str().expect("text"), &[]),
        (waiting.to_str().expect("text"), &[]),
        (in_turn.to_str().expect("text"), &["--sporadic"]),
        (brake.to_str().expect("text"), &[]),
        (brake.to_str().expect("text"), &["--sporadic"]),
        (masked.to_str().expect("text"), &[]),
        (clients.to_str().expect("text"), &[]),
        (clients.to_str().expect("text"), &["--sporadic"]),
        (masked_beside.to_str().expect("text"), &["--sporadic"]),
        (within.to_str().expect("text"), &["--sporadic"]),
        (chained.to_str().expect("text"), &["--sporadic"]),
        (control, &[]),
        (shared, &[]),
        (given, &["--sporadic"]),
        (control, &over_all_phasings),
        (apart.to_str().expect("text"), &["--sporadic"]),
        (beside.to_str().expect("text"), &["--sporadic"]),
        (full.to_str().expect("text"), &["--sporadic"]),
        (queues.to_str().expect("text"), &["--sporadic", "--jitter", "A=6ms"]),
    ];
    for (scenario, options) in all {
        checker.about(scenario);
        let certificate = checker.certificate(scenario, options);
        assert!(!proved(&certificate).is_empty(), "{scenario}");
        let output = checker.check(&certificate);
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stdout));
        what_is_told_twice_is_refused(&checker, &certificate);
        let known = proved(&certificate);
        let is_less = |(stream, job, released, deadline, bound): &(String, u64, u64, u64, u64)| {
            known.iter().any(|known| {
                (&known.0, known.1, known.2, known.3) == (stream, *job, *released, *deadline) && known.4 <= *bound
            })
        };
        with_other_numbers(&certificate, &mut |mutant| {
            if checker.check(&mutant).status.code() == Some(0) {
                assert!(proved(&mutant).iter().all(is_less), "{mutant}");
            } else {
                refused += 1;
            }
        });
    }
    assert!(refused > 100, "{refused} refused");

    // What is launched is read from the scenario: with another one nothing is left of it.
    let text = fs::read_to_string(given).expect("it is there");
    let others = [("5 ms", "6 ms"), ("\"blocks\": 4", "\"blocks\": 5")];
    let when = [("18 ms", "17 ms"), ("10 ms", "9 ms")];
    for (options, also) in [(&[][..], when), (&["--sporadic"], [("8 ms", "9 ms"), ("40 ms", "39 ms")])] {
        let certificate = checker.certificate(given, options);
        for (stated, other) in others.into_iter().chain(also) {
            let file = checker.0.join("other.json");
            fs::write(&file, text.replace(stated, other)).expect("it can be written");
            checker.about(file.to_str().expect("text"));
            assert_eq!(checker.check(&certificate).status.code(), Some(1), "{stated} {options:?}");
        }
    }
}
