//! Which SMs share a band, and how high each band is. A picture need not show SMs one by one on which nothing runs, or
//! that look alike; and on some more ran than they have room for, which only a measurement shows.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::context::Context;
use super::{BandLook, blocks};
use crate::draw::{Length, MM, as_length};
use crate::pictures::timeline_model::{self, LaunchBlocks, most_at_once};
use crate::proven::OrMost;
use crate::time::{Duration, Instant};
use crate::trace::RepeatedRun;
use crate::workload::{GreenContext, OperationId};

/// What all bands together should take, if that is not too much or too little for one.
const TOGETHER: Length = 64 * MM;
/// High enough for the label of a block of 256 threads on an SM of 2048.
const HIGHEST: Length = 22 * MM;
const LOWEST: Length = 3 * MM / 2;
/// Bands that stand for several SMs are at least so high, so that their names always have room.
pub(super) const LEAST_NAMED: Length = 5 * MM / 2;
/// What bands of means should take together.
const MEANS: Length = 80 * MM;
/// Bands of means should be as high as this.
const MEAN: Length = 5 * MM;
/// Bands at least this high have marks that say how much their height is.
const HIGH_ENOUGH_FOR_MARKS: Length = 8 * MM;
/// A band of more than fits grows with it, up to so many times; beyond that its scale shrinks.
const MOST_GROWTH: u32 = 4;
/// Where more than a fourth is in use at some time, bands stand for all that an SM has, as print shows them.
const LEAST_ZOOM: u32 = 4;
/// SMs look alike if what runs on them begins and ends within this on paper.
const ALIKE: Length = MM / 5;

/// One band, without its place.
#[derive(Debug, Clone)]
pub(super) struct PlannedBand {
    /// Its SMs; the first one stands for those that look alike.
    pub(super) sms: Vec<u32>,
    pub(super) look: BandLook,
    /// The most that one of its SMs holds at one time, if that is more than it has room for.
    pub(super) overfull: Option<u32>,
    pub(super) height: Length,
    /// The green contexts that have all of its SMs; empty: none.
    green_contexts: String,
}

pub(super) struct Plan {
    pub(super) bands: Vec<PlannedBand>,
    pub(super) gap: Length,
    /// The height of a band of one SM that is not overfull.
    pub(super) height: Length,
    /// Which part of what an SM has such a band stands for: 4 for a quarter.
    pub(super) zoom: u32,
    /// Lines below the bands, by SM, and rows that they take.
    pub(super) spans: Vec<Vec<blocks::BlockLine>>,
    thin_rows: usize,
}

impl Plan {
    /// Bands for the SMs of the figure; together they are as high as `room` if they can be that low.
    pub(super) fn new(context: &Context<'_>, room: Length) -> Self {
        let device = context.summary.scenario.device();
        // Beside hosts that only work, SMs are nothing to look at, unless they are asked for.
        let scenario = context.summary.scenario;
        let has_hosts_alone = !scenario.uses_gpu() && scenario.threads.iter().any(|thread| thread.core.is_some());
        let hides_sms =
            has_hosts_alone && context.options.sms.is_none() && context.summary.trace.operations().is_empty();
        let sms = if hides_sms { Vec::new() } else { context.options.shown_sms(device) };
        let (spans, thin_rows) = blocks::thin_spans(context, context.summary.trace.sms() as usize);
        // Only a measured SM can be overfull, and only small kernels leave most of one unused.
        let (folds, measured) = (context.options.folds(device), context.summary.trace.is_observed());
        let are_needed = folds || measured || has_small_blocks(context);
        let runs = if are_needed { runs_by_sm(context, &sms) } else { BTreeMap::new() };
        let peaks: BTreeMap<u32, u64> = runs.iter().map(|(sm, runs)| (*sm, peak(context, runs))).collect();
        let zoom = zoom(context, peaks.values().copied().max().unwrap_or(0));
        let groups = if folds {
            sm_groups(&sms, &runs, alike_within(context))
        } else {
            sms.into_iter().map(|sm| SmGroup { sms: vec![sm], idle: false }).collect()
        };
        let band = |group: SmGroup| {
            let look = match group.sms.len() {
                0 | 1 => BandLook::One,
                _ if group.idle => BandLook::Idle,
                _ => BandLook::Alike,
            };
            let peak = group.sms.first().and_then(|sm| peaks.get(sm)).copied().unwrap_or(0);
            let peak = u32::try_from(peak).or_most();
            let overfull = (peak > context.capacity()).then_some(peak);
            PlannedBand::new(group.sms, look, overfull)
        };
        let bands: Vec<PlannedBand> = groups.into_iter().map(band).collect();
        let mut plan = Self { bands, gap: 0, height: 0, zoom, spans, thin_rows };
        plan.fit(context, room);
        let (trace, device) = (context.summary.trace, context.summary.scenario.device());
        for band in &mut plan.bands {
            let has_all = |green: &&GreenContext| band.sms.iter().all(|&sm| green.mask.enables_sm(sm, device));
            let names: Vec<&str> = trace.green_contexts().iter().filter(has_all).map(|green| &*green.name).collect();
            band.green_contexts = names.join(", ");
        }
        plan
    }

    /// Heights that fit the room, the highest first; bands of means if even the lowest are too high.
    fn fit(&mut self, context: &Context<'_>, room: Length) {
        let (highest, gap) = heights(self.bands.iter().filter(|band| band.look != BandLook::Idle).count());
        for height in (LOWEST..=highest).rev().step_by(10) {
            self.gap = if height < highest { 0 } else { gap };
            self.set_heights(height, context.capacity());
            if self.total() <= room {
                return;
            }
        }
        if context.options.folds(context.summary.scenario.device()) {
            self.take_means(context, room);
        }
    }

    fn set_heights(&mut self, height: Length, capacity: u32) {
        self.height = height;
        for band in &mut self.bands {
            let own = match band.look {
                BandLook::One => height,
                BandLook::Alike | BandLook::Mean { .. } => height.max(LEAST_NAMED),
                BandLook::Idle => LEAST_NAMED,
            };
            let growth = i64::from(band.overfull.unwrap_or(capacity).min(capacity.saturating_mul(MOST_GROWTH)));
            band.height = own * growth / i64::from(capacity.max(1));
        }
    }

    /// The height of all bands with what is between and below them.
    pub(super) fn total(&self) -> Length {
        let bands: Length = self.bands.iter().map(|band| band.height + self.below() + self.gap).sum();
        (bands - self.gap).max(0)
    }

    pub(super) fn below(&self) -> Length {
        blocks::LINE_STEP * as_length(self.thin_rows)
    }

    /// SMs that differ share bands of their means, but for overfull ones as far as these have room.
    fn take_means(&mut self, context: &Context<'_>, room: Length) {
        let room = room.min(MEANS);
        let (mut kept, mut others): (Vec<PlannedBand>, Vec<PlannedBand>) = std::mem::take(&mut self.bands)
            .into_iter()
            .partition(|band| band.look == BandLook::Idle || band.overfull.is_some());
        self.bands.clone_from(&kept);
        self.set_heights(LOWEST, context.capacity());
        if self.total() > room - MEAN {
            let (idle, overfull) = kept.into_iter().partition(|band| band.look == BandLook::Idle);
            kept = idle;
            others.extend::<Vec<PlannedBand>>(overfull);
            self.bands.clone_from(&kept);
            self.set_heights(LOWEST, context.capacity());
        }
        let overfull: Vec<u32> =
            others.iter().filter(|band| band.overfull.is_some()).flat_map(|band| &band.sms).copied().collect();
        let mut sms: Vec<u32> = others.into_iter().flat_map(|band| band.sms).collect();
        sms.sort_unstable();
        let room = (room - self.total()).max(LEAST_NAMED);
        let most = usize::try_from(room / (MEAN + self.below())).unwrap_or(1).clamp(1, sms.len().max(1));
        let each = sms.len().div_ceil(most).max(1);
        for chunk in sms.chunks(each) {
            let look = match chunk {
                [_] => BandLook::One,
                _ => BandLook::Mean { overfull: chunk.iter().filter(|sm| overfull.contains(sm)).count() },
            };
            kept.push(PlannedBand::new(chunk.to_vec(), look, None));
        }
        crate::sorted::sort_by_key(&mut kept, |band| band.sms.first().copied());
        self.bands = kept;
        let means = as_length(sms.len().div_ceil(each)).max(1);
        self.set_heights((room / means - self.below()).clamp(LEAST_NAMED, MEAN), context.capacity());
    }

    /// What the height of a band of one SM stands for that is not overfull.
    pub(super) fn shown(&self, context: &Context<'_>) -> u32 {
        context.capacity() / self.zoom.max(1)
    }

    /// Whether bands have marks that say how much their height is.
    pub(super) fn have_marks(&self) -> bool {
        self.height >= HIGH_ENOUGH_FOR_MARKS && !self.bands.is_empty()
    }
}

impl PlannedBand {
    /// Without its height and the green contexts that have its SMs.
    fn new(sms: Vec<u32>, look: BandLook, overfull: Option<u32>) -> Self {
        Self { sms, look, overfull, height: 0, green_contexts: String::new() }
    }

    /// What the band is called, the whole name and shorter ones.
    pub(super) fn names(&self) -> Vec<String> {
        let says = match self.look {
            BandLook::One => String::new(),
            BandLook::Idle => ": idle".to_owned(),
            BandLook::Alike => format!(": as SM {}", self.sms.first().unwrap_or(&0)),
            BandLook::Mean { overfull: 0 } => ": mean".to_owned(),
            BandLook::Mean { overfull } => format!(": mean, {overfull} overfull"),
        };
        let (whole, short) = (sm_list(&self.sms), short_sm_list(&self.sms));
        let mut plain = vec![format!("SM {whole}{says}"), format!("SM {short}{says}")];
        if self.sms.len() > 1 {
            plain.push(format!("{} SMs{says}", self.sms.len()));
        }
        let mut names = Vec::new();
        if !self.green_contexts.is_empty() {
            names.extend(plain.iter().map(|name| format!("{name} ({})", self.green_contexts)));
            names.extend((self.sms.len() > 1).then(|| format!("{} SMs ({})", self.sms.len(), self.green_contexts)));
        }
        names.extend(plain);
        names.dedup();
        names
    }
}

/// How high each of `count` bands is where there is room, and what is between them.
fn heights(count: usize) -> (Length, Length) {
    let count = as_length(count.max(1));
    let height = (TOGETHER / count).clamp(LOWEST, HIGHEST);
    // Low bands touch: two frames would be all that is seen.
    (height, if height < 3 * MM { 0 } else { (height / 10).min(MM) })
}

/// How much less than all that an SM has its band stands for: as much as is ever in use, if that is at most a quarter.
/// Halves of halves, so that what the height stands for is a number that a reader can relate to the whole.
fn zoom(context: &Context<'_>, peak: u64) -> u32 {
    let capacity = context.capacity();
    let fits = |zoom: &u32| {
        capacity.is_multiple_of(*zoom) && u64::from(capacity / zoom) >= peak && *zoom <= context.options.most_zoom
    };
    let halves = (0..u32::BITS).map(|times| 1 << times).take_while(fits).last().unwrap_or(1);
    if peak > 0 && halves >= LEAST_ZOOM { halves } else { 1 }
}

/// Whether bands may be enlarged as far as it is up to single blocks that the window shows.
fn has_small_blocks(context: &Context<'_>) -> bool {
    let most = context.capacity() / LEAST_ZOOM;
    let mut seen = timeline_model::launches(&context.summary).filter(|LaunchBlocks { record, .. }| {
        let start = record.first_start();
        start.is_some_and(|start| context.scale.shows(start, record.finish().unwrap_or(Instant::MAX)))
    });
    context.options.most_zoom >= LEAST_ZOOM && seen.all(|launch| context.units(launch.kernel) <= most)
}

/// The most that is on an SM at one time: of each context by itself, as those whose turn it is not are suspended.
fn peak(context: &Context<'_>, runs: &[SmRun]) -> u64 {
    let trace = context.summary.trace;
    let mut in_order: Vec<&SmRun> = runs.iter().collect();
    crate::sorted::sort_by_key(&mut in_order, |run| run.run.first.start);
    let time = |run: &RepeatedRun| run.first.start..run.end();
    most_at_once(in_order.iter().map(|run| (trace.context_with_turns(run.operation), run.units, time(&run.run))))
}

/// What runs on each SM in the window.
fn runs_by_sm(context: &Context<'_>, sms: &[u32]) -> BTreeMap<u32, Vec<SmRun>> {
    let mut runs: BTreeMap<u32, Vec<SmRun>> = sms.iter().map(|&sm| (sm, Vec::new())).collect();
    for launch in timeline_model::launches(&context.summary) {
        let (operation, units) = (launch.operation, u64::from(context.units(launch.kernel)));
        for run in launch.runs(context.scale.window.clone()) {
            if let Some(own) = runs.get_mut(&u32::from(run.first.sm)) {
                own.push(SmRun { operation, units: units * u64::from(run.first.blocks), run });
            }
        }
    }
    runs
}

/// What is no difference on paper, about.
fn alike_within(context: &Context<'_>) -> Duration {
    let plot = u128::from((context.options.width * 3 / 4).max(1).unsigned_abs());
    let ns = u128::from(context.scale.span_ns()) * u128::from(ALIKE.unsigned_abs()) / plot;
    Duration::from_ns(u64::try_from(ns).or_most())
}

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
    fn long_lists_of_sms_have_a_short_form() {
        let odd: Vec<u32> = (0..40).map(|n| 2 * n + 1).collect();
        assert_eq!(short_sm_list(&odd), "1,3,…,79");
        assert_eq!((short_sm_list(&[0, 1, 2, 9]), sm_list(&[12, 13, 14])), ("0-2,9".to_owned(), "12-14".to_owned()));
    }
}
