//! Chains that take longer than a hyperperiod, or than the horizon: how long a run goes on, and what it says of them.

use gpusched::analysis::Verdict;
use serde_json::{Value, json};

use super::{file, judged, known, read, task};
use crate::common::{directory, gpusched, stderr, stdout};

/// a samples every 50 ms and has it 20 ms later, b takes 30 ms of every 100 ms from 10 ms on, c acts within 5 ms of
/// every 50 ms: just after 50 ms something happens, a reads it at 100 ms and writes at 120 ms, b reads that at 210 ms,
/// writes at 240 ms, and c reads that at 250 ms and acts at 255 ms, 205 ms later.
fn longer_than_a_hyperperiod() -> Value {
    let mut file = file(
        &[task("a", 0, 50, 20), task("b", 10, 100, 30), task("c", 0, 50, 5)],
        110,
        &json!({"name": "chain", "path": ["a", "b", "c"], "reaction_time": "150 ms", "data_age": "300 ms"}),
    );
    file.as_object_mut().expect("it is one").remove("horizon");
    file
}

#[test]
fn what_has_no_end_is_run_for_as_long_as_its_chains_may_take() {
    let scenario = read(&longer_than_a_hyperperiod());
    // 10 ms, the hyperperiod of 100 ms, and twice the periods of the chain, 400 ms.
    assert!(
        scenario.notes.iter().any(|note| note.contains("before 510 ms, one hyperperiod and the length of a chain"))
    );
    // Of what c acts on at 205 ms b has read at 110 ms what a has read at 50 ms.
    assert_eq!(known(&scenario), [(Some(205.0), Some(205.0)), (Some(155.0), Some(155.0))]);
    let (found, verdicts) = judged(&scenario, 16);
    assert!(found[0].measured > 0 && found[0].misses > 0, "{found:?}");
    assert_eq!((verdicts.rows[0].verdict, verdicts.rows[0].is_cut), (Some(Verdict::Missed), false));
    assert_eq!(verdicts.rows[1].verdict, Some(Verdict::Proven));
}

#[test]
fn a_chain_of_which_nothing_was_measured_fails_the_check_and_a_cut_is_no_reaction() {
    let path = directory("unmeasured").join("chain.json");
    std::fs::write(&path, longer_than_a_hyperperiod().to_string()).expect("it can be written");
    let path = path.display().to_string();
    let short = |command| [command, path.as_str(), "--horizon", "110ms"];
    let output = gpusched(&[&short("simulate")[..], &["--check"]].concat());
    let (text, said) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("is not known to be within its 150 ms: none was measured"), "{said}");
    assert!(text.contains("longer than 110 ms"), "{text}");
    let analysed = gpusched(&short("analyze"));
    assert!(stdout(&analysed).contains("longer than 110 ms"));
    assert_eq!(gpusched(&[&short("analyze")[..], &["--check"]].concat()).status.code(), Some(1));
    for command in ["simulate", "analyze"] {
        let document = crate::common::json(&[&short(command)[..], &["--format", "json"]].concat());
        assert_eq!(document["chains"][0]["is_cut"], true, "{document}");
    }
    // Beyond the limit it is missed though it has no output.
    let output = gpusched(&["simulate", &path, "--horizon", "160ms", "--check"]);
    assert!(stderr(&output).contains("is above its 150 ms 1 of "), "{output:?}");
}
