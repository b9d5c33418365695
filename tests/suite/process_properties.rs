//! Several processes on one GPU, on random scenarios.

use gpusched::device::{Preemption, Runlists, TimeSlicing};
use gpusched::gpu::GpuOptions;
use gpusched::hosts::{simulate, simulate_with};
use gpusched::run::Run;
use gpusched::scenario::Scenario;
use gpusched::time::{Duration, Instant};
use gpusched::workload::{
    Catalogue, InterleaveLevel, MpsPercentage, OperationId, ProcessId, ProcessSharing, ProcessSpec, StreamSpec,
};
use proptest::prelude::*;

use crate::agreement::same;
use crate::campaign::config;
use crate::generate::{Case, Limits, scenario};
use crate::processes::check_conservation;

/// Of each process: its slice and its level. Of the device: what a switch costs, in percent of the shortest slice, and
/// the rest.
#[derive(Debug, Clone)]
struct Sharing {
    processes: Vec<(u64, usize)>,
    cost: u64,
    shared_runlist: bool,
    block_end: bool,
}

fn sharing() -> impl Strategy<Value = Sharing> {
    let process = (1_u64..12, 0_usize..3);
    (prop::collection::vec(process, 2..5), 0_u64..100, any::<bool>(), prop::bool::weighted(0.3))
        .prop_map(|(processes, cost, shared_runlist, block_end)| Sharing { processes, cost, shared_runlist, block_end })
}

/// The streams of a scenario dealt to processes that take turns. NULL streams stay those of the first.
fn shared(scenario: &Scenario, sharing: &Sharing, mps: bool) -> Scenario {
    let shortest = sharing.processes.iter().map(|(slice, _)| *slice).min().unwrap_or(1);
    let slicing = TimeSlicing {
        time_slice: Duration::from_ns(12),
        switch_cost: Duration::from_ns(shortest * sharing.cost / 100),
        copy_time_slice: Duration::from_ns(5),
        runlists: if sharing.shared_runlist { Runlists::Shared } else { Runlists::Separate },
        preemption: if sharing.block_end { Preemption::BlockEnd } else { Preemption::MidBlock },
    };
    let device = scenario.device().with(|spec| spec.time_slicing = slicing).expect("it is a GPU");
    let mut catalogue: Catalogue = scenario.catalogue.on(device).expect("it takes what it took");
    catalogue.set_sharing(ProcessSharing { mps, switch_cost: None }).expect("no switch costs more than a slice");
    for (number, &(slice, level)) in sharing.processes.iter().enumerate() {
        let spec = ProcessSpec {
            time_slice: Some(Duration::from_ns(slice)),
            level: InterleaveLevel::ALL[level],
            mps_percentage: MpsPercentage::from_parts(40_000_000_000_000 + slice).expect("about 40 %"),
            ..ProcessSpec::new(format!("P{number}"))
        };
        if number == 0 {
            catalogue.set_process(ProcessId::FIRST, spec).expect("sound");
        } else {
            catalogue.add_process(spec).expect("sound");
        }
    }
    let processes = u32::try_from(sharing.processes.len()).expect("few");
    for (id, stream) in (0..).map(gpusched::workload::StreamId).zip(scenario.streams()).skip(1) {
        let process = ProcessId(id.0 % processes);
        catalogue.set_stream(id, StreamSpec { process, ..StreamSpec::clone(stream) }).expect("the device has it");
    }
    Scenario { catalogue, ..scenario.clone() }
}

/// Each block runs as long as its kernel states, in the turns of its context, as far as the run goes.
fn blocks_run_in_turns(run: &Run) -> Result<(), TestCaseError> {
    let trace = &run.trace;
    for (id, _) in (0..).map(OperationId).zip(trace.operations()) {
        let Some(kernel) = trace.kernel_of(id) else { continue };
        let process = trace.process_of(id).expect("it is in the trace");
        for block in trace.blocks(id) {
            let net = trace.time_in_turn(process, block.start..block.end.min(trace.end()));
            prop_assert!(net <= kernel.duration.worst, "{:?} of {:?}", block, id);
            if trace.completed(&block).is_some() {
                prop_assert_eq!(net, kernel.duration.worst, "{:?} of {:?}", block, id);
            }
        }
        let busy: u128 = trace.block_time(id).map(|(_, time)| time).sum();
        let counted = trace
            .blocks(id)
            .map(|block| u128::from(trace.time_in_turn(process, block.start..block.end.min(trace.end())).as_ns()));
        prop_assert_eq!(busy, counted.sum::<u128>());
        // What waits is told without a gap until all its blocks are assigned.
        let record = trace.operations()[id.index()];
        let waits = trace.waits(id);
        prop_assert!(waits.windows(2).all(|two| two[0].to <= two[1].from), "{:?}", waits);
        if let (Some(start), true) = (record.last_start(), record.last_start() != Some(Instant::MAX)) {
            let waited: u64 = waits.iter().map(|wait| wait.duration().as_ns()).sum();
            prop_assert_eq!(waited, start.since(record.launched()).as_ns(), "{:?}", waits);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn an_idle_second_process_changes_nothing(Case(scenario) in scenario(Limits::ALL), shared_runlist in any::<bool>()) {
        let runlists = if shared_runlist { Runlists::Shared } else { Runlists::Separate };
        let device = scenario.device().with(|spec| spec.time_slicing.runlists = runlists).expect("it is a GPU");
        let alone = Scenario { catalogue: scenario.catalogue.on(device).expect("it takes it"), ..scenario };
        let mut beside = alone.clone();
        beside.catalogue.add_process(ProcessSpec::new("idle")).expect("sound");
        same(&simulate(&beside)?, &simulate(&alone)?)?;
    }

    #[test]
    fn turns_blocks_and_waits_of_several_processes_add_up(
        Case(scenario) in scenario(Limits::ALL), sharing in sharing(),
    ) {
        let run = simulate(&shared(&scenario, &sharing, false))?.into_owned();
        check_conservation(&run.trace);
        blocks_run_in_turns(&run)?;
    }

    #[test]
    fn skipping_rounds_changes_nothing(Case(scenario) in scenario(Limits::ALL), sharing in sharing(), longer in 1_u64..60) {
        let mut scenario = shared(&scenario, &sharing, false);
        for number in (0..).take(scenario.kernels().len()) {
            let kernel = gpusched::workload::KernelId(number);
            let mut time = scenario.kernels()[number as usize].duration;
            time.worst = Duration::from_ns(time.worst.as_ns() * longer);
            time.best = time.worst;
            scenario.catalogue.set_block_time(kernel, time).expect("best is worst");
        }
        let options = GpuOptions {
            placement: scenario.placement,
            seed: scenario.seed,
            horizon: scenario.horizon.map_or(Instant::MAX, |horizon| Instant::ZERO + horizon),
            ..GpuOptions::default()
        };
        let skipping = simulate_with(&scenario, options)?;
        let plain = simulate_with(&scenario, GpuOptions { skip_cycles: false, ..options })?;
        same(&skipping, &plain)?;
        prop_assert_eq!(skipping.trace.turns(), plain.trace.turns());
        check_conservation(&skipping.trace);
    }

    #[test]
    fn no_client_of_mps_uses_more_sms_than_its_percentage_says(
        Case(scenario) in scenario(Limits::ALL), sharing in sharing(),
    ) {
        let scenario = shared(&scenario, &sharing, true);
        let run = simulate(&scenario)?;
        prop_assert!(run.trace.turns().is_empty());
        let most = scenario.catalogue.processes()[0].mps_percentage.sms(scenario.device()) as usize;
        let ids = || (0..).map(OperationId).take(run.trace.operations().len());
        let blocks: Vec<_> =
            ids().flat_map(|id| run.trace.blocks(id).map(move |block| (id, block))).collect();
        for (own, first) in &blocks {
            let process = run.trace.process_of(*own);
            let at = first.start;
            let mut sms: Vec<u16> = blocks
                .iter()
                .filter(|(id, block)| run.trace.process_of(*id) == process && block.start <= at && at < block.end)
                .map(|(_, block)| block.sm)
                .collect();
            sms.sort_unstable();
            sms.dedup();
            prop_assert!(sms.len() <= most, "{:?} at {}: {} of {}", process, at, sms.len(), most);
        }
    }
}
