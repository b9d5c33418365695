//! Bounds on responses, and the search for bad runs, against theory and against each other.

use gpusched::analysis::{
    BlockTimes, BoundOptions, JobVerdicts, SearchOptions, Verdict, analyse, finish_bounds, jobs_of, judge,
};
use gpusched::device::Device;
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, ReleaseOrder, Scenario};
use gpusched::workload::Placement;

use crate::common::tx2;

mod clients;
mod degrading;
mod endless;
mod gaps;
mod global;
mod ladder;
mod orders;
mod own_time;
mod programs;
mod random;
mod random_programs;
mod ready_order;
mod sensitivity;
mod slack;
mod windows;

const MS: u64 = 1_000_000;

/// SMs that a block of 1024 threads takes whole, with 16 priorities.
pub(crate) fn processors(sms: u32) -> Device {
    let device = tx2().with(|spec| {
        (spec.sms, spec.sms_per_tpc, spec.priority_levels) = (sms, 1, 16);
        (spec.per_sm.threads, spec.per_sm.warps) = (1_024, 32);
    });
    device.expect("it is within the limits")
}

/// Kernels and streams given as JSON.
pub(crate) fn scenario(kernels: &str, streams: &str, device: &Device) -> Scenario {
    let text = format!(
        r#"{{"format": "gpusched-scenario/1", "name": "bounds", "kernels": {{{kernels}}}, "streams": [{streams}]}}"#
    );
    let options = ReadOptions { device: Some(device.clone()), ..ReadOptions::default() };
    Scenario::from_json("bounds.json", &text, &options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

pub(crate) fn judged(scenario: &Scenario, options: &SearchOptions) -> JobVerdicts<'static> {
    let verdicts = judge(scenario, options, Progress::NONE);
    verdicts.expect("it runs").into_owned()
}

/// Stream, worst response found, bound \[ms\], verdict.
fn rows<'v>(verdicts: &'v JobVerdicts<'_>) -> Vec<(&'v str, f64, Option<f64>, Option<Verdict>)> {
    let ms = |time: gpusched::time::Duration| time.as_ns() as f64 / MS as f64;
    let row = |job: &'_ gpusched::analysis::JobVerdict| {
        (job.worst_found_ns.map(ms).expect("it finishes"), job.bound_ns.map(ms), job.verdict)
    };
    verdicts
        .jobs
        .iter()
        .map(|job| (&*job.stream, row(job)))
        .map(|(stream, row)| (stream, row.0, row.1, row.2))
        .collect()
}

#[test]
fn a_block_that_finds_no_sm_with_room_misses_a_deadline_that_the_merged_sm_meets() {
    // 6 blocks leave 512 threads on each SM: B's block of 1024 starts at 4 ms. Merged, it would start at once.
    let scenario = scenario(
        r#""A": {"blocks": 6, "threads": 512, "duration": "4 ms"}, "B": {"blocks": 1, "threads": 1024, "duration": "1 ms"}"#,
        r#"{"name": "A", "operations": [{"kernel": "A"}]},
           {"name": "B", "deadline": "2 ms", "operations": [{"kernel": "B"}]}"#,
        &tx2(),
    );
    assert_eq!(analyse(&scenario).expect("it runs").kernels[1].schedulable, Some(true));
    let verdicts = judged(&scenario, &SearchOptions::default());
    assert_eq!(rows(&verdicts)[1], ("B", 5.0, Some(5.0), Some(Verdict::Missed)));
    assert!(!verdicts.all_proven());
}

/// A fills the GPU until 10 ms, so B, launched at 1 ms, ends at 11 ms and lets C in behind D, which is launched at
/// 5 ms: three of D's blocks begin at 10 ms, beside B's, and the fourth at 11 ms. If blocks may take less, B may have
/// ended by 5 ms, and D waits for C.
#[test]
fn all_blocks_of_a_last_wave_keep_others_out_for_as_long_as_is_stated() {
    let kernels = r#""A": {"blocks": 4, "threads": 1024, "duration": "10 ms"},
        "B": {"blocks": 1, "threads": 1024, "duration": "1 ms"}, "C": {"blocks": 4, "threads": 1024, "duration": "20 ms"},
        "D": {"blocks": 4, "threads": 1024, "duration": "2 ms"}"#;
    let streams = r#"{"name": "A", "operations": [{"kernel": "A"}]},
        {"name": "B and C", "release": "1 ms", "operations": [{"kernel": "B"}, {"kernel": "C"}]},
        {"name": "D", "release": "5 ms", "deadline": "9 ms", "operations": [{"kernel": "D"}]}"#;
    let scenario = scenario(kernels, streams, &tx2());
    let of_d = |block_times| {
        let bound = BoundOptions { block_times, order: ReleaseOrder::Any };
        rows(&judged(&scenario, &SearchOptions { bound, ..SearchOptions::default() }))[2].3
    };
    assert_eq!(of_d(BlockTimes::AsStated), Some(Verdict::Proven));
    assert_eq!(of_d(BlockTimes::UpToStated), Some(Verdict::Missed));
}

#[test]
fn what_is_launched_into_an_idle_stream_is_before_lower_priorities_of_that_instant() {
    // The first job of "high" has ended at 11 ms, so the second enters its queue before a block of "low" is assigned.
    // As "long" runs all the time, nothing begins anew in between.
    let kernels = r#""long": {"blocks": 1, "threads": 1024, "duration": "500 ms"},
        "high": {"blocks": 1, "threads": 1024, "duration": "10 ms"},
        "low": {"blocks": 4, "threads": 1024, "duration": "50 ms"}"#;
    let streams = r#"{"name": "long", "priority": -1, "operations": [{"kernel": "long"}]},
        {"name": "high", "priority": -1, "release": "1 ms", "period": "100 ms", "jobs": 2, "deadline": "20 ms",
         "operations": [{"kernel": "high"}]},
        {"name": "low", "priority": 0, "release": "101 ms", "operations": [{"kernel": "low"}]}"#;
    let verdicts = judged(&scenario(kernels, streams, &tx2()), &SearchOptions::default());
    for row in rows(&verdicts).into_iter().filter(|row| row.0 == "high") {
        assert_eq!(row, ("high", 10.0, Some(10.0), Some(Verdict::Proven)));
    }
}

#[test]
fn what_follows_a_kernel_of_no_length_may_be_behind_what_began_at_its_instant() {
    // "none" is assigned at 0, then three blocks of "low", and then it ends: "high" enters its queue at the instant of
    // the last dispatch, and has one place of four. By the bound all blocks of "low" but one may have begun at 0.
    let kernels = r#""none": {"blocks": 1, "threads": 1024, "duration": "0 ms"},
        "high": {"blocks": 3, "threads": 1024, "duration": "1 ms"},
        "low": {"blocks": 12, "threads": 1024, "duration": "50 ms"}"#;
    let streams = r#"{"name": "high", "priority": -1, "deadline": "2 ms", "operations": [{"kernel": "none"}, {"kernel": "high"}]},
        {"name": "low", "priority": 0, "operations": [{"kernel": "low"}]}"#;
    let verdicts = judged(&scenario(kernels, streams, &tx2()), &SearchOptions::default());
    assert_eq!(rows(&verdicts)[0], ("high", 3.0, Some(51.0), Some(Verdict::Missed)));
}

#[test]
fn a_deadline_covers_the_copy_back() {
    // 4 ms, then 200,000,000 bytes at 10^10 bytes/s: 20 ms.
    let streams = |deadline: &str| {
        format!(
            r#"{{"name": "S", "deadline": "{deadline}", "operations": [
                {{"kernel": "K"}}, {{"copy": "device-to-host", "bytes": 200000000}}]}}"#
        )
    };
    let of = |deadline| {
        let kernel = r#""K": {"blocks": 8, "threads": 512, "duration": "4 ms"}"#;
        let verdicts = judged(&scenario(kernel, &streams(deadline), &tx2()), &SearchOptions::default());
        rows(&verdicts)[0].3
    };
    assert_eq!(of("9 ms"), Some(Verdict::Missed));
    assert_eq!(of("24 ms"), Some(Verdict::Proven));
}

#[test]
fn a_kernel_that_fills_the_gpu_once_and_runs_alone_takes_one_block_time_in_every_period() {
    let scenario = scenario(
        r#""K": {"blocks": 8, "threads": 512, "duration": "4 ms"}"#,
        r#"{"name": "S", "period": "100 ms", "jobs": 6, "operations": [{"kernel": "K"}]}"#,
        &tx2(),
    );
    let verdicts = judged(&scenario, &SearchOptions::default());
    assert_eq!(rows(&verdicts), [("S", 4.0, Some(4.0), Some(Verdict::Proven)); 6]);
    assert_eq!(verdicts.jobs[5].released_ns.as_ns(), 500 * MS);
    // The same for each kernel, as `safe_finish_ns`.
    for (job, kernel) in analyse(&scenario).expect("it runs").kernels.iter().enumerate() {
        assert_eq!(kernel.safe_finish_ns.map(|finish| finish.as_ns() / MS), Some(100 * job as u64 + 4));
    }
}

#[test]
fn a_kernel_alone_takes_its_waves_however_many_blocks_it_has() {
    for (blocks, threads, waves) in
        [(1, 1024, 1), (9, 512, 2), (16, 512, 2), (65, 32, 2), (2_147_483_647, 1024, 536_870_912)]
    {
        let kernel = format!(r#""K": {{"blocks": {blocks}, "threads": {threads}, "duration": "1 us"}}"#);
        // A copy after it: the bounds are not those of equal, independent kernels.
        let stream = r#"{"name": "S", "operations": [{"kernel": "K"}, {"copy": "device-to-host", "bytes": 10000}]}"#;
        let bounds = finish_bounds(&scenario(&kernel, stream, &tx2()), BoundOptions::DECLARED).expect("it runs");
        let finish = |operation: usize| bounds.operations[operation].finish.map(|finish| finish.as_ns() / 1_000);
        assert_eq!((finish(0), finish(1)), (Some(waves), Some(waves + 1)), "{blocks}");
    }
}

/// docs/analysis.md, witness B: with the first kernel at 3 ms the last job ends at 9 ms instead of 6.
fn witness_b() -> Scenario {
    let kernel = |name: &str, blocks: u32, ms: u32| {
        format!(r#""{name}": {{"blocks": {blocks}, "threads": 512, "duration": "{ms} ms"}}"#)
    };
    let kernels = [kernel("A", 1, 4), kernel("B", 3, 4), kernel("C", 4, 6), kernel("D", 2, 3)].join(",");
    let streams = r#"{"name": "S0", "operations": [{"kernel": "A"}, {"kernel": "B"}]},
        {"name": "S1", "operations": [{"kernel": "C"}]},
        {"name": "S2", "deadline": "7 ms", "operations": [{"kernel": "D"}, {"kernel": "D"}]}"#;
    scenario(&kernels, streams, &tx2())
}

#[test]
fn shorter_blocks_and_the_witness_that_shows_them_are_found() {
    let scenario = witness_b();
    let options = SearchOptions { runs: 2_000, ..SearchOptions::default() };
    let verdicts = judged(&scenario, &options);
    let (_, found, bound, verdict) = rows(&verdicts)[2];
    assert_eq!(verdict, Some(Verdict::Missed));
    assert!(found >= 9.0 && bound >= Some(found), "{found} {bound:?}");
    let witness = verdicts.witness(2).expect("there is one");
    let run = simulate(&witness).expect("it runs");
    let job = jobs_of(&run).into_iter().find(|job| &*job.stream == "S2").expect("it is there");
    let finish = job.finish(|operation| run.trace.operations()[operation as usize].finish()).expect("it finishes");
    assert_eq!(Some(finish.since(job.released)), verdicts.jobs[2].worst_found_ns);
    // With the times as they are declared there is no such run.
    let bound = BoundOptions { block_times: BlockTimes::AsStated, order: ReleaseOrder::Declared };
    let declared = judged(&scenario, &SearchOptions { bound, ..options });
    assert_eq!(rows(&declared)[2], ("S2", 6.0, Some(6.0), Some(Verdict::Proven)));
}

#[test]
fn orders_of_simultaneous_releases_are_bounded() {
    // The thesis, chapter 4 and all other orders: K1 to K4 finish at 10, 12, 12 and 11 at the latest.
    let kernels = r#""K1": {"blocks": 2, "threads": 512, "duration": "4 ms"}, "K2": {"blocks": 7, "threads": 512, "duration": "6 ms"},
        "K3": {"blocks": 2, "threads": 512, "duration": "6 ms"}, "K4": {"blocks": 5, "threads": 512, "duration": "5 ms"}"#;
    let streams =
        [1, 2, 3, 4].map(|n| format!(r#"{{"name": "S{n}", "operations": [{{"kernel": "K{n}"}}]}}"#)).join(",");
    let scenario = scenario(kernels, &streams, &tx2());
    let of = |order| {
        let bound = BoundOptions { order, ..BoundOptions::default() };
        let verdicts = judged(&scenario, &SearchOptions { bound, ..SearchOptions::default() });
        rows(&verdicts).iter().map(|row| (row.1, row.2)).collect::<Vec<_>>()
    };
    let exact = |ms: f64| (ms, Some(ms));
    assert_eq!(of(ReleaseOrder::Declared), [exact(4.0), exact(10.0), exact(12.0), exact(11.0)]);
    assert_eq!(of(ReleaseOrder::Any), [exact(10.0), exact(12.0), exact(12.0), exact(11.0)]);
}

#[test]
fn launches_that_depend_on_completions_are_bounded_iteration_by_iteration() {
    let text = r#"{"format": "gpusched-scenario/1", "name": "dependent",
        "kernels": {"K": {"blocks": 9, "threads": 512, "duration": "4 ms"}},
        "streams": [{"name": "S"}],
        "hosts": [{"name": "H", "iterations": 3, "deadline": "7 ms", "steps": [
            {"launch": "K", "stream": "S"}, {"synchronize": "last"}]}]}"#;
    let scenario = Scenario::from_json("dependent.json", text, &ReadOptions::default()).expect("it is sound");
    let verdicts = judged(&scenario, &SearchOptions::default());
    assert_eq!(rows(&verdicts), [("H", 8.0, Some(8.0), Some(Verdict::Missed)); 3]);
    assert!(verdicts.refusal.is_none() && verdicts.notes.iter().any(|note| note.contains("at least as far apart")));
}

#[test]
fn a_host_that_waits_at_the_end_of_an_iteration_has_bounds_if_it_is_in_time_for_the_next() {
    // Two waves of 4 ms. G, at 3 ms and only once, fills the GPU for 5 ms: F's second wave may have to wait for it.
    let text = |period: u32| {
        format!(
            r#"{{"format": "gpusched-scenario/1", "name": "in time",
                "kernels": {{"F": {{"blocks": 16, "threads": 512, "duration": "4 ms"}},
                             "G": {{"blocks": 8, "threads": 512, "duration": "5 ms"}}}},
                "streams": [{{"name": "S"}}, {{"name": "T", "priority": -1, "release": "3 ms", "operations": [{{"kernel": "G"}}]}}],
                "hosts": [{{"name": "H", "period": "{period} ms", "iterations": 3, "deadline": "13 ms", "steps": [
                    {{"launch": "F", "stream": "S"}}, {{"synchronize": "S"}}, {{"synchronize": "last"}}]}}]}}"#
        )
    };
    let of = |period: u32| {
        let scenario =
            Scenario::from_json("in-time.json", &text(period), &ReadOptions::default()).expect("it is sound");
        let verdicts = judged(&scenario, &SearchOptions::default());
        let bounds: Vec<_> = rows(&verdicts).iter().filter(|row| row.0 == "H").map(|row| row.2).collect();
        (bounds, verdicts.refusal.is_some())
    };
    let (bounds, refused) = of(20);
    assert!(!refused && bounds[0] >= Some(13.0) && bounds[1..] == [Some(8.0); 2], "{bounds:?}");
    // The first may end after the second is due: by orders of dispatch F may begin anew behind G, in 8 + 5 + 8 ms.
    let (bounds, refused) = of(12);
    assert!(!refused && bounds.iter().all(|bound| (Some(13.0)..Some(21.0)).contains(bound)), "{bounds:?}");
}

#[test]
fn a_search_finds_the_same_whatever_the_number_of_threads() {
    let sample = random::Sample::example();
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be made");
        let options = SearchOptions { runs: 200, seed: 5, ..SearchOptions::default() };
        pool.install(|| {
            let verdicts = judged(&sample.scenario(), &options);
            let witnesses: Vec<_> = (0..verdicts.jobs.len()).map(|job| verdicts.witness(job)).collect();
            (verdicts.jobs, witnesses, verdicts.runs)
        })
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn one_placement_can_be_asked_for() {
    let sample = random::Sample::example();
    let options = SearchOptions { placements: vec![Placement::LowestId], ..SearchOptions::default() };
    let verdicts = judged(&sample.scenario(), &options);
    let placements: Vec<_> =
        (0..verdicts.jobs.len()).filter_map(|job| verdicts.witness(job)).map(|w| w.placement).collect();
    assert!(!placements.is_empty() && placements.iter().all(|placement| *placement == Placement::LowestId));
}
