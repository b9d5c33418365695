//! Whose turn it is, in columns.

use serde::Serialize;

use super::instants::Instants;
use super::palette::{PageFill, TurnPalette};
use crate::run::{TURN_WORDS, TurnWords};
use crate::time::Instant;
use crate::trace::{Trace, TurnEnd};
use crate::workload::ProcessId;

#[derive(Debug, Serialize)]
pub(super) struct TurnData {
    process: Vec<u32>,
    /// Number of the instant at which the switch to it began, counted from the end of the turn before.
    switch_from: Vec<i64>,
    /// Number of its beginning, counted from that.
    start: Vec<i64>,
    /// Number of its end, counted from its beginning.
    length: Vec<i64>,
    ended_by: Vec<usize>,
    ends: Vec<&'static str>,
    /// By process: when it has turns, those that follow one another at once as one.
    served: Vec<Served>,
    /// Whether copies run in turns only, too.
    has_copies: bool,
    words: TurnWords,
    light: TurnPalette,
    dark: TurnPalette,
}

/// Numbers of instants, each counted from the one before.
#[derive(Debug, Serialize)]
struct Served {
    start: Vec<i64>,
    length: Vec<i64>,
}

impl TurnData {
    /// `None` where contexts do not take turns.
    pub(super) fn new(trace: &Trace, instants: &Instants) -> Option<Self> {
        if !trace.is_time_sliced() {
            return None;
        }
        let processes = (0..).map(ProcessId).take(trace.processes().len());
        let mut data = Self {
            process: Vec::new(),
            switch_from: Vec::new(),
            start: Vec::new(),
            length: Vec::new(),
            ended_by: Vec::new(),
            ends: Vec::new(),
            served: processes.clone().map(|process| Served::new(trace, process, instants)).collect(),
            has_copies: trace.copies_run_in_turns(),
            words: TURN_WORDS,
            light: TurnPalette::new(processes.clone(), PageFill::from),
            dark: TurnPalette::new(processes, PageFill::dark),
        };
        let mut ends: Vec<TurnEnd> = Vec::new();
        let mut last = 0;
        for turn in trace.turns() {
            let [switch_from, start, end] = [turn.switch_from, turn.start, turn.end].map(|at| instants.number(at));
            data.process.push(turn.process.0);
            data.switch_from.push(switch_from - last);
            data.start.push(start - switch_from);
            data.length.push(end - start);
            let known = ends.iter().position(|end| *end == turn.ended_by);
            data.ended_by.push(known.unwrap_or(ends.len()));
            if known.is_none() {
                ends.push(turn.ended_by);
            }
            last = end;
        }
        data.ends = ends.into_iter().map(TurnEnd::name).collect();
        Some(data)
    }
}

impl Served {
    fn new(trace: &Trace, process: ProcessId, instants: &Instants) -> Self {
        let (mut start, mut length, mut last) = (Vec::new(), Vec::new(), 0);
        for time in trace.in_turn(process, Instant::ZERO..trace.end()) {
            let [from, to] = [time.start, time.end].map(|at| instants.number(at));
            start.push(from - last);
            length.push(to - from);
            last = to;
        }
        Self { start, length }
    }
}
