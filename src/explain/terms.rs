//! Terms of reports and pages, and the columns of tables that are about them.

#[derive(Debug)]
pub(super) struct Term {
    pub(super) name: &'static str,
    /// What else it explains.
    pub(super) also: &'static [&'static str],
    pub(super) more: &'static str,
    /// A command that shows it.
    pub(super) example: Option<&'static str>,
    pub(super) says: &'static str,
}

pub(super) const VERDICTS: &str = "docs/analysis.md#5-jobs-and-their-verdicts";
pub(super) const CAMERA: Option<&str> = Some("gpusched analyze scenarios/deadlines/camera-and-lidar.json --verdicts");
const CHAINS: &str = "docs/analysis.md#chains";
const CORES: &str = "docs/analysis.md#cores";
const SHARED_CORE: Option<&str> = Some("gpusched analyze scenarios/deadlines/shared-core.json --verdicts");
const BRAKE: Option<&str> = Some("gpusched analyze scenarios/deadlines/camera-to-brake.json --verdicts");
const RULES: &str = "docs/model.md#3-queues-and-rules";
const RESULTS: &str = "docs/model.md#8-results";
const PROCESSES: &str = "docs/model.md#several-processes";
const MERGED: &str = "docs/analysis.md#7-may-i-use-the-merged-sm-for-my-kernels";
const SHORTER: &str = "docs/analysis.md#4-when-blocks-run-shorter-than-stated";
const SPORADIC: &str = "docs/analysis.md#releases-that-are-not-given";
const KERNELS: &str = "docs/scenario-format.md#kernels";
const STREAMS: &str = "docs/scenario-format.md#streams";
const HOSTS: &str = "docs/scenario-format.md#hosts";
const BUILT: &str = "docs/architecture.md#words";
const REPLAY: &str = "docs/profiles.md#recorded-and-simulated";
const TESTS: &str = "docs/tasks.md#which-test-may-be-trusted-for-what";

const COMPARED: Option<&str> = Some("gpusched compare scenarios/rtss2017/figure-8.json");
const STATE: Option<&str> = Some("gpusched simulate scenarios/rtss2017/figure-3.json --state-at 1.7s");
const THESIS: Option<&str> = Some("gpusched analyze scenarios/thesis2019/section-3-5.json");
const REPLAYED: Option<&str> = Some("gpusched replay-log scenarios/profiles/synthetic.json");
const OCCUPANCY: Option<&str> = Some("gpusched occupancy scenarios/profiles/synthetic.json");

const fn term(
    name: &'static str,
    also: &'static [&'static str],
    more: &'static str,
    example: Option<&'static str>,
    says: &'static str,
) -> Term {
    Term { name, also, more, example, says }
}

pub(super) const TERMS: [Term; 72] = [
    term(
        "verdict",
        &[],
        VERDICTS,
        CAMERA,
        "What is said of a deadline over all runs: proven, missed, or open. In the audit of a profile: whether the rules \
         explain when a kernel started.",
    ),
    term(
        "bound",
        &["safe bound", "response time at most"],
        VERDICTS,
        CAMERA,
        "No response of that job is longer, in any run: for every placement, for blocks and copies that take less time \
         than stated, and for any order of releases at one instant (or the declared one, if that is asked for).",
    ),
    term(
        "worst found",
        &[],
        VERDICTS,
        CAMERA,
        "The longest response in any run that was simulated: the scenario's own, and those that were searched.",
    ),
    term(
        "upper bound",
        &[],
        REPLAY,
        REPLAYED,
        "What a value does not exceed. Of a response time it is the bound. Of the block time of a profile's kernel that \
         never ran alone it is what its own duration gives, which the kernels beside it may have lengthened.",
    ),
    term(
        "deadline",
        &["due", "met", "misses", "late by", "first miss"],
        VERDICTS,
        CAMERA,
        "By when a job should have finished, counted from its release. It is met if its response time is not longer.",
    ),
    term(
        "core",
        &[],
        CORES,
        SHARED_CORE,
        "Where hosts work that share it by fixed priority: of those that want it the most urgent one has it, at once. The keys \
         core, cpu_priority and spin of a host and its steps work state it; timelines show a lane for each.",
    ),
    term(
        "chain",
        &["measure"],
        CHAINS,
        BRAKE,
        "Jobs of several streams and hosts, each of which reads what one of the one before it has written last: from a sensor \
         to an actuator. The key chains of a scenario states it.",
    ),
    term(
        "reaction time",
        &["measured", "longest"],
        CHAINS,
        BRAKE,
        "From an event, just after the first job of a chain has read and so too late for it, to the first output that knows \
         of it. Each time between two reads is measured, and the longest counts. What has no output at the end of the run \
         counts until then, as unfinished.",
    ),
    term(
        "data age",
        &[],
        CHAINS,
        BRAKE,
        "How long before an output of a chain that was read which it is made of. Each output is measured, and the longest \
         counts.",
    ),
    term(
        "witness",
        &[],
        VERDICTS,
        CAMERA,
        "A run that shows a claim to be wrong: of a missed deadline the run in which the job is late. The option witness of \
         gpusched analyze writes it as a scenario.",
    ),
    term(
        "response time",
        &["response", "release", "released", "released by", "longest response", "max response", "response min"],
        RESULTS,
        CAMERA,
        "From the release of a job, which is when it comes, to the end of its last operation and of what its host does. \
         Of one kernel: from its launch to its end.",
    ),
    term(
        "launched",
        &["started", "finished", "finish", "unfinished"],
        RESULTS,
        STATE,
        "Launched is when the host submitted a kernel or copy, started when its first block was assigned, finished when \
         its last block ended. Between launch and start it waits.",
    ),
    term(
        "job",
        &["jobs", "jobs of", "iteration"],
        STREAMS,
        CAMERA,
        "All that one release of a stream, or one iteration of a host, does: the operations that it submits, copies \
         included, and the steps of the host. The first has number 0.",
    ),
    term(
        "sporadic",
        &["period", "arrived"],
        SPORADIC,
        Some("gpusched analyze scenarios/deadlines/camera-and-lidar.json --sporadic"),
        "Jobs that come at unknown times, at least a period apart. The option sporadic of gpusched analyze judges deadlines \
         for all such times.",
    ),
    term(
        "assumption",
        &["given", "stated-times", "declared-order", "order-and-times", "run", "proven under"],
        "docs/analysis.md#what-would-have-to-be-guaranteed",
        Some("gpusched analyze scenarios/deadlines/camera-and-lidar.json --ladder"),
        "What is taken for granted of releases, their order, block times and placement. The option ladder of gpusched analyze \
         judges each deadline under weaker and stronger ones, and names the weakest under which it is proven.",
    ),
    term(
        "jitter",
        &["jitter up to"],
        SPORADIC,
        Some("gpusched analyze scenarios/deadlines/camera-and-lidar.json --sporadic --jitter camera=1ms"),
        "How much later than its arrival a job may be released. Where jitter counts, response times are from the arrival.",
    ),
    term(
        "percentile",
        &["95 %", "99 %", "p50", "p90", "p99"],
        RESULTS,
        None,
        "95 % of the values are not larger than the 95th percentile (nearest rank); p50 is the median.",
    ),
    term(
        "horizon",
        &[],
        RESULTS,
        None,
        "When a run is ended, if it is said. What has not finished by then has neither finish nor response.",
    ),
    term(
        "long run",
        &[],
        BUILT,
        None,
        "A run whose record leaves while it goes on, so that memory does not grow with its length. Its rows are those of any \
         other run; what repeats is not simulated again for its table. Pictures, states, rules and blame \
         need the whole record at once.",
    ),
    term(
        "merged SM",
        &["analysed", "merged SM in time"],
        MERGED,
        COMPARED,
        "An analysis that takes all SMs for one large SM with the resources of all. It lets a block start as soon as so \
         much is free on all SMs together, also where no single SM has it.",
    ),
    term(
        "exact",
        &[],
        "docs/analysis.md#2-when-merging-the-sms-is-exact",
        THESIS,
        "The merged SM gives the finish times of every work-conserving placement. Where it is not exact, a note says why.",
    ),
    term(
        "optimistic",
        &["the analysis is", "difference", "largest unsafe error"],
        MERGED,
        COMPARED,
        "The kernel finishes later than analysed: the unsafe side. The difference is the analysed finish less the simulated one.",
    ),
    term("pessimistic", &[], MERGED, COMPARED, "The kernel finishes earlier than analysed: the safe side."),
    term(
        "safe finish",
        &[],
        SHORTER,
        THESIS,
        "By then the kernel has finished in every run, for every placement and also if blocks and copies take \
         less time than stated.",
    ),
    term(
        "g_max",
        &[],
        "docs/analysis.md#1-the-algorithm-step-by-step",
        THESIS,
        "How many equal blocks the GPU holds at once. With it, equal blocks of one priority fill one merged SM as they fill \
         the SMs.",
    ),
    term(
        "worst",
        &["best", "order for the best", "order for the worst"],
        "docs/analysis.md#6-orders-of-simultaneous-launches",
        Some("gpusched orders scenarios/rtss2017/figure-8.json --samples 2"),
        "The latest and the earliest finish of a kernel over the orders that were tried of launches at one instant, and one \
         such order.",
    ),
    term(
        "utilization",
        &[],
        "docs/analysis.md#1-the-algorithm-step-by-step",
        THESIS,
        "Which part of what the GPU has the work takes on average. Of an analysis: the threads that all kernels take, for as \
         long as they take them, over their periods.",
    ),
    term(
        "kernel",
        &["grid", "block", "blocks", "threads", "grid size", "block size", "threads/block"],
        KERNELS,
        STATE,
        "A function on the GPU. Its launch has a grid of blocks of so many threads each. A block is assigned to one SM as a \
         whole, and takes threads, a block slot, shared memory and registers there until it ends.",
    ),
    term(
        "SM",
        &["SMs", "threads/SM", "registers/SM", "shared bytes/SM"],
        "docs/model.md#2-device",
        Some("gpusched devices tx2"),
        "Streaming multiprocessor: the part of the GPU on which blocks run. A GPU has some, each with so many threads, block \
         slots, registers and so much shared memory.",
    ),
    term("shared bytes", &[], KERNELS, OCCUPANCY, "Shared memory that a block takes on its SM, in bytes (R3)."),
    term(
        "cc",
        &["compute capability"],
        "docs/model.md#2-device",
        Some("gpusched devices tx2"),
        "Compute capability: NVIDIA's number for what a GPU can do, from which limits of its SMs follow.",
    ),
    term(
        "copy",
        &["copies", "copy engine", "copy engines", "bytes"],
        "docs/model.md#6-copies",
        STATE,
        "A transfer between memories. A copy engine makes it, one at a time (C2); copies are counted from 0 in the order of \
         their launches.",
    ),
    term(
        "stream",
        &["NULL stream", "in stream"],
        STREAMS,
        STATE,
        "Operations that run one after another in the order in which they are submitted. The NULL stream is CUDA's default: \
         it waits for blocking streams and they for it (N1, N2).",
    ),
    term(
        "operation",
        &["operations", "memset"],
        STREAMS,
        STATE,
        "Whatever is submitted to a stream: a kernel, a copy, a memset, the record of an event, or the wait for one.",
    ),
    term(
        "event",
        &[],
        "docs/model.md#events",
        Some("gpusched simulate scenarios/events/double-buffering.json --blame"),
        "A mark in one stream, for which other streams wait (E1, E2), as in CUDA.",
    ),
    term(
        "stream queue",
        &[],
        RULES,
        STATE,
        "The operations of a stream that are not complete. Only its head may go on (G1, G2, G4).",
    ),
    term(
        "EE queue",
        &["CE queue"],
        RULES,
        STATE,
        "Execution-engine queue: kernels that have left their streams' queues and have blocks left to assign, one queue for \
         each priority (G3, X1, A1, A2). A CE queue is the same for copies (C2, C3).",
    ),
    term(
        "ready operation",
        &[],
        BUILT,
        None,
        "One that has passed the rules of its stream, and enters an EE queue or a copy engine's.",
    ),
    term("dispatched", &[], RULES, None, "A kernel is fully dispatched when all its blocks are assigned (G3)."),
    term(
        "priority",
        &["priorities"],
        RULES,
        Some("gpusched simulate scenarios/rtss2017/figure-8.json --blame"),
        "A stream's: the smaller the number, the higher the priority, so that -1 goes before 0. Blocks are assigned only while EE \
         queues of higher priority are empty (A2). What runs is not preempted.",
    ),
    term(
        "placement",
        &[],
        "docs/model.md#5-which-sm-gets-the-next-block",
        Some("gpusched simulate scenarios/rtss2017/figure-3.json --placement round-robin"),
        "Which of the SMs with room gets the next block. The published rules do not say; the option placement chooses.",
    ),
    term(
        "GPC",
        &["GPCs", "gpc", "gpc-most-room", "lone TPC", "lone TPCs"],
        "docs/model.md#placement-by-gpcs",
        Some("gpusched devices b200"),
        "Graphics processing cluster: TPCs, and so SMs, that make one part of the GPU. A B200 hands blocks out GPC by GPC, the \
         TPCs of no full GPC first (placement gpc). Which SMs make a GPC, a device states, with who measured it.",
    ),
    term(
        "programmatic dependent launch",
        &["programmatic", "trigger", "griddepcontrol", "cudaLaunchAttributeProgrammaticStreamSerialization"],
        "docs/model.md#programmatic-dependent-launch",
        Some("gpusched simulate scenarios/rules/programmatic-launch.json"),
        "A kernel may begin beside the one before it in its stream, once all blocks of that have triggered, and waits for its \
         end where its own blocks say so (rule PDL). GPUs have it from compute capability 9.0 on.",
    ),
    term(
        "cluster",
        &["thread block cluster", "cluster_fallback", "cudaLaunchAttributeClusterDimension"],
        "docs/model.md#clusters-of-blocks",
        Some("gpusched simulate scenarios/rules/clusters.json --state-at 1ms"),
        "Blocks of a kernel that begin together, each on an SM of its own of one GPC (rule cluster). While no GPC has as many \
         SMs free, they wait. GPUs have them from compute capability 9.0 on.",
    ),
    term(
        "green context",
        &["green_contexts", "cuGreenCtxCreate", "cuDevSmResourceSplitByCount", "SM partition"],
        "docs/model.md#green-contexts",
        Some("gpusched simulate scenarios/rules/green-contexts.json"),
        "A set of SMs that a split of the GPU makes; streams of it run on these SMs only and wait in EE queues of their own. \
         Numbers of SMs are rounded by compute capability, and each split begins anew, so that two may overlap.",
    ),
    term(
        "work queue",
        &["work queues", "work_queues", "CUdevWorkqueueConfigResource"],
        "docs/model.md#green-contexts",
        None,
        "What a stream needs to launch a kernel while others do: a hardware channel. A green context may have some of its own \
         (work_queues), which its streams share and no others take.",
    ),
    term(
        "CUDA graph",
        &["graph", "graphs", "node", "edge", "programmatic edge", "cudaGraphLaunch"],
        "docs/model.md#cuda-graphs",
        Some("gpusched simulate scenarios/rules/graphs.json"),
        "Kernels, copies and memsets with edges between them, launched as one. Each node begins once those before it have ended, \
         or over programmatic edges once all before it have triggered; what is behind the launch waits for all of them.",
    ),
    term(
        "persistent kernel",
        &["persistent", "items", "work item", "try_cancel", "clusterlaunchcontrol", "cluster launch control"],
        "docs/model.md#persistent-kernels",
        Some("gpusched simulate scenarios/rules/persistent-kernel.json"),
        "A kernel whose blocks take one work item after another. In a loop they keep their SMs until no item is left, whatever \
         waits; with try_cancel (compute capability 10.0) a block gets no other item while a higher priority waits.",
    ),
    term(
        "frontend",
        &["backend"],
        BUILT,
        None,
        "The part of the simulated GPU that decides when an operation may leave its stream. The backend runs it.",
    ),
    term(
        "process",
        &["context", "processes"],
        PROCESSES,
        Some("gpusched simulate scenarios/rules/copies-of-two-processes.json"),
        "Who owns streams. What its kernels share is its context; contexts of several processes take turns on the GPU (T1).",
    ),
    term(
        "turn",
        &["time slice", "switch from", "ended by", "paused"],
        PROCESSES,
        Some("gpusched simulate scenarios/rules/copies-of-two-processes.json"),
        "The time in which the blocks of one context run; it lasts a time slice at most (T2). Blocks that have begun are \
         paused in the turns of others (T4), and a switch takes time in which none runs (T3).",
    ),
    term(
        "held call",
        &["call", "held by", "called", "went on", "lasted", "free"],
        "docs/model.md#host-calls-that-wait",
        Some("gpusched simulate scenarios/ecrts2018/free.json"),
        "A CUDA call of a host that did not return at once: it frees memory and waits for the GPU (H1), or waits until \
         another thread of its process has freed memory (H2). From when it was called until it went on.",
    ),
    term("runlist", &[], PROCESSES, None, "The order in which contexts come (T6)."),
    term(
        "host",
        &["host thread", "GPU interface"],
        HOSTS,
        None,
        "Whoever submits operations: in a scenario a thread that repeats its steps. What it may do with a GPU is the GPU \
         interface of the library.",
    ),
    term(
        "trace",
        &["run"],
        BUILT,
        None,
        "What happened on the GPU: when each operation and block began and ended, and what waited. A run is that, and what \
         its host did.",
    ),
    term(
        "early end",
        &[],
        RESULTS,
        None,
        "Why work ended before it was done: it was stopped, or was more than may be spent on it.",
    ),
    term(
        "wave",
        &["waves", "last wave %", "stretch"],
        "docs/profiles.md#occupancy",
        OCCUPANCY,
        "Blocks of a kernel that were assigned at one instant. A kernel of more blocks than the GPU holds has several; the \
         last may fill it to some percent only. Waves that repeat are a stretch.",
    ),
    term(
        "occupancy",
        &["occupancy %", "recorded %", "agrees", "blocks/SM", "limited by"],
        "docs/profiles.md#occupancy",
        OCCUPANCY,
        "Resident threads over the threads that the SMs could hold. It is limited by what an SM has too little of: threads, \
         block slots, registers, shared memory; or by the grid, which has too few blocks.",
    ),
    term(
        "blame",
        &["waiting", "blocking", "waited", "longest for", "waiting stream", "blocking stream"],
        "docs/model.md#who-made-whom-wait",
        Some("gpusched simulate scenarios/rtss2017/figure-3.json --blame"),
        "Who made whom wait, and for how long: the time from launches to starts, divided by who stood in the way and by \
         the rule that held what waited. G2 (E2): it stood behind a wait for an event.",
    ),
    term(
        "critical path",
        &["on the path", "times", "share"],
        "docs/model.md#what-took-the-time",
        Some("gpusched simulate scenarios/deadlines/camera-and-lidar.json --critical-path=camera"),
        "What made a run, or a job, take as long as it did: kernels, copies, waits and host work, each of which began when \
         the one before it ended, with how often each is on the path, for how long, and for what share of the time.",
    ),
    term(
        "alone",
        &[
            "overlapped",
            "block time",
            "same_kernel_alone",
            "same_kernel_overlapped",
            "same_kernel",
            "recorded",
            "upper_bound",
            "other_profile",
        ],
        REPLAY,
        REPLAYED,
        "A kernel of a profile that had the GPU to itself: its blocks take its duration over its waves. One that overlapped \
         others takes the block time of the same kernel where that ran alone, or else an upper bound; where that scatters, or the \
         kernel waits for other GPUs, its own recorded time.",
    ),
    term(
        "exposed communication",
        &["base", "what if", "time", "first", "second", "change", "launches, first", "total time, first"],
        "docs/profiles.md#what-if",
        Some("gpusched replay-log scenarios/profiles/synthetic.json --set-block-time gemm=15us"),
        "Time in which a collective runs and no other kernel does. It stands in tables of two runs, a profile without and with \
         a what-if (base, what if) or two profiles (first, second), beside the makespan, overlap, and what each stream takes.",
    ),
    term(
        "held out",
        &["told by", "durations off by", "starts off by", "makespan off by", "correlation of slow-downs"],
        "docs/profiles.md#does-sharing-explain-what-overlaps",
        REPLAYED,
        "The second half of a profile, of which nothing was used: what its first half says of kernels that overlap others, \
         by sharing of SMs and by medians of the same kernel, beside what was recorded. A slow-down is a duration over the \
         median of the same kernel alone.",
    ),
    term(
        "simulated",
        &[
            "start recorded",
            "duration recorded",
            "off by",
            "start measured",
            "finish measured",
            "apart",
            "largest error",
        ],
        REPLAY,
        REPLAYED,
        "What comes out here, beside what was recorded or measured. Off by is the former less the latter.",
    ),
    term(
        "audit",
        &["finding", "state"],
        "docs/measured-logs.md#audit",
        Some("gpusched audit scenarios/profiles/synthetic.json"),
        "The check of a run, of logs or of a profile against the rules. What it finds to break one is a finding.",
    ),
    term(
        "rule",
        &[],
        RULES,
        STATE,
        "A sentence on how the GPU schedules, most of them published, each with a letter and a number: what waits does so under \
         one. gpusched explain R3 tells what R3 says and where it is from.",
    ),
    term(
        "printed",
        &["here", "place", "paper"],
        "docs/reproduction.md",
        None,
        "What a paper says in print, with its place there, beside what comes out here.",
    ),
    term(
        "requirement",
        &["stimulus", "runnable", "processing unit"],
        "docs/amalthea.md#stimuli-and-requirements",
        None,
        "Of an AMALTHEA model: what it asks of the times of a task. A stimulus releases tasks, a runnable is a piece of work \
         of one, and a processing unit is what does it.",
    ),
    term(
        "violation",
        &["total violation", "application", "applications", "power/application", "energy/application"],
        "docs/gpu-evr.md#2-what-is-computed",
        None,
        "By how much an application of GPU-EvR is late: the time by which its end is behind what it requires, in all over \
         the applications of a run.",
    ),
    term(
        "test",
        &["passes", "smallest budget, single", "both fit"],
        TESTS,
        None,
        "A schedulability test of a task set: what it is to pass is a set whose every job meets its deadline, and the page \
         tells which tests may be trusted. A reservation has budgets for tasks on a single SM and on all; both fit if they \
         are no longer than its period together.",
    ),
    term(
        "slack",
        &["slack %", "until"],
        "docs/analysis.md#slack",
        Some("gpusched analyze scenarios/deadlines/camera-to-brake.json --slack"),
        "How much longer jobs of a task, stream or host may take, all their parts in one proportion, until it is no longer \
         proven that all others and they themselves meet their deadlines.",
    ),
    term(
        "sample",
        &["samples", "shard", "rows"],
        "docs/studies.md#1-write-it-down",
        None,
        "One random case of a study, which is a row of its results. A shard is a part of the samples that runs by itself.",
    ),
];
