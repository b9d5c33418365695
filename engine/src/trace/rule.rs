//! The rules: their names, and what each says, where it comes from, and a run that shows it.

use serde::Serialize;

use crate::named::named;

named! {
    /// A published scheduling rule that can make an operation wait, or pause once it has begun (T4, T5).
    ///
    /// H1 and H2: Yang et al., ECRTS 2018, table 3. G, X, R, C, A and N rules: Amert et al., RTSS 2017, sections III
    /// and IV. `Channel`: Bakita and Anderson, RTAS 2024. T1: Bakita and Anderson, RTAS 2024, R4. T4, T5:
    /// `docs/processes.md`. E2: the CUDA runtime's description of `cudaStreamWaitEvent`. L1 and L2 are parameters of
    /// the device.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
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
        /// Blocks of a cooperative launch are assigned together or not at all.
        Cooperative = "cooperative",
        /// A block, or what is behind a wait for a value in its stream, goes on only when a counter has that value.
        Counter = "counter",
        /// A host's call that frees memory returns only when everything that its process has submitted has completed.
        /// It holds the call, no operation.
        H1 = "H1",
        /// A host's call waits until one of its process that frees memory has returned, and submits nothing before.
        H2 = "H2",
    }
}

impl Rule {
    /// What is said of what waits under it: why, in few words; and in a sentence, before the name of what it waits for.
    const fn words_of_wait(self) -> [&'static str; 2] {
        match self {
            Self::G2 => ["not at the head of its stream", "in its stream, behind"],
            Self::C1 => ["copy not at the head of its stream", "in its stream, behind"],
            Self::X1 => ["not at the head of its EE queue", "in its EE queue, behind"],
            Self::A2 => ["an EE queue of higher priority is not empty", "while an EE queue of higher priority holds"],
            Self::R2 => ["no SM has enough free threads and a free block slot", "behind"],
            Self::R3 => ["no SM with enough threads has enough free shared memory", "behind"],
            Self::Registers => ["no SM with enough of the rest has enough free registers", "behind"],
            Self::C2 => ["the copy engine is busy", "until its copy engine is idle, which serves"],
            Self::N1 => [
                "the NULL stream waits for blocking streams",
                "until an earlier operation of a blocking stream completes:",
            ],
            Self::N2 => [
                "a blocking stream waits for the NULL stream",
                "until an earlier operation of the NULL stream completes:",
            ],
            Self::Channel => ["not next in its hardware channel, or none is free", "behind"],
            Self::E2 => ["an event is not recorded yet", "behind"],
            Self::L1 => ["launch latency", "until the launch latency is over"],
            Self::L2 => {
                ["gap between kernels of a stream", "until the gap behind the kernel before it in its stream is over"]
            }
            Self::T1 => ["not the turn of its context", "until it is the turn of its context"],
            Self::T4 => ["suspended: not the turn of its context", "until it is the turn of its context"],
            Self::T5 => ["copy stands still: not the turn of its context", "until its engine has served"],
            Self::Mps => {
                ["no SM that its process may use has room", "until one of the SMs that its process may use has room"]
            }
            Self::Cluster => ["no GPC has enough SMs with room for a cluster of blocks", "behind"],
            Self::Cooperative => ["the SMs have no room for all blocks of the cooperative launch", "behind"],
            Self::Counter => ["a counter has not the value that is waited for", "until a counter is signalled, behind"],
            Self::H1 => [
                "the call frees memory: its process still has work on the GPU",
                "until all of its process has completed, before",
            ],
            Self::H2 => ["a call of its process that frees memory has not returned", "until memory is freed, before"],
        }
    }

    /// Why something waits under it, in few words.
    pub const fn meaning(self) -> &'static str {
        self.words_of_wait()[0]
    }

    /// What is said of an operation that waits under it, before the name of the operation that it waits for.
    pub(super) const fn phrase(self) -> &'static str {
        self.words_of_wait()[1]
    }

    /// With what the cause of one wait can change while it lasts; `None`: it is the same from its beginning to its end.
    pub(super) const fn cause_varies_with(self) -> Option<Varying> {
        match self {
            Self::N1 => Some(Varying::StreamQueues),
            Self::A2 => Some(Varying::EeQueues),
            Self::R2 | Self::R3 | Self::Registers | Self::Cluster | Self::Cooperative => Some(Varying::Sms),
            _ => None,
        }
    }

    /// Whether it holds what is not the head of its stream queue.
    #[doc(hidden)]
    pub const fn is_behind_in_stream(self) -> bool {
        matches!(self, Self::G2 | Self::C1)
    }

    /// Whether it can hold the head of an EE or CE queue.
    #[expect(clippy::match_same_arms, reason = "where else it holds")]
    #[doc(hidden)]
    pub const fn holds_queue_heads(self) -> bool {
        match self {
            Self::R2 | Self::R3 | Self::Registers | Self::Cluster | Self::Mps | Self::A2 | Self::C2 | Self::T1 => true,
            Self::Cooperative => true,
            Self::Counter | Self::G2 | Self::C1 | Self::X1 | Self::N1 | Self::N2 | Self::E2 => false,
            Self::Channel | Self::L1 | Self::L2 | Self::T4 | Self::T5 | Self::H1 | Self::H2 => false,
        }
    }

    /// Whether it holds what was launched for a while, whoever else is there.
    #[doc(hidden)]
    pub const fn is_latency(self) -> bool {
        matches!(self, Self::L1 | Self::L2)
    }

    /// Whether it holds the head of a stream queue for a time that the run notes, rather than an operation in an EE or
    /// CE queue.
    pub(super) const fn is_noted_in_stream(self) -> bool {
        matches!(self, Self::Channel | Self::L1 | Self::L2 | Self::Counter)
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

// The rules in words: what each says, where it comes from, and a run that shows it. `docs/model.md` has the same words
// in its tables, which a test compares.

/// A rule of the model, also one that makes nothing wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RuleText {
    /// Its name: as published, or ours.
    pub name: &'static str,
    /// What it says.
    pub says: &'static str,
    /// Where it is from: paper and section, or what else is known.
    pub source: &'static str,
    /// The section of `docs/model.md` that has it, as the end of a link.
    pub section: &'static str,
    /// A command that shows it in a shipped scenario.
    pub example: &'static str,
}

impl RuleText {
    /// What waits under it, if anything does.
    pub fn wait(&self) -> Option<Rule> {
        Rule::ALL.into_iter().find(|rule| rule.name() == self.name)
    }
}

const RULES_OF_QUEUES: &str = "3-queues-and-rules";
const PROCESSES: &str = "several-processes";
const BLOCKS_THAT_WAIT: &str = "blocks-that-wait-for-others";
const CALLS: &str = "host-calls-that-wait";

const BASIC: &str = "Amert et al., RTSS 2017, section III";
const NULL_STREAM: &str = "Amert et al., RTSS 2017, section IV, the NULL stream (4.1)";
const PRIORITIES: &str = "Amert et al., RTSS 2017, section IV, stream priorities (4.2)";
const EVENTS: &str = "the CUDA runtime's description of cudaEventRecord and cudaStreamWaitEvent";
const OF_DEVICE: &str = "a parameter of the device, as measured or estimated from a profile";

const QUEUES: &str = "gpusched simulate scenarios/rtss2017/figure-3.json --rules";
const WAITS: &str = "gpusched simulate scenarios/rtss2017/figure-3.json --state-at 1.7s";
const BLAME: &str = "gpusched simulate scenarios/rtss2017/figure-3.json --blame --own-waits";
const BY_PRIORITY: &str = "gpusched simulate scenarios/rtss2017/figure-8.json --blame --own-waits";
const NULL: &str = "gpusched simulate scenarios/rtss2017/figure-5.json --blame --own-waits";
const OF_EVENTS: &str = "gpusched simulate scenarios/events/double-buffering.json --rules";
const PROFILE: &str = "gpusched simulate scenarios/profiles/synthetic.json --blame --own-waits";
const TURNS: &str = "gpusched simulate scenarios/processes/perception-and-control.json --rules";

/// All rules: those of queues, of resources, of copies, of priorities, of the NULL stream, of events, of latencies, of
/// channels, of processes and of host calls.
pub const RULES: [RuleText; 38] = [
    rule("G1", BASIC, QUEUES, "The host's call puts an operation at the end of its stream's queue."),
    rule("G2", BASIC, WAITS, "A kernel enters its EE queue when it reaches the head of its stream's queue."),
    rule("G3", BASIC, QUEUES, "The kernel at an EE queue's head leaves it once it is fully dispatched."),
    rule("G4", BASIC, QUEUES, "A kernel leaves its stream's queue once all its blocks have completed."),
    rule("X1", BASIC, BLAME, "Only blocks of the kernel at the head of an EE queue may be assigned."),
    rule("R1", BASIC, BLAME, "A block is assigned only if one SM has all that it needs: R2, R3 and registers."),
    rule(
        "R2",
        BASIC,
        BLAME,
        "An SM has what a block needs only if as many of its thread slots are free as the block takes, and a block slot.",
    ),
    rule(
        "R3",
        BASIC,
        WAITS,
        "An SM has what a block needs only if as much of its shared memory is free as the block takes.",
    ),
    rule(
        "registers",
        "Amert et al., RTSS 2017, section III, expect of registers what they saw of shared memory",
        "gpusched simulate scenarios/rules/registers.json --blame --own-waits",
        "An SM has what a block needs only if as many of its registers are free as the block takes.",
    ),
    rule("C1", BASIC, WAITS, "A copy enters its CE queue when it reaches the head of its stream's queue."),
    rule(
        "C2",
        BASIC,
        BLAME,
        "The CE queue's head is assigned when the copy engine is idle; at once where copies share its link.",
    ),
    rule("C3", BASIC, QUEUES, "An assigned copy leaves its CE queue."),
    rule("C4", BASIC, QUEUES, "A copy leaves its stream's queue once it has completed."),
    rule("A1", PRIORITIES, BY_PRIORITY, "A kernel enters the EE queue of its stream's priority."),
    rule(
        "A2",
        PRIORITIES,
        BY_PRIORITY,
        "Blocks are assigned only while every EE queue of higher priority is empty. So a high-priority kernel that is \
         fully dispatched holds nobody back, and one that fits nowhere holds back everybody below (RTSS 2017, figure 8).",
    ),
    rule(
        "N1",
        NULL_STREAM,
        NULL,
        "The NULL stream's head goes on only when every blocking stream is empty or has a head that was launched later.",
    ),
    rule(
        "N2",
        NULL_STREAM,
        NULL,
        "A blocking stream's head goes on only when the NULL stream is empty or has a head that was launched later.",
    ),
    rule(
        "E1",
        EVENTS,
        OF_EVENTS,
        "An event is recorded when its record is the head of its stream's queue: once everything before it there has \
         completed.",
    ),
    rule(
        "E2",
        EVENTS,
        OF_EVENTS,
        "A wait for an event completes, and lets go on what is behind it in its stream, once the record that it is for \
         has completed: the last one of that event submitted before the wait. If there was none, it holds nothing.",
    ),
    rule(
        "L1",
        OF_DEVICE,
        PROFILE,
        "A kernel or copy goes on no earlier than the device's launch latency after its launch.",
    ),
    rule(
        "L2",
        OF_DEVICE,
        PROFILE,
        "A kernel goes on no earlier than the device's kernel gap after the last kernel before it in its stream \
         completed.",
    ),
    rule(
        "PDL",
        "CUDA's description of programmatic dependent launch (griddepcontrol); order and latencies measured on a B200",
        "gpusched simulate scenarios/rules/programmatic-launch.json --rules",
        "A kernel that is launched programmatically may go on beside the kernel before it in its stream, once each block of that \
         has triggered or ended. Its blocks stand at their wait until that kernel has completed. So do those of a kernel to which \
         programmatic edges of a graph lead, for all kernels that these come from; until these have triggered, E2 holds it.",
    ),
    RuleText {
        section: "channels",
        ..rule(
            "channel",
            "CUDA C Programming Guide (NVIDIA), on compute capability 3.0; NVIDIA's sample simpleHyperQ; Megatron-LM 533, \
             1468; which stream has which channel is assumed",
            "gpusched simulate scenarios/rtss2017/figure-3.json --connections 1 --blame --own-waits",
            "Streams are dealt to hardware channels in turn. A kernel that could go on does so once all kernels that were \
             submitted to its channel before it have, and all waits for events there have completed.",
        )
    },
    RuleText {
        section: "clusters-of-blocks",
        ..rule(
            "cluster",
            "CUDA C++ Programming Guide (NVIDIA), on thread block clusters; order and how many fit measured on a B200",
            "gpusched simulate scenarios/rules/clusters.json --state-at 1ms",
            "A cluster of blocks is assigned whole, at one instant, each block to an SM of its own of one GPC, or not at all.",
        )
    },
    RuleText {
        section: BLOCKS_THAT_WAIT,
        ..rule(
            "cooperative",
            "CUDA Runtime API (NVIDIA), on cudaLaunchCooperativeKernel, whose blocks are co-resident or refused (error 720); \
             that they begin together is assumed",
            "gpusched simulate scenarios/hang/cooperative.json --state-at 1ms",
            "Blocks of a cooperative launch are assigned together, at one instant, or not at all.",
        )
    },
    RuleText {
        section: BLOCKS_THAT_WAIT,
        ..rule(
            "counter",
            "CUDA Driver API (NVIDIA), on cuStreamWaitValue64 and cuStreamWriteValue64; execution model of CUDA C++ (NVIDIA)",
            "gpusched simulate scenarios/hang/cooperative.json --state-at 1ms",
            "A block that waits for a counter goes on once the counter is not below the value, and keeps what it has of its SM \
             until then. So does what is behind a wait for a value in its stream, which keeps its hardware channel.",
        )
    },
    RuleText {
        section: "green-contexts",
        ..rule(
            "green context",
            "CUDA Programming Guide and Driver API (NVIDIA), on green contexts; which SMs a group gets is assumed",
            "gpusched simulate scenarios/rules/green-contexts.json --state-at 2ms",
            "Kernels of a green context run on its SMs only, and wait in EE queues of its own: those of other green contexts \
             hold them by what they have on SMs that both have, and by nothing else.",
        )
    },
    of_processes(
        "T1",
        "Bakita and Anderson, RTAS 2024, rule R4; on an A100, SM masks that split the SMs between two contexts did not \
         let them overlap",
        TURNS,
        "the compute engine serves one context at a time; contexts take turns, round-robin among those that have work",
    ),
    of_processes(
        "T2",
        "`nvgpu` and NVIDIA's open kernel modules: nominally 128 << 3 = 1024 us, as seen on a TX2. Measured: about 2 ms \
         (GTX 1060), 2.09 ms (H100), 2.25 ms (RTX 3060)",
        TURNS,
        "a turn lasts at most the time slice (`time_slice_ns`), and ends early when its context has no resident block \
         and none to assign",
    ),
    of_processes(
        "T3",
        "measured: about 170 us (H100, A100), 90 us (RTX 3060), above 200 us (Xavier NX, Orin Nano)",
        TURNS,
        "a switch takes time in which no block runs (`switch_cost_ns`)",
    ),
    of_processes(
        "T4",
        "on an H100, 182,400 of 182,400 blocks of 5 ms were suspended, and ran no longer than ever",
        "gpusched simulate scenarios/processes/perception-and-control.json --blame --own-waits",
        "blocks stop in their midst and go on where they stopped, on the same SM (`preemption: mid-block`, Pascal and \
         later), or run to their ends first (`block-end`, Maxwell and Kepler). Blocks that watch a timer (`clock: wall`) \
         end by the clock, in their turn",
    ),
    of_processes(
        "T5",
        "Bakita and Anderson, RTAS 2024: one runlist on the TX2; trading about every millisecond was measured",
        "gpusched simulate scenarios/rules/copies-of-two-processes.json --blame --own-waits",
        "copies go on during another context's turn; those of several contexts on one engine trade after \
         `copy_time_slice_ns`. With `runlists: shared`, copies run in the turns of their contexts instead",
    ),
    of_processes(
        "T6",
        "`nvgpu`, whose unit tests are ours too; it gives the levels slices of 1300, 2600 and 5200 us (`\"time_slice\": \
         \"by level\"`)",
        TURNS,
        "the order of a round, by levels: for each low context, for each medium one all high ones and then that; then \
         all high ones; then the low one",
    ),
    of_processes(
        "MPS",
        "CUDA's description of `CUDA_MPS_ACTIVE_THREAD_PERCENTAGE`; measured: 50 % are 56 of 114 SMs, and 54 of 108",
        "gpusched simulate scenarios/processes/perception-and-control.json --mps --state-at 1ms",
        "a client of MPS has blocks on at most as many SMs at once as its active-thread percentage allows, in whole TPCs",
    ),
    of_calls(
        "H1",
        "measured on a TX2: Yang et al., ECRTS 2018, table 3, and its artefact",
        "a call that frees memory (`cudaFree`, `cudaFreeHost`) returns once everything that its process has submitted has \
         completed",
    ),
    of_calls(
        "H2",
        "measured on a TX2, of launches: the same. Of all other calls it is assumed",
        "while such a call has not returned, every CUDA call of the other threads of its process waits",
    ),
    of_calls(
        "H3",
        "measured on a TX2: the same; on a Volta its caller did not wait, and NVIDIA's description has it return at once",
        "a synchronous memset goes to the NULL stream of its process (N1, N2); whether its caller waits for it, the device says \
         (`synchronous_memset`)",
    ),
    RuleText {
        section: "5-which-sm-gets-the-next-block",
        ..rule(
            "placement",
            "Gilman, Ogden, Guo and Walls, 2021; the published rules do not say",
            "gpusched simulate scenarios/rtss2017/figure-3.json --placement lowest-id",
            "Which of the SMs that have room gets the next block is the choice of a policy.",
        )
    },
];

const fn rule(name: &'static str, source: &'static str, example: &'static str, says: &'static str) -> RuleText {
    RuleText { name, says, source, section: RULES_OF_QUEUES, example }
}

const fn of_processes(name: &'static str, source: &'static str, example: &'static str, says: &'static str) -> RuleText {
    RuleText { section: PROCESSES, ..rule(name, source, example, says) }
}

const fn of_calls(name: &'static str, source: &'static str, says: &'static str) -> RuleText {
    let example = "gpusched simulate scenarios/ecrts2018/free.json";
    RuleText { section: CALLS, ..rule(name, source, example, says) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_that_makes_something_wait_is_in_words() {
        for rule in Rule::ALL {
            assert_eq!(RULES.iter().filter(|text| text.wait() == Some(rule)).count(), 1, "{rule}");
        }
        let waits = RULES.iter().filter(|text| text.wait().is_some()).count();
        assert_eq!(waits, Rule::ALL.len());
    }
}
