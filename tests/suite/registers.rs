//! Registers where kernels meet whose warps take unlike numbers of them: by hand, on random scenarios against the
//! reference simulator and the audit, and bounds under both readings of how warps are dealt. And the note on kernels
//! that state none.

use gpusched::analysis::SearchOptions;
use gpusched::device::{BlockDemand, BlockShape, Device, RegisterDealing, Resource};
use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Instant;
use gpusched::trace::{Cause, Snapshot};
use gpusched::workload::OperationId;
use proptest::prelude::*;

use crate::agreement::agreed;
use crate::bounds::judged;
use crate::campaign::config;
use crate::common::tx2;
use crate::generate::{Case, Limits, scenario};

/// A TX2 on which a block may take all registers, as on GPUs from Volta on.
fn dealt(dealing: RegisterDealing) -> Device {
    let device = tx2().with(|spec| {
        spec.register_allocation.dealing = dealing;
        spec.per_block.registers = spec.per_sm.registers;
    });
    device.expect("it is a GPU")
}

fn read(device: &Device, kernels: &str, streams: &str) -> Scenario {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "registers", "kernels": {{{kernels}}}, "streams": [{streams}]}}"#
    );
    let options = ReadOptions { device: Some(device.clone()), ..ReadOptions::default() };
    Scenario::from_json("registers.json", &text, &options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Kernels `A` and `B` (blocks, threads, registers of a thread) for 10 and 1 ms in streams of their own: when the first
/// and the last block of B begin \[ms\], as all referees agree.
fn second_begins(device: &Device, [one, other]: [(u32, u32, u32); 2]) -> [u64; 2] {
    let kernel = |name: &str, (blocks, threads, registers): (u32, u32, u32), ms: u32| {
        format!(
            r#""{name}": {{"blocks": {blocks}, "threads": {threads}, "registers_per_thread": {registers}, "duration": "{ms} ms"}}"#
        )
    };
    let kernels = [kernel("A", one, 10), kernel("B", other, 1)].join(", ");
    let streams = r#"{"name": "A", "operations": [{"kernel": "A"}]}, {"name": "B", "operations": [{"kernel": "B"}]}"#;
    let run = agreed(&read(device, &kernels, streams)).unwrap_or_else(|error| panic!("{error}"));
    let starts = run.trace.blocks(OperationId(1)).map(|block| block.start.as_ns() / 1_000_000);
    let starts: Vec<u64> = starts.collect();
    [*starts.iter().min().expect("it runs"), *starts.iter().max().expect("it runs")]
}

#[test]
fn an_sm_holds_unlike_warps_by_units_of_its_sub_partitions() {
    // Eight warps of 6,400 leave 3,584 registers of each of the four sub-partitions, two warps of 1,280: eight of each
    // SM.
    let small = |blocks| [(2, 256, 200), (blocks, 32, 40)];
    for device in RegisterDealing::ALL.map(dealt) {
        assert_eq!(second_begins(&device, small(16)), [0, 0]);
        assert_eq!(second_begins(&device, small(17)), [0, 1]);
        // All registers are taken, which is exact by NVIDIA's calculator: 4 blocks of 256 threads with 64 registers.
        assert_eq!(second_begins(&device, [(8, 256, 64), (1, 32, 16)]), [10, 10]);
    }
}

#[test]
fn dealt_at_worst_a_block_waits_that_counting_lets_in() {
    // Beside one warp of 1,280 there are places for eight warps of 6,400, if it takes none of them.
    let beside = [(2, 32, 40), (16, 32, 200)];
    assert_eq!(second_begins(&dealt(RegisterDealing::Best), beside), [0, 0]);
    assert_eq!(second_begins(&dealt(RegisterDealing::Worst), beside), [0, 1]);
}

#[test]
fn free_registers_are_those_that_no_warp_takes_and_a_shortage_counts_whole_pieces() {
    // 24 blocks of two warps of 1,280 fill all places for such warps, and leave 4,096 registers.
    let device = tx2();
    let scenario = read(
        &device,
        r#""A": {"blocks": 50, "threads": 64, "registers_per_thread": 40, "duration": "1 ms"}"#,
        r#"{"name": "A", "operations": [{"kernel": "A"}]}"#,
    );
    let run = simulate(&scenario).expect("it runs");
    let now = Snapshot::new(&run.trace, scenario.device(), Instant::ZERO);
    assert_eq!([now.sms[0].free.registers, now.sms[1].free.registers], [4_096; 2]);
    let Some(Cause::Room(shortage)) = &now.waiting[0].cause else { panic!("{:?}", now.waiting) };
    assert_eq!(shortage.lacks, [(Resource::Registers, 2 * 1_280)]);
}

/// A kernel: blocks, warps, registers of a thread, ms.
type Drawn = (u32, u32, u32, u32);

fn several(device: &Device, kernels: &[Drawn]) -> Scenario {
    let name = |number: usize| format!("K{number}");
    let stated = kernels.iter().enumerate().map(|(number, &(blocks, warps, registers, ms))| {
        format!(
            r#""{}": {{"blocks": {blocks}, "threads": {}, "registers_per_thread": {registers}, "duration": "{ms} ms"}}"#,
            name(number),
            32 * warps
        )
    });
    let streams = (0..kernels.len()).map(|number| {
        let name = name(number);
        format!(r#"{{"name": "{name}", "period": "50 ms", "jobs": 2, "operations": [{{"kernel": "{name}"}}]}}"#)
    });
    let (stated, streams): (Vec<_>, Vec<_>) = (stated.collect(), streams.collect());
    read(device, &stated.join(", "), &streams.join(", "))
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn dealt_at_worst_engine_reference_and_audit_agree(Case(scenario) in scenario(Limits::ALL)) {
        let device = scenario.device().with(|spec| spec.register_allocation.dealing = RegisterDealing::Worst);
        let catalogue = scenario.catalogue.on(device.expect("it is a GPU")).expect("it fits");
        agreed(&Scenario { catalogue, ..scenario })?;
    }
}

proptest! {
    #![proptest_config(config(40))]

    #[test]
    fn bounds_hold_however_unlike_warps_are_dealt(
        kernels in prop::collection::vec(
            (1_u32..20, 1_u32..=8, prop::sample::select(vec![16_u32, 40, 64, 100, 200, 255]), 1_u32..6),
            2..5,
        ),
        seed in any::<u64>(),
    ) {
        let mut bounds = Vec::new();
        for device in RegisterDealing::ALL.map(dealt) {
            let verdicts = judged(&several(&device, &kernels), &SearchOptions { seed, runs: 12, ..SearchOptions::default() });
            for job in &verdicts.jobs {
                prop_assert!(job.bound_ns.is_some() && job.bound_ns >= job.worst_found_ns, "{job:?}");
            }
            bounds.push(verdicts.jobs.iter().map(|job| job.bound_ns).collect::<Vec<_>>());
        }
        prop_assert_eq!(&bounds[0], &bounds[1]);
    }

    #[test]
    fn equal_warps_are_what_the_occupancy_says_in_either_reading(
        threads in 1_u32..=1_024, registers in 1_u32..=255,
    ) {
        let shape = BlockShape { threads, registers_per_thread: registers, shared_memory_bytes: 0 };
        let per_sm = RegisterDealing::ALL.map(|dealing| {
            let device = dealt(dealing);
            BlockDemand::new(&shape, &device).map(|demand| demand.blocks_per_sm(&device))
        });
        prop_assert_eq!(&per_sm[0], &per_sm[1]);
        // By hand: each sub-partition holds whole warps.
        let warp = (registers * 32).next_multiple_of(256);
        let warps = threads.div_ceil(32);
        if let Ok(blocks) = per_sm[0] {
            prop_assert_eq!(blocks, (4 * (16_384 / warp) / warps).min(64 / warps).min(32));
        }
    }
}

/// The notes on a scheduler of one warp and a worker of eight on a B200, with more of what they state.
fn notes(scheduler: &str, worker: &str) -> Vec<String> {
    let device = Device::builtin("b200").expect("the file is sound").expect("it is built in");
    let kernels = format!(
        r#""scheduler": {{"blocks": 80, "threads": 32{scheduler}, "duration": "1 ms"}},
           "worker": {{"blocks": 128, "threads": 256{worker}, "duration": "1 ms"}}"#
    );
    let streams = r#"{"name": "first", "operations": [{"kernel": "scheduler"}]},
                     {"name": "second", "operations": [{"kernel": "worker"}]}"#;
    read(&device, &kernels, streams).notes
}

#[test]
fn one_note_names_the_kernels_whose_registers_may_decide_who_shares_an_sm() {
    let shared = r#", "shared_memory_bytes": 218112"#;
    let both = notes("", shared);
    assert_eq!(both.len(), 1, "{both:?}");
    assert!(
        both[0].contains(r#"not stated of "scheduler", "worker" (nor shared_memory_bytes: "scheduler")"#),
        "{both:?}"
    );
    let worker = notes(r#", "registers_per_thread": 40"#, shared);
    assert!(worker[0].contains(r#"not stated of "worker": "#), "{worker:?}");
    // Stated, also as 0; and nothing is said of threads alone, or where registers cannot decide.
    let stated = r#", "registers_per_thread": 255, "shared_memory_bytes": 218112"#;
    assert_eq!(notes(r#", "registers_per_thread": 40"#, stated), [""; 0]);
    assert_eq!(notes(r#", "registers_per_thread": 0"#, &format!("{shared}, \"registers_per_thread\": 0")), [""; 0]);
    assert_eq!(notes("", ""), [""; 0]);
    assert_eq!(notes(r#", "registers_per_thread": 40"#, r#", "shared_memory_bytes": 0"#).len(), 1);
}
