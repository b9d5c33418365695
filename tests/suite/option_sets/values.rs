//! What is drawn: inputs of every kind, and values of options that are not the defaults.

/// Options that may change nothing by what they are: limits, permissions, checks that pass, threads, time for a search.
pub(super) const EXEMPT: [&str; 17] = [
    "--help",
    "--help-all",
    "--version",
    "--max-memory",
    "--max-time",
    "--limits",
    "--jobs",
    "--force",
    "--no-repeat",
    "--allow-log-paths",
    "--check",
    "--search",
    "--tolerance-us",
    "--clock-tolerance-us",
    "--memory-limit",
    "--time-limit",
    // Of one value in builds without the integer program.
    "--solver",
];

/// Options that are taken in, and with inputs as small as these may come to what holds without them.
pub(super) const COINCIDES: [(&str, &str); 16] = [
    // The only GPU of the profile, the only kernel, the scenario beside the logs, the default beside it.
    ("", "--gpu"),
    ("", "--only"),
    ("audit", "--scenario"),
    ("replay-log", "--scenario"),
    ("import", "--device"),
    // Nothing that broke a rule, which is the same line in both.
    ("audit", "--format"),
    ("audit", "--device"),
    ("audit", "--set-priority"),
    // Nothing waits, or nobody is in a hurry.
    ("simulate", "--blame"),
    ("simulate", "--own-waits"),
    ("replay-log", "--kernel-times"),
    ("evr", "--rule"),
    ("tasks run", "--policy"),
    ("warps", "--uninterrupted"),
    // Pictures are as wide as asked for at most.
    ("warps", "--width"),
    ("", "--height-limit"),
];

/// An input, and what options call by name in it.
#[derive(Clone, Copy)]
pub(super) struct Input {
    words: &'static [&'static str],
    /// Of a stream or host that releases jobs, two streams and a kernel, and a time in the midst of the run.
    names: [&'static str; 5],
}

const fn input(words: &'static [&'static str], names: [&'static str; 5]) -> Input {
    Input { words, names }
}

const NONE: [&str; 5] = [""; 5];
const PROFILE: Input =
    input(&["@scenarios/profiles/synthetic.json"], ["stream 7", "stream 7", "stream 20", "gemm", "200us"]);
const SCENARIOS: [Input; 6] = [
    input(&["@tests/data/small/native.json"], ["S1", "S3", "S2", "K1", "12ms"]),
    input(&["@tests/data/small/hosts.json"], ["H1", "S1", "S2", "K1", "12ms"]),
    input(&["@tests/data/small/examiner.json"], ["A1", "A1", "B2", "A1", "2ms"]),
    input(&["@scenarios/processes/perception-and-control.json"], ["camera", "camera", "steering", "detect", "7ms"]),
    input(&["@tests/data/small/model.amxmi"], ["K1", "K1", "no such", "K1", "2s"]),
    PROFILE,
];
const MEASURED: [Input; 2] = [input(&["@tests/data/logs/two-streams"], ["1", "1", "2", "K1", "1ms"]), PROFILE];
const TASK_SETS: [Input; 2] =
    [input(&["@tests/data/small/tasks.json"], NONE), input(&["@tests/data/small/segments.json"], NONE)];
const TASK_RUNS: [Input; 3] = [
    input(&["@tests/data/small/tasks.json", "--strategy", "single-stream"], NONE),
    input(&["@tests/data/small/tasks.json", "--strategy", "gang"], NONE),
    input(&["@tests/data/small/segments.json", "--strategy", "gcaps-suspend"], NONE),
];
const CURVES: [Input; 3] = [
    input(&["--samples=3", "--step=300"], NONE),
    input(&["--samples=3", "--step=400", "--figure-number=8"], NONE),
    input(&["--samples=2", "--segments=cpus"], NONE),
];
const APPLICATIONS: [Input; 2] =
    [input(&["@tests/data/small/applications.json"], NONE), input(&["gpu-evr-figure-1"], NONE)];
const WARPS: [Input; 2] =
    [input(&["LLCL", "--warps=4"], NONE), input(&["--instance", "@tests/data/small/warps.json"], NONE)];

/// What a command is given.
pub(super) fn inputs(command: &str) -> &'static [Input] {
    match command {
        "audit" | "replay-log" => &MEASURED,
        "import" => &SCENARIOS[5..],
        "tasks" => &TASK_SETS,
        "tasks run" => &TASK_RUNS,
        "tasks curve" => &CURVES,
        "evr" => &APPLICATIONS,
        "warps" => &WARPS,
        _ => &SCENARIOS,
    }
}

/// A shipped file; commands run elsewhere.
fn shipped(path: &str) -> String {
    path.strip_prefix('@').map_or_else(|| path.to_owned(), |path| format!("{}/{path}", env!("CARGO_MANIFEST_DIR")))
}

impl Input {
    pub(super) fn arguments(&self) -> Vec<String> {
        self.words.iter().map(|word| shipped(word)).collect()
    }

    /// A value with the names of this input.
    pub(super) fn named(&self, value: &str) -> String {
        let places = ["{released}", "{stream}", "{other}", "{kernel}", "{t}"];
        let named =
            places.iter().zip(self.names).fold(value.to_owned(), |value, (place, name)| value.replace(place, name));
        shipped(&named)
    }
}

/// An option without which another one is refused.
pub(super) fn companion(command: &str, option: &str) -> Option<&'static str> {
    Some(match (command, option) {
        (
            _,
            "--height" | "--width" | "--height-limit" | "--queues" | "--waits" | "--occupancy" | "--sms" | "--only"
            | "--full-height" | "--no-title" | "--scale" | "--figure-of",
        ) if command != "tasks curve" => "--figure",
        ("simulate" | "compare" | "replay-log", "--from" | "--to") => "--figure",
        ("analyze", "--jitter") => "--sporadic",
        ("analyze", "--largest-grid") => "--progress",
        ("analyze", "--largest-grid-on") => "--largest-grid",
        ("evr", "--gap") => "--inject",
        ("evr", "--period" | "--periods") => "--per-period",
        ("simulate", "--own-waits") => "--blame",
        ("simulate", "--blocks" | "--rules" | "--state-at" | "--blame") => "--format",
        _ => return None,
    })
}

/// Values of an option that are not the default; none if they are not known.
#[expect(clippy::match_same_arms, clippy::too_many_lines, reason = "one option a line")]
pub(super) fn values(command: &str, option: &str) -> &'static [&'static str] {
    match (command, option) {
        (_, "--format") => &["json", "jsonl", "csv", "markdown"],
        (_, "--figure" | "--blame-figure") => &["f.svg", "f.tex"],
        (_, "--as") => &["mps"],
        ("tasks" | "tasks run" | "evr", "--device") => &["gtx1070"],
        (_, "--device") => &["xavier", "titan-v"],
        (_, "--launch-latency") => &["50us"],
        (_, "--kernel-gap") => &["70us"],
        (_, "--placement") => &["round-robin", "lowest-id", "random"],
        (_, "--block-duration") => &["{kernel}=1.5ms"],
        (_, "--time-slice") => &["700us"],
        (_, "--switch-cost") => &["90us"],
        ("evr", "--period") => &["700ms"],
        (_, "--period") => &["{released}=37ms"],
        (_, "--deadline") => &["{released}=11ms"],
        ("tasks run", "--horizon") => &["50"],
        (_, "--horizon") => &["61ms", "5s"],
        ("residents", "--at") => &["{t}"],
        (_, "--vary") => &["50..100"],
        (_, "--seed") => &["7"],
        (_, "--runnables") => &["{kernel}"],
        (_, "--grid-size") => &["{kernel}=9"],
        (_, "--block-size") => &["{kernel}=96"],
        (_, "--process") => &["{kernel}=own"],
        (_, "--access-time") => &["A57=220ns"],
        (_, "--processing-unit") => &["G"],
        (_, "--frequency") => &["1.3GHz"],
        (_, "--ticks") => &["lower", "bounds"],
        (_, "--gpu") => &["0"],
        (_, "--launches") => &["recorded"],
        (_, "--collectives") => &["model"],
        (_, "--rescale") => &["compute", "memory", "by-name"],
        (_, "--kernel-times") => &["sharing", "overlapped-median", "alone-median", "median"],
        (_, "--block-times") => &["@scenarios/profiles/synthetic.json"],
        (_, "--set-priority") => &["{stream}=-1"],
        (_, "--set-stream") => &["{kernel}={other}"],
        (_, "--set-host-time") => &["*=50%"],
        (_, "--set-block-time") => &["{kernel}=1.7ms"],
        (_, "--set-blocks") => &["{kernel}=6"],
        (_, "--set-cluster") => &["{kernel}=2"],
        (_, "--grid-barrier") => &["{kernel}"],
        (_, "--largest-grid") => &["{kernel}"],
        (_, "--largest-grid-on") => &["l4"],
        (_, "--sm-mask") => &["{stream}=0x1"],
        (_, "--connections") => &["1"],
        (_, "--channel-order") => &["lifo", "random"],
        (_, "--block-gap") => &["1us"],
        (_, "--register-dealing") => &["worst"],
        (_, "--logs") => &["logs"],
        (_, "--blocks-csv") => &["b.csv"],
        (_, "--columns") => &["threads=96"],
        (_, "--write-device") => &["d.json"],
        (_, "--runnable-times") => &["t.csv", "t.json"],
        (_, "--perfetto") => &["p.json"],
        (_, "--responses") => &["r.csv", "r.svg"],
        (_, "--state-at" | "--from" | "--to") => &["{t}"],
        (_, "--html") => &["t.html"],
        (_, "--height") => &["shared-memory", "registers"],
        ("simulate" | "compare" | "replay-log", "--width") => &["page", "140"],
        (_, "--width") => &["column", "140"],
        (_, "--height-limit") => &["90"],
        ("tasks curve", "--sms") => &["3"],
        (_, "--sms") => &["0"],
        (_, "--only") => &["{kernel}"],
        (_, "--scale") => &["2"],
        (_, "--processors") => &["2"],
        (_, "--precedence") => &["@tests/data/jobs/diamond.precedence.csv"],
        (_, "--jitter") => &["{released}=1ms"],
        (_, "--order") => &["declared"],
        (_, "--witness" | "--out" | "--certificate") => &["w.json"],
        (_, "--report") => &["r.md", "r.html"],
        ("evr", "--samples") => &["2"],
        (_, "--samples") => &["5"],
        (_, "--scenario") => &["@tests/data/logs/two-streams/scenario.json"],
        ("tasks curve", "--tests") => &["sbf", "exact", "gcaps-suspend"],
        (_, "--tests") => &["sbf", "gcaps-suspend", "multi-stream-as-printed"],
        (_, "--reservation-period") => &["20"],
        (_, "--smallest-budgets") => &["12"],
        (_, "--figure-of") => &["all", "sm1"],
        (_, "--strategy") => &["multi-stream", "gcaps-busy"],
        (_, "--policy") => &["fp"],
        (_, "--synchronization") => &["1"],
        (_, "--figure-number") => &["6", "7", "8"],
        (_, "--inputs") => &["two-periods", "twelve-periods"],
        (_, "--theorem-6") => &["as-printed", "corrected"],
        (_, "--segments") => &["utilization"],
        (_, "--sets") => &["published"],
        (_, "--preset") => &["ecrts2024-artefact"],
        (_, "--gang-utilization") => &["300"],
        (_, "--tasks-per-sm") => &["2"],
        (_, "--gang-tasks") => &["1"],
        (_, "--periods") if command == "tasks curve" => &["10000,20000", "1000..5000"],
        (_, "--periods") => &["3"],
        (_, "--utilizations") => &["uunifast-discard", "rand-fixed-sum"],
        (_, "--deadlines-from") => &["50"],
        (_, "--step") => &["250"],
        (_, "--scheduler") => &["gpu-evr", "timegraph", "global-edf"],
        (_, "--inject") => &["4"],
        (_, "--gap") => &["30ms"],
        (_, "--per-period") => &["2"],
        (_, "--saturation-sms") => &["2"],
        (_, "--execution") => &["12ms"],
        (_, "--tightness-percent") => &["150"],
        (_, "--rule") => &["full-gpu=wait"],
        (_, "--warps") => &["5"],
        (_, "--sigma-l" | "--sigma-c") => &["1/2", "2"],
        (_, "--unit") => &["S=1/8", "L=1/4"],
        (_, "--cycles") => &["C=4"],
        (_, "--constraints") => &["long"],
        (_, "--estimate-from") => &["1", "3"],
        (_, "--export") => &["w.lp"],
        (_, "--instance") => &["@tests/data/small/warps.json"],
        _ => &[],
    }
}
