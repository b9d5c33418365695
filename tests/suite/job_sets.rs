//! Sets of jobs on processors: a hand's finish times, what np-schedulability-analysis is published to say of its
//! examples and tests, and random sets, of which no run may exceed a bound.

use gpusched::analysis::Verdict;
use gpusched::formats::csv_of;
use gpusched::tables::JobSetReport;
use proptest::prelude::*;

use crate::campaign::{campaign, config};
use crate::common::gpusched;

mod published;

const HEADER: &str = "Task ID, Job ID, Arrival min, Arrival max, Cost min, Cost max, Deadline, Priority\n";

/// Task, job, earliest and latest release, least and greatest cost, deadline, priority.
type Job = (u64, u64, u64, u64, u64, u64, u64, i64);
/// Task and job of what comes before, and of what comes after.
type Edge = (u64, u64, u64, u64);

fn judged(processors: u32, jobs: &[Job], edges: &[Edge]) -> JobSetReport {
    let row = |&(task, job, earliest, latest, least, most, deadline, priority): &Job| {
        format!("{task}, {job}, {earliest}, {latest}, {least}, {most}, {deadline}, {priority}\n")
    };
    let text = HEADER.to_owned() + &jobs.iter().map(row).collect::<String>();
    let edge = |(one, job, other, after): &Edge| format!("{one}, {job},\t{other}, {after}\n");
    let precedence = "From TID, From JID, To TID, To JID\n".to_owned() + &edges.iter().map(edge).collect::<String>();
    let set = JobSetReport::read(("jobs.csv", &text), Some(("edges.csv", &precedence)), processors).expect("sound");
    set.judged().expect("no run exceeds a bound")
}

/// (worst found, bound) of each job.
fn finishes(report: &JobSetReport) -> Vec<(u64, Option<u64>)> {
    let csv = csv_of(report);
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        (fields[4].parse().expect("it is a number"), fields[5].parse().ok())
    };
    csv.lines().skip(1).map(row).collect()
}

fn is_proven(report: &JobSetReport) -> bool {
    report.verdicts().all(|verdict| verdict == Verdict::Proven)
}

/// By hand. Job 1 may come at 2 and end at 7. On two processors the background has one until 8, so the second of the
/// two in the middle begins by then; the first may last from 7 to 13, and the last one waits for it. On one processor
/// the background may begin at 0 and hold up all of them by 8, or job 1 comes at 0 and it is last, until 24.
#[test]
fn a_diamond_of_jobs_finishes_when_a_hand_says() {
    let jobs = [
        (1, 1, 0, 2, 3, 5, 20, 1),
        (1, 2, 0, 0, 4, 6, 20, 2),
        (1, 3, 0, 0, 2, 4, 20, 3),
        (1, 4, 0, 0, 1, 1, 20, 4),
        (2, 1, 0, 0, 8, 8, 20, 5),
    ];
    let edges = [(1, 1, 1, 2), (1, 1, 1, 3), (1, 2, 1, 4), (1, 3, 1, 4)];
    let two = judged(2, &jobs, &edges);
    // The bounds do not know that both in the middle become ready at one instant: if the second did at 6 and the first
    // at 7, that would have to wait until 8.
    assert_eq!(finishes(&two), [(7, Some(7)), (13, Some(14)), (12, Some(12)), (14, Some(15)), (8, Some(8))]);
    assert!(is_proven(&two));
    // Likewise on one: the second from 12 to 16, before the first is ready at 13, which then runs until 22.
    let one = judged(1, &jobs, &edges);
    assert_eq!(finishes(&one), [(13, Some(13)), (19, Some(22)), (23, Some(23)), (24, Some(24)), (24, Some(24))]);
    let verdicts: Vec<Verdict> = one.verdicts().collect();
    assert_eq!(verdicts, [Verdict::Proven, Verdict::Open, Verdict::Missed, Verdict::Missed, Verdict::Missed]);
    // As one of the published examples has it.
    assert!(JobSetReport::is_claimed_by("TID, JID, Rmin, Rmax, Cmin, Cmax,  DL, Prio\n"));
    // The files that docs/analysis.md shows.
    let of_file = |name: &str| std::fs::read_to_string(format!("tests/data/jobs/{name}.csv")).expect("it is there");
    let (set, precedence) = (of_file("diamond"), of_file("diamond.precedence"));
    let set = JobSetReport::read(("set", &set), Some(("precedence", &precedence)), 2).expect("it is sound");
    assert_eq!(csv_of(&set.judged().expect("no run exceeds a bound")), csv_of(&two));
}

/// What takes just so long lets nothing less urgent begin before what is released when it ends: J1 has the processor
/// until 5, when J3 is released, and J2 begins at 6.
#[test]
fn least_costs_keep_less_urgent_jobs_from_beginning_early() {
    let exact = [(1, 1, 0, 0, 5, 5, 99, 1), (2, 1, 0, 0, 9, 9, 99, 3), (3, 1, 5, 5, 1, 1, 99, 2)];
    assert_eq!(finishes(&judged(1, &exact, &[])), [5, 15, 6].map(|time| (time, Some(time))));
    let mut shorter = exact;
    shorter[0].4 = 4;
    assert_eq!(finishes(&judged(1, &shorter, &[])), [5, 15, 14].map(|time| (time, Some(time))));
}

/// RTSS 2017, Fig. 1 (a), as `examples/fig1a.csv` has it, with its precedence constraints.
const FIG_1A: [Job; 9] = [
    (1, 1, 0, 0, 1, 2, 10, 10),
    (1, 2, 10, 10, 1, 2, 20, 20),
    (1, 3, 20, 20, 1, 2, 30, 30),
    (1, 4, 30, 30, 1, 2, 40, 40),
    (1, 5, 40, 40, 1, 2, 50, 50),
    (1, 6, 50, 50, 1, 2, 60, 60),
    (2, 7, 0, 0, 7, 8, 30, 30),
    (2, 8, 30, 30, 7, 7, 60, 60),
    (3, 9, 0, 0, 3, 13, 60, 60),
];
const FIG_1A_EDGES: [Edge; 7] =
    [(1, 1, 1, 2), (1, 2, 1, 3), (1, 3, 1, 4), (1, 4, 1, 5), (1, 5, 1, 6), (2, 7, 2, 8), (1, 2, 3, 9)];

#[test]
fn published_examples_have_their_published_answers() {
    // `README.md`: 0, without job 9 1, on two processors 1, with the constraints 1.
    let answer = |processors, jobs: &[Job], edges: &[Edge]| {
        let report = judged(processors, jobs, edges);
        let missed = report.verdicts().any(|verdict| verdict == Verdict::Missed);
        (is_proven(&report), missed)
    };
    assert_eq!(answer(1, &FIG_1A, &[]), (false, true));
    assert_eq!(answer(1, &FIG_1A[..8], &[]), (true, false));
    assert_eq!(answer(2, &FIG_1A, &[]), (true, false));
    assert_eq!(answer(1, &FIG_1A, &FIG_1A_EDGES), (true, false));
    // `tests/global_prec.cpp`, the first set: not on two processors, on three.
    let jobs = [
        (1, 1, 0, 6_000, 5_000, 9_000, 30_000, 30_000),
        (1, 2, 0, 6_000, 3_000, 6_000, 30_000, 30_000),
        (1, 3, 0, 6_000, 2_000, 15_000, 30_000, 30_000),
        (2, 1, 0, 3_000, 5_000, 10_000, 30_000, 30_000),
        (2, 2, 0, 3_000, 3_000, 5_000, 30_000, 30_000),
    ];
    let edges = [(1, 1, 1, 2), (1, 1, 1, 3), (2, 1, 2, 2)];
    assert!(!answer(2, &jobs, &edges).0);
    assert_eq!(answer(3, &jobs, &edges), (true, false));
}

#[test]
fn finish_times_of_published_tests_are_those_of_print() {
    // `tests/global.cpp` and `tests/state_space.cpp`, on one processor; time is whole there and here.
    let of = |jobs: &[(u64, u64, u64, i64)]| {
        let job = |(&(release, least, most, priority), task)| (task, 1, release, release, least, most, 100, priority);
        let all: Vec<Job> = jobs.iter().zip(1..).map(job).collect();
        finishes(&judged(1, &all, &[])).into_iter().map(|(_, bound)| bound.expect("it is known")).collect::<Vec<_>>()
    };
    assert_eq!(of(&[(0, 3, 8, 1), (7, 5, 5, 2), (10, 1, 11, 3)]), [8, 13, 24]);
    assert_eq!(of(&[(0, 3, 10, 3), (7, 5, 5, 2), (10, 5, 5, 1)]), [10, 20, 19]);
    assert_eq!(of(&[(0, 3, 10, 2), (0, 5, 5, 1)]), [15, 5]);
    assert_eq!(of(&[(0, 1, 5, 2), (0, 1, 20, 3), (10, 5, 5, 1)]), [5, 25, 30]);
}

fn sets() -> impl Strategy<Value = (u32, Vec<Job>, Vec<Edge>)> {
    let job = (0_u64..3, 0_u64..30, 0_u64..4, 0_u64..6, 0_u64..6, 0_i64..4);
    let jobs = prop::collection::vec(job, 1..9);
    let edges = prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..5);
    (1_u32..4, jobs, edges).prop_map(|(processors, jobs, edges)| {
        let all = jobs.len();
        let numbered = jobs.into_iter().zip(0..);
        let jobs: Vec<Job> = numbered
            .map(|((task, earliest, later, least, more, priority), job)| {
                (task, job, earliest, earliest + later, least, least + more, 40, priority)
            })
            .collect();
        let edge = |(one, other): (prop::sample::Index, prop::sample::Index)| {
            let (one, other) = (one.index(all), other.index(all));
            (one != other).then(|| {
                (jobs[one.min(other)].0, jobs[one.min(other)].1, jobs[one.max(other)].0, jobs[one.max(other)].1)
            })
        };
        let edges = edges.into_iter().filter_map(edge).collect();
        (processors, jobs, edges)
    })
}

/// Bound / worst found of every job of which both are above 0.
fn ratios((processors, jobs, edges): &(u32, Vec<Job>, Vec<Edge>)) -> Vec<f64> {
    let known = finishes(&judged(*processors, jobs, edges));
    let ratio = |(found, bound): (u64, Option<u64>)| (found > 0).then_some(bound? as f64 / found as f64);
    known.into_iter().filter_map(ratio).collect()
}

proptest! {
    #![proptest_config(config(24))]

    #[test]
    fn no_run_of_a_random_set_exceeds_a_bound(set in sets()) {
        ratios(&set);
    }
}

#[test]
#[ignore = "a long campaign"]
fn long_campaign_no_run_of_a_set_of_jobs_exceeds_a_bound() {
    println!("{}", campaign("sets of jobs", 20_000, &sets(), |set| Ok(ratios(&set))));
}

#[test]
fn what_is_wrong_in_a_set_is_said_with_its_place() {
    let read = |text: &str, edges: Option<&str>| {
        let text = HEADER.to_owned() + text;
        let edges = edges.map(|edges| format!("from, from, to, to\n{edges}"));
        let set = JobSetReport::read(("a.csv", &text), edges.as_deref().map(|edges| ("b.csv", edges)), 1);
        set.map(|_| ()).expect_err("it is wrong").to_string()
    };
    let one = "1, 1, 0, 0, 1, 2, 10, 1\n";
    for (text, edges, words) in [
        ("", None, "a.csv:1:1: expected at least one job"),
        ("1, 1, 0, 0, 1, 2, 10\n", None, "a.csv:2:1: expected 8 columns"),
        ("1, 1, 0, 0.5, 1, 2, 10, 1\n", None, "a.csv:2:10: expected a whole number"),
        ("1, 1, 3, 2, 1, 2, 10, 1\n", None, "a.csv:2:10: expected no less than the 3 before it, found 2"),
        ("1, 1, 0, 0, 1, 2, -1, 1\n", None, "a.csv:2:19: expected a whole number"),
        (&one.repeat(2), None, "a.csv:3:1: two jobs are job 1 of task 1"),
        (one, Some("1, 1, 1, 2\n"), "b.csv:2:7: there is no job 2 of task 1"),
        (one, Some("1, 1, 1, 1\n"), "b.csv:1:1: these constraints have a circle"),
        (one, Some("1, 1, 1\n"), "b.csv:2:1: expected 4 columns"),
    ] {
        let said = read(text, edges);
        assert!(said.starts_with(words), "{said}");
    }
}

#[test]
fn the_command_analyses_sets_of_jobs_and_refuses_what_they_do_not_have() {
    let set = "tests/data/jobs/diamond.csv";
    let with = |more: &[&str]| gpusched(&[&["analyze", set], more].concat());
    let precedence = ["--precedence", "tests/data/jobs/diamond.precedence.csv"];
    assert_eq!(with(&[&precedence[..], &["--processors", "2", "--check"]].concat()).status.code(), Some(0));
    assert_eq!(with(&[&precedence[..], &["--check"]].concat()).status.code(), Some(1));
    for (option, words) in [
        (&["--horizon", "1s"][..], "--horizon is for scenario files"),
        (&["--block-times", "stated"], "--block-times is about blocks"),
        (&["scenarios/deadlines/camera-to-brake.json"], "others are not"),
    ] {
        let said = crate::common::stderr(&with(option));
        assert!(said.contains(words), "{said}");
    }
    let said =
        crate::common::stderr(&gpusched(&["analyze", "scenarios/deadlines/camera-to-brake.json", "--processors", "2"]));
    assert!(said.contains("--processors is for sets of jobs"), "{said}");
}
