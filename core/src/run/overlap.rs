//! Why two streams do not run side by side: what each of them did while the other one ran.

use std::cmp::Reverse;

use super::summary::Summary;
use crate::limits::count_turn;
use crate::scenario::WhatIfError;
use crate::sorted::sort_by_key;
use crate::spelling::option;
use crate::time::{Duration, Instant};
use crate::trace::Rule;
use crate::workload::StreamId;

/// What a stream did while another one ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Meanwhile {
    /// A kernel or copy of it ran, too.
    Ran,
    /// Its head waited under this rule.
    Waited(Rule),
    /// Nothing of it was on the GPU: all that had been launched had ended. The host thread, by its index, launched what
    /// came next; `None`: nothing did.
    HadNothing(Option<u32>),
}

/// Times in which one stream ran and another one did the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverlapPart {
    /// Kernels or copies of this one ran.
    pub running: StreamId,
    /// The other one.
    pub other: StreamId,
    /// What that did.
    pub meanwhile: Meanwhile,
    /// How long in all.
    pub time: Duration,
}

/// Two streams; the first is the one that ran longer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamPair {
    /// Which.
    pub streams: [StreamId; 2],
    /// For how long both ran.
    pub both: Duration,
    /// For how long each ran alone.
    pub alone: [Duration; 2],
    /// What the second did while the first ran, and the first while the second ran; of each the longest first.
    pub parts: Vec<OverlapPart>,
}

impl StreamPair {
    /// For how long both could have run side by side at most, and did not.
    pub fn missed(&self) -> Duration {
        self.alone[0].min(self.alone[1])
    }
}

/// Of a run, why streams do not run side by side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overlap {
    /// Those that were asked for, or of the busiest streams all; those that missed most first.
    pub pairs: Vec<StreamPair>,
    /// Streams that ran something and are in no pair, as others ran longer.
    pub left_out: usize,
}

/// Streams at most of which all pairs are told.
const MOST_STREAMS: usize = 12;

/// What a stream did from when to when, without a gap.
type Timeline = Vec<(Instant, Instant, Meanwhile)>;

impl Overlap {
    /// Of two streams, `A,B`, or with an empty text of all that ran something.
    ///
    /// # Errors
    /// [`WhatIfError::Unknown`] if there is no such stream.
    pub fn of(summary: &Summary<'_>, names: &str) -> Result<Self, WhatIfError> {
        let mut ran: Vec<Vec<(Instant, Instant)>> = vec![Vec::new(); summary.trace.streams().len()];
        let end = summary.trace.end();
        for (_, record) in summary.trace.numbered().filter(|(_, record)| !record.kind.is_instant()) {
            if let Some((start, all)) = record.first_start().zip(ran.get_mut(record.stream.index())) {
                all.push((start, record.finish().unwrap_or(end)));
            }
        }
        ran.iter_mut().for_each(join);
        let of = |stream: StreamId| ran.get(stream.index()).map_or(&[][..], |all| all);
        let with_work = (0..).map(StreamId).zip(&ran).filter(|(_, all)| !all.is_empty()).map(|(stream, _)| stream);
        let with_work: Vec<StreamId> = with_work.collect();
        let mut left_out = 0;
        let asked: Vec<StreamId> = if let Some((one, other)) = names.split_once(',') {
            let named = |name: &str| summary.scenario.stream_named(option("overlap"), name.trim());
            vec![named(one)?, named(other)?]
        } else if names.is_empty() {
            let mut all = with_work;
            sort_by_key(&mut all, |stream| Reverse(total(of(*stream))));
            left_out = all.len().saturating_sub(MOST_STREAMS);
            all.truncate(MOST_STREAMS);
            all
        } else {
            let one = summary.scenario.stream_named(option("overlap"), names)?;
            [one].into_iter().chain(with_work.into_iter().filter(|other| *other != one)).collect()
        };
        let timeline_of = |stream: StreamId| (stream, timeline(summary, stream, of(stream)));
        let timelines: Vec<(StreamId, Timeline)> = asked.into_iter().map(timeline_of).collect();
        let is_one = !names.is_empty() && !names.contains(',');
        let firsts = if is_one { &timelines[..1] } else { &timelines[..] };
        let mut pairs = Vec::new();
        for (place, one) in firsts.iter().enumerate() {
            pairs.extend(
                timelines.iter().skip(place + 1).filter(|other| other.0 != one.0).map(|other| pair(one, other)),
            );
        }
        sort_by_key(&mut pairs, |pair: &StreamPair| Reverse(pair.missed()));
        Ok(Self { pairs, left_out })
    }
}

/// Joins intervals that touch or overlap.
fn join(all: &mut Vec<(Instant, Instant)>) {
    sort_by_key(all, |one| *one);
    let mut joined: Vec<(Instant, Instant)> = Vec::new();
    for &(from, to) in all.iter().filter(|(from, to)| from < to) {
        match joined.last_mut().filter(|last| from <= last.1) {
            Some(last) => last.1 = last.1.max(to),
            None => joined.push((from, to)),
        }
    }
    *all = joined;
}

fn total(all: &[(Instant, Instant)]) -> Duration {
    all.iter().fold(Duration::ZERO, |sum, (from, to)| sum.saturating_add(to.since(*from)))
}

/// What a stream did over the whole run: it ran, or else its head waited, or else it had nothing.
fn timeline(summary: &Summary<'_>, stream: StreamId, ran: &[(Instant, Instant)]) -> Timeline {
    let trace = summary.trace;
    let (mut waits, mut launches) = (Vec::new(), Vec::new());
    for (id, record) in trace.numbered().filter(|(_, record)| record.stream == stream) {
        count_turn();
        launches.push((record.launched(), record.origin.thread));
        trace.each_wait(id, |wait| {
            // What stands behind the head has the head's reason.
            if !wait.rule.is_behind_in_stream() {
                waits.push((wait.from, wait.to, wait.rule));
            }
        });
    }
    sort_by_key(&mut launches, |launch| *launch);
    sort_by_key(&mut waits, |wait| *wait);
    let mut timeline = Timeline::new();
    let mut waits = waits.into_iter().peekable();
    let mut at = Instant::ZERO;
    for &(from, to) in ran.iter().chain(&[(trace.end(), trace.end())]) {
        while at < from {
            count_turn();
            // One that is over, or during which it ran, is passed; of several the first holds the others.
            while waits.next_if(|wait| wait.1 <= at).is_some() {
                count_turn();
            }
            let next = match waits.peek() {
                Some(&(since, until, rule)) if since <= at => (until.min(from), Meanwhile::Waited(rule)),
                next => {
                    let until = next.map_or(from, |wait| wait.0.min(from));
                    let later = launches.partition_point(|(launched, _)| *launched <= at);
                    (until, Meanwhile::HadNothing(launches.get(later).map(|(_, thread)| *thread)))
                }
            };
            timeline.push((at, next.0, next.1));
            at = next.0;
        }
        if from < to {
            timeline.push((from, to, Meanwhile::Ran));
            at = to;
        }
    }
    timeline
}

fn pair(one: &(StreamId, Timeline), other: &(StreamId, Timeline)) -> StreamPair {
    // Few: of each side the rules that hold it.
    let mut sums: Vec<((bool, Meanwhile), Duration)> = Vec::new();
    let mut add = |key, time| match sums.iter_mut().find(|(known, _)| *known == key) {
        Some((_, sum)) => *sum = sum.saturating_add(time),
        None => sums.push((key, time)),
    };
    let (mut left, mut right) = (one.1.iter().peekable(), other.1.iter().peekable());
    // Both go from the beginning of the run to its end.
    while let (Some(&&(from, to, here)), Some(&&(other_from, other_to, there))) = (left.peek(), right.peek()) {
        count_turn();
        let until = to.min(other_to);
        let time = until.since(from.max(other_from));
        if here == Meanwhile::Ran {
            add((false, there), time);
        }
        if there == Meanwhile::Ran {
            add((true, here), time);
        }
        left.next_if(|_| to == until);
        right.next_if(|_| other_to == until);
    }
    sort_by_key(&mut sums, |(key, _)| *key);
    let both = sums.iter().find(|(key, _)| *key == (false, Meanwhile::Ran)).map_or(Duration::ZERO, |(_, time)| *time);
    let alone = [false, true].map(|side| {
        let of_side = sums.iter().filter(|((of, did), _)| *of == side && *did != Meanwhile::Ran);
        of_side.fold(Duration::ZERO, |sum, (_, time)| sum.saturating_add(*time))
    });
    let is_swapped = alone[1] > alone[0];
    let part = |&((side, meanwhile), time): &((bool, Meanwhile), Duration)| {
        let (running, other) = if side { (other.0, one.0) } else { (one.0, other.0) };
        (time > Duration::ZERO).then_some(OverlapPart { running, other, meanwhile, time })
    };
    let mut parts: Vec<OverlapPart> = sums.iter().filter_map(part).collect();
    let first = if is_swapped { other.0 } else { one.0 };
    sort_by_key(&mut parts, |part| (part.running != first, Reverse(part.time)));
    let (streams, alone) =
        if is_swapped { ([other.0, one.0], [alone[1], alone[0]]) } else { ([one.0, other.0], alone) };
    StreamPair { streams, both, alone, parts }
}
