//! Runs without a trace: they are the same, and hold nothing that grows with them.

use proptest::prelude::*;
use proptest::sample::select;

use super::super::{ProgramHost, SimulateOptions, register_work, simulate};
use crate::campaign::config;
use crate::generate::{Case, Limits, builtin, scenario};
use crate::gpu::{Gpu, GpuOptions};
use crate::scenario::{HostThread, Scenario, ScenarioBuilder, Step};
use crate::time::{Duration, Instant};
use crate::trace::Finishes;
use crate::workload::{Kernel, OperationId, Placement, StreamId};

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn who_observes_changes_nothing(Case(scenario) in scenario(Limits::MANY_BLOCKS), placement in select(Placement::ALL.to_vec())) {
        let scenario = Scenario { placement, ..scenario };
        let run = simulate(&scenario)?;
        let mut gpu = Gpu::observed_by(Finishes::default(), scenario.device(), SimulateOptions::of(&scenario).gpu);
        register_work(&scenario, &mut gpu)?;
        let ended = gpu.run(&mut ProgramHost::new(&scenario.threads))?;
        prop_assert_eq!(ended, run.ended);
        for (id, record) in (0..).map(OperationId).zip(run.trace.operations()) {
            prop_assert_eq!(gpu.observer().finish(id), record.finish());
        }
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
