//! The record of a run, and what it tells.
//!
//! A trace is compact: blocks of one kernel that were assigned at one instant are one [`Wave`], waves that repeat are
//! one `Stretch`, and iterators expand both when asked. It knows neither the simulated GPU nor the hosts: whoever runs
//! something fills it in, and whoever reports reads it.
//!
//! What follows from the record is derived here, each thing in one place: what is in which queue when, what is taken on
//! the SMs, why each operation waits, and all of it at one instant. Text, figures, the HTML page and Perfetto files say
//! these things in their own ways and know no rule. The script of the page cannot ask here: what it tells of the
//! instant under its cursor, such as what is free on an SM, it adds up from what is written into the page. Which rule
//! held an operation from when to when is what the record itself tells: [`Trace::waits`] and [`Trace::held_at`].

mod blame;
mod blocks;
mod entries;
mod free;
mod observed;
mod observer;
mod phases;
mod pieces;
mod queue;
mod reasons;
mod record;
mod rule;
mod snapshot;
mod state;
mod turns;
mod waits;

pub use crate::workload::Part;
#[doc(hidden)]
pub use blame::{Accuser, BehindHeads};
pub use blame::{Blame, blame};
pub use blocks::{BlockRun, RepeatedRun};
pub use entries::{Block, ContextTurn, OperationRecord, Stand, TurnEnd, Wait, Wave};
#[doc(hidden)]
pub use entries::{NEVER, NewTurn};
pub use free::{ClusterShortage, Free, Shortage, SumOverTime};
pub use observed::{Observed, ObservedBlock, ObservedSpan};
#[doc(hidden)]
pub use observer::{Finishes, Launch, NewStretch, NewWave, Observer, Recorder};
pub use phases::{Phase, phases};
#[doc(hidden)]
pub use pieces::{Piece, RecordPart, Shift};
pub use queue::{Cause, Place, Queue, QueueContents, QueueContext, Stay, queue_contents, stays};
pub use reasons::{Reason, reasons};
pub use record::{Trace, TraceFull};
pub use rule::{RULES, Rule, RuleText};
pub use snapshot::{EeQueueSnapshot, Held, SmSnapshot, Snapshot};
