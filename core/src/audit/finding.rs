//! What an audit finds: which rule was broken by what, and when; and how far off measured times may be.

use std::sync::Arc;

use serde::{Serialize, Serializer};

use crate::logs::LogTime;
use crate::named::named;

named! {
    /// What a trace can be guilty of.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    #[non_exhaustive]
    pub enum AuditRule: ALL, Serialize, words {
        /// A block ran on an SM that does not exist.
        Sm = "SM",
        /// A block ran on an SM that its mask takes away.
        Mask = "mask",
        /// A block asks for more than any block may.
        BlockLimit = "block limit",
        /// More threads, warps or blocks on one SM than it holds.
        R2 = "R2",
        /// More shared memory on one SM than it has.
        R3 = "R3",
        /// More registers on one SM than it has.
        Registers = "registers",
        /// Something ended before it started, or blocks are missing or too many.
        Time = "time",
        /// The two clocks are further apart than the tolerance.
        Clocks = "clocks",
        /// A block or copy took another time than the scenario states; a copy that shares a link, another than its
        /// share.
        Duration = "duration",
        /// Started before it was launched.
        G1 = "G1",
        /// Started before its predecessor in its stream was complete.
        G4 = "G4",
        /// A kernel launched programmatically started before the kernel before it in its stream had triggered, or its
        /// blocks stood at their wait for another time.
        Pdl = "PDL",
        /// On the NULL stream, started before something launched earlier in a blocking stream was complete.
        N1 = "N1",
        /// In a blocking stream, started before something launched earlier on the NULL stream was complete.
        N2 = "N2",
        /// Started before what was ahead of it in the hardware channel of its stream had gone on.
        Channel = "channel",
        /// Started behind a wait for an event before the event was recorded.
        E2 = "E2",
        /// Started before the device's launch latency was over.
        L1 = "L1",
        /// A kernel started before the device's gap behind the kernel before it in its stream was over.
        L2 = "L2",
        /// A block started while its kernel was not at the head of its EE queue.
        X1 = "X1",
        /// A block started while a kernel of higher priority waited.
        A2 = "A2",
        /// A copy started out of order, or while its copy engine was busy.
        C2 = "C2",
        /// Something went on while it was not the turn of its context, or a context with work got no turn.
        T1 = "T1",
        /// A turn of a context lasted too long, or ended too early.
        T2 = "T2",
        /// A turn of a context began before the switch to it was over, or later.
        T3 = "T3",
        /// A block that was suspended ran for another time in all than it should.
        T4 = "T4",
        /// A copy was not served in the turn of its context on its engine.
        T5 = "T5",
        /// A turn of a context was another's in the round.
        T6 = "T6",
        /// A client of MPS was on more SMs than it may use.
        Mps = "MPS",
        /// Blocks of a cluster did not begin together on one GPC.
        Cluster = "cluster",
        /// Blocks of a cooperative launch did not begin together.
        Cooperative = "cooperative",
        /// A block or a stream went on before its counter was reached or its grid had come, or waited on after that.
        Counter = "counter",
        /// A call that frees memory returned before all work of its process was complete, or later.
        H1 = "H1",
        /// Something was launched while another thread of its process freed memory.
        H2 = "H2",
        /// A job that the end of another's releases was released at another instant, or began at another one than when
        /// it was released and its host was free.
        Trigger = "trigger",
        /// An eligible head waited while it fitted.
        WorkConservation = "work conservation",
        /// A simulated block went elsewhere than its placement policy says.
        Placement = "placement",
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

impl Finding {
    /// That an operation broke a rule by so many nanoseconds.
    pub(super) fn new(rule: AuditRule, operation: &Arc<str>, at_ns: LogTime, by: u64, what: String) -> Self {
        Self { rule, kernel: Arc::clone(operation), block: None, sm: None, at_ns, by, unit: "ns", what }
    }

    /// That this block of it did.
    pub(super) fn of_block(self, block: usize, sm: Option<u32>) -> Self {
        Self { block: Some(block), sm, ..self }
    }

    /// That it did by so many of what `unit` says.
    pub(super) fn counted_in(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }
}

/// A length of time for people.
pub(super) fn length(ns: i64) -> String {
    crate::time::Duration::from_ns(ns.unsigned_abs()).to_string()
}

pub(super) fn as_text<S: Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

/// What is put down to the clocks. The defaults come from measurements: the clocks of a Jetson TX2's GPU and CPU drift
/// apart by up to 0.36 ms in 12 s, and its block clock steps by about 1 us (see `docs/measured-logs.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tolerances {
    /// Between a time on the host's clock and one on the GPU's \[ns\].
    pub across_clocks_ns: i64,
    /// Between two times on one clock \[ns\].
    pub one_clock_ns: i64,
}

impl Default for Tolerances {
    fn default() -> Self {
        Self { across_clocks_ns: 500_000, one_clock_ns: 10_000 }
    }
}

impl Tolerances {
    /// For simulated traces.
    pub const EXACT: Self = Self { across_clocks_ns: 0, one_clock_ns: 0 };
}
