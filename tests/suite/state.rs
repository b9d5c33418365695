//! State snapshots and rules, against the thesis' Tables 2.2 to 2.4 and its Fig. 2.6 (Fig. 4 of RTSS 2017) on the
//! experiment of RTSS 2017, Fig. 3.
//!
//! The dashed lines (a) to (e) stand at 1.103, 2.105, 3.006, 3.317 and 4.003 s in the picture, whose clock is 0.308 s
//! ahead of ours. The tables' own times, 1.0, 2.1, 3.0 and 3.4 s, are readings of the same lines.

use gpusched::hosts::simulate;
use gpusched::run::{EeQueue, Run, Served, State, Summary, rule_log};
use gpusched::time::Instant;
use gpusched::trace::Rule;
use gpusched::workload::OperationId;

use crate::published;

/// The dashed lines on our clock \[ms\].
const A: u64 = 795;
const B: u64 = 1_797;
const C: u64 = 2_697;
const D: u64 = 3_009;
const E: u64 = 3_695;

/// Fig. 3's scenario, run.
struct Ran(Run<'static>);

impl Ran {
    fn new() -> Self {
        let scenario = published::figure("rtss2017/figure-3");
        Self(simulate(&scenario).expect("it runs").into_owned())
    }

    fn state(&self, at_ms: u64) -> State {
        State::at(&Summary::of(&self.0), Instant::from_ns(at_ms * 1_000_000))
    }

    /// The blocks on each SM, by kernel and index, as Fig. 4 names them.
    fn blocks(&self, at_ms: u64) -> [String; 2] {
        let (trace, at) = (&self.0.trace, Instant::from_ns(at_ms * 1_000_000));
        let mut sms = [Vec::new(), Vec::new()];
        for id in (0..).map(OperationId).take(trace.operations().len()) {
            let Some(kernel) = trace.kernel_of(id) else { continue };
            for block in trace.blocks(id).filter(|block| block.start <= at && at < block.end) {
                sms[usize::from(block.sm)].push(format!("{}:{}", kernel.title, block.index));
            }
        }
        sms.map(|blocks| blocks.join(" "))
    }

    /// What the rules did from one instant until before another, in order.
    fn fired(&self, from_ms: u64, to_ms: u64) -> Vec<String> {
        let within = Instant::from_ns(from_ms * 1_000_000)..Instant::from_ns(to_ms * 1_000_000);
        let log = rule_log(&Summary::of(&self.0));
        let then = log.into_iter().filter(|firing| within.contains(&firing.at_ns));
        then.map(|firing| format!("{} {}", firing.rule, name(&firing.operation))).collect()
    }
}

/// A copy by the name that print gives it.
fn name(operation: &str) -> &str {
    let number = operation.strip_prefix("copy ").and_then(|rest| rest.split(' ').next());
    match number {
        Some("0") => "C2o",
        Some("1") => "C3i",
        Some("2") => "C3o",
        Some("3") => "C5o",
        Some("4") => "C6o",
        _ => operation,
    }
}

fn names(operations: &[String]) -> String {
    operations.iter().map(|operation| name(operation)).collect::<Vec<_>>().join(" ")
}

/// The stream queues of S1 to S3, the head of each first.
fn streams(state: &State) -> [String; 3] {
    ["S1", "S2", "S3"].map(|stream| {
        let queue = state.stream_queues.iter().find(|queue| queue.name == stream);
        queue.map_or_else(String::new, |queue| names(&queue.operations))
    })
}

/// The EE queue, the CE queue and what is on the copy engine.
fn queues(state: &State) -> [String; 3] {
    let EeQueue { priority, operations, .. } = state.ee_queues.last().expect("there is a lowest priority");
    assert_eq!(*priority, 0);
    assert!(state.ee_queues.iter().rev().skip(1).all(|queue| queue.operations.is_empty()), "nothing has high priority");
    let [engine] = &*state.copy_engines else { panic!("the TX2 has one copy engine") };
    [names(operations), names(&state.ce_queue), names(Served::names(engine))]
}

fn free_threads(state: &State) -> Vec<u32> {
    state.sms.iter().map(|sm| sm.free_threads).collect()
}

fn free_shared_memory(state: &State) -> Vec<u32> {
    state.sms.iter().map(|sm| sm.free_shared_memory).collect()
}

/// The rule that holds an operation, and what it waits for.
fn waits(state: &State, operation: &str) -> (Rule, String) {
    let waiting = state.waiting.iter().find(|waiting| name(&waiting.operation) == operation).expect("it waits");
    (waiting.rule, waiting.why.clone())
}

#[test]
fn thesis_tables_2_2_to_2_4_column_a_k1_heads_the_queue_and_k4_and_k5_wait_behind_it() {
    let ran = Ran::new();
    let state = ran.state(A);
    // G1, G2: all but K6 are in their streams; K1, K4 and K5, at the heads of theirs, are in the EE queue.
    assert_eq!(streams(&state), ["K1 K2 C2o C3i K3 C3o", "K4", "K5 C5o"]);
    assert_eq!(queues(&state), ["K1 K4 K5", "", ""]);
    assert_eq!(ran.blocks(A), ["K1:0 K1:2", "K1:1 K1:3"]);
    // X1: "even there are enough resources (512 threads)", of which K4's blocks need 256. R1, R2 and R3 apply to K1
    // only.
    assert_eq!((free_threads(&state), free_shared_memory(&state)), (vec![512, 512], vec![65_536, 65_536]));
    let behind = (Rule::X1, "in its EE queue, behind K1".to_owned());
    assert_eq!((waits(&state, "K1").0, waits(&state, "K4"), waits(&state, "K5")), (Rule::R2, behind.clone(), behind));
    // C1 to C4: "No copy operations at the head of streams".
    assert_eq!(waits(&state, "C5o"), (Rule::C1, "in its stream, behind K5".to_owned()));
    // G3, G4: no kernel is fully dispatched or completed.
    let fired = ran.fired(0, A);
    assert!(fired.iter().all(|fired| !fired.starts_with("G3") && !fired.starts_with("G4")), "{fired:?}");
    assert_eq!(fired.iter().filter(|fired| fired.starts_with("G2")).collect::<Vec<_>>(), ["G2 K1", "G2 K4", "G2 K5"]);
}

#[test]
fn thesis_tables_2_2_to_2_4_column_b_k5_waits_for_the_shared_memory_that_k4_holds() {
    let ran = Ran::new();
    let state = ran.state(B);
    assert_eq!(streams(&state), ["K1 K2 C2o C3i K3 C3o", "K4", "K5 C5o"]);
    assert_eq!(queues(&state), ["K5", "", ""]);
    assert_eq!(ran.blocks(B), ["K1:4 K1:5 K4:0 K4:2", "K4:1 K4:3"]);
    // By the picture: 2 x 768 + 2 x 256 threads on SM 0, 2 x 256 on SM 1.
    assert_eq!(free_threads(&state), [0, 1536]);
    // R3: K4's blocks hold "the whole shared memory available per SM (64KB)", K5's need 32 KB each.
    assert_eq!(free_shared_memory(&state), [0, 0]);
    let (rule, why) = waits(&state, "K5");
    assert_eq!(rule, Rule::R3);
    assert!(why.contains("lacks 32768 bytes of shared memory"), "{why}");
    // G1, G2, G4: no new kernel, none at a head, none completed. G3: K1 and K4 are fully dispatched. X1: K4 came next.
    let fired = ran.fired(A, B);
    let published: Vec<&String> = fired.iter().filter(|fired| !fired.starts_with('R')).collect();
    assert_eq!(published, ["G3 K1", "X1 K4", "G3 K4"]);
}

#[test]
fn thesis_tables_2_2_to_2_4_column_c_k5_and_k2_run_and_the_ee_queue_is_empty() {
    let ran = Ran::new();
    let state = ran.state(C);
    assert_eq!(streams(&state), ["K2 C2o C3i K3 C3o", "", "K5 C5o"]);
    assert_eq!(queues(&state), ["", "", ""]);
    assert_eq!(ran.blocks(C), ["K2:0 K2:1", "K5:0 K5:1"]);
    // R2: "1024 threads in SM0, and 1536 threads in SM1". R3: K5's two blocks take the 64 KB of SM 1.
    assert_eq!((free_threads(&state), free_shared_memory(&state)), (vec![1024, 1536], vec![65_536, 0]));
    // "No copy operations at the head of the streams": K2 and K5 are still there (G4).
    assert_eq!(waits(&state, "C2o"), (Rule::C1, "in its stream, behind K2".to_owned()));
    assert_eq!(waits(&state, "C5o"), (Rule::C1, "in its stream, behind K5".to_owned()));
    // X1, R1, R3: K5 first, K2 after it. G4: K1 and K4 have left their streams; G2: so K2 has come into the EE queue.
    let published = ["R3 K5", "X1 K5", "G3 K5", "G4 K4", "G4 K1", "G2 K2", "X1 K2", "G3 K2"];
    assert_eq!(ran.fired(B, C), published);
}

#[test]
fn thesis_tables_2_2_to_2_4_column_d_the_copy_of_k5_is_on_the_engine_and_that_of_k2_queued() {
    let ran = Ran::new();
    let state = ran.state(D);
    assert_eq!(streams(&state), ["C2o C3i K3 C3o", "K6 C6o", "C5o"]);
    assert_eq!(queues(&state), ["", "C2o", "C5o"]);
    assert_eq!(ran.blocks(D), ["K6:1", "K6:0"]);
    assert_eq!(free_shared_memory(&state), [65_536, 65_536], "K6 required no shared memory");
    let (rule, why) = waits(&state, "C2o");
    assert!(rule == Rule::C2 && name(why.split("serves ").last().expect("text")) == "C5o", "{why}");
    assert_eq!(waits(&state, "K3"), (Rule::G2, "in its stream, behind copy 0 (device-to-host)".to_owned()));
    assert_eq!(waits(&state, "C6o"), (Rule::C1, "in its stream, behind K6".to_owned()));
    // R2: "free 512 threads per SM" is the least that K6's blocks need. Free when it came were those of column (c).
    assert_eq!(free_threads(&ran.state(2_800)), [1024, 1536]);
    // Table 1: K6 is launched 2.8 s after K1, which the tables' clock calls 3.2 s and the picture 3.11 s.
    let k6 = ["G1 K6", "G1 C6o", "G2 K6", "X1 K6", "G3 K6"];
    assert_eq!((ran.fired(C, 2_800), ran.fired(2_800, 2_801)), (Vec::new(), k6.map(str::to_owned).to_vec()));
    // C1: C5o and C2o came into the CE queue; C2, C3: C5o was assigned; C4: it has not completed.
    let copies = ["G4 K5", "C1 C5o", "C2 C5o", "G4 K2", "C1 C2o"];
    assert_eq!(ran.fired(2_801, D), copies);
}

#[test]
fn rtss_2017_figure_4_e_k3_runs_beside_k6_and_no_copy_is_left_before_it() {
    let ran = Ran::new();
    let state = ran.state(E);
    assert_eq!(streams(&state), ["K3 C3o", "K6 C6o", ""]);
    assert_eq!(queues(&state), ["", "", ""]);
    assert_eq!(ran.blocks(E), ["K3:0 K6:1", "K3:1 K6:0"]);
    assert_eq!(free_threads(&state), [512, 512]);
    // The copies before K3, one after another.
    let copies = ["C4 C5o", "C2 C2o", "C4 C2o", "C1 C3i", "C2 C3i", "C4 C3i", "G2 K3", "X1 K3", "G3 K3"];
    assert_eq!(ran.fired(D, E), copies);
}

#[test]
fn why_the_heads_of_queues_wait_is_told_first() {
    let ran = Ran::new();
    let text = ran.state(1_700).text();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert!(lines[0].starts_with("  K5 waits (R3): no SM has room for its next block"), "{text}");
    assert!(lines[1].starts_with("  K2 waits (G2)") && lines[7].starts_with("  stream S1: "), "{text}");
}
