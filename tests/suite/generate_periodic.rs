//! Random scenarios that go on for long: those of `generate` and `generate_processes`, with threads that come again and
//! again, mostly by few different periods, so that many are soon where they were before; a fifth of them on cores.

use gpusched::scenario::{Deadline, HostThread, Scenario, Step};
use gpusched::time::Duration;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::cores::{cores, on_cores};
use crate::generate::{Case, Limits, scenario};
use crate::generate_processes::with_processes;
use crate::green_contexts::with_green_contexts;
use crate::programmatic::with_programmatic_launches;

/// How a thread goes on: period, release, iterations, time limit, deadline, and how long it sleeps where nothing else
/// lets time pass.
type Raw = (Option<u64>, u64, Option<u64>, Option<u64>, u64, u64);

fn raw(most: u64) -> impl Strategy<Value = Raw> {
    let period = prop_oneof![6 => select(vec![8_u64, 12, 16, 24, 48]), 1 => 3_u64..60];
    (
        option::weighted(0.75, period),
        prop_oneof![Just(0_u64), 0_u64..40],
        option::weighted(0.3, 20..most / 8),
        option::weighted(0.2, most / 8..most),
        0_u64..60,
        1_u64..9,
    )
}

fn ns(duration: u64) -> Duration {
    Duration::from_ns(duration)
}

fn goes_on(thread: HostThread, raw: Raw, has_horizon: bool) -> HostThread {
    let (period, release, iterations, time_limit, deadline, sleep) = raw;
    let mut steps = thread.steps;
    if period.is_none() {
        steps.push(Step::Sleep(ns(sleep)));
    }
    HostThread {
        steps,
        period: period.map(ns),
        release: ns(release),
        iterations: if has_horizon { iterations } else { Some(iterations.unwrap_or(100)) },
        time_limit: time_limit.map(ns),
        deadline: if deadline % 3 == 0 { Deadline::Period } else { Deadline::After(ns(deadline)) },
        ..thread
    }
}

/// A scenario that goes on until about `most` \[ns\].
pub(crate) fn periodic(most: u64) -> impl Strategy<Value = Case> {
    const VARYING: Limits = Limits { varying: true, ..Limits::ALL };
    const EQUAL: Limits = Limits { equal_blocks: true, ..Limits::MANY_BLOCKS };
    let launches = (scenario(Limits::ALL), any::<u64>());
    let launches = launches.prop_map(|(Case(scenario), seed)| Case(with_programmatic_launches(scenario, seed)));
    let green = (scenario(Limits::ALL), any::<u64>());
    let green = green.prop_map(|(Case(scenario), seed)| Case(with_green_contexts(scenario, seed)));
    let case = prop_oneof![
        6 => scenario(Limits::ALL),
        2 => scenario(Limits::MANY_BLOCKS),
        1 => scenario(VARYING),
        1 => scenario(EQUAL),
        3 => launches,
        3 => green,
        6 => with_processes(Limits::ALL, false),
        2 => with_processes(Limits::ALL, true),
    ];
    let horizon = option::weighted(0.8, most / 4..most);
    (case, vec(raw(most), 5), horizon, option::weighted(0.2, cores())).prop_map(
        |(Case(scenario), raw, horizon, cores)| {
            let threads = scenario.threads.iter().cloned().zip(raw);
            let threads = threads.map(|(thread, raw)| goes_on(thread, raw, horizon.is_some())).collect();
            let case = Case(Scenario { threads, horizon: horizon.map(ns), ..scenario });
            cores.map_or(case.clone(), |cores| Case(on_cores(case, &cores)))
        },
    )
}
