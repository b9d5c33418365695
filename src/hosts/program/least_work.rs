//! What a run is known to submit before it begins, and the memory that takes.

use crate::scenario::{HostThread, Scenario, Step};
use crate::time::{Duration, Instant};
use crate::trace::OperationRecord;

/// Operations that a run of the scenario submits at least, as far as its threads tell without running, and the memory
/// that their record takes, without their blocks \[bytes\].
pub fn least_work(scenario: &Scenario) -> (u64, u64) {
    let horizon = scenario.horizon.map_or(Instant::MAX, |horizon| Instant::ZERO + horizon);
    // What frees memory waits, and so do others of its process.
    let is_held = scenario.held_by_frees().is_some();
    let of_one = |thread: &HostThread| {
        let is_cut = horizon != Instant::MAX || thread.may_end_early();
        if is_held && is_cut { 0 } else { least_iterations(thread, horizon).saturating_mul(in_one_iteration(thread)) }
    };
    let operations = scenario.threads.iter().map(of_one).fold(0, u64::saturating_add);
    (operations, operations.saturating_mul(size_of::<OperationRecord>() as u64))
}

/// How many iterations are certain to begin and to go through all their steps.
fn least_iterations(thread: &HostThread, horizon: Instant) -> u64 {
    let all = thread.iterations;
    if horizon == Instant::MAX && !thread.may_end_early() {
        return all.unwrap_or(0);
    }
    let waits = |step: &Step| step.waits_for_operations() || matches!(step, Step::Sleep(_) | Step::Barrier(_));
    let first = Instant::ZERO + thread.release;
    if thread.until.is_some()
        || thread.barrier.is_some()
        || thread.works()
        || thread.steps.iter().any(waits)
        || thread.never_runs()
        || first > horizon
    {
        return 0;
    }
    // It never waits but for its releases, so nothing makes it late.
    let Some(period) = thread.period.filter(|period| *period > Duration::ZERO) else { return all.unwrap_or(0) };
    let lasts = horizon.since(first).min(thread.time_limit.unwrap_or(Duration::from_ns(u64::MAX)));
    all.unwrap_or(u64::MAX).min(lasts.as_ns().div_ceil(period.as_ns()))
}

/// How many operations one iteration submits.
fn in_one_iteration(thread: &HostThread) -> u64 {
    // What the steps before each of them submit.
    let mut before = Vec::with_capacity(thread.steps.len());
    let mut submitted = 0_u64;
    for step in &thread.steps {
        before.push(submitted);
        if let &Step::Repeat { from, times } = step {
            let once = submitted - before.get(from).copied().unwrap_or(submitted);
            submitted = submitted.saturating_add(once.saturating_mul(times.saturating_sub(1)));
        } else if step.submission().is_some() {
            submitted = submitted.saturating_add(1);
        }
    }
    submitted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::simulate;
    use crate::scenario::ReadOptions;

    fn scenario(more: &str) -> Scenario {
        let text = format!(
            r#"{{"format": "gpusched-scenario/1", "name": "n",
                "kernels": {{"K": {{"blocks": 1, "threads": 32, "duration": "1 us"}}}}, {more}}}"#
        );
        Scenario::from_json("n.json", &text, &ReadOptions::default()).expect("it is one")
    }

    /// How many a run submits.
    fn submitted(scenario: &Scenario) -> u64 {
        simulate(scenario).expect("it runs").trace.operations().len() as u64
    }

    #[test]
    fn what_threads_submit_is_known_where_nothing_else_decides() {
        let nested = r#""streams": [{"name": "s"}], "hosts": [{"name": "h", "iterations": 3, "steps": [
            {"launch": "K", "stream": "s"},
            {"repeat": 5, "steps": [
                {"launch": "K", "stream": "s"}, {"repeat": 2, "steps": [{"launch": "K", "stream": "s"}]}]}]}]"#;
        let periodic = r#""horizon": "1 ms",
            "streams": [{"name": "s", "release": "5 us", "period": "10 us", "operations": [{"kernel": "K"}]}]"#;
        for (more, least) in [(nested, 3 * (1 + 5 * 3)), (periodic, 100)] {
            let scenario = scenario(more);
            assert_eq!(least_work(&scenario).0, least, "{more}");
            assert_eq!(submitted(&scenario), least, "{more}");
        }
    }

    #[test]
    fn where_something_else_decides_it_is_no_more_than_what_is_submitted() {
        let waits = r#""horizon": "1 ms", "streams": [{"name": "s"}], "hosts": [{"name": "h", "iterations": 1000000,
            "steps": [{"launch": "K", "stream": "s"}, {"synchronize": "last"}]}]"#;
        let late = r#""horizon": "1 ms",
            "streams": [{"name": "s", "release": "2 ms", "period": "1 us", "operations": [{"kernel": "K"}]}]"#;
        for more in [waits, late] {
            let scenario = scenario(more);
            assert_eq!(least_work(&scenario).0, 0, "{more}");
            assert!(submitted(&scenario) < 1_000_000, "{more}");
        }
        let endless = scenario(
            r#""streams": [{"name": "s"}],
            "hosts": [{"name": "h", "steps": [{"repeat": 4294967295, "steps": [{"launch": "K", "stream": "s"}]}]}]"#,
        );
        assert_eq!(least_work(&endless).0, u64::from(u32::MAX));
        assert!(least_work(&endless).1 > 1 << 36);
    }
}
