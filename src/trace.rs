//! The record of a run, and what it tells.
//!
//! A trace is compact: blocks of one kernel that were assigned at one instant are one [`Wave`], waves that repeat are
//! one `Stretch`, and iterators expand both when asked. It knows neither the simulated GPU nor the hosts: whoever
//! runs something fills it in, and whoever reports reads it.
//!
//! What follows from the record is derived here, each thing in one place: what is in which queue when, what is taken on
//! the SMs, why each operation waits, and all of it at one instant. Text, figures, the HTML page and Perfetto files say
//! these things in their own ways and derive none of them again. Which rule held an operation from when to when is what
//! the record itself tells: [`Trace::waits`] and [`Trace::held_at`].

mod blame;
mod blocks;
mod cause;
mod free;
mod moved;
mod numbers;
mod observed;
mod observer;
mod operation;
mod part;
mod pauses;
mod phases;
mod pieces;
mod present;
mod queue;
mod reasons;
mod record;
mod recorder;
mod repeats;
mod rule;
mod rule_text;
mod snapshot;
mod state;
mod sum_over_time;
mod turn;
mod turns;
mod wait;
mod waits;
mod wave;

pub use crate::workload::Part;
pub(crate) use blame::{Accuser, BehindHeads};
pub use blame::{Blame, blame};
pub use blocks::{BlockRun, RepeatedRun};
pub use cause::Cause;
pub use free::{ClusterShortage, Free, Shortage};
pub(crate) use moved::Shift;
pub use observed::{Observed, ObservedBlock, ObservedSpan};
pub(crate) use observer::{Finishes, Launch, NewStretch, NewWave, Observer};
pub(crate) use operation::NEVER;
pub use operation::OperationRecord;
pub(crate) use part::Part as RecordPart;
pub use phases::{Phase, phases};
pub(crate) use pieces::Piece;
pub use queue::{Place, Queue, QueueContents, QueueContext, Stay, queue_contents, stays};
pub use reasons::{Reason, reasons};
pub use record::{Trace, TraceFull};
pub(crate) use recorder::Recorder;
pub use rule::Rule;
pub use rule_text::{RULES, RuleText};
pub use snapshot::{EeQueueSnapshot, Held, SmSnapshot, Snapshot};
pub use sum_over_time::SumOverTime;
pub(crate) use turn::NewTurn;
pub use turn::{ContextTurn, TurnEnd};
pub use wait::Wait;
pub use wave::{Block, Wave};
