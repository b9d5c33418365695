//! Which rule acted when, and on which operation.

use std::borrow::Cow;

use serde::Serialize;

use super::state::title_of;
use super::summary::Summary;
use crate::time::{Duration, Instant};
use crate::trace::{Rule, TurnEnd};
use crate::workload::OperationKind;

/// A rule that let an operation take a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Firing<'a> {
    /// When.
    pub at_ns: Instant,
    /// The rule's published name.
    pub rule: &'static str,
    /// The operation's title; of turns the name of the process.
    pub operation: Cow<'a, str>,
    /// The operation's number; none for turns.
    pub id: Option<u32>,
    /// The number of its stream, -1 for a NULL stream; none for turns.
    pub stream: Option<i64>,
    /// What happened.
    pub what: &'static str,
}

/// What comes first at one instant, and within it.
type Order = (u8, Option<Instant>, u32);

const COMPLETED: u8 = 0;
const CALLED: u8 = 1;
const PASSED: u8 = 2;
const QUEUED: u8 = 3;
const TURN: u8 = 4;
const ASSIGNED: u8 = 5;

/// Every step of every operation with the rule behind it, in order of time, and at one instant in the order in which
/// the rules are checked: completions (G4, C4), calls (G1), records and waits (E1, E2), entries into EE and CE queues
/// (G2, C1, and N1, N2, L1, L2 or a channel where they had held the operation), turns (T1 to T3), assignments (C2, X1,
/// G3, and A2, R2 or R3 where they had).
pub fn rule_log<'a>(summary: &Summary<'a>) -> Vec<Firing<'a>> {
    let mut firings: Vec<(Order, Firing<'a>)> = Vec::new();
    for (id, record) in summary.trace.numbered() {
        let operation = title_of(summary, id);
        let mut fire = |at: Option<Instant>, phase: u8, rule: &'static str, what: &'static str| {
            if let Some(at_ns) = at {
                let order = match phase {
                    COMPLETED => (phase, record.last_start(), record.queue_order()),
                    CALLED | PASSED => (phase, None, id.0),
                    _ => (phase, None, record.queue_order()),
                };
                let (operation, stream) = (operation.clone(), Some(summary.scenario.stream_number(record.stream)));
                firings.push((order, Firing { at_ns, rule, operation, id: Some(id.0), stream, what }));
            }
        };
        for wait in summary.trace.waits(id) {
            let phase = if record.queued().is_some_and(|queued| wait.to <= queued) { QUEUED } else { ASSIGNED };
            let still_waits = wait.to == summary.trace.end() && record.last_start().is_none_or(|start| start > wait.to);
            if !still_waits && !matches!(wait.rule, Rule::G2 | Rule::C1 | Rule::X1 | Rule::C2 | Rule::E2) {
                fire(Some(wait.to), phase, wait.rule.name(), "no longer holds it");
            }
        }
        fire(Some(record.launched()), CALLED, "G1", "enters its stream queue");
        match record.kind {
            OperationKind::Kernel(_) => {
                fire(record.queued(), QUEUED, "G2", "enters the EE queue of its priority (A1)");
                fire(
                    record.first_start(),
                    ASSIGNED,
                    "X1",
                    "is at the head of its EE queue, and its first block is assigned",
                );
                fire(record.last_start(), ASSIGNED, "G3", "is fully dispatched and leaves its EE queue");
                fire(record.finish(), COMPLETED, "G4", "has completed and leaves its stream queue");
            }
            OperationKind::Copy(_) => {
                fire(record.queued(), QUEUED, "C1", "enters its CE queue");
                fire(
                    record.first_start(),
                    ASSIGNED,
                    "C2",
                    "is assigned to its copy engine and leaves the CE queue (C3)",
                );
                fire(record.finish(), COMPLETED, "C4", "has completed and leaves its stream queue");
            }
            OperationKind::Record(_) => {
                fire(record.finish(), PASSED, "E1", "is recorded and leaves its stream queue");
            }
            OperationKind::Wait(_) => {
                let what = match summary.trace.awaited_by(id) {
                    Some(_) => "is over, and the wait leaves its stream queue",
                    None => "holds nothing, since the event had not been recorded before; it leaves its stream queue",
                };
                fire(record.finish(), PASSED, "E2", what);
            }
            OperationKind::Memset => {
                fire(record.finish(), QUEUED, "G4", "completes at once and leaves its stream queue");
            }
        }
    }
    turns(summary, &mut firings);
    // Stable: of one operation and phase, the rule that had held it comes before what it could do then.
    crate::sorted::sort_by_key(&mut firings, |(order, firing)| (firing.at_ns, *order));
    firings.into_iter().map(|(_, firing)| firing).collect()
}

/// Beginnings and ends of turns, and of switches.
fn turns<'a>(summary: &Summary<'a>, firings: &mut Vec<(Order, Firing<'a>)>) {
    let trace = summary.trace;
    for turn in trace.turns() {
        let operation = Cow::Borrowed(trace.process_name(turn.process));
        let mut fire = |at_ns: Instant, place: u32, rule: &'static str, what: &'static str| {
            let order = (TURN, None, place);
            firings.push((order, Firing { at_ns, rule, operation: operation.clone(), id: None, stream: None, what }));
        };
        if turn.switch() > Duration::ZERO {
            fire(turn.switch_from, 1, "T3", "contexts begin to be switched to it");
        }
        if turn.start < turn.end {
            fire(turn.start, 2, "T1", "its turn begins");
        }
        let ended = match turn.ended_by {
            TurnEnd::TimeSlice => "its turn ends with its time slice",
            TurnEnd::NoWork => "its turn ends, as it has no work left",
            TurnEnd::TakenOff => "its turn ends, as it is taken off the runlist",
            TurnEnd::RunEnded => continue,
        };
        fire(turn.end, 0, "T2", ended);
    }
}
