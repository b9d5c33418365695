//! SMs that a picture need not show one by one: those on which nothing runs, and those that look alike; and SMs on
//! which more ran than they have room for, which only a measurement shows.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::time::{Duration, Instant};
use crate::trace::RepeatedRun;
use crate::workload::OperationId;

/// Blocks of one launch that ran on one SM.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SmRun {
    pub(crate) operation: OperationId,
    /// What all blocks that run at one time take of the resource shown.
    pub(crate) units: u64,
    pub(crate) run: RepeatedRun,
}

/// SMs that look alike, in ascending order; one that looks like no other is a group of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SmGroup {
    pub(crate) sms: Vec<u32>,
    pub(crate) idle: bool,
}

/// The groups of `sms`, in the order of their first SMs. On two SMs that look alike as many blocks of the same launches
/// run, and each starts and ends on both within `tolerance`.
pub(crate) fn sm_groups(sms: &[u32], runs: &BTreeMap<u32, Vec<SmRun>>, tolerance: Duration) -> Vec<SmGroup> {
    let mut groups: Vec<(SmGroup, Vec<SmRun>)> = Vec::new();
    let mut by_work: FxHashMap<Vec<(OperationId, u64)>, Vec<usize>> = FxHashMap::default();
    for &sm in sms {
        let mut own = runs.get(&sm).cloned().unwrap_or_default();
        crate::sorted::sort_by_key(&mut own, |run| (run.operation, run.run.first.start, run.run.end(), run.units));
        let mut work: Vec<(OperationId, u64)> = own.iter().map(|run| (run.operation, run.run.blocks())).collect();
        work.sort_unstable();
        let candidates = by_work.entry(work).or_default();
        let same = candidates.iter().find(|&&group| look_alike(&groups[group].1, &own, tolerance));
        if let Some(&group) = same {
            groups[group].0.sms.push(sm);
        } else {
            candidates.push(groups.len());
            groups.push((SmGroup { sms: vec![sm], idle: own.is_empty() }, own));
        }
    }
    groups.into_iter().map(|(group, _)| group).collect()
}

fn look_alike(one: &[SmRun], other: &[SmRun], tolerance: Duration) -> bool {
    let near = |a: Instant, b: Instant| a.max(b).since(a.min(b)) <= tolerance;
    one.iter().zip(other).all(|(one, other)| {
        let same = (one.operation, one.units, one.run.times) == (other.operation, other.units, other.run.times);
        same && near(one.run.first.start, other.run.first.start) && near(one.run.end(), other.run.end())
    })
}

/// The most that runs on one SM take at one time.
pub(crate) fn peak_units(runs: &[SmRun]) -> u64 {
    let mut changes: Vec<(Instant, bool, u64)> = Vec::with_capacity(2 * runs.len());
    let mut peak = 0;
    for run in runs {
        peak = peak.max(run.units);
        // What takes no time takes nothing from the others; its end would come before its beginning below.
        if run.run.first.start < run.run.end() {
            changes.push((run.run.first.start, true, run.units));
            changes.push((run.run.end(), false, run.units));
        }
    }
    // Ends come before beginnings.
    changes.sort_unstable();
    let mut taken: u64 = 0;
    for (_, begins, units) in changes {
        taken = if begins { taken.saturating_add(units) } else { taken.saturating_sub(units) };
        peak = peak.max(taken);
    }
    peak
}

/// SMs as a list of ranges: `0-3,8`.
pub(crate) fn sm_list(sms: &[u32]) -> String {
    let ranges: Vec<String> = ranges(sms).iter().map(|(first, last)| range(*first, *last)).collect();
    ranges.join(",")
}

/// The same with no more than the first two ranges and the last one: `1,3,…,79`.
pub(crate) fn short_sm_list(sms: &[u32]) -> String {
    let ranges = ranges(sms);
    match ranges[..] {
        [one, two, .., last] if ranges.len() > 3 => {
            format!("{},{},…,{}", range(one.0, one.1), range(two.0, two.1), range(last.0, last.1))
        }
        _ => sm_list(sms),
    }
}

fn range(first: u32, last: u32) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

fn ranges(sms: &[u32]) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for &sm in sms {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(sm) => *last = sm,
            _ => ranges.push((sm, sm)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::BlockRun;

    fn run(operation: u32, sm: u16, (start, end): (u64, u64), units: u64) -> SmRun {
        let (start, end) = (Instant::from_ns(start), Instant::from_ns(end));
        let first = BlockRun { sm, blocks: 1, start, end, first_block: 0 };
        SmRun { operation: OperationId(operation), units, run: RepeatedRun { first, times: 1 } }
    }

    #[test]
    fn sms_that_look_alike_and_idle_ones_are_grouped() {
        let runs = BTreeMap::from([
            (0, vec![run(0, 0, (0, 100), 8)]),
            (2, vec![run(0, 2, (1, 99), 8)]),
            (4, vec![run(0, 4, (0, 150), 8)]),
            (5, vec![run(1, 5, (0, 100), 8)]),
        ]);
        let groups = sm_groups(&[0, 1, 2, 3, 4, 5, 6], &runs, Duration::from_ns(2));
        let lists: Vec<(String, bool)> = groups.iter().map(|group| (sm_list(&group.sms), group.idle)).collect();
        let expected = [("0,2", false), ("1,3,6", true), ("4", false), ("5", false)];
        assert_eq!(lists, expected.map(|(list, idle)| (list.to_owned(), idle)).to_vec());
    }

    #[test]
    fn the_peak_counts_what_overlaps_and_not_what_follows() {
        let runs = [run(0, 0, (0, 10), 5), run(1, 0, (10, 20), 6), run(2, 0, (15, 25), 7), run(3, 0, (30, 30), 9)];
        assert_eq!(peak_units(&runs), 13);
        assert_eq!(peak_units(&runs[3..]), 9);
    }

    #[test]
    fn what_takes_no_time_stays_in_no_sum() {
        // 5 and 3 at one time, 9 for no time in between.
        let runs = [run(0, 0, (0, 10), 5), run(1, 0, (5, 5), 9), run(2, 0, (6, 8), 3)];
        assert_eq!(peak_units(&runs), 9);
    }

    #[test]
    fn long_lists_of_sms_have_a_short_form() {
        let odd: Vec<u32> = (0..40).map(|n| 2 * n + 1).collect();
        assert_eq!(short_sm_list(&odd), "1,3,…,79");
        assert_eq!((short_sm_list(&[0, 1, 2, 9]), sm_list(&[12, 13, 14])), ("0-2,9".to_owned(), "12-14".to_owned()));
    }
}
