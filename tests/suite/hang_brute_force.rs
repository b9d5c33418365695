//! `analyze --progress` beside all states of small random groups, looked at by the rules alone: what is said not to
//! hang reaches no standstill, and each run that hangs does so again when it is read from a file.

mod groups;
mod rules;

use std::collections::BTreeMap;

use gpusched::analysis::{ProgressCondition, ProgressVerdict};

use groups::Group;

use crate::campaign::part_of;
use crate::hang::{judge_with_witness, read};

/// What a group was said to be, and what is true of it.
type Kind = (&'static str, &'static str);

/// Judges the group of a seed in both ways, and counts how each of its groups came out.
fn compare(seed: u64, most_states: usize, counts: &mut BTreeMap<Kind, u64>) {
    let group = Group::drawn(seed);
    let text = group.to_json();
    let judged = judge_with_witness(&read(&text));
    if judged.groups.is_empty() {
        *counts.entry(("nothing waits", "")).or_default() += 1;
        return;
    }
    // A run that is simulated again says enough of those that hang, but now and then.
    let all_hang = judged.groups.iter().all(|own| own.verdict == ProgressVerdict::Hangs);
    let most_states = if all_hang && !seed.is_multiple_of(16) { 0 } else { most_states };
    let found = rules::explore(&group, most_states);
    for own in &judged.groups {
        let is_stuck = own.kernels.iter().any(|row| found.stuck.contains(&(row.kernel.clone(), row.stream.clone())));
        let truth = match (is_stuck, found.is_cut) {
            (true, _) => "hangs",
            (false, true) if own.verdict == ProgressVerdict::Hangs => "hangs",
            (false, true) => "too many states",
            (false, false) => "cannot hang",
        };
        assert!(
            own.verdict != ProgressVerdict::CannotHang || !is_stuck,
            "{seed}: said not to hang ({:?}), and hangs: {text}",
            own.condition
        );
        assert!(
            own.verdict != ProgressVerdict::Hangs || truth != "cannot hang",
            "{seed}: no state is the standstill of the run: {text}"
        );
        let said = own.condition.map_or(own.verdict.name(), |condition| condition.name());
        *counts.entry((said, truth)).or_default() += 1;
    }
}

#[test]
fn what_is_said_not_to_hang_reaches_no_standstill_and_runs_that_hang_do_so_again() {
    let mut counts = BTreeMap::new();
    for seed in 0..part_of(800).into() {
        compare(seed, 1_000, &mut counts);
    }
    let kinds = [
        (ProgressVerdict::Hangs.name(), "hangs"),
        (ProgressVerdict::Open.name(), "cannot hang"),
        (ProgressCondition::SureRoom.name(), "cannot hang"),
        (ProgressCondition::OneQueue.name(), "cannot hang"),
        (ProgressCondition::Cooperative.name(), "cannot hang"),
    ];
    let missing: Vec<_> = kinds.iter().filter(|kind| !counts.contains_key(kind)).collect();
    assert!(missing.is_empty(), "none of {missing:?} in {counts:?}");
    assert!(counts.keys().any(|(said, _)| *said == ProgressCondition::AllStates.name()), "{counts:?}");
}

/// How often verdicts are open, and what is true then: of 100 groups for each of `GPUSCHED_CASES`.
#[test]
#[ignore = "a long campaign"]
fn long_campaign_of_small_groups_that_wait() {
    let cases = std::env::var("GPUSCHED_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1_000);
    let mut counts = BTreeMap::new();
    for seed in 0..cases * 100 {
        compare(seed, 200_000, &mut counts);
    }
    for ((said, truth), groups) in counts {
        println!("{groups} groups: said {said:?}, in truth {truth:?}");
    }
}
