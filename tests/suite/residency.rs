//! How many blocks of a kernel fit alone and at worst beside others: by hand, as measured, against all placements of
//! the others on small devices, and never above what random runs have.

use std::collections::{BTreeMap, BTreeSet};

use gpusched::analysis::{Crowd, room_alone, sure_room};
use gpusched::device::{BlockDemand, BlockShape, Device, RegisterDealing, RegisterFile, ResidentWarps};
use gpusched::hosts::simulate;
use gpusched::run::Summary;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;
use gpusched::workload::{BlockClock, BlockTime, Catalogue, Kernel, KernelId, OperationKind, StreamId, StreamSpec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::campaign::config;
use crate::common::tx2;
use crate::generate::builtin;

const KIB: u32 = 1024;

/// So much shared memory, and one warp.
fn shared(kib: u32) -> BlockShape {
    BlockShape { threads: 32, shared_memory_bytes: kib * KIB, ..BlockShape::default() }
}

/// A device with kernels, each in a stream of its own; kernel 0 is asked about beside so many blocks of the others.
struct Asked {
    catalogue: Catalogue,
    others: Vec<Crowd>,
}

impl Asked {
    fn new(device: Device, own: BlockShape, others: &[(BlockShape, u32)]) -> Self {
        let mut catalogue = Catalogue::new(device);
        let mut crowds = Vec::new();
        for (shape, blocks) in [(own, 1)].iter().chain(others) {
            let duration = BlockTime::fixed(Duration::from_ns(1));
            let (name, title) = ("K".into(), "K".into());
            let (shape, blocks) = (*shape, (*blocks).max(1));
            let kernel = Kernel { name, title, blocks, shape, duration, clock: BlockClock::RunTime, sm_mask: None };
            let kernel = catalogue.add_kernel(kernel).expect("the device takes it");
            let stream = catalogue.add_stream(StreamSpec::new("S")).expect("the device takes it");
            crowds.push(Crowd { kernel, stream, blocks });
        }
        crowds.remove(0);
        crowds.iter_mut().zip(others).for_each(|(crowd, (_, blocks))| crowd.blocks = *blocks);
        Self { catalogue, others: crowds }
    }

    fn sure(&self) -> u32 {
        sure_room(&self.catalogue, KernelId(0), StreamId(1), &self.others)
    }
}

fn sure(device: Device, own: BlockShape, others: &[(BlockShape, u32)]) -> u32 {
    Asked::new(device, own, others).sure()
}

#[test]
fn each_scheduler_keeps_a_worker_out_of_an_sm() {
    // A B200 has 148 SMs; a worker takes all but 14 KiB of one, and a scheduler 17 KiB.
    let own = BlockShape { threads: 256, shared_memory_bytes: 213 * KIB, ..BlockShape::default() };
    let of = |schedulers| sure(builtin("b200"), own, &[(shared(16), schedulers)]);
    assert_eq!([0, 20, 80, 147, 148, 500].map(of), [148, 128, 68, 1, 0, 0]);
    // Threads are no concern of a worker's until 15 blocks of 128 are on its SM: 10 of 144, and the 16 schedulers.
    let small = BlockShape { threads: 128, ..BlockShape::default() };
    let both = sure(builtin("b200"), own, &[(shared(16), 16), (small, 144)]);
    assert!((122..=123).contains(&both), "{both}");
}

#[test]
fn where_an_sm_holds_several_each_lost_one_takes_more_of_the_others() {
    // Of 64 KiB on each of two SMs: a block of 16 KiB takes one of two, and three of them both.
    let of = |others| sure(tx2(), shared(32), &[(shared(16), others)]);
    assert_eq!([0, 1, 2, 3, 4, 5, 6].map(of), [4, 3, 2, 2, 1, 1, 0]);
    // Three of 20 KiB leave 4 KiB: one block of 8 KiB takes one of them, four take two, six all.
    let of = |others| sure(tx2(), shared(20), &[(shared(8), others)]);
    assert_eq!([0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12].map(of), [6, 5, 4, 4, 4, 3, 3, 2, 2, 1, 1, 0]);
}

#[test]
fn others_count_on_the_sms_where_both_may_be() {
    let text = |mask: &str, of_kernel: &str| {
        format!(
            r#"{{"format": "gpusched-scenario/1", "name": "masks", "device": "tx2", "kernels": {{
                "K": {{"blocks": 9, "threads": 1024, "duration": "1 s"{of_kernel}}},
                "L": {{"blocks": 9, "threads": 1024, "duration": "1 s"}}}}, "streams": [
                {{"name": "k", "operations": [{{"kernel": "K"}}]}},
                {{"name": "l", "operations": [{{"kernel": "L"}}], "sm_mask": "{mask}"}}]}}"#
        )
    };
    for (mask, of_kernel, alone, sure) in [
        ("0x0", "", 4, 0),
        // L is left SM 1.
        ("0x1", "", 4, 2),
        ("0x1", r#", "sm_mask": "0x2""#, 2, 2),
        ("0x1", r#", "sm_mask": "0x1""#, 2, 0),
    ] {
        let scenario = Scenario::from_json("masks.json", &text(mask, of_kernel), &ReadOptions::default());
        assert_eq!(rooms(&scenario.expect("it is sound"))[0], (alone, sure), "{mask} {of_kernel}");
    }
}

/// Of each kernel and stream, how many blocks fit alone and surely beside all others.
fn rooms(scenario: &Scenario) -> Vec<(u32, u32)> {
    let all = Crowd::of_scenario(scenario);
    let room = |own: &Crowd| {
        let beside = Crowd::beside(&all, scenario, own.kernel, own.stream);
        let (kernel, stream) = (own.kernel, own.stream);
        (room_alone(&scenario.catalogue, kernel, stream), sure_room(&scenario.catalogue, kernel, stream, &beside))
    };
    all.iter().map(room).collect()
}

/// Measured on a B200 (StuartSul/gpu-experiments, `blackwell/107`), one block an SM.
#[test]
fn clusters_have_the_room_that_was_measured_and_surely_no_more() {
    for (cluster, measured) in [(1, 148), (2, 148), (4, 132), (8, 120), (16, 112)] {
        let text = format!(
            r#"{{"format": "gpusched-scenario/1", "name": "clusters", "device": "b200", "kernels": {{"K": {{
                "blocks": 160, "threads": 1024, "shared_memory_bytes": 120000, "duration": "1 s", "cluster": {cluster}}}}},
                "streams": [{{"name": "k", "operations": [{{"kernel": "K"}}]}}]}}"#
        );
        let scenario = Scenario::from_json("c.json", &text, &ReadOptions::default()).expect("it is sound");
        let [(alone, sure)] = rooms(&scenario)[..] else { panic!("one kernel") };
        assert_eq!(alone, measured, "clusters of {cluster}");
        assert!(sure <= measured && (cluster > 1 || sure == measured), "clusters of {cluster}: {sure}");
    }
}

// All placements of the others, one SM after another.

/// What blocks leave of an SM, by the rules for one block more.
fn has_room(device: &Device, on_it: &[(BlockDemand, u32)], next: &BlockDemand) -> bool {
    let taken = |of: fn(&BlockDemand) -> u32| on_it.iter().map(|(demand, blocks)| of(demand) * blocks).sum::<u32>();
    let mut warps = ResidentWarps::default();
    for (demand, blocks) in on_it {
        warps.add(demand.registers_per_warp(), demand.warps * blocks);
    }
    taken(|demand| demand.warps) + next.warps <= device.warps_per_sm()
        && taken(|_| 1) < device.per_sm.blocks
        && taken(|demand| demand.shared_memory_bytes) + next.shared_memory_bytes <= device.per_sm.shared_memory_bytes
        && RegisterFile::of(device).room(&warps, next).is_none_or(|room| room > 0)
}

/// How many of each other kind can be on an SM together, and how many blocks of the kernel have room beside them.
fn contents(device: &Device, own: &BlockDemand, others: &[(BlockDemand, u32)]) -> BTreeMap<Vec<u32>, u32> {
    let (mut found, mut left) = (BTreeMap::new(), BTreeSet::from([vec![0; others.len()]]));
    while let Some(counts) = left.pop_first() {
        let mut on_it: Vec<_> = others.iter().zip(&counts).map(|((demand, _), count)| (*demand, *count)).collect();
        for (kind, (demand, most)) in others.iter().enumerate() {
            if counts[kind] < *most && has_room(device, &on_it, demand) {
                let mut more = counts.clone();
                more[kind] += 1;
                left.insert(more);
            }
        }
        let beside = on_it.len();
        on_it.push((*own, 0));
        while has_room(device, &on_it, own) {
            on_it[beside].1 += 1;
        }
        found.insert(counts, on_it[beside].1);
    }
    found
}

fn worst(contents: &BTreeMap<Vec<u32>, u32>, sms: u32, left: &[u32]) -> u32 {
    if sms == 0 {
        return 0;
    }
    let fits = |counts: &[u32]| counts.iter().zip(left).all(|(count, left)| count <= left);
    let of = |(counts, room): (&Vec<u32>, &u32)| {
        let left: Vec<u32> = left.iter().zip(counts).map(|(left, count)| left - count).collect();
        room + worst(contents, sms - 1, &left)
    };
    contents.iter().filter(|(counts, _)| fits(counts)).map(of).min().expect("nothing fits anywhere")
}

/// Blocks that a TX2 and an A100 take.
fn shapes() -> impl Strategy<Value = BlockShape> {
    let threads = select(vec![32, 64, 128, 256, 512, 1024]);
    (threads, select(vec![0, 16, 24, 40, 64, 100, 200]), select(vec![0, 1, 3, 8, 14, 20, 32, 48])).prop_map(
        |(threads, registers, kib)| BlockShape {
            threads,
            registers_per_thread: registers.min(65_536 / threads),
            shared_memory_bytes: kib * KIB,
        },
    )
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn no_placement_of_the_others_leaves_less_and_of_one_kind_one_leaves_no_more(
        own in shapes(),
        others in prop::collection::vec((shapes(), 0..7_u32), 1..=2),
        (sms, dealing) in (2..=3_u32, select(RegisterDealing::ALL.to_vec())),
    ) {
        let device = tx2().with(|spec| {
            spec.sms = sms;
            spec.register_allocation.dealing = dealing;
            spec.per_block.registers = spec.per_sm.registers;
        });
        let device = device.expect("it is a GPU");
        let asked = Asked::new(device.clone(), own, &others);
        let demand = |shape| BlockDemand::new(shape, &device).expect("the device takes it");
        let kinds: Vec<_> = others.iter().map(|(shape, blocks)| (demand(shape), *blocks)).collect();
        let counts: Vec<u32> = others.iter().map(|(_, blocks)| *blocks).collect();
        let least = worst(&contents(&device, &demand(&own), &kinds), sms, &counts);
        let sure = asked.sure();
        prop_assert!(sure <= least, "{} above {}", sure, least);
        prop_assert!(others.len() > 1 || sure == least, "{} of {}", sure, least);
    }

    /// Whatever came before it, and whichever clients of MPS there are: blocks without end that come to the head of
    /// their queue have begun, as many as are sure.
    #[test]
    fn in_no_run_fewer_begin_than_are_sure(
        kernels in prop::collection::vec((shapes(), 1..9_u32, 0..3_u32, select(vec!["", "0x1", "~0x1", "0x6", "~0x6"])), 2..5),
        shares in prop::collection::vec(select(vec![25, 50, 75, 100]), 1..3),
        (placement, seed) in (select(vec!["most-room", "round-robin", "lowest-id", "random"]), 0..9_u64),
    ) {
        let device = builtin("a100-40gb").with(|spec| spec.sms = 8).expect("it is a GPU");
        let name = |number: usize| format!("{number}");
        let named = |each: &dyn Fn(usize) -> Value, count: usize| -> Value {
            (0..count).map(|number| (name(number), each(number))).collect::<serde_json::Map<_, _>>().into()
        };
        let kernel = |number: usize| {
            let (BlockShape { threads, registers_per_thread, shared_memory_bytes }, blocks, ..) = kernels[number];
            json!({"threads": threads, "registers_per_thread": registers_per_thread, "blocks": blocks * 4,
                "shared_memory_bytes": shared_memory_bytes, "duration": "3600 s"})
        };
        let stream = |number: usize| {
            let (.., at, mask) = kernels[number];
            let mut stream = json!({"name": name(number), "release": format!("{at} ms"),
                "process": name(number % shares.len()), "operations": [{"kernel": name(number)}]});
            if !mask.is_empty() {
                stream["sm_mask"] = mask.into();
            }
            stream
        };
        let text = json!({"format": "gpusched-scenario/1", "name": "crowd", "horizon": "1 s", "mps": true,
            "placement": placement, "seed": seed, "kernels": named(&kernel, kernels.len()),
            "processes": named(&|number| json!({"mps_percentage": shares[number]}), shares.len()),
            "streams": (0..kernels.len()).map(stream).collect::<Vec<_>>()});
        let options = ReadOptions { device: Some(device), ..ReadOptions::default() };
        let scenario = Scenario::from_json("crowd.json", &text.to_string(), &options).expect("it is sound");
        let run = simulate(&scenario).expect("it runs");
        let all = Crowd::of_scenario(&scenario);
        for launch in Summary::of(&run).launches().filter(|launch| launch.record.reached_queue_head().is_some()) {
            let OperationKind::Kernel(kernel) = launch.record.kind else { continue };
            let beside = Crowd::beside(&all, &scenario, kernel, launch.record.stream);
            let sure = sure_room(&scenario.catalogue, kernel, launch.record.stream, &beside).min(launch.work.blocks);
            let begun = run.trace.begun_by(launch.id, run.trace.end());
            prop_assert!(begun >= sure, "{} of {} sure: {}", begun, sure, text);
            prop_assert_eq!(begun as usize, run.trace.blocks(launch.id).count());
        }
    }
}
