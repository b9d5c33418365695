//! Notes and errors that are explained, by a part of each that is always the same.

/// A note or an error.
#[derive(Debug)]
pub(super) struct Message {
    /// What it always has in it.
    pub(super) part: &'static str,
    pub(super) says: &'static str,
    pub(super) more: &'static str,
}

const fn message(part: &'static str, more: &'static str, says: &'static str) -> Message {
    Message { part, says, more }
}

const VERDICTS: &str = "docs/analysis.md#5-jobs-and-their-verdicts";
const PROGRAMS: &str = "docs/analysis.md#host-programs-processes-links-and-channels";
const AT_ONE_INSTANT: &str = "docs/analysis.md#releases-at-one-instant";
const EXACT: &str = "docs/analysis.md#2-when-merging-the-sms-is-exact";
const NOT_EXACT: &str = "docs/analysis.md#3-where-it-is-not-exact";
const SHORTER: &str = "docs/analysis.md#4-when-blocks-run-shorter-than-stated";
const SPORADIC: &str = "docs/analysis.md#releases-that-are-not-given";
const RULES: &str = "docs/model.md#3-queues-and-rules";
const CHANNELS: &str = "docs/model.md#channels";
const PROCESSES: &str = "docs/model.md#several-processes";
const LINK: &str = "docs/model.md#copies-that-share-a-link";
const RESULTS: &str = "docs/model.md#8-results";
const EVENTS: &str = "docs/model.md#events";
const REQUIREMENTS: &str = "docs/amalthea.md#stimuli-and-requirements";
const OF_PROFILES: &str = "docs/profiles.md#what-a-profile-says-and-what-is-estimated";
const LAUNCHES: &str = "docs/profiles.md#who-submits-and-when";
const KERNELS: &str = "docs/scenario-format.md#kernels";
const VALUES: &str = "docs/scenario-format.md#values";
const AUDIT: &str = "docs/measured-logs.md#audit";
const COMMAND: &str = "docs/command.md";

pub(super) const MESSAGES: [Message; 39] = [
    message(
        "no bound is given:",
        VERDICTS,
        "Why a verdict is open: nothing is claimed of any run of this scenario, for the reason behind the \
         colon, so that no deadline can be proven. Deadlines that a run misses are missed all the same.",
    ),
    message(
        "goes on without a period and does not wait in each iteration",
        PROGRAMS,
        "Nothing limits how often this host launches. Give it a period, or a number of iterations and, at the end of \
         each, a wait for all that it has submitted.",
    ),
    message(
        "meets others at a barrier: only threads are known",
        PROGRAMS,
        "What comes after a barrier depends on when the others come to it. Bounds know hosts that all have the same \
         period and number of iterations, or all run once, over given releases.",
    ),
    message(
        "bounds of jobs hold for any releases at least as far apart",
        PROGRAMS,
        "Single operations of this scenario have no bounds, but jobs have: one for all jobs of a host or stream, \
         however the releases of different ones fall together.",
    ),
    message(
        "it is not certain under any order of simultaneous releases",
        AT_ONE_INSTANT,
        "Two hosts are released at the same instant, and the one may still be waiting when its next job is \
         released. Under the order of the file it is not: the option order, set to declared, judges that alone.",
    ),
    message(
        "operations at the same instants, and too many of these may",
        AT_ONE_INSTANT,
        "Too many orders of what is launched at one instant would have to be looked at. The option order, set to \
         declared, judges that of the file alone.",
    ),
    message(
        "streams may have to wait for a hardware channel",
        CHANNELS,
        "Streams share hardware channels (rule channel), and contexts take turns, too: no \
         bound knows both. A device with more channels, or the option connections, gives one.",
    ),
    message(
        "the device states a launch latency or a kernel gap",
        RULES,
        "Rules L1 and L2 delay launches on this device. The merged SM does not know them; bounds on jobs count each in \
         full. The options launch_latency and kernel_gap leave them out if they are 0s.",
    ),
    message(
        "an SM mask and an mps_percentage hold at once",
        PROCESSES,
        "Which SMs a client of MPS uses is not fixed, so that it is open how many of them its mask leaves.",
    ),
    message(
        "copies of several streams share a link",
        LINK,
        "On this device copies that run at once share the bandwidth, and the analyses know copies one at a \
         time.",
    ),
    message(
        "are not launched as a whole by the horizon",
        VERDICTS,
        "Jobs of which something is launched after the horizon end somewhere behind it, of which nothing is \
         known. A longer horizon has them.",
    ),
    message(
        "has no period, so nothing is known of how often its jobs come",
        SPORADIC,
        "Arrivals are taken as unknown, at least a period apart: without a period nothing limits the load. \
         The option period gives one.",
    ),
    message(
        "goes on without a period and does not wait",
        SPORADIC,
        "Nothing limits how often its jobs come: neither a period nor a wait for the work of the job before. The \
         option period gives one.",
    ),
    message(
        "meets others at a barrier",
        PROGRAMS,
        "How far apart the jobs of such threads are is known only where all that meet have one period, or all run \
         once.",
    ),
    message(
        "has too many operations and pauses",
        PROGRAMS,
        "All steps of one job are analysed together, up to 512. Fewer repetitions in one job, or fewer operations, \
         are analysed.",
    ),
    message(
        "no bound is found: a job of",
        SPORADIC,
        "The jobs of one stream may still be running when the next one comes, as far as the bound knows: the \
         GPU has too much load, or the bound is too coarse.",
    ),
    message(
        "open though the bound meets it",
        REQUIREMENTS,
        "A requirement of the model whose bound is small enough, and which is open all the same: the model \
         says something that the bound does not cover, for the reason behind the colon.",
    ),
    message(
        "longest responses are those of the scenario",
        VERDICTS,
        "No job has a deadline, and the scenario is large: no other runs were searched, unless a time for the \
         search is given.",
    ),
    message(
        "not exact:",
        EXACT,
        "The finish times on the merged SM are not those of the GPU in general, for the reason behind the \
         colon: kernels may finish later or earlier. Bounds and verdicts do not rest on them.",
    ),
    message(
        "blocks differ in their threads",
        NOT_EXACT,
        "The merged SM adds up the free threads of all SMs, where no single SM may have room for a block of \
         the larger kernel. Finish times may be too early.",
    ),
    message(
        "blocks differ in their shared memory or registers",
        NOT_EXACT,
        "The merged SM adds up what is free on all SMs, where no single SM may have room for a block. Finish \
         times may be too early.",
    ),
    message(
        "streams have different priorities",
        NOT_EXACT,
        "The merged SM takes kernels in the order in which they become ready, and the GPU by priority (A2).",
    ),
    message(
        "there are copies or memsets",
        NOT_EXACT,
        "Copies share engines and not SMs: the merged SM takes them in the order in which they become ready.",
    ),
    message(
        "a stream has several kernels",
        NOT_EXACT,
        "A later kernel of a stream waits for the one before it (G2), and is released in the analysis when \
         that is analysed to finish, which need not be when it does.",
    ),
    message(
        "block times vary",
        SHORTER,
        "Blocks may run for different times, and the analysis takes the longest of each: with shorter ones \
         the order may change.",
    ),
    message(
        "safe_finish_ns is not given",
        SHORTER,
        "The safe finish holds for launches that do not depend on when operations complete; here a host \
         launches more after it has waited, or a kernel may finish after all that is known is released: the horizon, or one \
         hyperperiod of what has no end.",
    ),
    message(
        "the NULL stream is used",
        NOT_EXACT,
        "Its operations wait for those of blocking streams, and these for them (N1, N2), of which the theorem \
         on the merged SM says nothing.",
    ),
    message(
        "misses its deadline of",
        VERDICTS,
        "In this run a job was late. What the next runs do is not said: gpusched analyze says it of all.",
    ),
    message(
        "is overloaded:",
        RESULTS,
        "More work comes than there is time for, by what it takes at least and wherever blocks are placed. The backlog \
         grows as long as the run goes on, and the responses of what waits tell how long that was. Longer periods, \
         shorter kernels or fewer blocks help; other priorities only choose whose jobs are late.",
    ),
    message(
        "ends at the horizon",
        RESULTS,
        "The run was ended there, by an option or by the file. What had not finished has neither finish nor \
         response.",
    ),
    message(
        "it had not been recorded when the wait was submitted",
        EVENTS,
        "A wait is for the last record of its event that was submitted before it (E2). There was none, so \
         that it holds nothing. In CUDA that is no error, and rarely meant.",
    ),
    message("has no effect:", COMMAND, "An option changes nothing of what comes out, for the reason behind the colon."),
    message(
        "the profile states no stream priorities",
        OF_PROFILES,
        "Profiles rarely say which priority a stream was made with. The option set_priority says it.",
    ),
    message(
        "the profile does not say which streams wait for the NULL stream",
        OF_PROFILES,
        "Streams made without the flag cudaStreamNonBlocking wait for the NULL stream (N2), and the profile \
         does not say which are.",
    ),
    message(
        "no host call in the file for",
        LAUNCHES,
        "The profile has the operation and not the call that submitted it, so that the time of its launch is \
         a guess.",
    ),
    message("is never launched", KERNELS, "The file describes a kernel that no stream and no host launches."),
    message(
        "removes none of the",
        VALUES,
        "The SM mask has no bit of an SM that this device has: a set bit disables a TPC.",
    ),
    message(
        "work conservation was not checked",
        AUDIT,
        "The log lacks something that it takes to know that a block could have been assigned earlier.",
    ),
    message(
        "the clocks are apart by",
        AUDIT,
        "Launches are on the clock of the host and blocks on that of the GPU. What compares the two is \
         checked with as much tolerance as they are apart.",
    ),
];
