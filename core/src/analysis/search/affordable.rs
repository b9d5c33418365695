//! How much is searched unless more is asked for.

use super::SearchOptions;
use crate::analysis::safe_bound::BoundOptions;
use crate::effort::{self, Counted};
use crate::run::Run;
use crate::scenario::Scenario;
use crate::spelling::option;
use crate::time::Duration;
use crate::workload::OperationKind;

/// Operations that the default search simulates at most, all runs together, so that a large scenario is not held up.
const MOST_OPERATIONS: u64 = 2_000_000;

/// Blocks that the default search simulates at most, all runs together: with times and a placement of their own, as a
/// search gives them, blocks do not come in waves, and each is worked and held by itself.
const MOST_BLOCKS: u64 = 40_000_000;

/// Blocks of one run above which it is searched only if that is asked for: a record holds all of them.
const MOST_BLOCKS_OF_A_RUN: u64 = 4_000_000;

/// Operations above which a scenario without deadlines is not searched unless that is asked for: there is nothing that
/// a bad run could miss, and each run takes as long as a simulation.
const MOST_UNJUDGED: usize = 100_000;

/// The same of blocks.
const MOST_UNJUDGED_BLOCKS: u64 = 1_000_000;

/// Jobs of a stream whose releases are not given that are made up for a search, roughly.
const JOBS_OF_A_STREAM: usize = 64;

/// How large the runs of a scenario are, so far as a search counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RunSize {
    /// Operations that are submitted.
    operations: usize,
    /// Blocks of their kernels.
    blocks: u64,
}

impl RunSize {
    /// Of a run that was made.
    fn of(run: &Run<'_>) -> Self {
        let operations = run.trace.operations();
        let blocks = operations.iter().map(|record| blocks_of(&run.scenario, record.kind)).sum();
        Self { operations: operations.len(), blocks }
    }

    /// Of [`JOBS_OF_A_STREAM`] jobs of each thread.
    fn of_made_up(scenario: &Scenario) -> Self {
        let steps = scenario.threads.iter().flat_map(|thread| &thread.steps);
        let of_one: u64 = steps.filter_map(|step| step.submission()).map(|(kind, _)| blocks_of(scenario, kind)).sum();
        let operations = JOBS_OF_A_STREAM * scenario.threads.len();
        Self { operations, blocks: of_one.saturating_mul(JOBS_OF_A_STREAM as u64) }
    }
}

/// Those of a kernel.
fn blocks_of(scenario: &Scenario, kind: OperationKind) -> u64 {
    match kind {
        OperationKind::Kernel(kernel) => {
            scenario.kernels().get(kernel.index()).map_or(0, |kernel| u64::from(kernel.blocks))
        }
        _ => 0,
    }
}

impl SearchOptions {
    /// What to search in a scenario of which `run` is the run: for `time`, or without one as many runs as do not hold
    /// its user up.
    pub fn affordable(run: &Run<'_>, time: Option<Duration>) -> Self {
        Self::of_size(&run.scenario, RunSize::of(run), time)
    }

    fn of_size(scenario: &Scenario, size: RunSize, time: Option<Duration>) -> Self {
        let mut options = Self { bound: BoundOptions::of(scenario), seed: scenario.seed, ..Self::default() };
        // That of the scenario may be one that only its device can have.
        if !options.placements.contains(&scenario.placement) {
            options.placements.push(scenario.placement);
        }
        // Of what an input may ask for, most is left for what comes before and after the search.
        let allowed = effort::left(Counted::Operations).map_or(u64::MAX, |left| left / 4);
        let by_operations = allowed.min(MOST_OPERATIONS) / (size.operations.max(1) as u64);
        // As many again are those in which blocks end early.
        let affordable = by_operations.min(MOST_BLOCKS / size.blocks.max(1)) / 2;
        if left_out(scenario, size, time).is_some() {
            return Self { placements: vec![scenario.placement], runs: 0, ..options };
        }
        let time_limit = time.map(|time| std::time::Duration::from_nanos(time.as_ns()));
        let runs = if time_limit.is_some() { options.runs } else { options.runs.min(affordable).max(1) };
        Self { runs, time_limit, ..options }
    }

    /// The same where releases are not given.
    pub fn affordable_sporadic(scenario: &Scenario, time: Option<Duration>) -> Self {
        Self::of_size(scenario, RunSize::of_made_up(scenario), time)
    }

    /// What the user should know of what [`affordable`](Self::affordable) leaves out.
    pub fn left_out_note(run: &Run<'_>, time: Option<Duration>) -> Option<String> {
        left_out(&run.scenario, RunSize::of(run), time)
    }
}

/// What is said where runs are not searched.
fn left_out(scenario: &Scenario, size: RunSize, time: Option<Duration>) -> Option<String> {
    if time.is_some() {
        return None;
    }
    let is_judged = scenario.threads.iter().any(|thread| thread.deadline().is_some());
    let RunSize { operations, blocks } = size;
    let why = if !is_judged && operations > MOST_UNJUDGED {
        format!("no job has a deadline, and {operations} operations are more than {MOST_UNJUDGED}")
    } else if !is_judged && blocks > MOST_UNJUDGED_BLOCKS {
        format!("no job has a deadline, and {blocks} blocks are more than {MOST_UNJUDGED_BLOCKS}")
    } else if blocks > MOST_BLOCKS_OF_A_RUN {
        format!("{blocks} blocks are more than {MOST_BLOCKS_OF_A_RUN}")
    } else {
        return None;
    };
    let search = option("search").with("TIME");
    Some(format!("longest responses are those of the scenario's own run: {why}; {search} looks for longer ones"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Deadline, ReadOptions};

    #[test]
    fn many_operations_without_a_deadline_are_not_searched_unless_that_is_asked_for() {
        let text = r#"{"name": "n", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "benchmarks": [{"filename":
            "timer_spin.so", "thread_count": 32, "block_count": 1, "data_size": 0, "additional_info": 5}]}"#;
        let mut scenario = Scenario::from_json("test", text, &ReadOptions::default()).expect("sound");
        let size = |operations| RunSize { operations, blocks: 0 };
        let note = |scenario: &Scenario, operations, time| left_out(scenario, size(operations), time);
        assert!(note(&scenario, MOST_UNJUDGED, None).is_none(), "few operations are searched");
        assert!(note(&scenario, MOST_UNJUDGED + 1, None).is_some_and(|note| note.contains("\"search\"")));
        let options = SearchOptions::of_size(&scenario, size(MOST_UNJUDGED + 1), None);
        assert_eq!((options.runs, &*options.placements), (0, &[scenario.placement][..]));
        assert!(note(&scenario, MOST_UNJUDGED + 1, Some(Duration::from_ns(1))).is_none());
        let many = |blocks| RunSize { operations: 1, blocks };
        let large = many(MOST_UNJUDGED_BLOCKS + 1);
        assert_eq!(SearchOptions::of_size(&scenario, large, None).runs, 0, "so are many blocks not");
        scenario.threads[0].deadline = Deadline::After(Duration::from_ns(9));
        assert!(note(&scenario, MOST_UNJUDGED + 1, None).is_none(), "a deadline may be missed in a bad run");
        assert_eq!(SearchOptions::of_size(&scenario, large, None).runs, MOST_BLOCKS / large.blocks / 2);
        assert_eq!(SearchOptions::of_size(&scenario, many(MOST_BLOCKS_OF_A_RUN), None).runs, 5);
        assert!(left_out(&scenario, many(MOST_BLOCKS_OF_A_RUN + 1), None).is_some());
    }

    #[test]
    fn the_placement_of_the_scenario_is_searched_also_where_not_every_device_can_have_it() {
        let text = r#"{"format": "gpusched-scenario/1", "name": "n", "device": "b200",
            "kernels": {"k": {"blocks": 1, "threads": 32, "duration": "1 ms"}},
            "streams": [{"name": "s", "operations": [{"kernel": "k"}]}]}"#;
        let scenario = Scenario::from_json("test", text, &ReadOptions::default()).expect("sound");
        assert!(scenario.placement.goes_by_gpcs());
        let others = SearchOptions::default().placements;
        assert_eq!(
            SearchOptions::of_size(&scenario, RunSize { operations: 1, blocks: 1 }, None).placements,
            [&others[..], &[scenario.placement]].concat()
        );
    }
}
