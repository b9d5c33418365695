//! What an experiment looks at: the same of measured and of simulated blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::file::{LooksAt, Question};
use crate::audit::{ObservedKernel, ObservedOperation, ObservedRun, Tolerances, explained_by_device};
use crate::limits::count_turn;
use crate::sorted::sort_by_key;

/// Instants no further apart than this \[ns\] are one: experiments tell answers apart by more than a millisecond.
const TOLERANCE_NS: i64 = 300_000;
/// A block is stretched that takes longer than this many times what its scenario says.
const STRETCHED: f64 = 1.5;

/// What was seen in one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Seen {
    /// In words; runs in which these are the same answer alike.
    pub words: String,
    /// Numbers, by the key of a device file.
    pub values: Vec<(String, f64)>,
    /// Of a placement alone: the SM of each block.
    pub sms: Vec<u32>,
    /// Of a placement alone: how many blocks are where the device of the run tells, of how many whose SM it tells.
    pub explained: [usize; 2],
}

/// A kernel launch with what is looked at of it \[ns\].
struct Launch<'a> {
    name: &'a str,
    kernel: &'a ObservedKernel,
    stream: usize,
    process: usize,
    launched: i64,
    first_start: i64,
    last_start: i64,
    end: i64,
}

impl<'a> Launch<'a> {
    fn all(run: &'a ObservedRun) -> Vec<Self> {
        let launch = |operation: &'a ObservedOperation| {
            let kernel = operation.kernel()?;
            let starts = || kernel.blocks.times.iter().map(|[start, _]| start.as_ns());
            Some(Launch {
                name: &operation.name,
                kernel,
                stream: operation.stream,
                process: run.streams.get(operation.stream).map_or(0, |stream| stream.process),
                launched: operation.launched_ns[1].as_ns(),
                first_start: starts().min()?,
                last_start: starts().max()?,
                end: kernel.blocks.times.iter().map(|[_, end]| end.as_ns()).max()?,
            })
        };
        run.operations.iter().filter_map(launch).collect()
    }
}

/// Looks at one run; `stated_ns` is how long blocks of a kernel should take.
pub(super) fn look(run: &ObservedRun, question: &Question, stated_ns: impl Fn(&str) -> Option<f64>) -> Seen {
    let launches = Launch::all(run);
    let of = |key: &str, value: Option<f64>| value.map(|value| (key.to_owned(), value)).into_iter().collect::<Vec<_>>();
    match question.looks_at {
        LooksAt::Order => Seen { words: order(&launches, &question.pairs), ..Seen::default() },
        LooksAt::Resident => resident(&launches, &question.measures),
        LooksAt::Placement => placement(run, &launches),
        LooksAt::BlockTime => Seen { words: block_time(&launches, stated_ns), ..Seen::default() },
        LooksAt::BlockGap => Seen { values: of("block_gap_ns", block_gap(&launches)), ..Seen::default() },
        LooksAt::KernelGap => Seen { values: of("kernel_gap_ns", kernel_gap(&launches)), ..Seen::default() },
        LooksAt::LaunchLatency => {
            let latencies = launches.iter().map(|launch| launch.first_start.saturating_sub(launch.launched)).collect();
            Seen { values: of("launch_latency_ns", median(latencies)), ..Seen::default() }
        }
        LooksAt::Turns => Seen { values: turns(&launches), ..Seen::default() },
    }
}

/// In an order that does not depend on what was launched first at an instant.
fn by_name<'l, 'a>(launches: &'l [Launch<'a>]) -> Vec<&'l Launch<'a>> {
    let mut all: Vec<&Launch<'_>> = launches.iter().collect();
    sort_by_key(&mut all, |launch| (launch.name, launch.first_start));
    all
}

/// How each kernel stands to those that began before it. What begins at one instant counts by name, as clocks do not
/// tell in which order it was launched.
fn order(launches: &[Launch<'_>], pairs: &[[String; 2]]) -> String {
    let launches = by_name(launches);
    let mut words = Vec::new();
    for (place, one) in launches.iter().enumerate() {
        for other in &launches[place + 1..] {
            let names = |pair: &[String; 2]| [&*pair[0], &*pair[1]] == [one.name, other.name];
            let swapped = |pair: &[String; 2]| [&*pair[1], &*pair[0]] == [one.name, other.name];
            if !pairs.is_empty() && !pairs.iter().any(|pair| names(pair) || swapped(pair)) {
                continue;
            }
            let is_swapped = other.first_start < one.first_start.saturating_sub(TOLERANCE_NS);
            let (first, second) = if is_swapped { (other, one) } else { (one, other) };
            let is_since = |at: i64| second.first_start >= at.saturating_sub(TOLERANCE_NS);
            let relation = match (is_since(first.last_start), is_since(first.end)) {
                (_, true) => "after",
                (true, _) => "behind",
                _ => "beside",
            };
            words.push(format!("{} {relation} {}", second.name, first.name));
        }
    }
    words.join(", ")
}

/// The most blocks at once on one SM, and the number of different SMs, by kernel.
fn resident(launches: &[Launch<'_>], measures: &[(String, f64)]) -> Seen {
    let mut seen = Seen::default();
    // Numbers are those of the first launch. Words go by name, as clocks do not tell in which order it was launched.
    let measured = launches.first().map(|launch| launch.name);
    let launches = by_name(launches);
    let names: Vec<&str> = launches.iter().map(|launch| launch.name).collect();
    for (_, name) in names.iter().enumerate().filter(|(place, name)| !names[..*place].contains(name)) {
        let mut changes: BTreeMap<u32, Vec<(i64, i32)>> = BTreeMap::new();
        let own = launches.iter().filter(|launch| launch.name == *name);
        for block in own.flat_map(|launch| launch.kernel.blocks.iter()) {
            count_turn();
            let on_it = changes.entry(block.sm).or_default();
            on_it.extend([(block.start_ns.as_ns(), 1), (block.end_ns.as_ns(), -1)]);
        }
        let most_on = |all: &mut Vec<(i64, i32)>| {
            sort_by_key(all, |change| *change);
            let at_once = all.iter().scan(0, |now, (_, change)| {
                *now += change;
                Some(*now)
            });
            at_once.max().unwrap_or(0)
        };
        let sms = changes.len();
        let most = changes.values_mut().map(most_on).max().unwrap_or(0);
        let separator = if seen.words.is_empty() { "" } else { ", " };
        let _ = write!(seen.words, "{separator}{name}: {most} on one of {sms} SMs");
        if measured == Some(*name) {
            seen.values.extend(measures.iter().map(|(key, factor)| (key.clone(), f64::from(most) * factor)));
        }
    }
    seen
}

fn placement(run: &ObservedRun, launches: &[Launch<'_>]) -> Seen {
    let (decidable, followed) = explained_by_device(run, &Tolerances::default());
    let sms = by_name(launches).into_iter().flat_map(|launch| launch.kernel.blocks.sms.iter().copied()).collect();
    Seen { sms, explained: [followed, decidable], ..Seen::default() }
}

fn block_time(launches: &[Launch<'_>], stated_ns: impl Fn(&str) -> Option<f64>) -> String {
    let first = launches.first();
    let longest = first.and_then(|launch| {
        launch.kernel.blocks.iter().map(|block| block.end_ns.as_ns().saturating_sub(block.start_ns.as_ns())).max()
    });
    let stated = first.and_then(|launch| stated_ns(launch.name));
    match (longest, stated) {
        (Some(longest), Some(stated)) if longest as f64 > STRETCHED * stated => "longer than stated".to_owned(),
        (Some(_), Some(_)) => "as long as stated".to_owned(),
        _ => "no block".to_owned(),
    }
}

/// Of kernels of one block an SM.
fn block_gap(launches: &[Launch<'_>]) -> Option<f64> {
    let mut by_sm: BTreeMap<u32, Vec<[i64; 2]>> = BTreeMap::new();
    for launch in launches {
        for block in launch.kernel.blocks.iter() {
            by_sm.entry(block.sm).or_default().push([block.start_ns.as_ns(), block.end_ns.as_ns()]);
        }
    }
    let mut gaps = Vec::new();
    for mut on_sm in by_sm.into_values() {
        sort_by_key(&mut on_sm, |block| *block);
        gaps.extend(on_sm.windows(2).map(|pair| pair[1][0].saturating_sub(pair[0][1])));
    }
    median(gaps)
}

fn kernel_gap(launches: &[Launch<'_>]) -> Option<f64> {
    let mut last: BTreeMap<usize, i64> = BTreeMap::new();
    let gap =
        |launch: &Launch<'_>| last.insert(launch.stream, launch.end).map(|end| launch.first_start.saturating_sub(end));
    median(launches.iter().filter_map(gap).collect())
}

/// Starts of blocks of one process, one after another, are of one turn.
fn turns(launches: &[Launch<'_>]) -> Vec<(String, f64)> {
    let starts = |launch: &Launch<'_>| {
        let process = launch.process;
        launch.kernel.blocks.iter().map(move |block| (block.start_ns.as_ns(), process)).collect::<Vec<_>>()
    };
    let mut all: Vec<(i64, usize)> = launches.iter().flat_map(starts).collect();
    sort_by_key(&mut all, |one| *one);
    // First and last start of each turn.
    let mut turns: Vec<(usize, i64, i64)> = Vec::new();
    for (start, process) in all {
        match turns.last_mut() {
            Some((of, _, last)) if *of == process => *last = start,
            _ => turns.push((process, start, start)),
        }
    }
    if turns.iter().map(|turn| turn.0).collect::<BTreeSet<_>>().len() < 2 {
        return Vec::new();
    }
    let switches = turns.windows(2).map(|pair| pair[1].1.saturating_sub(pair[0].2)).collect();
    // The first turn begins before another has work, and the last ends for want of it.
    let whole = turns.windows(2).skip(1).map(|pair| pair[1].1.saturating_sub(pair[0].1)).collect();
    match (median(whole), median(switches)) {
        (Some(whole), Some(switch)) => {
            vec![("time_slice_ns".to_owned(), whole - switch), ("switch_cost_ns".to_owned(), switch)]
        }
        _ => Vec::new(),
    }
}

/// The middle one, of two the lower.
fn median(mut all: Vec<i64>) -> Option<f64> {
    sort_by_key(&mut all, |one| *one);
    all.get(all.len().saturating_sub(1) / 2).map(|middle| *middle as f64)
}
