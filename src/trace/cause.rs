//! What an operation waits for under the rule that holds it.

use std::borrow::Cow;

use super::free::Shortage;
use super::queue::Queue;
use super::rule::Rule;

/// What an operation waits for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Cause {
    /// Until whatever is at the head of that queue, or on that copy engine, has gone (G2, C1, X1, A2, N1, N2, C2).
    Behind(Queue),
    /// A hardware channel.
    Channel,
    /// Room for its next block on one SM (R2, R3, registers).
    Room(Shortage),
}

impl Cause {
    /// Says it, as far as it can be said without the name of the operation at the head of a queue, which follows it.
    #[must_use]
    pub fn sentence(&self, rule: Rule) -> Cow<'static, str> {
        match self {
            Self::Behind(_) => rule.phrase().into(),
            Self::Channel => "until a hardware channel is free".into(),
            Self::Room(Shortage { sm, lacks }) => {
                let list: Vec<String> = lacks.iter().map(|(what, by)| format!("{by} {}", what.name())).collect();
                let list = list.join(" and ");
                format!("no SM has room for its next block; SM {sm} comes nearest and lacks {list}").into()
            }
        }
    }
}
