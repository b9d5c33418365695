//! Hosts that take contexts off the runlist, and put them back.

use gpusched::device::Preemption;
use gpusched::gpu::{GpuEvent, GpuInterface, GpuOptions, Host, Simulated};
use gpusched::hosts::{ProgramError, ProgramHost};
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::{Duration, Instant};
use gpusched::trace::{Rule, Trace, TurnEnd};
use gpusched::workload::{OperationId, ProcessId};
use proptest::prelude::*;
use serde_json::json;

use crate::campaign::config;
use crate::generate::{Case, Limits, builtin};
use crate::generate_processes::with_processes;
use crate::processes::{check_conservation, scenario_with};

const US: u64 = 1_000;

/// Threads have others.
const FIRST_TOKEN: u64 = 1 << 40;

/// When which process is taken off the runlist (`false`) or put back.
type Change = (Instant, ProcessId, bool);

/// The threads of a scenario, and a host beside them that says who is on the runlist.
struct Driven<'a> {
    threads: ProgramHost<'a>,
    changes: Vec<Change>,
    due: Vec<usize>,
}

impl Host for Driven<'_> {
    type Error = ProgramError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), ProgramError> {
        for (number, (at, ..)) in (0..).zip(&self.changes) {
            gpu.wake_at(*at, FIRST_TOKEN + number);
        }
        self.threads.start(gpu)
    }

    fn on_event(&mut self, event: GpuEvent, gpu: &impl GpuInterface) {
        self.threads.on_event(event, gpu);
    }

    fn on_wake(&mut self, token: u64) {
        match token
            .checked_sub(FIRST_TOKEN)
            .and_then(|number| usize::try_from(number).ok())
            .filter(|number| *number < self.changes.len())
        {
            Some(number) => self.due.push(number),
            None => self.threads.on_wake(token),
        }
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), ProgramError> {
        self.due.sort_unstable();
        for number in self.due.drain(..) {
            let (_, process, runnable) = self.changes[number];
            gpu.set_runnable(process, runnable);
        }
        self.threads.act(gpu)
    }
}

fn driven(scenario: &Scenario, changes: &[Change], skip_cycles: bool) -> Trace {
    let options = GpuOptions {
        placement: scenario.placement,
        seed: scenario.seed,
        horizon: scenario.horizon.map_or(Instant::MAX, |horizon| Instant::ZERO + horizon),
        skip_cycles,
        ..GpuOptions::default()
    };
    let host = Driven { threads: ProgramHost::of(scenario), changes: changes.to_vec(), due: Vec::new() };
    Simulated::of(scenario.device(), options, host).expect("it runs").trace
}

/// Process P has a kernel of so many blocks of 3 ms, and Q one of 8, of which 8 fill the TX2; slices of 1 ms.
fn two(blocks: u32, q_is_launched: &str, preemption: Preemption) -> Scenario {
    let kernel = |blocks: u32| json!({"blocks": blocks, "threads": 512, "duration": "3 ms"});
    let file = json!({
        "format": "gpusched-scenario/1", "name": "two", "switch_cost": "100 us",
        "processes": {"P": {"time_slice": "1 ms"}, "Q": {"time_slice": "1 ms"}},
        "kernels": {"F": kernel(blocks), "G": kernel(8)},
        "streams": [
            {"name": "p", "process": "P", "operations": [{"kernel": "F"}]},
            {"name": "q", "process": "Q", "release": q_is_launched, "operations": [{"kernel": "G"}]},
        ],
    });
    let device = builtin("tx2").with(|spec| spec.time_slicing.preemption = preemption).expect("sound");
    scenario_with(&file, &ReadOptions { device: Some(device), ..ReadOptions::default() })
}

fn at(us: u64, process: u32, runnable: bool) -> Change {
    (Instant::from_ns(us * US), ProcessId(process), runnable)
}

/// Each turn: whose, from and to \[us\], and why it ended.
fn turns(trace: &Trace) -> Vec<(u32, u64, u64, TurnEnd)> {
    let us = |instant: Instant| instant.as_ns() / US;
    trace.turns().iter().map(|turn| (turn.process.0, us(turn.start), us(turn.end), turn.ended_by)).collect()
}

fn finishes(trace: &Trace) -> Vec<u64> {
    trace.operations().iter().map(|record| record.finish().expect("it finishes").as_ns() / US).collect()
}

#[test]
fn a_context_that_is_taken_off_loses_its_turn_at_once_and_gets_none_until_it_is_put_back() {
    let changes = [at(2_500, 0, false), at(5_000, 0, true)];
    let trace = driven(&two(8, "0 s", Preemption::MidBlock), &changes, true);
    let (slice, none) = (TurnEnd::TimeSlice, TurnEnd::NoWork);
    let expected = [
        (0, 0, 1_000, slice),
        (1, 1_100, 2_100, slice),
        (0, 2_200, 2_500, TurnEnd::TakenOff),
        // Alone, beyond its slice, for the 2 ms that are left of it.
        (1, 2_600, 4_600, none),
        // Idle until it is put back; 1.7 ms are left.
        (0, 5_100, 6_800, none),
    ];
    assert_eq!(turns(&trace), expected);
    assert_eq!(finishes(&trace), [6_800, 4_600]);
    check_conservation(&trace);
}

#[test]
fn a_context_that_comes_back_waits_for_the_end_of_a_slice() {
    let changes = [at(500, 0, false), at(1_900, 0, true)];
    let trace = driven(&two(8, "0 s", Preemption::MidBlock), &changes, true);
    // The slices of Q, which is alone, end at 1.6 and 2.6 ms.
    assert_eq!(turns(&trace)[..2], [(0, 0, 500, TurnEnd::TakenOff), (1, 600, 2_600, TurnEnd::TimeSlice)]);
}

#[test]
fn a_gpu_is_idle_while_nobody_is_on_the_runlist_and_goes_on_without_a_switch() {
    let changes = [at(1_000, 0, false), at(2_000, 0, true)];
    let trace = driven(&two(8, "9 ms", Preemption::MidBlock), &changes, true);
    assert_eq!(turns(&trace)[..2], [(0, 0, 1_000, TurnEnd::TakenOff), (0, 2_000, 4_000, TurnEnd::NoWork)]);
    assert!(trace.turns()[1].switch() == Duration::ZERO);
}

#[test]
fn a_context_that_is_taken_off_before_it_begins_waits_until_it_is_put_back() {
    let changes = [at(0, 0, false), at(4_000, 0, true)];
    let trace = driven(&two(8, "0 s", Preemption::MidBlock), &changes, true);
    assert_eq!(finishes(&trace), [7_100, 3_000]);
    let waits = trace.waits(OperationId(0));
    assert_eq!(waits.iter().map(|wait| (wait.rule, wait.to.as_ns() / US)).collect::<Vec<_>>(), [(Rule::T1, 4_100)]);
}

#[test]
fn a_context_that_is_taken_off_while_it_is_switched_to_has_a_turn_of_no_length() {
    let changes = [at(1_050, 1, false), at(2_000, 1, true)];
    let trace = driven(&two(8, "0 s", Preemption::MidBlock), &changes, true);
    let expected = [
        (0, 0, 1_000, TurnEnd::TimeSlice),
        (1, 1_100, 1_100, TurnEnd::TakenOff),
        (0, 1_200, 2_200, TurnEnd::TimeSlice),
        (1, 2_300, 3_300, TurnEnd::TimeSlice),
    ];
    assert_eq!(turns(&trace)[..4], expected);
    check_conservation(&trace);
}

#[test]
fn taken_off_and_put_back_at_one_instant_nothing_changes() {
    let scenario = two(8, "0 s", Preemption::MidBlock);
    let both = [at(500, 0, false), at(500, 0, true), at(1_500, 0, false), at(1_500, 0, true)];
    let (plain, own) = (driven(&scenario, &[], true), driven(&scenario, &both, true));
    assert_eq!((plain.turns(), plain.operations()), (own.turns(), own.operations()));
}

#[test]
fn where_blocks_run_to_their_ends_a_turn_taken_away_lasts_as_long_as_they_do() {
    let trace = driven(&two(16, "0 s", Preemption::BlockEnd), &[at(500, 0, false), at(6_500, 0, true)], true);
    // F has two waves, between which G has all of its time.
    let expected =
        [(0, 0, 3_000, TurnEnd::TakenOff), (1, 3_100, 6_100, TurnEnd::NoWork), (0, 6_600, 9_600, TurnEnd::NoWork)];
    assert_eq!(turns(&trace), expected);
    let rules: Vec<_> = trace.waits(OperationId(0)).iter().map(|wait| (wait.rule, wait.to.as_ns() / US)).collect();
    assert_eq!(rules, [(Rule::R2, 500), (Rule::T1, 6_600)]);
}

#[test]
fn a_turn_that_only_waited_for_blocks_to_end_goes_on_when_its_context_is_put_back() {
    let trace = driven(&two(16, "9 ms", Preemption::BlockEnd), &[at(500, 0, false), at(1_000, 0, true)], true);
    assert_eq!(turns(&trace)[0], (0, 0, 6_000, TurnEnd::NoWork));
    let rules: Vec<_> = trace.waits(OperationId(0)).iter().map(|wait| (wait.rule, wait.to.as_ns() / US)).collect();
    assert_eq!(rules, [(Rule::R2, 500), (Rule::T1, 1_000), (Rule::R2, 3_000)]);
}

#[test]
fn one_process_alone_has_no_runlist_to_be_taken_off() {
    let file = json!({
        "format": "gpusched-scenario/1", "name": "one",
        "kernels": {"K": {"blocks": 1, "threads": 32, "duration": "3 ms"}},
        "streams": [{"name": "s", "operations": [{"kernel": "K"}]}],
    });
    let trace = driven(&scenario_with(&file, &ReadOptions::default()), &[at(500, 0, false)], true);
    assert_eq!(finishes(&trace), [3_000]);
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let one = (0_u64..60, 0_u32..5, any::<bool>());
    let one = one.prop_map(|(at, process, runnable)| (Instant::from_ns(at), ProcessId(process), runnable));
    prop::collection::vec(one, 0..12)
}

/// When a process is off the runlist.
fn off(process: ProcessId, changes: &[Change], end: Instant) -> Vec<(Instant, Instant)> {
    let mut own: Vec<(Instant, bool)> =
        changes.iter().filter(|change| change.1 == process).map(|&(at, _, runnable)| (at, runnable)).collect();
    // Of one instant the last stated counts.
    own.sort_by_key(|change| change.0);
    let mut off: Vec<(Instant, Instant)> = Vec::new();
    let mut since = None;
    for (at, runnable) in own {
        match (runnable, since) {
            (false, None) => since = Some(at),
            (true, Some(from)) => {
                off.push((from, at));
                since = None;
            }
            _ => {}
        }
    }
    off.extend(since.map(|from| (from, end)));
    off
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn nothing_of_a_context_runs_while_it_is_off_the_runlist(
        Case(scenario) in with_processes(Limits::ALL, false), changes in changes(),
    ) {
        // What is off for good never ends.
        let horizon = scenario.horizon.unwrap_or(Duration::from_ns(500)).min(Duration::from_ns(500));
        let scenario = Scenario { horizon: Some(horizon), ..scenario };
        let (trace, plain) = (driven(&scenario, &changes, true), driven(&scenario, &changes, false));
        prop_assert_eq!((trace.operations(), trace.turns()), (plain.operations(), plain.turns()));
        check_conservation(&trace);
        let takes_turns = scenario.catalogue.is_time_sliced();
        let stops = scenario.device().time_slicing.preemption == Preemption::MidBlock;
        for process in (0..).map(ProcessId).take(scenario.catalogue.processes().len()) {
            for (from, to) in off(process, &changes, trace.end()) {
                let ran = trace.time_in_turn(process, from.min(trace.end())..to.min(trace.end()));
                let turn = trace.turns().iter().any(|turn| turn.process == process);
                prop_assert!(!takes_turns || !stops || !turn || ran == Duration::ZERO, "{:?} from {} to {}", process, from, to);
            }
        }
        for (id, record) in (0..).map(OperationId).zip(trace.operations()) {
            let waits = trace.waits(id);
            prop_assert_eq!(&waits, &plain.waits(id));
            prop_assert!(waits.windows(2).all(|two| two[0].to <= two[1].from), "{:?}", waits);
            let start = record.last_start().unwrap_or(trace.end());
            if trace.kernel_of(id).is_some() && start <= trace.end() {
                let waited: u64 = waits.iter().map(|wait| wait.duration().as_ns()).sum();
                prop_assert_eq!(waited, start.since(record.launched()).as_ns(), "{:?}: {:?}", id, waits);
            }
        }
    }
}
