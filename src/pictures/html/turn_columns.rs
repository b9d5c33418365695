//! Whose turn it is, in columns.

use serde::Serialize;

use super::instants::{Instants, steps};
use super::palette::{PageFill, TurnPalette};
use crate::run::{TURN_WORDS, TurnWords};
use crate::time::Instant;
use crate::trace::{ContextTurn, Trace, TurnEnd};
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
        let turns = trace.turns();
        let times = turns.iter().flat_map(|turn| [turn.switch_from, turn.start, turn.end]);
        let times = steps(times.map(|at| instants.number(at)));
        let column = |place: usize| times.iter().skip(place).step_by(3).copied().collect();
        let mut ends: Vec<TurnEnd> = Vec::new();
        for turn in turns {
            if !ends.contains(&turn.ended_by) {
                ends.push(turn.ended_by);
            }
        }
        let place = |turn: &ContextTurn| ends.iter().position(|end| *end == turn.ended_by).unwrap_or(0);
        Some(Self {
            process: turns.iter().map(|turn| turn.process.0).collect(),
            switch_from: column(0),
            start: column(1),
            length: column(2),
            ended_by: turns.iter().map(place).collect(),
            ends: ends.iter().map(|end| end.name()).collect(),
            served: processes.clone().map(|process| Served::new(trace, process, instants)).collect(),
            has_copies: trace.copies_run_in_turns(),
            words: TURN_WORDS,
            light: TurnPalette::new(processes.clone(), PageFill::from),
            dark: TurnPalette::new(processes, PageFill::dark),
        })
    }
}

impl Served {
    fn new(trace: &Trace, process: ProcessId, instants: &Instants) -> Self {
        let times = trace.in_turn(process, Instant::ZERO..trace.end()).flat_map(|time| [time.start, time.end]);
        let times = steps(times.map(|at| instants.number(at)));
        let (start, length) = times.chunks_exact(2).map(|time| (time[0], time[1])).unzip();
        Self { start, length }
    }
}
