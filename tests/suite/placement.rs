//! Which SM gets the next block, and kernels with as many blocks as a launch can have.

use gpusched::device::{BlockShape, Device, SmMask};
use gpusched::hosts::simulate;
use gpusched::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
use gpusched::time::{Duration, Instant};
use gpusched::trace::{Block, Trace};
use gpusched::workload::{BlockClock, BlockTime, Kernel, OperationId, Placement, StreamSpec};

use crate::generate::builtin;

/// A kernel: blocks, threads of each, SM mask. Each block takes 1 us.
type Grid = (u32, u32, Option<&'static str>);

/// Launches kernels at t = 0, each in a stream of its own.
fn run(device: Device, placement: Placement, grids: &[Grid]) -> Trace {
    let options = ReadOptions { placement: Some(placement), ..ReadOptions::default() };
    let mut builder = ScenarioBuilder::new("placement".to_owned(), device, &options);
    for &(blocks, threads, mask) in grids {
        let stream = builder.add_stream(StreamSpec::new("stream")).expect("it exists");
        let kernel = Kernel {
            name: "kernel".into(),
            title: "kernel".into(),
            blocks,
            shape: BlockShape { threads, registers_per_thread: 0, shared_memory_bytes: 0 },
            duration: BlockTime::fixed(Duration::from_ns(1_000)),
            clock: BlockClock::RunTime,
            sm_mask: mask.map(|mask| SmMask::parse(mask).expect("a mask")),
        };
        let kernel = builder.add_kernel(kernel).expect("it fits");
        builder.add_thread(HostThread::once("thread", Duration::ZERO, vec![Step::Launch(kernel, stream)]));
    }
    simulate(&builder.build()).expect("it runs").trace
}

fn sms(trace: &Trace, operation: u32) -> Vec<u16> {
    trace.blocks(OperationId(operation)).map(|block| block.sm).collect()
}

/// SM 0 is empty, each of SM 1 to 4 holds one block of `x` threads; where do three blocks of `y` threads go?
fn three_blocks_beside(x: u32, y: u32) -> Vec<u16> {
    let device = builtin("tx2").with(|spec| spec.sms = 5).expect("it is a GPU");
    let trace = run(device, Placement::MostRoom, &[(4, x, Some("1")), (3, y, None)]);
    assert_eq!(sms(&trace, 0), [1, 2, 3, 4]);
    sms(&trace, 1)
}

#[test]
fn most_room_prefers_the_sm_that_holds_most_further_blocks() {
    assert_eq!(three_blocks_beside(256, 160), [0, 0, 1], "12 blocks of 5 warps against 11");
    assert_eq!(three_blocks_beside(1024, 32), [0, 0, 1], "32 block slots against 31");
    assert_eq!(three_blocks_beside(1024, 33), [0, 0, 0], "32 blocks of 2 warps against 16");
}

#[test]
fn ties_go_by_the_order_of_the_device() {
    let first = |device: &str, blocks| sms(&run(builtin(device), Placement::MostRoom, &[(blocks, 1024, None)]), 0);
    assert_eq!(first("tx2", 3), [0, 1, 0]);
    assert_eq!(first("k5000", 9), [7, 6, 5, 4, 3, 2, 1, 0, 7]);
    let volta = first("titan-v", 81);
    assert_eq!((&volta[..3], &volta[39..42], volta[80]), (&[0, 2, 4][..], &[78, 1, 3][..], 0));
}

#[test]
fn round_robin_goes_on_where_the_last_kernel_stopped_and_lowest_id_fills_up() {
    let device = builtin("tx2").with(|spec| spec.sms = 5).expect("it is a GPU");
    let grids = [(3, 512, None), (4, 512, None), (2, 512, Some("9"))];
    let trace = run(device.clone(), Placement::RoundRobin, &grids);
    assert_eq!([0, 1, 2].map(|kernel| sms(&trace, kernel)), [vec![0, 1, 2], vec![3, 4, 0, 1], vec![2, 4]]);
    let trace = run(device, Placement::LowestId, &grids);
    assert_eq!([0, 1, 2].map(|kernel| sms(&trace, kernel)), [vec![0, 0, 0], vec![0, 1, 1, 1], vec![1, 2]]);
}

#[test]
fn blocks_are_counted_on_where_the_round_robin_pointer_takes_two_turns_to_come_back() {
    // SM 1 and 3 are filled for half of the time of a block. From then on two waves take turns, and by hand the pointer
    // stands at 0, 3, 2 and 1 in front of four of them.
    let device = builtin("tx2").with(|spec| spec.sms = 4).expect("it is a GPU");
    let options =
        ReadOptions { placement: Some(Placement::RoundRobin), device: Some(device), ..ReadOptions::default() };
    let text = r#"{
        "format": "gpusched-scenario/1", "name": "two turns", "device": "tx2",
        "kernels": {
            "First": {"blocks": 4, "threads": 1024, "duration": "500 ns", "sm_mask": "5"},
            "Long": {"blocks": 4000, "threads": 1024, "duration": "1 us"}
        },
        "streams": [
            {"name": "a", "operations": [{"kernel": "First"}]},
            {"name": "b", "operations": [{"kernel": "Long"}]}
        ]
    }"#;
    let scenario = Scenario::from_json("two-turns.json", text, &options).expect("it is sound");
    let trace = simulate(&scenario).expect("it runs").trace;
    let blocks: Vec<Block> = trace.blocks(OperationId(1)).collect();
    assert!(blocks.iter().map(|block| block.index).eq(0..4_000));
    let sms = |from: usize| blocks[from..from + 4].iter().map(|block| block.sm).collect::<Vec<u16>>();
    assert_eq!([0, 4, 8, 12].map(sms), [[0, 2, 0, 2], [3, 1, 3, 1], [2, 0, 2, 0], [1, 3, 1, 3]]);
}

#[test]
fn the_largest_grid_takes_its_waves_and_expands_as_one_looks_at_it() {
    let blocks = (1_u32 << 31) - 1;
    for placement in Placement::ALL {
        let trace = run(builtin("tx2"), placement, &[(blocks, 1024, None)]);
        let kernel = OperationId(0);
        // Four blocks at a time.
        let waves = u64::from(blocks.div_ceil(4));
        let finish = trace.operations()[0].finish();
        assert_eq!(finish, Some(Instant::from_ns(1_000 * waves)), "{}", placement.name());
        assert!(trace.waves() < 20, "{} waves are recorded", trace.waves());
        let first: Vec<Block> = trace.blocks(kernel).take(12).collect();
        assert!(
            first
                .iter()
                .map(|block| (block.index, block.start.as_ns()))
                .eq((0..12).map(|n| (n, u64::from(n / 4) * 1_000)))
        );
        let busy: u128 = trace.block_time(kernel).map(|(_, time)| time).sum();
        assert_eq!(busy, u128::from(blocks) * 1_000);
    }
}

#[test]
fn the_most_block_slots_that_a_device_can_have_are_dealt_out() {
    let text = Device::builtin_json("tx2").expect("built in");
    let limits = r#""threads": 2048, "warps": 64, "blocks": 32"#;
    assert!(text.contains(limits));
    let text = text.replace(limits, r#""threads": 65535, "warps": 65535, "blocks": 65535"#);
    // Warps of one thread, so that threads allow as many blocks.
    let text = text.replace(r#""warp_size": 32"#, r#""warp_size": 1"#);
    for placement in Placement::ALL {
        let device = Device::from_json("many-slots.json", &text).expect("sound");
        // 131,070 at once, then the other 68,930.
        let trace = run(device, placement, &[(200_000, 1, None)]);
        let runs: Vec<_> = trace.block_runs(OperationId(0)).map(|run| run.blocks).collect();
        assert_eq!(runs[..2], [65_535, 65_535], "{}", placement.name());
        assert_eq!(runs[2..].iter().map(|&blocks| u32::from(blocks)).sum::<u32>(), 68_930, "{}", placement.name());
        assert_eq!(trace.operations()[0].finish(), Some(Instant::from_ns(2_000)));
    }
}
