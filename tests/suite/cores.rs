//! Hosts that share a core: who has it when, what their jobs take at most, and no run is above that.

use gpusched::analysis::{
    BoundOptions, BoundRefusal, JobVerdicts, SearchOptions, SporadicRefusal, SporadicVerdicts, Verdict, WindowLoad,
    chain_verdicts, finish_bounds, judge, judge_sporadic,
};
use gpusched::effort::Progress;
use gpusched::hosts::{AnyLength, HeldAtMost, SimulateOptions, simulate, simulate_any_length};
use gpusched::run::{Run, Summary};
use gpusched::scenario::{CoreShare, HostThread, ReadOptions, Scenario, Step};
use gpusched::time::Duration;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use crate::agreement::agrees;
use crate::campaign::config;
use crate::generate::{Case, Limits, scenario};
use crate::reference;

const MS: u64 = 1_000_000;

fn read(file: &Value) -> Scenario {
    Scenario::from_json("cores.json", &file.to_string(), &ReadOptions::default())
        .unwrap_or_else(|error| panic!("{error}\n{file}"))
}

/// A host on core 0; the kernel K fills the TX2 for 4 ms, in stream S.
fn host(name: &str, priority: i32, period_ms: u64, steps: &Value) -> Value {
    json!({"name": name, "core": 0, "cpu_priority": priority, "period": format!("{period_ms} ms"), "steps": steps})
}

fn work(ms: u64) -> Value {
    json!({"work": format!("{ms} ms")})
}

fn file(hosts: &[Value], horizon_ms: u64) -> Value {
    json!({
        "format": "gpusched-scenario/1", "name": "cores", "horizon": format!("{horizon_ms} ms"),
        "kernels": {"K": {"blocks": 8, "threads": 512, "duration": "4 ms"}},
        "streams": [{"name": "S"}], "hosts": hosts,
    })
}

/// Who has core 0 when \[ms\], and whether it spins then.
fn spans(run: &Run<'_>) -> Vec<(String, u64, u64, bool)> {
    let name = |thread: u32| run.scenario.threads[thread as usize].label.to_string();
    run.cores
        .iter()
        .map(|span| (name(span.thread), span.start.as_ns() / MS, span.end.as_ns() / MS, span.spins))
        .collect()
}

fn responses_ms(run: &Run<'_>, thread: u32) -> Vec<u64> {
    let jobs = Summary::of(run).jobs();
    let own = jobs.begun.iter().filter(|job| job.thread == thread);
    own.filter_map(|job| Some(job.response()?.as_ns() / MS)).collect()
}

fn launch_and_wait() -> [Value; 2] {
    [json!({"launch": "K", "stream": "S"}), json!({"synchronize": "S"})]
}

fn gpu_host(name: &str, priority: i32, period_ms: u64, before_ms: u64, after_ms: u64) -> Value {
    let [launch, wait] = launch_and_wait();
    host(name, priority, period_ms, &json!([work(before_ms), launch, wait, work(after_ms)]))
}

#[test]
fn a_more_urgent_host_takes_the_core_at_once_and_gives_it_up_while_it_waits_unless_it_spins() {
    // By hand: a works 2 ms, its kernel takes 4 ms, then it works 1 ms; b works 5 ms.
    for (spin, of_b, expected) in [
        (false, 8, vec![("a", 0, 2, false), ("b", 2, 6, false), ("a", 6, 7, false), ("b", 7, 8, false)]),
        (true, 12, vec![("a", 0, 2, false), ("a", 2, 6, true), ("a", 6, 7, false), ("b", 7, 12, false)]),
    ] {
        let mut a = gpu_host("a", -1, 20, 2, 1);
        a["spin"] = spin.into();
        let scenario = read(&file(&[host("b", 0, 20, &json!([work(5)])), a], 15));
        let run = simulate(&scenario).expect("it runs");
        let spans = spans(&run);
        let spans: Vec<_> = spans.iter().map(|(name, from, to, spins)| (&**name, *from, *to, *spins)).collect();
        assert_eq!(spans, expected);
        assert_eq!((responses_ms(&run, 0), responses_ms(&run, 1)), (vec![of_b], vec![7]));
    }
}

#[test]
fn an_hour_of_hosts_on_one_core_is_known_after_its_first_cycles() {
    // As above without spinning: in each 20 ms b takes 8 ms, and a 7.
    let scenario = read(&file(&[host("b", 0, 20, &json!([work(5)])), gpu_host("a", -1, 20, 2, 1)], 3_599_990));
    let held = HeldAtMost { whole: 10_000, piece: 10_000, rows: 0 };
    let run = simulate_any_length(&scenario, SimulateOptions::of(&scenario), held).expect("it runs");
    let AnyLength::Long(run) = &run else { panic!("an hour is long") };
    let ms = |ms: u64| Duration::from_ns(ms * MS);
    assert!(run.sums().skipped() > ms(3_590_000), "{}", run.sums().skipped());
    let rows = run.sums().responses().iter().map(|row| (row.jobs, row.unfinished, row.times.clone()));
    assert_eq!(rows.collect::<Vec<_>>(), [(180_000, 0, vec![(ms(8), 180_000)]), (180_000, 0, vec![(ms(7), 180_000)])]);
}

#[test]
fn a_host_launches_only_when_it_has_its_core() {
    // b is released at 1 ms, but a works until 3 ms.
    let [launch, wait] = launch_and_wait();
    let mut b = host("b", 5, 20, &json!([launch, wait]));
    b["release"] = "1 ms".into();
    let run =
        simulate(&read(&file(&[b.clone(), host("a", 1, 20, &json!([work(3)]))], 15))).expect("it runs").into_owned();
    assert_eq!(run.trace.operations()[0].launched().as_ns(), 3 * MS);
    // On cores of their own nobody waits.
    b["core"] = 1.into();
    let run = simulate(&read(&file(&[b, host("a", 1, 20, &json!([work(3)]))], 15))).expect("it runs").into_owned();
    assert_eq!(run.trace.operations()[0].launched().as_ns(), MS);
}

fn searched(scenario: &Scenario, runs: u64) -> JobVerdicts<'_> {
    judge(scenario, &SearchOptions { runs, ..SearchOptions::default() }, Progress::NONE)
        .expect("no run is above a bound")
}

fn phased(scenario: &Scenario, runs: u64) -> SporadicVerdicts {
    judge_sporadic(scenario, &[], &SearchOptions { runs, ..SearchOptions::default() }, Progress::NONE)
        .expect("no run is above a bound")
}

/// By thread: the bound on its jobs \[ms\].
fn bounds_ms(verdicts: &JobVerdicts<'_>, threads: u32) -> Vec<Option<f64>> {
    let of = |thread: u32| verdicts.jobs.iter().find(|job| job.thread == thread).and_then(|job| job.bound_ns);
    (0..threads).map(|thread| of(thread).map(|bound| bound.as_ns() as f64 / MS as f64)).collect()
}

#[test]
fn tasks_that_only_work_have_the_exact_response_times_of_the_textbook() {
    // Burns and Wellings, "Real-Time Systems and Programming Languages", the example of response time analysis: periods
    // 7, 12, 20 and times 3, 3, 5 have responses 3, 6, 20.
    let tasks = [("a", -3, 7, 3), ("b", -2, 12, 3), ("c", -1, 20, 5)];
    let hosts: Vec<Value> =
        tasks.iter().map(|&(name, urgent, period, time)| host(name, urgent, period, &json!([work(time)]))).collect();
    let scenario = read(&file(&hosts, 420));
    let verdicts = searched(&scenario, 16);
    assert_eq!(bounds_ms(&verdicts, 3), [Some(3.0), Some(6.0), Some(20.0)]);
    // Those that are released when the run ends are not done in it.
    let is_done = |released: u64| released < 420 * MS;
    let jobs = || verdicts.jobs.iter().filter(|job| is_done(job.released_ns.as_ns()));
    let of = |thread: u32| jobs().filter(move |job| job.thread == thread);
    for (thread, response) in [(0, 3), (1, 6), (2, 20)] {
        assert_eq!(of(thread).filter_map(|job| job.worst_found_ns).max(), Some(Duration::from_ns(response * MS)));
        assert!(of(thread).all(|job| job.verdict == Some(Verdict::Proven)));
    }
    let over_all: Vec<_> = phased(&scenario, 64).streams.iter().map(|stream| stream.bound_ns).collect();
    assert_eq!(over_all, [3, 6, 20].map(|ms| Some(Duration::from_ns(ms * MS))));
}

#[test]
fn a_job_that_waits_for_the_gpu_counts_what_comes_before_it_has_its_core_again() {
    // By hand. b: 1 ms, 4 ms on the GPU, 1 ms; a, of 2 ms every 20 ms, comes once in 8 ms. c below both: 3 ms, a once,
    // and b, which is done within R = 8 ms of which 2 ms are work, in a window of w twice if w + 6 > 30: 3 + 2 + 2.
    let c = host("c", 3, 60, &json!([work(3)]));
    let scenario = read(&file(&[host("a", 1, 20, &json!([work(2)])), gpu_host("b", 2, 30, 1, 1), c.clone()], 120));
    assert_eq!(bounds_ms(&searched(&scenario, 64), 3), [Some(2.0), Some(8.0), Some(7.0)]);
    // If b spins, it has the core for all of its 8 ms: 3 + 2 + 8.
    let mut b = gpu_host("b", 2, 30, 1, 1);
    b["spin"] = true.into();
    let scenario = read(&file(&[host("a", 1, 20, &json!([work(2)])), b, c], 120));
    assert_eq!(bounds_ms(&searched(&scenario, 64), 3), [Some(2.0), Some(8.0), Some(13.0)]);
}

#[test]
fn a_core_that_is_asked_for_too_much_leaves_more_urgent_hosts_and_other_cores_their_bounds() {
    let mut apart = host("apart", 9, 10, &json!([work(1)]));
    apart["core"] = 1.into();
    let hosts = [host("first", 1, 10, &json!([work(4)])), host("late", 2, 10, &json!([work(11)])), apart];
    let scenario = read(&file(&hosts, 60));
    let verdicts = searched(&scenario, 16);
    assert_eq!(bounds_ms(&verdicts, 3), [Some(4.0), None, Some(1.0)]);
    let verdict = |thread: u32| verdicts.jobs.iter().find(|job| job.thread == thread).and_then(|job| job.verdict);
    assert_eq!([0, 1, 2].map(verdict), [Verdict::Proven, Verdict::Missed, Verdict::Proven].map(Some));
    let Some(BoundRefusal::Jobs { reason: SporadicRefusal::BeyondPeriod { thread, load }, is_partial: true }) =
        &verdicts.refusal
    else {
        panic!("{:?}", verdicts.refusal);
    };
    // In eight periods of 10 ms: eight jobs of 11 ms, and eight of 4 ms that are more urgent.
    let ns = |ms: u64| Duration::from_ns(ms * 1_000_000);
    let (window, own, cores) = (ns(80), ns(88), ns(32));
    let expected = WindowLoad { jobs: 8, window, own, others: ns(0), turns: ns(0), cores };
    assert_eq!((thread.as_str(), *load), ("late", Some(expected)));
}

#[test]
fn what_a_file_says_wrongly_of_cores_is_refused_with_its_place_and_what_it_says_is_written() {
    let refused = |hosts: &[Value]| {
        let read = Scenario::from_json("cores.json", &file(hosts, 60).to_string(), &ReadOptions::default());
        read.expect_err("it is refused").to_string()
    };
    let equal = [host("a", 1, 20, &json!([work(2)])), host("b", 1, 20, &json!([work(2)]))];
    assert!(refused(&equal).contains("\"a\" has the \"cpu_priority\" 1 on core 0 too"), "{}", refused(&equal));
    for key in ["spin", "cpu_priority"] {
        let mut alone = json!({"name": "a", "steps": [work(1)]});
        alone[key] = if key == "spin" { true.into() } else { 1.into() };
        let message = refused(&[alone]);
        assert!(message.contains(&format!("\"{key}\" needs a \"core\"")), "{message}");
    }
    let mut spins = gpu_host("b", 2, 30, 1, 1);
    spins["spin"] = true.into();
    let scenario =
        read(&file(&[host("a", 1, 20, &json!([work(2)])), spins, json!({"name": "c", "steps": [work(1)]})], 120));
    let text = scenario.to_native_json().expect("it can be written");
    let again = Scenario::from_json("again.json", &text, &ReadOptions::default()).expect("it can be read");
    assert_eq!(again.threads, scenario.threads);
}

/// Puts the threads of a random scenario on cores, and lets them work where they would sleep.
pub(crate) fn on_cores(Case(mut scenario): Case, cores: &[(u32, i32, bool, bool)]) -> Scenario {
    for (number, (thread, &(core, priority, spins, shares))) in
        scenario.threads.iter_mut().zip(cores.iter().cycle()).enumerate()
    {
        let priority = priority * 8 + i32::try_from(number % 8).expect("it is small");
        thread.core = shares.then_some(CoreShare { core, priority, spins });
        for (place, step) in thread.steps.iter_mut().enumerate() {
            match *step {
                Step::Sleep(time) if place % 3 > 0 => *step = Step::Work(time),
                Step::Memset(_) => *step = Step::Work(Duration::from_ns(place as u64)),
                _ => {}
            }
        }
    }
    scenario
}

/// Core, priority, whether it spins, and whether it shares one, thread by thread.
pub(crate) fn cores() -> impl Strategy<Value = Vec<(u32, i32, bool, bool)>> {
    vec((0_u32..2, -2_i32..3, any::<bool>(), prop::bool::weighted(0.8)), 1..5)
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn cores_are_given_as_the_plain_reference_gives_them(case in scenario(Limits::ALL), cores in cores()) {
        let scenario = on_cores(case, &cores);
        let Ok(run) = simulate(&scenario) else { return Ok(()) };
        agrees(&run, &reference::run(&scenario), true)?;
    }
}

/// A random host: core, period, work before and after, how many waits for the GPU, a sleep, whether it spins.
#[derive(Debug, Clone)]
struct RandomHost {
    core: u32,
    period_ms: u64,
    work_ms: [u64; 2],
    waits: usize,
    sleep_ms: u64,
    spins: bool,
    shares: bool,
}

fn random_host() -> impl Strategy<Value = RandomHost> {
    let times = (select(vec![10_u64, 15, 20, 30, 40]), 0_u64..4, 0_u64..3, 0_usize..3, 0_u64..8);
    (0_u32..2, times, any::<bool>(), prop::bool::weighted(0.85)).prop_map(
        |(core, (period_ms, one, two, waits, sleep), spins, shares)| RandomHost {
            core,
            period_ms,
            work_ms: [one, two],
            waits,
            sleep_ms: sleep.saturating_sub(4),
            spins,
            shares,
        },
    )
}

/// With `splits` every second stream has an SM of its own, and the others the other one.
fn random_file(hosts: &[RandomHost], alone_ms: u64, splits: bool) -> Value {
    let mut kernels = serde_json::Map::new();
    let (mut streams, mut entries) = (Vec::new(), Vec::new());
    for (number, host) in hosts.iter().enumerate() {
        let (kernel, stream) = (format!("K{number}"), format!("S{number}"));
        let duration = json!({"best": "0 ns", "worst": format!("{} ms", 1 + number % 3)});
        kernels.insert(kernel.clone(), json!({"blocks": 2 + 3 * number, "threads": 512, "duration": duration}));
        streams.push(json!({"name": stream, "priority": -i64::try_from(number % 2).expect("it is small")}));
        let mut steps = vec![work(host.work_ms[0])];
        for _ in 0..host.waits {
            steps.extend([
                json!({"launch": kernel, "stream": stream}),
                json!({"synchronize": stream}),
                work(host.work_ms[1]),
            ]);
        }
        if host.sleep_ms > 0 {
            steps.extend([json!({"sleep": format!("{} ms", host.sleep_ms)}), work(1)]);
        }
        let mut entry =
            json!({"name": format!("H{number}"), "period": format!("{} ms", host.period_ms), "steps": steps});
        if host.shares {
            entry["core"] = host.core.into();
            entry["cpu_priority"] = number.into();
            entry["spin"] = host.spins.into();
        }
        entries.push(entry);
    }
    kernels.insert("A".to_owned(), json!({"blocks": 3, "threads": 1024, "duration": "1 ms"}));
    streams.push(json!({"name": "alone", "period": format!("{alone_ms} ms"), "operations": [{"kernel": "A"}]}));
    let mut file = json!({"format": "gpusched-scenario/1", "name": "random cores", "horizon": "240 ms",
           "kernels": kernels, "hosts": entries});
    if splits {
        file["green_contexts"] = json!([{"sms": 1, "names": ["a", "b"]}]);
        for (number, stream) in streams.iter_mut().enumerate() {
            stream["green_context"] = ["a", "b"][number % 2].into();
        }
    }
    file["streams"] = streams.into();
    file
}

/// The scenario with other releases and shorter work, both drawn.
fn disturbed(scenario: &Scenario, numbers: &[u64]) -> Scenario {
    let mut drawn = numbers.iter().cycle().copied();
    let mut next = || drawn.next().unwrap_or(0);
    let mut other = scenario.clone();
    for HostThread { release, period, steps, .. } in &mut other.threads {
        let period = period.map_or(1, Duration::as_ns);
        *release = Duration::from_ns(match next() % 3 {
            0 => 0,
            1 => next() % 20 * (period / 20),
            _ => next() % period,
        });
        for step in steps {
            if let Step::Work(time) = step {
                *time = Duration::from_ns(time.as_ns() * (4 - (next() % 8).min(4)) / 4);
            }
        }
    }
    other.seed = next();
    other
}

/// A host that is held on its core by one whose kernels have another green context: 100 ns of its own behind 100 ns of
/// the other, which may come at any time, as the kernel may be shorter.
#[test]
fn green_contexts_do_not_tell_hosts_of_one_core_apart() {
    let steps = json!([{"launch": "k", "stream": "g"}, {"synchronize": "g"}, {"work": "100 ns"}]);
    let mut late = host("late", 1, 10, &json!([{"work": "100 ns"}]));
    (late["release"], late["deadline"]) = ("2345678 ns".into(), "150 ns".into());
    let scenario = read(&json!({
        "format": "gpusched-scenario/1", "name": "one core", "horizon": "10 ms",
        "green_contexts": [{"sms": 1, "names": ["a"]}], "streams": [{"name": "g", "green_context": "a"}],
        "kernels": {"k": {"blocks": 1, "threads": 32, "duration": "5 ms"}},
        "hosts": [host("urgent", 0, 10, &steps), late],
    }));
    let found = searched(&scenario, 16);
    let job = found.jobs.iter().find(|job| job.thread == 1).expect("it is judged");
    assert_eq!(job.bound_ns.map(Duration::as_ns), Some(200));
    assert_ne!(job.verdict, Some(Verdict::Proven));
}

#[test]
fn a_job_of_no_work_is_as_late_as_its_release() {
    let idle = json!({"name": "idle", "period": "10 ms", "jitter": "100 us", "steps": [{"work": "0 s"}]});
    let options = SearchOptions { runs: 16, ..SearchOptions::default() };
    let scenario = read(&file(&[idle], 40));
    let jitter = [Duration::from_ns(100_000)];
    let found = judge_sporadic(&scenario, &jitter, &options, Progress::NONE).expect("no run is above a bound");
    assert_eq!(found.streams[0].bound_ns.map(Duration::as_ns), Some(100_000));
}

proptest! {
    #![proptest_config(config(12))]

    #[test]
    fn no_job_of_hosts_on_cores_takes_longer_than_its_bound(
        hosts in vec(random_host(), 1..6),
        alone_ms in select(vec![10_u64, 25, 60]),
        splits in prop::bool::weighted(0.3),
        numbers in vec(any::<u64>(), 40),
    ) {
        let scenario = read(&random_file(&hosts, alone_ms, splits));
        let found = searched(&scenario, 16);
        let over_all = phased(&scenario, 16);
        for (number, part) in numbers.chunks(4).enumerate() {
            let other = if number == 0 { scenario.clone() } else { disturbed(&scenario, part) };
            let run = simulate(&other).expect("it runs");
            for job in Summary::of(&run).jobs().begun {
                let of = found.jobs.iter().find(|one| one.thread == job.thread && one.bound_ns.is_some());
                for bound in [of.and_then(|of| of.bound_ns), over_all.streams[job.thread as usize].bound_ns] {
                    let (Some(response), Some(bound)) = (job.response(), bound) else { continue };
                    prop_assert!(response <= bound, "job {} of {}: {} > {}", job.iteration, job.thread, response, bound);
                }
            }
        }
    }
}

#[test]
fn the_example_has_the_bounds_of_a_hand() {
    let text = std::fs::read_to_string("scenarios/deadlines/shared-core.json").expect("it is there");
    let scenario = Scenario::from_json("shared-core.json", &text, &ReadOptions::default()).expect("it is a scenario");
    // control: 1 ms. vision: 3 ms of work, 6 ms on the GPU, control at most three times in 12 ms. log: 3 ms, control
    // twice in 8 ms, and vision's 3 ms once, as 8 ms + 12 ms - 3 ms is within its period.
    let verdicts = searched(&scenario, 64);
    assert_eq!(bounds_ms(&verdicts, 3), [Some(1.0), Some(12.0), Some(8.0)]);
    // What vision reads 20 ms after an event is written 12 ms later, at 32 ms; control has read it at 35 ms and acts 1
    // ms later.
    let own = simulate(&scenario).expect("it runs");
    let chains = chain_verdicts(&scenario, &own, &verdicts, &[]).expect("no run is above a bound");
    let reaction = &chains.rows[0];
    assert_eq!((reaction.bound_ns, reaction.verdict), (Some(Duration::from_ns(36 * MS)), Some(Verdict::Proven)));
    // In its own run vision goes on at 9 ms, when its copy is done, and control comes at 10 ms only.
    // The run is a hyperperiod and as long as the chain may take.
    assert_eq!(responses_ms(&own, 1), [10; 5]);
}

#[test]
fn the_tasks_of_waters_2019_that_only_work_have_the_bounds_of_a_hand() {
    let text = std::fs::read_to_string("scenarios/deadlines/waters-2019.json").expect("it is there");
    let scenario = Scenario::from_json("waters-2019.json", &text, &ReadOptions::default()).expect("it is a scenario");
    let bounds = finish_bounds(&scenario, BoundOptions::default()).expect("it runs");
    // Each has its core for itself, or is the most urgent one there, but for EKF, which CANbus_polling's 0.59968 ms
    // come before once, and OS_Overhead: 50 ms, and DASM 16 times in the 79.75992 ms that this takes.
    let expected = [
        ("Planner", 12_436_765),
        ("CANbus_polling", 599_680),
        ("EKF", 4_759_670 + 599_680),
        ("Lidar_Grabber", 13_660_000),
        ("DASM", 1_859_995),
        ("OS_Overhead", 50_000_000 + 16 * 1_859_995),
    ];
    for (name, ns) in expected {
        let thread = scenario.threads.iter().position(|thread| *thread.label == *name).expect("it is there");
        assert_eq!(bounds.responses[thread], Some(Duration::from_ns(ns)), "{name}");
    }
    // 405.06 ms do not fit into 400 ms.
    let localization = scenario.threads.iter().position(|thread| &*thread.label == "Localization");
    assert_eq!(bounds.responses[localization.expect("it is there")], None);
}

#[test]
fn a_witness_over_all_phasings_is_read_again_and_is_of_what_is_latest() {
    let scenario = read(&json!({
        "format": "gpusched-scenario/1", "name": "late", "kernels": {"K": {"blocks": 1, "threads": 32, "duration": "1 us"}},
        "streams": [{"name": "S"}], "hosts": [
            {"name": "h", "core": 0, "period": "10 us", "deadline": "1 us", "steps": [{"work": "2 us"},
                {"launch": "K", "stream": "S"}]},
            {"name": "later", "core": 1, "period": "50 us", "deadline": "1 us", "steps": [{"work": "9 us"}]},
        ],
    }));
    let verdicts = phased(&scenario, 16);
    let latest = verdicts.latest_miss().expect("both are late");
    assert_eq!(verdicts.streams[latest].stream, "later");
    for stream in 0..2 {
        let witness = verdicts.witness(stream).expect("both are late");
        let text = witness.to_native_json().expect("it can be written");
        let again = Scenario::from_json("witness.json", &text, &ReadOptions::default()).expect("it can be read");
        let run = simulate(&again).expect("it runs");
        assert!(Summary::of(&run).jobs().misses() > 0, "{text}");
    }
}
