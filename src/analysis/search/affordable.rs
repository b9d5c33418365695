//! How much is searched unless more is asked for.

use super::SearchOptions;
use crate::analysis::bound_options::BoundOptions;
use crate::effort::{self, Counted};
use crate::scenario::{HostThread, Scenario};
use crate::spelling::option;
use crate::time::Duration;

/// Operations that the default search simulates at most, all runs together, so that a large scenario is not held up.
const MOST_OPERATIONS: u64 = 2_000_000;

/// Operations above which a scenario without deadlines is not searched unless that is asked for: there is nothing that
/// a bad run could miss, and each run takes as long as a simulation.
const MOST_UNJUDGED: usize = 100_000;

/// Jobs of a stream whose releases are not given that are made up for a search, roughly.
const JOBS_OF_A_STREAM: usize = 64;

impl SearchOptions {
    /// What to search in a scenario whose simulation submits `operations` operations: for `time`, or without one as
    /// many runs as do not hold its user up.
    pub fn affordable(scenario: &Scenario, operations: usize, time: Option<Duration>) -> Self {
        let mut options = Self { bound: BoundOptions::of(scenario), seed: scenario.seed, ..Self::default() };
        // That of the scenario may be one that only its device can have.
        if !options.placements.contains(&scenario.placement) {
            options.placements.push(scenario.placement);
        }
        // Of what an input may ask for, most is left for what comes before and after the search.
        let allowed = effort::left(Counted::Operations).map_or(u64::MAX, |left| left / 4);
        let affordable = allowed.min(MOST_OPERATIONS) / (operations.max(1) as u64);
        if is_left_out(scenario, operations, time) {
            return Self { placements: vec![scenario.placement], runs: 0, ..options };
        }
        let time_limit = time.map(|time| std::time::Duration::from_nanos(time.as_ns()));
        let runs = if time_limit.is_some() { options.runs } else { options.runs.min(affordable).max(1) };
        Self { runs, time_limit, ..options }
    }

    /// The same where releases are not given.
    pub fn affordable_sporadic(scenario: &Scenario, time: Option<Duration>) -> Self {
        Self::affordable(scenario, JOBS_OF_A_STREAM * scenario.threads.len(), time)
    }

    /// What the user should know of what [`affordable`](Self::affordable) leaves out.
    pub fn left_out_note(scenario: &Scenario, operations: usize, time: Option<Duration>) -> Option<String> {
        is_left_out(scenario, operations, time).then(|| {
            format!(
                "longest responses are those of the scenario's own run: no job has a deadline, and {operations} operations \
                 are more than {MOST_UNJUDGED}; {} looks for longer ones",
                option("search").with("TIME")
            )
        })
    }
}

fn is_left_out(scenario: &Scenario, operations: usize, time: Option<Duration>) -> bool {
    let has_deadline = |thread: &HostThread| thread.deadline().is_some();
    time.is_none() && operations > MOST_UNJUDGED && !scenario.threads.iter().any(has_deadline)
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
        let note = |scenario: &Scenario, operations, time| SearchOptions::left_out_note(scenario, operations, time);
        assert!(note(&scenario, MOST_UNJUDGED, None).is_none(), "few operations are searched");
        assert!(note(&scenario, MOST_UNJUDGED + 1, None).is_some_and(|note| note.contains("\"search\"")));
        let options = SearchOptions::affordable(&scenario, MOST_UNJUDGED + 1, None);
        assert_eq!((options.runs, &*options.placements), (0, &[scenario.placement][..]));
        assert!(note(&scenario, MOST_UNJUDGED + 1, Some(Duration::from_ns(1))).is_none());
        scenario.threads[0].deadline = Deadline::After(Duration::from_ns(9));
        assert!(note(&scenario, MOST_UNJUDGED + 1, None).is_none(), "a deadline may be missed in a bad run");
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
            SearchOptions::affordable(&scenario, 1, None).placements,
            [&others[..], &[scenario.placement]].concat()
        );
    }
}
