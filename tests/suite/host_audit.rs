//! The audit accepts the trace of every host: the strategies for real-time tasks, GPU-EvR with each of its rules, and
//! the schedulers it is compared with. So whatever a host decides, the GPU under it keeps to the published rules.

use gpusched::applications::{ApplicationSet, Injections};
use gpusched::audit::{ObservedRun, Tolerances, audit};
use gpusched::device::{BlockShape, Device};
use gpusched::effort::Progress;
use gpusched::gpu::Ended;
use gpusched::hosts::gpu_evr::EvrRules;
use gpusched::hosts::{Policy, RunOptions, Scheduler, Strategy, run_tasks};
use gpusched::tasks::{Allocation, Reservations, Task, TaskKernel, TaskSet, TaskTime, Timing};
use gpusched::time::Duration;
use gpusched::trace::Trace;
use proptest::prelude::*;

use crate::campaign::config;

/// Checks a run; gives the number of blocks that were looked at.
fn accepted(title: &str, device: &Device, trace: &Trace) -> usize {
    let observation =
        ObservedRun::of_trace(title, device, trace, Ended::Done).expect("it ends within the clock of logs");
    let found = audit(&observation, &Tolerances::EXACT, Progress::NONE);
    assert!(found.findings.is_empty(), "{title}: {:#?}", found.findings);
    assert_eq!(found.placement.decidable, found.placement.followed, "{title}");
    found.checked.blocks
}

const SMS: u32 = 2;

prop_compose! {
    /// Kernels of different shapes, bound to an SM or not, periodic or sporadic, that often overload the GPU.
    fn task()(
        blocks in 1_u32..20, warps in 1_u32..33, registers in 0_u32..33, shared in 0_u32..5, block_time in 1_u64..9,
        period in 10_u64..80, deadline in 50_u64..101, sm in 0..=SMS, offset in 0_u64..20, sporadic: bool,
    ) -> Task {
        let shape = BlockShape {
            threads: 32 * warps,
            registers_per_thread: registers,
            shared_memory_bytes: 8192 * shared,
        };
        let timing = Timing::new(block_time, period, (period * deadline).div_ceil(100));
        let allocation = if sm == SMS { Allocation::All } else { Allocation::Sm(sm) };
        let kernel = Some(TaskKernel { blocks, shape, block_time: TaskTime::from_units(block_time) });
        Task { offset: TaskTime::from_units(offset), sporadic, kernel, ..Task::new("", timing, block_time, allocation) }
    }
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn the_audit_accepts_every_strategy_for_real_time_tasks(
        tasks in prop::collection::vec(task(), 1..6), priority_levels in 1_u32..4, budget in 8_u64..20, seed in any::<u64>(),
    ) {
        let named = tasks.into_iter().enumerate();
        let tasks = named.map(|(index, task)| Task { name: format!("tau{index}").into(), ..task }).collect();
        let reservations = Some(Reservations::split(28, budget));
        let set = TaskSet { sms: SMS, tasks, reservations, priority_levels };
        let device = Device::builtin("tx2").expect("sound").expect("built in");
        for strategy in Strategy::ALL {
            for policy in Policy::ALL {
                let options = RunOptions { strategy, policy, horizon: Some(TaskTime::from_units(150)), seed, synchronization: TaskTime::ZERO, device: device.clone() };
                let run = run_tasks(&set, &options, Progress::NONE).expect("it runs");
                let title = format!("{} {}", strategy.name(), policy.name());
                let blocks = accepted(&title, &set.device(&device).expect("it is a GPU"), &run.trace);
                let expected: u32 =
                    run.jobs.iter().filter_map(|job| set.tasks[job.task as usize].kernel).map(|kernel| kernel.blocks).sum();
                prop_assert_eq!(blocks, expected as usize);
            }
        }
    }

    #[test]
    fn the_audit_accepts_gpu_evr_and_the_schedulers_it_is_compared_with(
        seed in any::<u64>(), count in 1_u32..13, alternative in 0_usize..9,
    ) {
        let text = ApplicationSet::builtin_json("rodinia-like-k20m").expect("built in");
        let mut set = ApplicationSet::from_json("thirteen", text, None).expect("sound");
        for application in &mut set.applications {
            for kernel in &mut application.kernels {
                kernel.launches = kernel.launches.min(2);
                kernel.blocks = kernel.blocks.min(150);
            }
            let shorter = application.requirements.iter().map(|time| Duration::from_ns(time.as_ns() / 20));
            application.requirements = shorter.collect();
        }
        set.reprofile().expect("short");
        let injections = Injections::Random { count, gap: Duration::from_ns(5_000_000) };
        set.injections = injections.draw(&set, seed, 0).expect("few");
        let mut rules = vec![EvrRules::default()];
        rules.extend(EvrRules::default().alternatives().into_iter().map(|(_, rules)| rules));
        for scheduler in Scheduler::ALL {
            let trace = scheduler.run(&set, rules[alternative]).expect("it runs");
            prop_assert!(accepted(scheduler.name(), &set.device, &trace) > 0);
        }
    }
}
