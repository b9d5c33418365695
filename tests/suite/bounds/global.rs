//! GPUs whose SMs hold one block each, which are processors without preemption: the jobs that the tool of Nasri and
//! Brandenburg for schedule-abstraction graphs (np-schedulability-analysis, `examples/` and tests) is published with.

use gpusched::analysis::{BlockTimes, BoundOptions, JobVerdicts, SearchOptions, Verdict};
use gpusched::scenario::ReleaseOrder;

use super::{judged, processors, scenario};

/// Release, shortest, longest, deadline (absolute), priority (0 is the highest); in us.
type Job = (u64, u64, u64, u64, i32);

/// The jobs as streams of a GPU of `sms` SMs, of which a block of 1024 threads takes all, as 2048 are too many for one.
fn judge_jobs(sms: u32, jobs: &[Job]) -> JobVerdicts<'static> {
    let device = processors(sms);
    let kernels: Vec<String> = (0..)
        .zip(jobs)
        .map(|(n, (_, best, worst, _, _))| {
            format!(r#""K{n}": {{"blocks": 1, "threads": 1024, "duration": {{"best": "{best} us", "worst": "{worst} us"}}}}"#)
        })
        .collect();
    let streams: Vec<String> = (0..)
        .zip(jobs)
        .map(|(n, (release, _, _, deadline, priority))| {
            let deadline = deadline - release;
            format!(
                r#"{{"name": "J{n}", "priority": {}, "release": "{release} us", "deadline": "{deadline} us",
                     "operations": [{{"kernel": "K{n}"}}]}}"#,
                priority - 15
            )
        })
        .collect();
    let bound = BoundOptions { block_times: BlockTimes::AsStated, order: ReleaseOrder::Declared };
    let options = SearchOptions { bound, runs: 3_000, ..SearchOptions::default() };
    judged(&scenario(&kernels.join(", "), &streams.join(", "), &device), &options)
}

/// (worst finish found, bound on the finish) \[us\].
fn finishes(verdicts: &JobVerdicts<'_>) -> Vec<(u64, u64)> {
    let us =
        |release: u64, time: Option<gpusched::time::Duration>| (release + time.expect("it is known").as_ns()) / 1_000;
    verdicts
        .jobs
        .iter()
        .map(|job| (us(job.released_ns.as_ns(), job.worst_found_ns), us(job.released_ns.as_ns(), job.bound_ns)))
        .collect()
}

/// RTSS 2017, Fig. 1 (a), with priorities by the order of deadlines in `fig1c.csv`: job 9 between the short jobs.
const FIG_1: [Job; 9] = [
    (0, 1, 2, 10, 1),
    (10, 1, 2, 20, 2),
    (20, 1, 2, 30, 3),
    (30, 1, 2, 40, 4),
    (40, 1, 2, 50, 5),
    (50, 1, 2, 60, 6),
    (0, 7, 8, 30, 8),
    (30, 7, 7, 60, 9),
    (0, 3, 13, 60, 7),
];

#[test]
fn rtss_2017_fig_1_on_one_processor_is_missed_under_edf_and_met_with_the_priorities_of_1c() {
    // By hand, 1 (c): J1, then J9 (13): the second short job waits until 15 at most; then 8 for J7.
    let verdicts = judge_jobs(1, &FIG_1);
    assert!(verdicts.all_proven(), "{:?}", verdicts.jobs);
    // By deadlines, as 1 (a) has them: J7 before J9 lets J9 start at 8 or 9, in front of the job released at 10.
    let mut edf = FIG_1;
    for job in &mut edf {
        job.4 = match job.3 {
            10 => 0,
            20 => 1,
            30 => 2,
            40 => 3,
            50 => 4,
            _ => 5,
        };
    }
    let verdicts = judge_jobs(1, &edf);
    assert_eq!(verdicts.jobs[1].verdict, Some(Verdict::Missed), "{:?}", verdicts.jobs);
}

#[test]
fn rtss_2017_fig_1_on_two_processors_is_met() {
    let mut edf = FIG_1;
    for job in &mut edf {
        job.4 = match job.3 {
            10 => 0,
            20 => 1,
            30 => 2,
            40 => 3,
            50 => 4,
            _ => 5,
        };
    }
    let verdicts = judge_jobs(2, &edf);
    assert!(verdicts.all_proven(), "{:?}", verdicts.jobs);
}

#[test]
fn ecrts_2018_fig_1_on_two_processors_is_missed() {
    let jobs = [(0, 2, 4, 7, 1), (0, 10, 15, 20, 2), (5, 1, 7, 15, 3), (8, 2, 3, 20, 4), (8, 1, 1, 14, 5)];
    let verdicts = judge_jobs(2, &jobs);
    let missed = verdicts.jobs.iter().filter(|job| job.verdict == Some(Verdict::Missed)).count();
    assert!(missed > 0, "{:?}", verdicts.jobs);
    // By hand: J1 ends by 4, J3 by 12; J4 then runs from 12 to 15 and J5 until 16, unless J2 ends before.
    assert_eq!(finishes(&verdicts), [(4, 4), (15, 15), (12, 12), (15, 15), (16, 16)]);
}

/// The first has the processor until 5 ms, just when the third comes, so the second cannot begin before that. Were the
/// first shorter, the third would have to wait for the second.
#[test]
fn what_takes_just_so_long_keeps_less_urgent_kernels_out_for_that_time() {
    let exact = judge_jobs(1, &[(0, 5, 5, 99, 1), (0, 9, 9, 99, 3), (5, 5, 5, 99, 2)]);
    assert_eq!(finishes(&exact), [(5, 5), (19, 19), (10, 10)]);
    let shorter = judge_jobs(1, &[(0, 4, 5, 99, 1), (0, 9, 9, 99, 3), (5, 5, 5, 99, 2)]);
    assert!(finishes(&shorter)[2].1 >= 18, "{:?}", shorter.jobs);
}

/// `examples/prm-fig2.csv`: three tasks with rate-monotonic priorities and jobs that take just so long.
const PRM_FIG_2: [Job; 12] = [
    (0, 3, 3, 10, 1),
    (10, 3, 3, 20, 1),
    (20, 3, 3, 30, 1),
    (30, 3, 3, 40, 1),
    (40, 3, 3, 50, 1),
    (50, 3, 3, 60, 1),
    (0, 6, 6, 12, 2),
    (12, 6, 6, 24, 2),
    (24, 6, 6, 36, 2),
    (36, 6, 6, 48, 2),
    (48, 6, 6, 60, 2),
    (0, 8, 8, 60, 3),
];

/// By hand: 3, 6 and then 8 ms, until 17 ms; the second job of the first task until 20 ms, when its third comes, which
/// has the processor before the middle task then, until 23 ms. If jobs may take less, the middle task can begin just
/// before 20 ms, and the third job of the first task ends at 29 ms less a nanosecond.
#[test]
fn least_times_make_the_third_job_of_a_published_example_exact() {
    let stated: Vec<u64> = finishes(&judge_jobs(1, &PRM_FIG_2)).into_iter().map(|(_, bound)| bound).collect();
    assert_eq!(stated, [3, 20, 23, 38, 47, 57, 9, 29, 35, 44, 54, 17]);
    let shorter = PRM_FIG_2.map(|(release, _, worst, deadline, priority)| (release, 0, worst, deadline, priority));
    let third = &judge_jobs(1, &shorter).jobs[2];
    assert_eq!(third.bound_ns.map(gpusched::time::Duration::as_ns), Some(9_000 - 1));
}

#[test]
fn three_jobs_of_the_tools_own_tests_finish_when_it_says() {
    // "Find all next jobs": finish times until 8, 13 and 24 on one processor.
    let verdicts = judge_jobs(1, &[(0, 3, 8, 100, 1), (7, 5, 5, 100, 2), (10, 1, 11, 100, 3)]);
    assert_eq!(finishes(&verdicts), [(8, 8), (13, 13), (24, 24)]);
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_finish_times_of_the_tools_own_tests_lie_between_the_worst_found_and_the_bounds() {
    // On one processor; the names are those of its tests. Its time is discrete: what ends before 10 ends by 9.
    let sets: [(&str, &[Job], &[u64]); 4] = [
        ("Consider large enough interval", &[(0, 3, 10, 100, 3), (7, 5, 5, 100, 2), (10, 5, 5, 100, 1)], &[10, 20, 19]),
        ("Respect priorities", &[(0, 3, 10, 100, 2), (0, 5, 5, 100, 1)], &[15, 5]),
        ("Be eager", &[(0, 1, 5, 100, 2), (0, 1, 20, 100, 3), (10, 5, 5, 100, 1)], &[5, 25, 30]),
        ("Be eager, with short deadline", &[(0, 1, 5, 100, 2), (9, 1, 15, 25, 3), (30, 5, 5, 100, 1)], &[5, 24, 35]),
    ];
    for (name, jobs, published) in sets {
        for (job, ((found, bound), published)) in finishes(&judge_jobs(1, jobs)).into_iter().zip(published).enumerate()
        {
            assert!(found <= *published && *published <= bound, "{name}, {job}: {found} {published} {bound}");
            assert!(bound - *published <= 1, "{name}, {job}: {published} {bound}");
        }
    }
}
