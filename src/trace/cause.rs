//! What an operation waits for under the rule that holds it.

use std::borrow::Cow;

use super::free::Shortage;
use super::queue::Queue;
use crate::gpu::Rule;

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
            Self::Behind(_) => behind(rule).into(),
            Self::Channel => "until a hardware channel is free".into(),
            Self::Room(Shortage { sm, lacks }) => {
                let list: Vec<String> = lacks.iter().map(|(what, by)| format!("{by} {}", what.name())).collect();
                let list = list.join(" and ");
                format!("no SM has room for its next block; SM {sm} comes nearest and lacks {list}").into()
            }
        }
    }
}

const fn behind(rule: Rule) -> &'static str {
    match rule {
        Rule::G2 | Rule::C1 => "in its stream, behind",
        Rule::X1 => "in its EE queue, behind",
        Rule::A2 => "while an EE queue of higher priority holds",
        Rule::N1 => "until an earlier operation of a blocking stream completes:",
        Rule::N2 => "until an earlier operation of the NULL stream completes:",
        Rule::C2 => "until its copy engine is idle, which serves",
        Rule::R2 | Rule::R3 | Rule::Registers | Rule::Channel => "behind",
    }
}
