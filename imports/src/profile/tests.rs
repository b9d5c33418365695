use proptest::prelude::*;

use super::durations::{BlockTimeCounts, EstimatedBlockTime};
use super::gpu_profile::ProfiledKind;
use super::submissions::KernelGap;
use super::*;
use crate::device::CopyDirection;
use crate::scenario::{ReadOptions, Scenario, Step};
use crate::time::Duration;
use crate::workload::OperationKind;

mod devices;
mod host_threads;
#[cfg(feature = "nsight")]
mod nsight;

/// A trace with these events, on a GPU with the limits of an A100.
fn trace(events: &str) -> String {
    format!(
        r#"{{"schemaVersion": 1, "deviceProperties": [{{"id": 0, "name": "NVIDIA A100", "totalGlobalMem": 42000000000,
            "computeMajor": 8, "computeMinor": 0, "numSms": 108}}], "traceEvents": [{events}]}}"#
    )
}

fn kernel(start: &str, duration: &str, stream: u32, correlation: u32) -> String {
    format!(
        r#"{{"ph": "X", "cat": "kernel", "name": "void f<float>(int)", "pid": 0, "tid": {stream}, "ts": {start},
            "dur": {duration}, "args": {{"device": 0, "context": 1, "stream": {stream}, "correlation": {correlation},
            "registers per thread": 32, "shared memory": 0, "grid": [216, 2, 1], "block": [32, 32, 1],
            "est. achieved occupancy %": 100}}}}"#
    )
}

fn call(name: &str, start: u32, duration: u32, correlation: u32) -> String {
    format!(
        r#"{{"ph": "X", "cat": "cuda_runtime", "name": "{name}", "pid": 10, "tid": -11, "ts": {start},
            "dur": {duration}, "args": {{"correlation": {correlation}}}}}"#
    )
}

fn read(text: &str) -> GpuProfile {
    GpuProfile::read("test.json", text.as_bytes()).expect("it can be read")
}

fn import(events: &[String], launches: Launches, options: &ReadOptions) -> Import {
    let chosen = ImportOptions { launches, ..ImportOptions::default() };
    read(&trace(&events.join(","))).import(&chosen, options).expect("sound")
}

/// When the kernels started, in the order of their submission \[ns\].
fn starts(scenario: &Scenario) -> Vec<u64> {
    let run = crate::hosts::simulate(scenario).expect("it runs");
    let kernels = run.trace.operations().iter().filter(|operation| matches!(operation.kind, OperationKind::Kernel(_)));
    kernels.filter_map(|operation| Some(operation.first_start()?.as_ns())).collect()
}

#[test]
fn times_as_integers_decimals_and_strings_are_exact_to_the_nanosecond() {
    // 2^53 ns are 9,007,199,254,740.992 us: a float would round all of these.
    let events = [
        kernel("1695835573008415", "12", 7, 1),
        kernel("1695835573008515.123", "0.001", 7, 2),
        kernel("\"1695835573008615.124\"", "\"1.5\"", 7, 3),
    ];
    let profile = read(&trace(&events.join(",")));
    let times: Vec<_> = profile.operations.iter().map(|kernel| (kernel.start_ns, kernel.duration_ns)).collect();
    assert_eq!(
        times,
        [(1_695_835_573_008_415_000, 12_000), (1_695_835_573_008_515_123, 1), (1_695_835_573_008_615_124, 1_500)]
    );
}

#[test]
fn a_bare_list_of_events_is_a_trace_too() {
    let profile = read(&format!("[{}]", kernel("5", "2", 7, 1)));
    assert_eq!(profile.format, ProfileFormat::Kineto);
    let error = profile.import(&ImportOptions::default(), &ReadOptions::default()).expect_err("no device");
    assert!(error.to_string().contains("\"device\" names the GPU"), "{error}");
}

#[test]
fn kernels_larger_than_any_gpu_takes_are_left_out_with_a_count() {
    let tall = kernel("1", "1", 7, 1).replace("[216, 2, 1]", "[1, 70000, 1]");
    let deep = kernel("2", "1", 7, 2).replace("[32, 32, 1]", "[4, 1, 128]");
    let profile = read(&trace(&format!("{tall}, {deep}, {}", kernel("3", "1", 7, 3))));
    assert_eq!(profile.operations.len(), 1);
    assert_eq!(profile.left_out.get("kernels whose grid or block is larger than any CUDA GPU takes"), Some(&2));
}

#[test]
fn negative_times_are_left_out_with_a_count() {
    let events = [kernel("5", "2", 7, 1), kernel("-5", "2", 7, 2), kernel("9", "-1", 7, 3)];
    let profile = read(&trace(&events.join(",")));
    assert_eq!(profile.operations.len(), 1);
    assert_eq!(profile.left_out.get("events with a negative time"), Some(&2));
}

#[test]
fn block_times_come_from_kernels_that_ran_alone() {
    // 432 blocks of 1024 threads: two fit each of the 108 SMs, so that each launch takes two waves.
    let events = [
        kernel("0", "20", 7, 1),
        kernel("30", "24", 7, 2),
        kernel("60", "22", 7, 3),
        // These two overlap.
        kernel("100", "40", 7, 4),
        kernel("120", "40", 8, 5),
    ];
    let profile = read(&trace(&events.join(",")));
    let device = profile.device(0).expect("an A100");
    assert_eq!(device.name, "a100-40gb");
    let times: Vec<_> = profile.block_times(0, &device, &ImportOptions::default()).into_iter().flatten().collect();
    let blocks: Vec<u64> = times.iter().map(|time| time.block_ns).collect();
    assert_eq!(
        blocks,
        [10_000, 12_000, 11_000, 11_000, 11_000],
        "the median of 10, 12 and 11 us for those that overlap"
    );
    let import = profile.import(&ImportOptions::default(), &ReadOptions::default()).expect("sound");
    assert_eq!(import.block_times, BlockTimeCounts { alone: 3, same_kernel_alone: 2, ..BlockTimeCounts::default() });
}

#[test]
fn block_times_can_be_those_of_another_profile() {
    let alone = read(&trace(&[kernel("0", "20", 7, 1), kernel("30", "24", 7, 2), kernel("60", "22", 7, 3)].join(",")));
    let device = alone.device(0).expect("an A100");
    // Both overlap, and neither ran alone here.
    let mut profile = read(&trace(&[kernel("100", "40", 7, 4), kernel("120", "40", 8, 5)].join(",")));
    let times = |profile: &GpuProfile| -> Vec<EstimatedBlockTime> {
        profile.block_times(0, &device, &ImportOptions::default()).into_iter().flatten().collect()
    };
    let upper_bound = EstimatedBlockTime { block_ns: 20_000, source: BlockTimeSource::UpperBound };
    assert_eq!(times(&profile), [upper_bound; 2]);
    profile.take_block_times_of(&alone, None).expect("kernels ran alone");
    let known = EstimatedBlockTime { block_ns: 11_000, source: BlockTimeSource::OtherProfile };
    assert_eq!(times(&profile), [known; 2], "the median of 10, 12 and 11 us");
    let import = profile.import(&ImportOptions::default(), &ReadOptions::default()).expect("sound");
    assert_eq!(import.block_times.other_profile, 2);
}

#[test]
fn block_times_of_another_profile_are_durations_over_the_waves_of_its_own_gpu() {
    // One block of 1024 threads fits each of the 68 SMs there: 432 blocks are seven waves of 10 us, and two here.
    let other = r#""name": "NVIDIA GeForce RTX 3080", "totalGlobalMem": 10000000000, "computeMajor": 8, "computeMinor": 6, "numSms": 68"#;
    let here = r#""name": "NVIDIA A100", "totalGlobalMem": 42000000000,
            "computeMajor": 8, "computeMinor": 0, "numSms": 108"#;
    let there = trace(&kernel("0", "70", 7, 1));
    assert!(there.contains(here));
    let mut profile = read(&trace(&[kernel("100", "40", 7, 4), kernel("120", "40", 8, 5)].join(",")));
    profile.take_block_times_of(&read(&there.replace(here, other)), None).expect("a kernel ran alone");
    let device = profile.device(0).expect("an A100");
    let times = profile.block_times(0, &device, &ImportOptions::default());
    let known = EstimatedBlockTime { block_ns: 10_000, source: BlockTimeSource::OtherProfile };
    assert_eq!(times.into_iter().flatten().collect::<Vec<_>>(), [known; 2]);
}

#[test]
fn kernels_that_overlap_take_the_median_that_is_asked_for_and_collectives_their_own_time() {
    // Alone 20 and 24 us, overlapped 40, 44 and 40 us, of which none has a launch of 30 us beside it.
    let mut events = vec![kernel("0", "20", 7, 1), kernel("30", "24", 7, 2)];
    events.extend([kernel("100", "40", 7, 3), kernel("120", "44", 8, 4), kernel("162", "40", 7, 5)]);
    let blocks = |text: &str, kernel_times, collectives| -> Vec<u64> {
        let profile = read(text);
        let options = ImportOptions { collectives, kernel_times, ..ImportOptions::default() };
        let device = profile.device(0).expect("an A100");
        profile.block_times(0, &device, &options).into_iter().flatten().map(|time| time.block_ns).collect()
    };
    let text = trace(&events.join(","));
    let last = |times| blocks(&text, times, Collectives::Recorded)[2..].to_vec();
    // Two waves each; of an even number of times the upper of the middle ones.
    assert_eq!(last(ToldBy::Sharing), [12_000; 3]);
    assert_eq!(last(ToldBy::AloneMedian), [12_000; 3]);
    assert_eq!(last(ToldBy::OverlappedMedian), [20_000; 3]);
    assert_eq!(last(ToldBy::Median), [20_000; 3], "of 20, 24, 40, 40 and 44");
    let nccl = text.replace("void f<float>(int)", "ncclKernel_AllReduce(int)");
    assert_eq!(blocks(&nccl, ToldBy::Median, Collectives::Recorded)[2..], [20_000, 22_000, 20_000]);
    assert_eq!(blocks(&nccl, ToldBy::Median, Collectives::Model)[2..], [20_000; 3]);
}

#[test]
fn in_a_closed_loop_a_faster_gpu_lets_the_host_go_on_earlier() {
    // A launch reaches the GPU after 10 us; the host waits for the device and launches again 5 us after that.
    let events = [
        call("cudaLaunchKernel", 0, 3, 1),
        kernel("10", "100", 7, 1),
        call("cudaDeviceSynchronize", 20, 95, 2),
        call("cudaLaunchKernel", 115, 3, 3),
        kernel("125", "100", 7, 3),
    ];
    let profile = read(&trace(&events.join(",")));
    let import = profile.import(&ImportOptions::default(), &ReadOptions::default()).expect("sound");
    assert_eq!(import.launch_latency.map(|latency| latency.latency_ns), Some(10_000));
    assert_eq!(starts(&import.scenario), [10_000, 125_000], "as recorded");
    let half = ReadOptions { vary_percent: Some((50, 50)), ..ReadOptions::default() };
    let faster = profile.import(&ImportOptions::default(), &half).expect("sound");
    assert_eq!(starts(&faster.scenario), [10_000, 75_000], "the kernel takes 50 us less");
    let recorded = ImportOptions { launches: Launches::Recorded, ..ImportOptions::default() };
    let open = profile.import(&recorded, &half).expect("sound");
    assert_eq!(starts(&open.scenario), [10_000, 125_000]);
    let later = ReadOptions { launch_latency: Some(Duration::from_ns(25_000)), ..ReadOptions::default() };
    let later = profile.import(&ImportOptions::default(), &later).expect("sound");
    assert_eq!(starts(&later.scenario), [25_000, 155_000], "the launch is 15 us later, and the host waits for that");
}

#[test]
fn all_nodes_of_a_graph_are_submitted_by_its_launch() {
    let events =
        [call("cudaGraphLaunch", 0, 3, 1), kernel("10", "5", 7, 1), kernel("20", "5", 7, 1), kernel("12", "5", 8, 1)];
    let profile = read(&trace(&events.join(",")));
    let import = profile.import(&ImportOptions::default(), &ReadOptions::default()).expect("sound");
    assert_eq!(import.submitted, [vec![0, 1, 2]], "in the order in which they started");
    assert_eq!(import.scenario.threads.len(), 1);
    // The one that began last waits for the one in the other stream, which had ended, and so does what comes behind.
    let is_of_stream = |step: &&Step| matches!(step, Step::Record(..) | Step::Wait(..));
    let steps = &import.scenario.threads[0].steps;
    assert_eq!((steps.len(), steps.iter().filter(is_of_stream).count()), (6, 3), "{steps:?}");
}

/// A diamond that is launched twice, whose file does not have its edges: streams 7 and 8 fork behind the first kernel
/// and join before the fourth, and the fifth ends last, in stream 8.
#[test]
fn nodes_of_a_graph_wait_for_one_another_as_their_times_say() {
    let node = |name: &str, at: u32, duration: &str, stream: u32, correlation: u32| {
        let small = kernel(&at.to_string(), duration, stream, correlation).replace("[216, 2, 1]", "[1, 1, 1]");
        small.replace("void f<float>", &format!("void {name}<float>"))
    };
    let launch = |at: u32, correlation: u32| {
        [
            node("a", at, "10", 7, correlation),
            node("b", at + 10, "20", 7, correlation),
            node("c", at + 10, "30", 8, correlation),
            node("d", at + 40, "10", 7, correlation),
            node("e", at + 50, "60", 8, correlation),
        ]
    };
    let calls = [
        call("cudaGraphLaunch", 0, 1, 1),
        call("cudaGraphLaunch", 1, 1, 2),
        call("cudaLaunchKernel", 2, 1, 3),
        node("a", 230, "10", 7, 3),
    ];
    let events = [&calls[..], &launch(10, 1), &launch(120, 2)].concat();
    let import = import(&events, Launches::Host, &ReadOptions::default());
    let run = crate::hosts::simulate(&import.scenario).expect("it runs");
    let kernels = run.trace.operations().iter().filter(|operation| matches!(operation.kind, OperationKind::Kernel(_)));
    let kernels: Vec<_> =
        kernels.map(|one| (one.first_start().expect("it begins"), one.finish().expect("it ends"))).collect();
    assert_eq!(kernels.len(), 11);
    for launch in [0, 5] {
        let [first, left, right, join, last, next] = [0, 1, 2, 3, 4, 5].map(|node| kernels[launch + node]);
        assert!(first.1 <= left.0.min(right.0) && left.1.max(right.1) <= join.0, "{kernels:?}");
        assert!(join.1 <= last.0 && last.1 <= next.0, "{kernels:?}");
        assert!(right.0 < left.1 && left.0 < right.1, "side by side: {kernels:?}");
    }
    assert!(
        import.scenario.notes.iter().any(|note| note.starts_with("2 launches of CUDA graphs ran in several streams"))
    );
}

#[test]
fn nvprof_states_units_in_its_second_row() {
    let text = "==1== remark\n\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\",\
        \"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\",\"Device\",\"Context\",\
        \"Stream\",\"Name\"\nms,us,,,,,,,,KB,B,MB,GB/s,,,,\n\
        588.507525,16.641,,,,,,,,,,0.5,5.1,\"GeForce GTX 950 (0)\",\"1\",\"13\",\"[CUDA memcpy HtoD]\"\n\
        588.708136,56.961,90,1,1,256,1,1,28,1,24,,,\"GeForce GTX 950 (0)\",\"1\",\"13\",\"f(float, int) [223]\"\n";
    let profile = read(text);
    assert_eq!(profile.device(0).map(|device| device.name.clone()), Ok("gtx950".to_owned()));
    assert_eq!((profile.operations[0].start_ns, profile.operations[0].duration_ns), (588_507_525, 16_641));
    let copy = ProfiledKind::Copy { direction: CopyDirection::HostToDevice, bytes: Some(1 << 19), pageable: false };
    assert_eq!(profile.operations[0].kind, copy);
    let kernel = profile.operations[1].kernel().expect("a kernel");
    assert_eq!((kernel.blocks, kernel.shape.shared_memory_bytes), (90, 1048));
    assert_eq!(&*profile.functions[0], "f(float, int)");
}

/// Newer versions of nvprof end each line with a correlation, which is no name; rows of unified memory have addresses
/// in the place of what others have.
#[test]
fn nvprof_may_end_lines_with_a_correlation_and_have_rows_of_unified_memory() {
    let text = "\"Start\",\"Duration\",\"Grid X\",\"Grid Y\",\"Grid Z\",\"Block X\",\"Block Y\",\"Block Z\",\
        \"Registers Per Thread\",\"Static SMem\",\"Dynamic SMem\",\"Size\",\"Throughput\",\"Device\",\"Context\",\
        \"Stream\",\"Unified Memory\",\"Virtual Address\",\"Name\",\"Correlation_ID\"\nms,us,,,,,,,,KB,B,MB,GB/s,,,,,,,\n\
        1.2,,,,,,,,,,,,,,,,\"PC 0x4000\",\"0x7f00\",\"[Unified Memory CPU page faults]\",\n\
        588.708136,56.961,90,1,1,256,1,1,28,1,24,,,\"GeForce GTX 950 (0)\",\"1\",\"13\",,,\"f(float, int) [223]\",102\n";
    let profile = read(text);
    assert_eq!((profile.operations.len(), profile.operations[0].duration_ns), (1, 56_961));
    let import = profile.import(&ImportOptions::default(), &ReadOptions::default()).expect("sound");
    let says = |note: &String| note.contains("1 entries of unified memory");
    assert!(import.scenario.notes.iter().any(says), "{:?}", import.scenario.notes);
    // A line that ends in the midst of a number is not complete.
    let cut = GpuProfile::read("profile", &text.as_bytes()[..text.len() - 2]).expect_err("it is cut off");
    assert!(cut.to_string().contains("the last line is not complete"), "{cut}");
}

/// Durations \[ns\] and numbers of blocks of kernels, with the time from the end of each to the start of the next.
fn one_stream() -> impl Strategy<Value = Vec<(u64, u32, u64)>> {
    prop::collection::vec((1_000_u64..50_000_000, 1_u32..200_000, 0_u64..20_000), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn kernels_of_one_stream_take_as_long_as_recorded_and_keep_their_order(kernels in one_stream()) {
        let mut events = Vec::new();
        let mut at: u64 = 1_000_000;
        for (number, &(duration, blocks, gap)) in (1_u32..).zip(&kernels) {
            let us = |ns: u64| format!("{}.{:03}", ns / 1_000, ns % 1_000);
            events.push(call("cudaLaunchKernel", number * 5, 3, number));
            events.push(kernel(&us(at), &us(duration), 7, number).replace("[216, 2, 1]", &format!("[{blocks}, 1, 1]")));
            at += duration + gap;
        }
        let profile = read(&trace(&events.join(",")));
        for launches in Launches::ALL {
            let chosen = ImportOptions { launches, ..ImportOptions::default() };
            let import = profile.import(&chosen, &ReadOptions::default()).expect("sound");
            let run = crate::hosts::simulate(&import.scenario).expect("it runs");
            prop_assert!(starts(&import.scenario).is_sorted());
            for (operation, &(duration, ..)) in run.trace.operations().iter().zip(&kernels) {
                let (start, end) = (operation.first_start().expect("it ran"), operation.finish().expect("it ended"));
                let error = end.since(start).as_ns().abs_diff(duration);
                prop_assert!(error <= 1_000.max(duration / 100), "{} for {duration}", end.since(start));
            }
        }
    }
}

#[test]
fn short_names_are_those_of_the_functions() {
    for (whole, short) in [
        (
            "void at::native::vectorized_elementwise_kernel<4, F<float> >(int, F<float>)",
            "vectorized_elementwise_kernel",
        ),
        ("void at::native::(anonymous namespace)::distribution<float, 4>(int)", "distribution"),
        ("void a::(anonymous namespace)::b::(anonymous namespace)::f<a::(anonymous namespace)::T>(int)", "f"),
        (
            "void cutlass::Kernel<cutlass_80_tensorop_gemm>(cutlass_80_tensorop_gemm::Params)",
            "cutlass_80_tensorop_gemm",
        ),
        ("volta_sgemm_64x64_tn", "volta_sgemm_64x64_tn"),
        ("", ""),
    ] {
        assert_eq!(short_name(whole), short);
    }
}

#[test]
fn kernels_are_cooperative_by_the_call_that_launched_them() {
    let one = r#"{"ph": "X", "cat": "kernel", "name": "g", "pid": 0, "tid": 7, "ts": 10, "dur": 5, "args": {"device": 0,
        "context": 1, "stream": 7, "correlation": 1, "registers per thread": 32, "shared memory": 0, "grid": [216, 1, 1],
        "block": [1024, 1, 1]}}"#;
    let imported = |name: &str| import(&[one.to_owned(), call(name, 0, 2, 1)], Launches::Host, &ReadOptions::default());
    let cooperative = |name: &str| {
        let kernels = imported(name).scenario.kernels().iter().next().cloned().expect("there is one");
        kernels.is_cooperative()
    };
    assert!(cooperative("cudaLaunchCooperativeKernel") && cooperative("cuLaunchCooperativeKernel"));
    assert!(!cooperative("cudaLaunchKernel"));
    assert_eq!(starts(&imported("cudaLaunchCooperativeKernel").scenario).len(), 1);
}
