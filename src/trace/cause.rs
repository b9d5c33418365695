//! What an operation waits for under the rule that holds it.

use std::borrow::Cow;
use std::sync::Arc;

use super::free::{ClusterShortage, Shortage};
use super::queue::Queue;
use super::rule::Rule;
use crate::workload::{OperationId, stream_in_words};

/// What an operation waits for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Until whatever is at the head of that queue, or on that copy engine, has gone (G2, C1, X1, A2, N1, N2, C2).
    Behind(Queue),
    /// Until an event is recorded, for which whatever is at the head of that stream's queue has to go first (E2).
    Record {
        /// The event's name.
        event: Arc<str>,
        /// The name of the stream in which it is recorded.
        stream: Arc<str>,
        /// That stream's queue.
        queue: Queue,
    },
    /// Until that operation, which is ahead of it in its hardware channel, has gone on; `None`: until any channel is
    /// free.
    Channel(Option<OperationId>),
    /// Until some time has passed (L1, L2).
    Time,
    /// Until it is the turn of its context: it is that of another, or nobody's, as during a switch (T1, T3).
    Turn,
    /// Room on one of the SMs that its process may use as a client of MPS.
    Share,
    /// Room for its next block on one SM (R2, R3, registers).
    Room(Shortage),
    /// Room for its next cluster of blocks on SMs of one GPC.
    Cluster(ClusterShortage),
}

impl Cause {
    /// The queue, or copy engine, whose head it waits for.
    pub fn queue(&self) -> Option<Queue> {
        match self {
            Self::Behind(queue) | Self::Record { queue, .. } => Some(*queue),
            Self::Channel(_) | Self::Time | Self::Turn | Self::Share | Self::Room(_) | Self::Cluster(_) => None,
        }
    }

    /// The operation that it waits for itself, at the head of whatever queue that is.
    pub(crate) fn ahead(&self) -> Option<OperationId> {
        if let Self::Channel(ahead) = self { *ahead } else { None }
    }

    /// Says it, as far as it can be said without the name of the operation at the head of a queue, which follows it.
    pub fn sentence(&self, rule: Rule) -> Cow<'static, str> {
        match self {
            Self::Behind(_) | Self::Time | Self::Turn | Self::Share => rule.phrase().into(),
            Self::Record { event, stream, .. } => {
                format!("until event {event} is recorded in {}, behind", stream_in_words(stream)).into()
            }
            Self::Channel(Some(_)) => "in its hardware channel, behind".into(),
            Self::Channel(None) => "until a hardware channel is free".into(),
            Self::Cluster(ClusterShortage { size, sms, group }) => {
                format!("no GPC has {size} SMs free for a cluster of its blocks; {group} comes nearest with {sms}")
                    .into()
            }
            Self::Room(Shortage { sm, lacks, green }) => {
                let list: Vec<String> = lacks.iter().map(|(what, by)| format!("{by} {}", what.name())).collect();
                let list = list.join(" and ");
                let of = green.as_ref().map_or_else(String::new, |name| format!(" of green context {name}"));
                format!("no SM{of} has room for its next block; SM {sm} comes nearest and lacks {list}").into()
            }
        }
    }
}
