//! The names of the rules.

use serde::Serialize;

/// A published scheduling rule that can make an operation wait.
///
/// G, X, R, C, A and N rules: Amert et al., RTSS 2017, sections III and IV. `Channel`: Bakita and Anderson, RTAS 2024.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[non_exhaustive]
pub enum Rule {
    /// A kernel enters its EE queue only when it reaches the head of its stream queue.
    G2,
    /// A copy enters its CE queue only when it reaches the head of its stream queue.
    C1,
    /// Only blocks of the kernel at the head of an EE queue may be assigned.
    X1,
    /// No SM has enough free thread slots and a free block slot.
    R2,
    /// SMs with enough threads exist, but none of them has enough free shared memory.
    R3,
    /// SMs with enough threads and shared memory exist, but none of them has enough free registers.
    Registers,
    /// A copy is assigned only when its copy engine is idle.
    C2,
    /// Blocks are assigned only while every EE queue of higher priority is empty.
    A2,
    /// The NULL stream's head waits for everything launched before it in blocking streams.
    N1,
    /// A blocking stream's head waits for everything launched before it in the NULL stream.
    N2,
    /// Every hardware channel is taken by another stream.
    Channel,
}

impl Rule {
    /// The name as published.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::G2 => "G2",
            Self::C1 => "C1",
            Self::X1 => "X1",
            Self::R2 => "R2",
            Self::R3 => "R3",
            Self::Registers => "registers",
            Self::C2 => "C2",
            Self::A2 => "A2",
            Self::N1 => "N1",
            Self::N2 => "N2",
            Self::Channel => "channel",
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
