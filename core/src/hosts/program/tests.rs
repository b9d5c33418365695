//! Host threads: who goes on when, and when they end.

use proptest::prelude::*;
use proptest::sample::select;

use super::long_run::{AnyLength, HeldAtMost, Need, simulate_any_length};
use super::{ProgramError, ProgramHost, SimulateOptions, register_work, simulate, simulate_in_brief};
use crate::campaign::config;
use crate::device::{BlockShape, Device};
use crate::generate::{self, Case, Limits, builtin};
use crate::gpu::{Ended, Gpu, GpuOptions, RunError};
use crate::run::{IterationSpan, Run};
use crate::scenario::{BarrierId, HostThread, Scenario, ScenarioBuilder, Step};
use crate::time::{Duration, Instant};
use crate::trace::{Finishes, OperationRecord};
use crate::workload::{
    BlockClock, BlockTime, Catalogue, Kernel, KernelId, OperationId, Placement, StreamId, StreamSpec,
};

const GATE: BarrierId = BarrierId(0);
const S1: StreamId = StreamId(1);
const S2: StreamId = StreamId(2);

const fn ns(ns: u64) -> Duration {
    Duration::from_ns(ns)
}

/// Threads on a TX2 with two non-blocking streams, S2 of high priority; kernel number k takes 10 k ns.
fn scenario(threads: Vec<HostThread>) -> Scenario {
    let kernel = |tens: u64| Kernel {
        name: "K".into(),
        title: "K".into(),
        blocks: 1,
        shape: BlockShape { threads: 1024, registers_per_thread: 0, shared_memory_bytes: 0 },
        duration: BlockTime::fixed(ns(10 * tens)),
        clock: BlockClock::RunTime,
        sm_mask: None,
    };
    let stream = |priority| StreamSpec { priority, blocking: false, ..StreamSpec::new("S") };
    let mut catalogue = Catalogue::new(Device::builtin("tx2").expect("sound").expect("built in"));
    for priority in [0, -1] {
        catalogue.add_stream(stream(priority)).expect("the device has it");
    }
    for tens in 0..4 {
        catalogue.add_kernel(kernel(tens)).expect("the device takes it");
    }
    crate::generate::of_threads(catalogue, threads)
}

fn thread(release: u64, steps: &[Step]) -> HostThread {
    HostThread::once("T", ns(release), steps.to_vec())
}

const fn launch(kernel: u32) -> Step {
    Step::Launch(KernelId(kernel), S1)
}

fn run(threads: Vec<HostThread>) -> Run<'static> {
    simulate(&scenario(threads)).expect("it runs").into_owned()
}

/// Thread and instant of every launch, in launch order.
fn launches(run: &Run) -> Vec<(u32, u64)> {
    let operations = run.trace.operations().iter();
    operations.map(|record| (record.origin.thread, record.launched().as_ns())).collect()
}

/// When each iteration of a thread started.
fn starts(run: &Run, thread: u32) -> Vec<u64> {
    run.iterations.iter().filter(|span| span.thread == thread).map(|span| span.start.as_ns()).collect()
}

#[test]
fn threads_leave_a_barrier_in_declaration_order_whoever_comes_last() {
    let steps = [Step::Barrier(GATE), launch(1)];
    for releases in [[7, 0, 0], [0, 7, 0], [0, 0, 7], [7, 7, 7]] {
        let run = run(releases.iter().map(|&release| thread(release, &steps)).collect());
        assert_eq!(launches(&run), [(0, 7), (1, 7), (2, 7)], "released at {releases:?}");
    }
}

#[test]
fn threads_that_have_ended_no_longer_count_at_a_barrier() {
    let short = HostThread { iterations: Some(1), barrier: Some(GATE), ..thread(0, &[Step::Sleep(ns(5))]) };
    let long = HostThread { iterations: Some(3), barrier: Some(GATE), ..thread(0, &[Step::Sleep(ns(2))]) };
    let run = run(vec![short, long]);
    // The first iterations start together; after 5 ns the other thread is alone.
    assert_eq!((starts(&run, 0), starts(&run, 1)), (vec![0], vec![0, 5, 7]));
    assert_eq!(run.ended, Ended::Done);
}

#[test]
fn a_thread_that_is_alone_at_a_barrier_does_not_wait_for_its_turn() {
    let run = run(vec![thread(0, &[Step::Barrier(GATE), launch(1)]), thread(0, &[launch(1)])]);
    assert_eq!(launches(&run), [(0, 0), (1, 0)]);
}

#[test]
fn a_wait_that_is_already_satisfied_is_no_wait() {
    let waits = [
        Step::AwaitLast,
        Step::SynchronizeStream(S1),
        Step::SynchronizeDevice,
        Step::Sleep(Duration::ZERO),
        Step::Memset(S1),
        Step::AwaitLast,
        Step::SynchronizeStream(S1),
        Step::SynchronizeDevice,
        launch(1),
    ];
    let run = run(vec![thread(0, &waits), thread(0, &[launch(2)])]);
    assert_eq!(launches(&run), [(0, 0), (0, 0), (1, 0)]);
}

#[test]
fn a_device_synchronisation_behind_a_finished_memset_lets_no_block_be_assigned_first() {
    const FILLING: KernelId = KernelId(4);
    let low = thread(0, &[Step::Launch(FILLING, S1)]);
    let high = thread(0, &[Step::Memset(S2), Step::SynchronizeDevice, Step::Launch(FILLING, S2)]);
    let mut scenario = scenario(vec![high, low]);
    let filling = Kernel { blocks: 4, ..Kernel::from(&scenario.kernels()[1]) };
    assert_eq!(scenario.catalogue.add_kernel(filling), Ok(FILLING));
    let run = simulate(&scenario).expect("it runs");
    // The high-priority kernel, launched at t = 0 too, gets the whole GPU first.
    let first = |operation: usize| run.trace.operations()[operation].first_start();
    assert_eq!((first(1), first(2)), (Some(Instant::ZERO), Some(Instant::from_ns(10))));
}

#[test]
fn a_device_synchronisation_waits_for_what_was_submitted_before_it_only() {
    let waiting = thread(5, &[Step::SynchronizeDevice, launch(0)]);
    let run = run(vec![thread(0, &[launch(1), Step::Sleep(ns(6)), Step::Launch(KernelId(3), S2)]), waiting]);
    assert_eq!(launches(&run), [(0, 0), (0, 6), (1, 10)]);
}

#[test]
fn await_last_waits_for_ones_own_operation_and_synchronize_for_the_whole_stream() {
    let own = thread(0, &[launch(1), Step::AwaitLast, launch(0)]);
    let other = thread(0, &[launch(2)]);
    let all = thread(0, &[Step::SynchronizeStream(S1), Step::Memset(S2)]);
    let run = run(vec![own, other, all]);
    assert_eq!(launches(&run), [(0, 0), (1, 0), (0, 10), (2, 30)]);
}

#[test]
fn steps_repeat_as_often_as_they_say_also_in_loops_and_iterations() {
    let steps =
        [Step::Memset(S1), Step::Repeat { from: 0, times: 2 }, Step::Sleep(ns(1)), Step::Repeat { from: 0, times: 3 }];
    let run = run(vec![HostThread { iterations: Some(2), ..thread(0, &steps) }]);
    let instants: Vec<u64> = launches(&run).iter().map(|&(_, at)| at).collect();
    assert_eq!(instants, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
}

#[test]
fn iterations_start_with_their_period_or_late() {
    let steps = [launch(2), Step::AwaitLast];
    let early = HostThread { iterations: Some(3), period: Some(ns(25)), ..thread(3, &steps) };
    assert_eq!(starts(&run(vec![early]), 0), [3, 28, 53]);
    let late = HostThread { iterations: Some(3), period: Some(ns(15)), ..thread(3, &steps) };
    assert_eq!(starts(&run(vec![late]), 0), [3, 23, 43]);
}

#[test]
fn no_iteration_starts_once_the_time_limit_has_passed() {
    let limited =
        |limit| HostThread { iterations: None, time_limit: Some(ns(limit)), ..thread(5, &[Step::Sleep(ns(4))]) };
    assert_eq!(starts(&run(vec![limited(9)]), 0), [5, 9, 13]);
    assert_eq!(starts(&run(vec![limited(8)]), 0), [5, 9]);
    assert!(starts(&run(vec![limited(0)]), 0).is_empty());
}

#[test]
fn no_iteration_starts_after_the_time_limit_because_of_its_period_but_one_may_because_of_its_barrier() {
    let limited = HostThread { iterations: None, time_limit: Some(ns(15)), ..thread(0, &[Step::Sleep(ns(1))]) };
    let periodic = HostThread { period: Some(ns(10)), ..limited.clone() };
    assert_eq!(starts(&run(vec![periodic]), 0), [0, 10]);
    let waiting = HostThread { barrier: Some(GATE), ..limited };
    let slow = HostThread { iterations: Some(2), barrier: Some(GATE), ..thread(0, &[Step::Sleep(ns(20))]) };
    let run = run(vec![waiting, slow]);
    // The time is looked at before the barrier, at 1.
    assert_eq!((starts(&run, 0), starts(&run, 1)), (vec![0, 20], vec![0, 20]));
}

#[test]
fn threads_meet_at_the_barrier_after_their_release_in_every_iteration() {
    let periodic = HostThread { iterations: Some(2), barrier: Some(GATE), period: Some(ns(10)), ..thread(4, &[]) };
    let other = HostThread { iterations: Some(2), barrier: Some(GATE), ..thread(0, &[]) };
    let run = run(vec![periodic, other]);
    assert_eq!((starts(&run, 0), starts(&run, 1)), (vec![4, 14], vec![4, 14]));
}

#[test]
fn what_has_not_happened_at_the_horizon_has_no_instant() {
    let mut scenario = scenario(vec![thread(0, &[launch(1), launch(2), Step::AwaitLast]), thread(11, &[launch(1)])]);
    scenario.horizon = Some(ns(10));
    let run = simulate(&scenario).expect("it runs");
    assert_eq!((run.ended, run.trace.end().as_ns()), (Ended::Horizon, 10));
    let finishes: Vec<_> = run.trace.operations().iter().map(OperationRecord::finish).collect();
    assert_eq!(finishes, [Some(Instant::from_ns(10)), None]);
    assert_eq!(run.iterations.iter().map(IterationSpan::end).collect::<Vec<_>>(), [None]);
}

#[test]
fn sleeping_past_the_end_of_time_is_an_error() {
    let long = Step::Sleep(ns(1 << 63));
    let too_long = scenario(vec![thread(1, &[long, long, launch(1)])]);
    let result = simulate(&too_long);
    assert_eq!(result.err(), Some(ProgramError::Run(RunError::EndOfTime)));
}

#[test]
fn a_block_that_would_end_at_the_end_of_time_is_an_error() {
    let mut scenario = scenario(vec![thread(1, &[launch(0)])]);
    let long = BlockTime::fixed(ns(u64::MAX - 1));
    scenario.catalogue.set_block_time(KernelId(0), long).expect("best is worst");
    assert_eq!(simulate(&scenario).err(), Some(ProgramError::Run(RunError::EndOfTime)));
}

#[test]
fn a_thread_that_repeats_itself_at_one_instant_is_given_up() {
    let endless = Step::Repeat { from: 0, times: u64::MAX };
    let endless = scenario(vec![thread(3, &[Step::AwaitLast, endless])]);
    let result = simulate(&endless);
    let expected = ProgramError::HostStandsStill { at: Instant::from_ns(3), most: 10_000_000 };
    assert_eq!(result.err(), Some(expected));
    let many = HostThread { iterations: Some(u64::MAX), ..thread(0, &[]) };
    assert!(simulate(&scenario(vec![many])).is_err());
}

#[test]
fn rows_of_a_long_run_are_those_of_its_first_cycles_so_much_later() {
    let thread = HostThread { period: Some(ns(100)), iterations: Some(50_000), ..thread(0, &[launch(1)]) };
    let scenario = scenario(vec![thread]);
    let held = HeldAtMost { whole: 1_000, piece: 1_000, rows: 0 };
    let run = simulate_any_length(&scenario, SimulateOptions::of(&scenario), held).expect("it runs");
    let AnyLength::Long(run) = run else { panic!("it is long") };
    let (mut pieces, mut rows) = (run.again(Need::Blocks), 0);
    for piece in pieces.by_ref() {
        for (id, record) in piece.trace.numbered() {
            assert_eq!((id.0, record.origin.iteration), (rows, rows));
            assert_eq!(record.launched(), Instant::from_ns(100 * u64::from(rows)));
            assert_eq!(record.response(), Some(ns(10)));
            rows += 1;
        }
    }
    assert_eq!(rows, 50_000);
    // A thousand at a time come again, and what is left at the end.
    assert!(pieces.submitted() < 5_000, "{} were simulated", pieces.submitted());
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn who_observes_changes_nothing(Case(scenario) in generate::scenario(Limits::MANY_BLOCKS), placement in select(Placement::ALL.to_vec())) {
        let scenario = Scenario { placement, ..scenario };
        let run = simulate(&scenario)?;
        let mut gpu = Gpu::observed_by(Finishes::default(), scenario.device(), SimulateOptions::of(&scenario).gpu);
        register_work(&scenario, &mut gpu)?;
        let ended = gpu.run(&mut ProgramHost::new(&scenario.threads))?;
        prop_assert_eq!(ended, run.ended);
        for (id, record) in (0..).map(OperationId).zip(run.trace.operations()) {
            prop_assert_eq!(gpu.observer().finish(id), record.finish());
        }
        let brief = simulate_in_brief(&scenario)?;
        prop_assert_eq!(brief.trace.operations(), run.trace.operations());
        prop_assert_eq!(brief.trace.ready_choices(), run.trace.ready_choices());
        prop_assert_eq!((brief.jobs(), brief.trace.waves()), (run.jobs(), 0));
        // A used GPU is as good as a new one.
        gpu.rewind();
        gpu.run(&mut ProgramHost::new(&scenario.threads))?;
        for (id, record) in (0..).map(OperationId).zip(run.trace.operations()) {
            prop_assert_eq!(gpu.observer().finish(id), record.finish());
        }
    }
}

#[test]
fn a_run_without_a_trace_keeps_no_waves() {
    let kept = |launches: u32| {
        let mut builder = ScenarioBuilder::on(&builtin("tx2"), "one by one");
        // Two waves, of 4 blocks and of 2.
        let kernel = builder.add_kernel(Kernel::new("K", 6, 1024, Duration::from_ns(10))).expect("it fits");
        let steps = vec![Step::Launch(kernel, StreamId::NULL); launches as usize];
        builder.add_thread(HostThread::once("one by one", Duration::ZERO, steps));
        let scenario = builder.build();
        let mut gpu = Gpu::observed_by(Finishes::default(), scenario.device(), GpuOptions::default());
        gpu.run(&mut ProgramHost::of(&scenario)).expect("it runs");
        assert_eq!(gpu.observer().finish(OperationId(launches - 1)), Some(Instant::from_ns(u64::from(launches) * 20)));
        // All that the back holds, as text: lists that grew with the run would be longer after the longer run.
        format!("{:?}", gpu.into_back_and_observer().0).matches("RunningWave").count()
    };
    assert_eq!(kept(10), kept(1_000));
    assert!(kept(1_000) <= 2, "places of waves are used again");
}
