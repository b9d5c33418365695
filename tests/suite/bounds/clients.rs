//! A client of MPS alone that may use a part of the SMs at once: everything is as on a GPU of so many SMs.

use gpusched::analysis::{
    BoundOptions, BoundRefusal, Departure, Method, SearchOptions, SporadicRefusal, Verdict, analyse, compare,
    finish_bounds, judge, judge_sporadic, launch_orders, occupancy_of_scenario, sporadic_bounds,
};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::{Duration, Instant};
use gpusched::trace::OperationRecord;
use gpusched::workload::{MpsPercentage, Placement, ProcessId, ProcessSharing, ProcessSpec};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use super::random::{Sample, options, sample};
use super::{MS, judged};
use crate::campaign::config;

const WATCH: Progress<'static> = Progress::NONE;

/// The same work on `sms` SMs, of a client of MPS that may use so many percent of them.
fn limited(scenario: &Scenario, sms: u32, percent: u64) -> Scenario {
    let device = scenario.device().with(|spec| spec.sms = sms).expect("it is a GPU");
    let mut catalogue = scenario.catalogue.on(device).expect("it takes what it took");
    catalogue.set_sharing(ProcessSharing { mps: true, switch_cost: None }).expect("it is possible");
    let mps_percentage = MpsPercentage::from_parts(percent * 1_000_000_000_000).expect("it is one");
    let client = ProcessSpec { mps_percentage, ..ProcessSpec::new("client") };
    catalogue.set_process(ProcessId::FIRST, client).expect("the device takes it");
    Scenario { catalogue, ..scenario.clone() }
}

fn read(file: &Value, options: &ReadOptions) -> Scenario {
    Scenario::from_json("client.json", &file.to_string(), options).expect("it is sound")
}

fn client(device: &str, percentage: f64, streams: &Value) -> Scenario {
    let file = json!({
        "format": "gpusched-scenario/1", "name": "client", "device": device, "mps": true,
        "processes": {"P": {"mps_percentage": percentage}},
        "kernels": {"K": {"blocks": 4, "threads": 1024, "duration": "2 ms"}},
        "streams": streams,
    });
    read(&file, &ReadOptions::default())
}

fn one_kernel() -> Value {
    json!([{"name": "s", "process": "P", "deadline": "2.9 ms", "operations": [{"kernel": "K"}]}])
}

/// Of the one kernel: simulated, analysed and safe finish, and whether the analysis calls itself exact.
fn finishes(scenario: &Scenario) -> (Option<Instant>, Option<Instant>, Option<Instant>, bool) {
    let comparison = compare(scenario).expect("it runs");
    let kernel = &comparison.kernels[0];
    (kernel.simulated_finish_ns, kernel.analysed_finish_ns, kernel.safe_finish_ns, comparison.exact)
}

#[test]
fn every_analysis_knows_that_a_client_may_use_half_of_the_sms() {
    let scenario = client("tx2", 50.0, &one_kernel());
    let four = Some(Instant::from_ns(4 * MS));
    assert_eq!(finishes(&scenario), (four, four, four, true));
    let analysis = analyse(&scenario).expect("it runs");
    assert_eq!((analysis.g_max, analysis.sms, analysis.thread_slots), (Some(2), 1, 2_048));
    assert!(analysis.notes.iter().any(|note| note.contains("on 1 of 2 SMs at once")), "{:?}", analysis.notes);
    let run = simulate(&scenario).expect("it runs");
    let orders = launch_orders(&run, 1, 0, Progress::NONE).expect("it runs");
    assert_eq!((orders.method, orders.kernels[0].worst_finish_ns), (Method::Analysis, four));
    let job = &judged(&scenario, &SearchOptions::default()).jobs[0];
    let ms = |ms| Some(Duration::from_ns(ms * MS));
    assert_eq!((job.worst_found_ns, job.bound_ns, job.verdict), (ms(4), ms(4), Some(Verdict::Missed)));
    assert_eq!(occupancy_of_scenario(&scenario).entries[0].occupancy.waves, 2);
    let periodic =
        json!([{"name": "s", "process": "P", "period": "10 ms", "jobs": 2, "operations": [{"kernel": "K"}]}]);
    let bounds = sporadic_bounds(&client("tx2", 50.0, &periodic), &[]).expect("it is sound").expect("bounded");
    assert_eq!(bounds, [Duration::from_ns(4 * MS)]);
    // Without MPS a percentage has no effect.
    let mut alone = scenario.clone();
    alone.catalogue.set_sharing(ProcessSharing::default()).expect("it is possible");
    let two = Some(Instant::from_ns(2 * MS));
    assert_eq!(finishes(&alone), (two, two, two, true));
}

#[test]
fn a_deadline_that_only_the_whole_gpu_would_meet_is_not_proven_for_an_eighth_of_it() {
    let work = |device: &str| {
        let mut file = json!({
            "format": "gpusched-scenario/1", "name": "client", "device": device, "mps": true,
            "processes": {"P": {"mps_percentage": 12.5}},
            "kernels": {"K": {"blocks": 16, "threads": 768, "duration": "1 ms"}},
            "streams": one_kernel(),
        });
        file["streams"][0]["deadline"] = json!("1.5 ms");
        read(&file, &ReadOptions::default())
    };
    // 16 SMs, of which it may use 2.
    let scenario = work("orin");
    let job = &judged(&scenario, &SearchOptions::default()).jobs[0];
    assert_eq!((job.bound_ns, job.verdict), (Some(Duration::from_ns(4 * MS)), Some(Verdict::Missed)));
}

#[test]
fn the_examiners_percentage_counts_in_analyses_with_mps() {
    let spin = json!({"filename": "timer_spin.so", "label": "A", "thread_count": 1024, "block_count": 4,
        "data_size": 0, "additional_info": 2_000_000, "log_name": "A.json", "mps_thread_percentage": 50});
    let file = json!({"name": "one", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "use_processes": true,
        "benchmarks": [spin]});
    let scenario = read(&file, &ReadOptions { mps: true, ..ReadOptions::default() });
    let four = Some(Instant::from_ns(4 * MS));
    assert_eq!(finishes(&scenario), (four, four, four, true));
    let two = Some(Instant::from_ns(2 * MS));
    assert_eq!(
        finishes(&read(&file, &ReadOptions { as_threads: true, ..ReadOptions::default() })),
        (two, two, two, true)
    );
}

#[test]
fn a_mask_and_a_percentage_together_have_no_bound_unless_the_mask_leaves_no_more() {
    let streams = |mask: &str| {
        json!([{"name": "a", "process": "P", "sm_mask": mask, "period": "50 ms", "jobs": 2, "operations": [{"kernel": "K"}]},
            {"name": "b", "process": "P", "period": "50 ms", "jobs": 2, "operations": [{"kernel": "K"}]}])
    };
    let scenario = client("titan-v", 25.0, &streams("0x1"));
    let analysis = analyse(&scenario).expect("it runs");
    assert!(!analysis.exact && analysis.departures.contains(&Departure::MaskedClient));
    assert!(analysis.kernels.iter().all(|kernel| kernel.safe_finish_ns.is_none()));
    let verdicts = judged(&scenario, &SearchOptions::default());
    let reason = SporadicRefusal::MaskedClient;
    assert_eq!(verdicts.refusal, Some(BoundRefusal::Jobs { reason, is_partial: false }));
    assert!(verdicts.jobs.iter().all(|job| job.verdict == Some(Verdict::Open)));
    assert_eq!(sporadic_bounds(&scenario, &[]).expect("it is sound"), Err(SporadicRefusal::MaskedClient));
    // A mask that leaves two SMs to a client of twenty: its percentage changes nothing.
    let mut few = streams("~0x1");
    few.as_array_mut().expect("a list").truncate(1);
    let verdicts = judged(&client("titan-v", 25.0, &few), &SearchOptions::default());
    assert_eq!((verdicts.refusal, verdicts.jobs[0].verdict), (None, Some(Verdict::Proven)));
}

/// No run that is found is above a bound, none of the given placement above a safe finish; each analysis says so
/// itself.
fn nothing_is_broken(sample: &Sample, (sms, percent): (u32, u64), search: &SearchOptions) -> Result<(), TestCaseError> {
    let mut scenario = limited(&sample.scenario(), sms, percent);
    let verdicts = judge(&scenario, search, WATCH)?;
    let masked = analyse(&scenario)?.departures.contains(&Departure::MaskedClient);
    let refused = Some(BoundRefusal::Jobs { reason: SporadicRefusal::MaskedClient, is_partial: false });
    prop_assert_eq!(verdicts.refusal == refused, masked);
    for job in verdicts.jobs.iter().filter(|_| !masked) {
        prop_assert!(job.bound_ns.is_some() && job.bound_ns >= job.worst_found_ns, "{:?}", job);
    }
    drop(verdicts);
    judge_sporadic(&scenario, &[], search, WATCH)?;
    launch_orders(&simulate(&scenario).expect("it runs"), 6, search.seed, Progress::NONE)?;
    for placement in Placement::ALL {
        scenario.placement = placement;
        compare(&scenario)?;
    }
    Ok(())
}

fn shares() -> impl Strategy<Value = (u32, u64)> {
    (2_u32..=6, select(vec![1_u64, 20, 25, 34, 50, 51, 67, 75, 100]))
}

proptest! {
    #![proptest_config(config(16))]

    #[test]
    fn no_run_of_a_limited_client_is_above_a_bound(
        sample in sample(), share in shares(), bound in options(), seed in any::<u64>(),
    ) {
        nothing_is_broken(&sample, share, &SearchOptions { bound, seed, runs: 16, ..SearchOptions::default() })?;
    }

    #[test]
    fn a_client_alone_runs_as_on_a_gpu_of_the_sms_that_it_may_use(sample in sample(), (sms, percent) in shares()) {
        let plain = sample.scenario();
        let masked = plain.streams().iter().any(|stream| stream.sm_mask.is_some());
        prop_assume!(!masked);
        let mut whole = limited(&plain, sms, percent);
        whole.placement = Placement::LowestId;
        let device = whole.device().with(|spec| spec.sms = whole.catalogue.sms_at_once(ProcessId::FIRST));
        let part = Scenario { catalogue: plain.catalogue.on(device.expect("it is a GPU")).expect("as before"), ..whole.clone() };
        let finishes = |scenario: &Scenario| {
            let run = simulate(scenario)?;
            let finishes: Vec<_> = run.trace.operations().iter().map(OperationRecord::finish).collect();
            Ok::<_, TestCaseError>(finishes)
        };
        prop_assert_eq!(finishes(&whole)?, finishes(&part)?);
        let bounds = |scenario: &Scenario| {
            finish_bounds(scenario, BoundOptions::default()).map(|bounds| bounds.operations)
        };
        prop_assert_eq!(bounds(&whole)?, bounds(&part)?);
    }
}
