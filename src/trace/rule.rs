//! The names of the rules.

use crate::named::named;

named! {
    /// A published scheduling rule that can make an operation wait, or pause once it has begun (T4, T5).
    ///
    /// H1 and H2: Yang et al., ECRTS 2018, table 3. G, X, R, C, A and N rules: Amert et al., RTSS 2017, sections III
    /// and IV. `Channel`: Bakita and Anderson, RTAS 2024. T1: Bakita and Anderson, RTAS 2024, R4. T4, T5:
    /// `docs/processes.md`. E2: the CUDA runtime's description of `cudaStreamWaitEvent`. L1 and L2 are parameters of
    /// the device.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Rule: ALL, Display, Serialize {
        /// A kernel enters its EE queue only when it reaches the head of its stream queue.
        G2 = "G2",
        /// A copy enters its CE queue only when it reaches the head of its stream queue.
        C1 = "C1",
        /// Only blocks of the kernel at the head of an EE queue may be assigned.
        X1 = "X1",
        /// No SM has enough free thread slots and a free block slot.
        R2 = "R2",
        /// SMs with enough threads exist, but none of them has enough free shared memory.
        R3 = "R3",
        /// SMs with enough threads and shared memory exist, but none of them has enough free registers.
        Registers = "registers",
        /// A copy is assigned only when its copy engine is idle.
        C2 = "C2",
        /// Blocks are assigned only while every EE queue of higher priority is empty.
        A2 = "A2",
        /// The NULL stream's head waits for everything launched before it in blocking streams.
        N1 = "N1",
        /// A blocking stream's head waits for everything launched before it in the NULL stream.
        N2 = "N2",
        /// Something is ahead of it in the hardware channel of its stream, or other streams have all channels.
        Channel = "channel",
        /// What comes after a wait for an event waits until the event is recorded.
        E2 = "E2",
        /// A kernel or copy goes on only when the device's launch latency has passed since its launch.
        L1 = "L1",
        /// A kernel goes on only when the device's gap has passed since the kernel before it in its stream completed.
        L2 = "L2",
        /// Blocks are assigned only in the turn of their context; a copy runs only in it where all engines share a
        /// runlist.
        T1 = "T1",
        /// Blocks that have begun are suspended while it is not the turn of their context.
        T4 = "T4",
        /// A copy that has begun stands still while its engine serves another context.
        T5 = "T5",
        /// A client of MPS uses as many SMs as its active-thread percentage allows.
        Mps = "MPS",
        /// No GPC has as many SMs with room for a block as a cluster has blocks.
        Cluster = "cluster",
        /// A host's call that frees memory returns only when everything that its process has submitted has completed.
        /// It holds the call, no operation.
        H1 = "H1",
        /// A host's call waits until one of its process that frees memory has returned, and submits nothing before.
        H2 = "H2",
    }
}

impl Rule {
    /// Why something waits under it, in few words.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::G2 => "not at the head of its stream",
            Self::C1 => "copy not at the head of its stream",
            Self::X1 => "not at the head of its EE queue",
            Self::A2 => "an EE queue of higher priority is not empty",
            Self::R2 => "no SM has enough free threads and a free block slot",
            Self::R3 => "no SM with enough threads has enough free shared memory",
            Self::Registers => "no SM with enough of the rest has enough free registers",
            Self::C2 => "the copy engine is busy",
            Self::N1 => "the NULL stream waits for blocking streams",
            Self::N2 => "a blocking stream waits for the NULL stream",
            Self::Channel => "not next in its hardware channel, or none is free",
            Self::E2 => "an event is not recorded yet",
            Self::L1 => "launch latency",
            Self::L2 => "gap between kernels of a stream",
            Self::T1 => "not the turn of its context",
            Self::T4 => "suspended: not the turn of its context",
            Self::T5 => "copy stands still: not the turn of its context",
            Self::Mps => "no SM that its process may use has room",
            Self::Cluster => "no GPC has enough SMs with room for a cluster of blocks",
            Self::H1 => "the call frees memory: its process still has work on the GPU",
            Self::H2 => "a call of its process that frees memory has not returned",
        }
    }

    /// What is said of an operation that waits under it, before the name of the operation that it waits for.
    pub(super) const fn phrase(self) -> &'static str {
        match self {
            Self::G2 | Self::C1 => "in its stream, behind",
            Self::X1 => "in its EE queue, behind",
            Self::A2 => "while an EE queue of higher priority holds",
            Self::N1 => "until an earlier operation of a blocking stream completes:",
            Self::N2 => "until an earlier operation of the NULL stream completes:",
            Self::C2 => "until its copy engine is idle, which serves",
            Self::L1 => "until the launch latency is over",
            Self::L2 => "until the gap behind the kernel before it in its stream is over",
            Self::T1 | Self::T4 => "until it is the turn of its context",
            Self::T5 => "until its engine has served",
            Self::Mps => "until one of the SMs that its process may use has room",
            Self::R2 | Self::R3 | Self::Registers | Self::Cluster | Self::Channel | Self::E2 => "behind",
            Self::H1 => "until all of its process has completed, before",
            Self::H2 => "until memory is freed, before",
        }
    }

    /// With what the cause of one wait can change while it lasts; `None`: it is the same from its beginning to its end.
    pub(super) const fn cause_varies_with(self) -> Option<Varying> {
        match self {
            Self::N1 => Some(Varying::StreamQueues),
            Self::A2 => Some(Varying::EeQueues),
            Self::R2 | Self::R3 | Self::Registers | Self::Cluster => Some(Varying::Sms),
            Self::G2
            | Self::C1
            | Self::X1
            | Self::C2
            | Self::N2
            | Self::Channel
            | Self::E2
            | Self::L1
            | Self::L2
            | Self::T1
            | Self::T4
            | Self::T5
            | Self::Mps
            | Self::H1
            | Self::H2 => None,
        }
    }

    /// Whether it holds what is not the head of its stream queue.
    pub(crate) const fn is_behind_in_stream(self) -> bool {
        matches!(self, Self::G2 | Self::C1)
    }

    /// Whether it holds what was launched for a while, whoever else is there.
    pub(crate) const fn is_latency(self) -> bool {
        matches!(self, Self::L1 | Self::L2)
    }

    /// Whether it holds the head of a stream queue for a time that the run notes, rather than an operation in an EE or
    /// CE queue.
    pub(super) const fn is_noted_in_stream(self) -> bool {
        matches!(self, Self::Channel | Self::L1 | Self::L2)
    }
}

/// What the cause of a wait may vary with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Varying {
    StreamQueues,
    EeQueues,
    /// What is free on the SMs.
    Sms,
}
