//! Runs of several processes in which one thing about turns was changed: the audit finds each.

use std::sync::Arc;

use gpusched::audit::{
    AuditRule, ObservedContexts, ObservedCopy, ObservedKernel, ObservedRun, ObservedTurn, ObservedTurns, ObservedWork,
    Tolerances, audit,
};
use gpusched::device::{CopySharing, Preemption, Runlists};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::logs::LogTime;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;
use gpusched::workload::BlockClock;
use proptest::prelude::*;
use serde_json::json;

use crate::campaign::config;
use crate::generate::{Case, Limits, builtin};
use crate::generate_processes::with_processes;

/// What was done, and what the audit has to find, if it is a certain rule.
type Mutant = (ObservedRun, String, Option<AuditRule>);

fn observe(scenario: &Scenario) -> ObservedRun {
    let run = simulate(scenario).expect("it runs");
    ObservedRun::of_run(&run).expect("it ends within the clock of logs")
}

fn found(observation: &ObservedRun) -> Vec<AuditRule> {
    audit(observation, &Tolerances::EXACT, Progress::NONE).findings.iter().map(|finding| finding.rule).collect()
}

fn seen(observation: &mut ObservedRun) -> Option<&mut ObservedTurns> {
    match &mut observation.contexts {
        ObservedContexts::Seen(turns) => Some(turns),
        ObservedContexts::One | ObservedContexts::Unseen => None,
    }
}

fn kernel(observation: &mut ObservedRun, operation: usize) -> Option<&mut ObservedKernel> {
    match &mut observation.operations[operation].work {
        ObservedWork::Kernel(kernel) => Some(kernel),
        _ => None,
    }
}

fn copy(observation: &mut ObservedRun, operation: usize) -> Option<&mut ObservedCopy> {
    match &mut observation.operations[operation].work {
        ObservedWork::Copy(copy) => Some(copy),
        _ => None,
    }
}

fn process_of(observation: &ObservedRun, operation: usize) -> usize {
    observation.streams[observation.operations[operation].stream].process
}

/// Every turn longer, shorter, earlier, later, another's, left out, or in the place of the next.
fn of_turns(clean: &ObservedRun) -> Vec<Mutant> {
    let mut mutants: Vec<Mutant> = Vec::new();
    let ObservedContexts::Seen(turns) = &clean.contexts else { return mutants };
    let mut add = |what: String, rule, change: &dyn Fn(&mut Vec<ObservedTurn>)| {
        let mut mutant = clean.clone();
        change(&mut seen(&mut mutant).expect("it has turns").turns);
        mutants.push((mutant, what, rule));
    };
    let processes = turns.levels.len();
    for (number, turn) in turns.turns.iter().enumerate() {
        if turn.is_on_its_way || turn.start_ns >= turns.run_end_ns {
            continue;
        }
        let (before, next) = (number.checked_sub(1).map(|before| turns.turns[before]), turns.turns.get(number + 1));
        if turn.end_ns < turns.run_end_ns {
            add(format!("turn {number} longer"), Some(AuditRule::T2), &|turns| {
                turns[number].end_ns = turns[number].end_ns.saturating_add(1);
            });
        }
        if turn.start_ns < turn.end_ns {
            add(format!("turn {number} shorter"), Some(AuditRule::T2), &|turns| {
                turns[number].end_ns = turns[number].end_ns.saturating_sub(1);
            });
            add(format!("turn {number} left out"), None, &|turns| {
                turns.remove(number);
            });
        }
        let switches = before.is_some_and(|before| before.process != turn.process);
        let too_short = (switches && turns.switch_cost_ns > 0).then_some(AuditRule::T3);
        add(format!("turn {number} earlier"), too_short, &|turns| {
            turns[number].start_ns = turns[number].start_ns.saturating_sub(1);
        });
        add(format!("turn {number} later"), None, &|turns| {
            turns[number].start_ns = turns[number].start_ns.saturating_add(1);
        });
        for other in (0..processes).filter(|&other| other != turn.process) {
            add(format!("turn {number} of process {other}"), None, &|turns| turns[number].process = other);
        }
        if next.is_some_and(|next| next.process != turn.process && !next.is_on_its_way) {
            add(format!("turns {number} and {} swapped", number + 1), None, &|turns| {
                let own = turns[number].process;
                turns[number].process = std::mem::replace(&mut turns[number + 1].process, own);
            });
        }
    }
    mutants
}

/// Every block longer, shorter, as if it had not paused, in the turn of another, or elsewhere after a pause.
fn of_blocks(clean: &ObservedRun) -> Vec<Mutant> {
    let mut mutants: Vec<Mutant> = Vec::new();
    let ObservedContexts::Seen(turns) = &clean.contexts else { return mutants };
    for operation in 0..clean.operations.len() {
        let ObservedWork::Kernel(own) = &clean.operations[operation].work else { continue };
        let process = process_of(clean, operation);
        for (block, &[start, end]) in own.blocks.times.iter().enumerate() {
            let mut add = |what: &str, rule, change: &dyn Fn(&mut ObservedKernel)| {
                let mut mutant = clean.clone();
                change(kernel(&mut mutant, operation).expect("it is a kernel"));
                mutants.push((mutant, format!("block {block} of operation {operation} {what}"), rule));
            };
            let change = |start: LogTime, end: LogTime| {
                move |kernel: &mut ObservedKernel| Arc::make_mut(&mut kernel.blocks).times[block] = [start, end]
            };
            add("longer", Some(AuditRule::T4), &change(start, end.saturating_add(1)));
            add("shorter", Some(AuditRule::T4), &change(start, end.saturating_sub(1)));
            let net = i64::try_from(own.duration.expect("it is simulated").worst.as_ns()).expect("short");
            if end.since(start) > net {
                add("as if it had not paused", Some(AuditRule::T4), &change(start, start.saturating_add(net)));
            }
            let others = turns.turns.iter().filter(|turn| turn.process != process && turn.start_ns < turn.end_ns);
            for other in others {
                add("in the turn of another", None, &change(other.start_ns, other.start_ns.saturating_add(net)));
            }
            let pause = turns.turns.windows(2).find(|two| {
                let [one, _] = two else { return false };
                one.process == process && start < one.end_ns && one.end_ns < end
            });
            let again = pause.and_then(|pause| {
                turns.turns.iter().find(|turn| turn.process == process && turn.start_ns > pause[0].end_ns)
            });
            if let (Some(pause), Some(again)) = (pause, again) {
                let (stops, goes_on, sms) = (pause[0].end_ns, again.start_ns, clean.device.sms);
                add("elsewhere after a pause", None, &|kernel| {
                    let blocks = Arc::make_mut(&mut kernel.blocks);
                    blocks.times[block] = [start, stops];
                    blocks.times.push([goes_on, end]);
                    blocks.sms.push((blocks.sms[block] + 1) % sms);
                });
            }
        }
    }
    mutants
}

/// Every copy earlier, later, longer or shorter.
fn of_copies(clean: &ObservedRun) -> Vec<Mutant> {
    let mut mutants: Vec<Mutant> = Vec::new();
    let ObservedContexts::Seen(turns) = &clean.contexts else { return mutants };
    for operation in 0..clean.operations.len() {
        let ObservedWork::Copy(own) = &clean.operations[operation].work else { continue };
        let Some([start, end]) = own.times_ns else { continue };
        let mut add = |what: &str, rule, times_ns| {
            let mut mutant = clean.clone();
            copy(&mut mutant, operation).expect("it is a copy").times_ns = times_ns;
            mutants.push((mutant, format!("copy {operation} {what}"), rule));
        };
        let by_turns = Some(AuditRule::T5);
        if end <= turns.run_end_ns {
            add("longer", by_turns, Some([start, end.saturating_add(1)]));
            add("shorter", None, Some([start, end.saturating_sub(1)]));
        }
        add("begun earlier", by_turns, Some([start.saturating_sub(1), end]));
        // Of what begins behind the end of the run nothing is known.
        if start < turns.run_end_ns {
            add("begun later", None, Some([start.saturating_add(1), end]));
        }
        add("not begun", by_turns, None);
    }
    mutants
}

fn all(clean: &ObservedRun) -> Vec<Mutant> {
    [of_turns(clean), of_blocks(clean), of_copies(clean)].concat()
}

/// Three processes on a TX2 with kernels and copies whose turns end in every way, until a horizon.
fn three(runlists: Runlists, preemption: Preemption, horizon: Option<Duration>) -> Scenario {
    let copy = json!({"copy": "host-to-device", "bytes": 0, "duration": "700 us"});
    let file = json!({
        "format": "gpusched-scenario/1", "name": "three", "switch_cost": "100 us",
        "processes": {
            "P": {"time_slice": "1 ms", "level": "high"}, "Q": {"time_slice": "500 us"}, "R": {"time_slice": "2 ms"},
        },
        "kernels": {
            "long": {"blocks": 4, "threads": 1024, "duration": "900 us"},
            "short": {"blocks": 1, "threads": 64, "duration": "150 us"},
        },
        "streams": [
            {"name": "p", "process": "P", "operations": [{"kernel": "long"}, copy.clone(), {"kernel": "short"}]},
            {"name": "q", "process": "Q", "release": "300 us",
             "operations": [copy.clone(), {"kernel": "long"}, copy.clone()]},
            {"name": "r", "process": "R", "release": "1 ms",
             "operations": [{"kernel": "short"}, {"kernel": "long"}, copy]},
        ],
    });
    let device = builtin("tx2").with(|spec| {
        (spec.time_slicing.runlists, spec.time_slicing.preemption) = (runlists, preemption);
    });
    let options = ReadOptions { device: Some(device.expect("sound")), horizon, ..ReadOptions::default() };
    Scenario::from_json("three.json", &file.to_string(), &options).expect("it is sound")
}

#[test]
fn whatever_is_changed_about_turns_of_three_processes_is_found() {
    let mut kinds = 0;
    for runlists in Runlists::ALL {
        for preemption in Preemption::ALL {
            for horizon in [None, Some(Duration::from_ns(2_500_000))] {
                let clean = observe(&three(runlists, preemption, horizon));
                assert_eq!(found(&clean), []);
                for (mutant, what, rule) in all(&clean) {
                    let found = found(&mutant);
                    assert!(!found.is_empty(), "{what} ({runlists:?}, {preemption:?}, {horizon:?})");
                    assert!(rule.is_none_or(|rule| found.contains(&rule)), "{what}: {found:?}, not {rule:?}");
                    kinds += 1;
                }
            }
        }
    }
    assert!(kinds > 800, "{kinds}");
}

/// Whether everything about turns could be checked, also when a turn is changed so that it begins as a timer runs out.
fn is_whole(observation: &ObservedRun) -> bool {
    let kernels = observation.operations.iter().filter_map(|operation| operation.kernel());
    if kernels.into_iter().any(|kernel| kernel.clock == BlockClock::Wall) {
        return false;
    }
    audit(observation, &Tolerances::EXACT, Progress::NONE).notes.is_empty()
        && observation.device.copy.sharing == CopySharing::OneAtATime
        && matches!(observation.contexts, ObservedContexts::Seen(_))
}

proptest! {
    #![proptest_config(config(30))]

    #[test]
    #[ignore = "long work without optimisation; .ci/run long has it optimised"]
    fn long_work_whatever_is_changed_about_turns_is_found(Case(scenario) in with_processes(Limits::ALL, false)) {
        let clean = observe(&scenario);
        prop_assume!(is_whole(&clean));
        for (mutant, what, rule) in all(&clean).into_iter().take(200) {
            let found = found(&mutant);
            prop_assert!(!found.is_empty(), "{}", what);
            prop_assert!(rule.is_none_or(|rule| found.contains(&rule)), "{}: {:?}, not {:?}", what, found, rule);
        }
    }

    #[test]
    fn a_client_of_mps_on_one_sm_too_many_is_found(Case(scenario) in with_processes(Limits::ALL, true)) {
        let clean = observe(&scenario);
        let limits = clean.client_sms.clone();
        let blocks: Vec<(usize, usize, u32, [LogTime; 2])> = (0..clean.operations.len())
            .filter_map(|operation| Some((operation, clean.operations[operation].kernel()?)))
            .flat_map(|(operation, kernel)| {
                kernel.blocks.iter().enumerate().map(move |(block, own)| (operation, block, own.sm, [own.start_ns, own.end_ns]))
            })
            .filter(|&(.., [start, end])| start < end)
            .collect();
        for &(operation, block, sm, [start, _]) in &blocks {
            let process = process_of(&clean, operation);
            let Some(&limit) = limits.get(process) else { continue };
            let there = |other: &&(usize, usize, u32, [LogTime; 2])| {
                (other.0, other.1) != (operation, block)
                    && process_of(&clean, other.0) == process
                    && other.3[0] <= start
                    && start < other.3[1]
            };
            let mut used: Vec<u32> = blocks.iter().filter(there).map(|other| other.2).collect();
            used.sort_unstable();
            used.dedup();
            let Some(another) = (0..clean.device.sms).find(|other| *other != sm && !used.contains(other)) else { continue };
            if used.len() < limit as usize {
                continue;
            }
            let mut mutant = clean.clone();
            Arc::make_mut(&mut kernel(&mut mutant, operation).expect("a kernel").blocks).sms[block] = another;
            prop_assert!(found(&mutant).contains(&AuditRule::Mps), "block {} of operation {}", block, operation);
        }
    }
}

#[test]
fn what_is_due_in_the_last_instant_of_a_cut_run_has_come_or_is_found_missing() {
    let stream = |name: &str, release: &str| {
        let copy = json!({"copy": "host-to-device", "bytes": 0, "duration": "1 ms"});
        json!({"name": name, "process": name, "release": release, "operations": [copy]})
    };
    let file = json!({
        "format": "gpusched-scenario/1", "name": "copies", "switch_cost": "0 s",
        "streams": [stream("P", "0 s"), stream("Q", "500 us")],
    });
    for runlists in Runlists::ALL {
        // P's copy ends with its slice, and in this very instant Q's begins.
        let device = builtin("tx2").with(|spec| {
            (spec.time_slicing.runlists, spec.time_slicing.time_slice) = (runlists, Duration::from_ns(1_000_000));
        });
        let horizon = Some(Duration::from_ns(1_000_000));
        let options = ReadOptions { device: Some(device.expect("sound")), horizon, ..ReadOptions::default() };
        let clean = observe(&Scenario::from_json("copies.json", &file.to_string(), &options).expect("it is sound"));
        assert_eq!(found(&clean), []);
        let end = LogTime::from_ns(1_000_000);
        let times = |operation: usize| match &clean.operations[operation].work {
            ObservedWork::Copy(copy) => copy.times_ns.expect("it has begun"),
            _ => panic!("a copy"),
        };
        assert_eq!((times(0)[1], times(1)[0]), (end, end), "{runlists:?}");
        let mut missing = clean.clone();
        copy(&mut missing, 1).expect("a copy").times_ns = None;
        assert_eq!(found(&missing), [AuditRule::T5]);
        let mut late = clean.clone();
        copy(&mut late, 0).expect("a copy").times_ns = Some([LogTime::from_ns(0), end.saturating_add(1)]);
        assert!(found(&late).contains(&AuditRule::T5));
    }
}
