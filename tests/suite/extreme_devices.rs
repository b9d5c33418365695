//! Devices at the limits of what a device may be: they work, or are refused with a reason.

use gpusched::analysis::{Comparison, analyse, merged_scenario};
use gpusched::device::{BlockShape, Device, DeviceError, DeviceSpec};
use gpusched::formats::{TableStyle, csv_of, text_of};
use gpusched::hosts::simulate;
use gpusched::pictures::timeline::{Timeline, TimelineOptions};
use gpusched::run::{State, Summary};
use gpusched::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
use gpusched::tables::SimulationReport;
use gpusched::time::{Duration, Instant};
use gpusched::workload::{BlockClock, BlockTime, Kernel, Placement, StreamSpec};
use proptest::prelude::*;
use proptest::sample::select;

use crate::campaign::config;

fn tx2_with(change: impl FnOnce(&mut DeviceSpec)) -> Result<Device, DeviceError> {
    Device::builtin("tx2").expect("sound").expect("built in").with(change)
}

/// A kernel in each of two streams, launched at t = 0; `None` if the device does not take one of them.
fn two_kernels(device: Device, placement: Placement, grids: [(u32, BlockShape); 2]) -> Option<Scenario> {
    let options = ReadOptions::default();
    let mut builder = ScenarioBuilder::new("extreme".to_owned(), device, &options);
    builder.settings(Some(placement), None, None);
    for (name, (blocks, shape)) in ["A", "B"].into_iter().zip(grids) {
        let stream = builder.add_stream(StreamSpec::new(name)).ok()?;
        let duration = BlockTime::fixed(Duration::from_ns(1_000));
        let (name, title) = (name.into(), name.into());
        let kernel = builder
            .add_kernel(Kernel { name, title, blocks, shape, duration, clock: BlockClock::RunTime, sm_mask: None })
            .ok()?;
        builder.add_thread(HostThread::once("thread", Duration::ZERO, vec![Step::Launch(kernel, stream)]));
    }
    Some(builder.build())
}

fn threads(threads: u32) -> BlockShape {
    BlockShape { threads, ..BlockShape::default() }
}

/// Simulates, analyses, compares, and draws and tabulates both.
fn everything(scenario: &Scenario) {
    let run = simulate(scenario).expect("it runs");
    let analysis = analyse(scenario).expect("it is analysed");
    let comparison = Comparison::new(&analysis, &run).expect("the run keeps what is claimed");
    assert_eq!(comparison.kernels.len(), 2);
    let summary = Summary::of(&run);
    report(&summary);
    if let Ok(merged) = merged_scenario(scenario, &analysis) {
        let run = simulate(&merged).expect("it runs");
        report(&Summary::of(&run));
    }
}

fn report(summary: &Summary<'_>) {
    let options = TimelineOptions::default();
    if let Ok(timeline) = Timeline::new(summary, &options) {
        assert!(timeline.draw(summary, &options).to_svg().contains("svg"));
    }
    let report = SimulationReport { blocks: true, ..SimulationReport::of(*summary) };
    assert!(text_of(&report, TableStyle::Plain).contains('A'));
    assert!(csv_of(&report).contains('A'));
    let state = State::at(summary, Instant::from_ns(500));
    assert!(serde_json::to_string(&state).is_ok());
}

#[test]
fn a_tx2_of_2048_sms_is_simulated_analysed_and_drawn() {
    let device = tx2_with(|spec| spec.sms = 2_048).expect("it is a GPU");
    let grids = [(10_000, threads(256)), (7, threads(1024))];
    let scenario = two_kernels(device, Placement::MostRoom, grids).expect("the device takes both");
    let merged = merged_scenario(&scenario, &analyse(&scenario).expect("it is analysed")).expect("10,007 slots do");
    assert_eq!(merged.device().per_sm.blocks, 10_007);
    everything(&scenario);
}

#[test]
fn a_merged_sm_of_more_blocks_than_the_record_can_count_is_refused() {
    let device = tx2_with(|spec| spec.sms = 2_049).expect("it is a GPU");
    let grids = [(70_000, threads(32)), (1, threads(64))];
    let scenario = two_kernels(device, Placement::MostRoom, grids).expect("the device takes both");
    let analysis = analyse(&scenario).expect("it is analysed");
    let error = merged_scenario(&scenario, &analysis).expect_err("65,568 slots are too many").to_string();
    assert!(error.contains("per_sm.blocks is 65568"), "{error}");
    assert!(simulate(&scenario).is_ok());
}

#[test]
fn one_thread_blocks_fill_65_535_block_slots() {
    let device = tx2_with(|spec| {
        spec.warp_size = 1;
        (spec.per_sm.threads, spec.per_sm.warps, spec.per_sm.blocks) = (65_535, 65_535, 65_535);
    });
    let device = device.expect("it is a GPU");
    for placement in Placement::ALL {
        let grids = [(131_000, threads(1)), (71, threads(1))];
        let scenario = two_kernels(device.clone(), placement, grids).expect("the device takes both");
        let run = simulate(&scenario).expect("it runs");
        // 131,070 slots: the last block of B waits for the first wave.
        let finishes: Vec<_> = run.trace.operations().iter().map(gpusched::trace::OperationRecord::finish).collect();
        assert_eq!(finishes, [Some(Instant::from_ns(1_000)), Some(Instant::from_ns(2_000))], "{}", placement.name());
    }
}

/// The least, a usual and the largest value of each number of a device.
fn device() -> impl Strategy<Value = Option<Device>> {
    let sms = (select(vec![1_u32, 2, 4_096]), select(vec![1_u32, 2, 4_096]), select(vec![1_u32, 32, 1_024]));
    let per_sm = (
        select(vec![1_u32, 2_048, 65_535]),
        select(vec![1_u32, 64, 65_535]),
        select(vec![1_u32, 32, 65_535]),
        select(vec![0_u32, 65_536, 1 << 20, 1 << 28]),
        select(vec![0_u32, 65_536, 1 << 20, 1 << 28]),
    );
    let per_block = (select(vec![1_u32, 1_024, 65_535]), select(vec![0_u32, 32_768, 1 << 28]));
    let allocation = (
        select(vec![1_u32, 256, 1 << 28]),
        select(vec![1_u32, 4, 1_024]),
        select(vec![1_u32, 4, 1_024]),
        select(vec![1_u32, 256, 1 << 28]),
        select(vec![0_u32, 1_024, 1 << 28]),
    );
    let rest = (select(vec![1_u32, 2, 64]), select(vec![1_u32, 64]), select(vec![None, Some(1_u32), Some(u32::MAX)]));
    (sms, per_sm, per_block, allocation, rest).prop_map(|(sms, per_sm, per_block, allocation, rest)| {
        let changed = tx2_with(|spec| {
            (spec.sms, spec.sms_per_tpc, spec.warp_size) = sms;
            (spec.per_sm.threads, spec.per_sm.warps, spec.per_sm.blocks) = (per_sm.0, per_sm.1, per_sm.2);
            (spec.per_sm.registers, spec.per_sm.shared_memory_bytes) = (per_sm.3, per_sm.4);
            (spec.per_block.threads, spec.per_block.registers) = per_block;
            spec.per_block.shared_memory_bytes = per_block.1;
            spec.register_allocation.unit_per_warp = allocation.0;
            spec.register_allocation.sub_partitions = allocation.1;
            spec.register_allocation.warps_rounded_to = allocation.2;
            spec.shared_memory_allocation.unit_bytes = allocation.3;
            spec.shared_memory_allocation.reserved_per_block_bytes = allocation.4;
            (spec.priority_levels, spec.copy.engines, spec.channels) = rest;
        });
        changed.ok()
    })
}

fn shape() -> impl Strategy<Value = BlockShape> {
    (select(vec![1_u32, 33, 1_024, u32::MAX]), select(vec![0_u32, 1, 255, u32::MAX]), select(vec![0_u32, 1, u32::MAX]))
        .prop_map(|(threads, registers_per_thread, shared_memory_bytes)| BlockShape {
            threads,
            registers_per_thread,
            shared_memory_bytes,
        })
}

proptest! {
    #![proptest_config(ProptestConfig { max_global_rejects: 100_000, ..config(400) })]

    #[test]
    fn nothing_panics_on_a_device_at_its_limits(
        device in device(), shapes in [shape(), shape()], blocks in [select(vec![1_u32, 100, 70_000]), select(vec![1_u32, 8])],
        placement in select(vec![Placement::MostRoom, Placement::RoundRobin, Placement::LowestId]),
    ) {
        let grids = [(blocks[0], shapes[0]), (blocks[1], shapes[1])];
        if let Some(scenario) = device.and_then(|device| two_kernels(device, placement, grids)) {
            everything(&scenario);
        }
    }
}
