//! What an audit finds.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::logs::LogTime;

/// What a trace can be guilty of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub enum AuditRule {
    /// A block ran on an SM that does not exist.
    #[serde(rename = "SM")]
    Sm,
    /// A block ran on an SM that its mask takes away.
    #[serde(rename = "mask")]
    Mask,
    /// A block asks for more than any block may.
    #[serde(rename = "block limit")]
    BlockLimit,
    /// More threads, warps or blocks on one SM than it holds.
    R2,
    /// More shared memory on one SM than it has.
    R3,
    /// More registers on one SM than it has.
    #[serde(rename = "registers")]
    Registers,
    /// Something ended before it started, or blocks are missing or too many.
    #[serde(rename = "time")]
    Time,
    /// The two clocks are further apart than the tolerance.
    #[serde(rename = "clocks")]
    Clocks,
    /// A block or copy took another time than the scenario states; a copy that shares a link, another than its share.
    #[serde(rename = "duration")]
    Duration,
    /// Started before it was launched.
    G1,
    /// Started before its predecessor in its stream was complete.
    G4,
    /// On the NULL stream, started before something launched earlier in a blocking stream was complete.
    N1,
    /// In a blocking stream, started before something launched earlier on the NULL stream was complete.
    N2,
    /// Started behind a wait for an event before the event was recorded.
    E2,
    /// Started before the device's launch latency was over.
    L1,
    /// A kernel started before the device's gap behind the kernel before it in its stream was over.
    L2,
    /// A block started while its kernel was not at the head of its EE queue.
    X1,
    /// A block started while a kernel of higher priority waited.
    A2,
    /// A copy started out of order, or while its copy engine was busy.
    C2,
    /// Something went on while it was not the turn of its context, or a context with work got no turn.
    T1,
    /// A turn of a context lasted too long, or ended too early.
    T2,
    /// A turn of a context began before the switch to it was over, or later.
    T3,
    /// A block that was suspended ran for another time in all than it should.
    T4,
    /// A copy was not served in the turn of its context on its engine.
    T5,
    /// A turn of a context was another's in the round.
    T6,
    /// A client of MPS was on more SMs than it may use.
    #[serde(rename = "MPS")]
    Mps,
    /// An eligible head waited while it fitted.
    #[serde(rename = "work conservation")]
    WorkConservation,
    /// A simulated block went elsewhere than its placement policy says.
    #[serde(rename = "placement")]
    Placement,
}

impl AuditRule {
    /// The name, as published where it is a published rule.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sm => "SM",
            Self::Mask => "mask",
            Self::BlockLimit => "block limit",
            Self::R2 => "R2",
            Self::R3 => "R3",
            Self::Registers => "registers",
            Self::Time => "time",
            Self::Clocks => "clocks",
            Self::Duration => "duration",
            Self::G1 => "G1",
            Self::G4 => "G4",
            Self::N1 => "N1",
            Self::N2 => "N2",
            Self::E2 => "E2",
            Self::L1 => "L1",
            Self::L2 => "L2",
            Self::X1 => "X1",
            Self::A2 => "A2",
            Self::C2 => "C2",
            Self::T1 => "T1",
            Self::T2 => "T2",
            Self::T3 => "T3",
            Self::T4 => "T4",
            Self::T5 => "T5",
            Self::T6 => "T6",
            Self::Mps => "MPS",
            Self::WorkConservation => "work conservation",
            Self::Placement => "placement",
        }
    }
}

/// One violation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule that was broken.
    pub rule: AuditRule,
    /// The kernel (or copy) that broke it.
    #[serde(serialize_with = "as_text")]
    pub kernel: Arc<str>,
    /// Its block, by number.
    pub block: Option<usize>,
    /// The SM.
    pub sm: Option<u32>,
    /// When \[ns\], on the clock of the trace.
    pub at_ns: LogTime,
    /// By how much, in `unit`.
    pub by: u64,
    /// What `by` counts: `ns`, `threads`, …
    pub unit: &'static str,
    /// The whole story.
    pub what: String,
}

/// A length of time for people.
pub(super) fn length(ns: i64) -> String {
    crate::time::Duration::from_ns(ns.unsigned_abs()).to_string()
}

fn as_text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}
