//! Host threads: what they wait for, and what keeps its recorded time; waits between streams, and latencies.

use super::*;
use crate::scenario::{NewTime, WhatIf};

/// A call of another host thread.
fn call_of_second(name: &str, start: u32, duration: u32, correlation: u32) -> String {
    call(name, start, duration, correlation).replace(r#""tid": -11"#, r#""tid": -12"#)
}

fn eight_times() -> ReadOptions {
    ReadOptions { vary_percent: Some((800, 800)), ..ReadOptions::default() }
}

/// Three iterations of 200 us: forward and optimizer by one thread, backward by another, which waits for it.
fn training() -> Vec<String> {
    (0..3)
        .flat_map(|iteration: u32| {
            let (at, number) = (200 * iteration, 10 * iteration);
            [
                call("cudaLaunchKernel", at, 3, number + 1),
                kernel(&(at + 10).to_string(), "30", 7, number + 1),
                call_of_second("cudaLaunchKernel", at + 40, 3, number + 2),
                kernel(&(at + 50).to_string(), "40", 7, number + 2),
                call_of_second("cudaDeviceSynchronize", at + 45, 47, number + 3),
                call("cudaLaunchKernel", at + 100, 3, number + 4),
                kernel(&(at + 110).to_string(), "20", 7, number + 4),
            ]
        })
        .collect()
}

#[test]
fn a_stream_keeps_its_order_though_one_of_two_threads_waits_longer() {
    let import = import(&training(), Launches::Host, &eight_times());
    assert_eq!(import.submitted, [(0..9).collect::<Vec<u32>>()]);
    let note = "2 host threads submit to the same streams, or wait for one another's events: they are one program, in the \
                recorded order, with 6 hand-overs from one to another";
    assert!(import.scenario.notes.iter().any(|known| known == note), "{:?}", import.scenario.notes);
    // Launched at 0, there after 10 us, 8 x 30 us long; then 8 x 40 us, for whose end, at 570 us, the second thread
    // waits. The first went on 10 us after that, and its launch takes 10 us: 590 us, then 8 x 20 us until the next
    // forward.
    let starts = starts(&import.scenario);
    assert_eq!(starts[..4], [10_000, 250_000, 590_000, 750_000]);
    assert!(starts.is_sorted());
}

#[test]
fn a_thread_that_waits_does_not_hold_up_what_another_did_meanwhile() {
    // The second waits for the device from 20 to 312 us.
    let events = [
        call_of_second("cudaLaunchKernel", 0, 3, 1),
        kernel("10", "300", 7, 1),
        call_of_second("cudaDeviceSynchronize", 20, 292, 2),
        call("cudaLaunchKernel", 100, 3, 3),
        kernel("310", "10", 7, 3),
        call_of_second("cudaLaunchKernel", 330, 3, 4),
        kernel("340", "10", 7, 4),
    ];
    let import = import(&events, Launches::Host, &eight_times());
    let run = crate::hosts::simulate(&import.scenario).expect("it runs");
    let launched: Vec<u64> = run.trace.operations().iter().map(|operation| operation.launched().as_ns()).collect();
    assert_eq!(launched[1], 100_000);
    assert!(launched[2] > 2_400_000, "after the wait for 8 x 300 us: {launched:?}");
}

#[test]
fn an_operation_without_a_call_keeps_its_place_in_its_stream() {
    let events = [
        call("cudaLaunchKernel", 0, 3, 1),
        kernel("10", "30", 7, 1),
        call("cudaDeviceSynchronize", 5, 37, 2),
        call("cudaLaunchKernel", 50, 3, 3),
        kernel("60", "10", 7, 3),
        kernel("75", "10", 7, 99),
        call("cudaLaunchKernel", 80, 3, 4),
        kernel("90", "10", 7, 4),
    ];
    let import = import(&events, Launches::Host, &eight_times());
    assert_eq!(import.submitted, [vec![0, 1, 2, 3]]);
}

#[test]
fn a_wait_for_an_unnamed_stream_is_not_for_one_that_still_had_work_when_it_returned() {
    let events = [
        call("cudaLaunchKernel", 0, 3, 1),
        kernel("10", "100", 7, 1),
        call("cudaLaunchKernel", 4, 3, 2),
        kernel("111", "200", 7, 2),
        call("cudaStreamSynchronize", 105, 7, 3),
        call("cudaLaunchKernel", 120, 3, 4),
        kernel("312", "10", 7, 4),
    ];
    let import = import(&events, Launches::Host, &ReadOptions::default());
    let steps = &import.scenario.threads[0].steps;
    assert!(!steps.iter().any(|step| matches!(step, Step::SynchronizeStream(_))), "{steps:?}");
}

#[test]
fn a_kernel_whose_times_scatter_alone_keeps_its_recorded_time_when_it_overlaps() {
    // Alone 70, 136 and 1,517 us; then 224 us beside a small kernel of another stream, whose own name never ran alone.
    let small = kernel("2010", "20", 8, 5).replace("void f<float>(int)", "small").replace("[216, 2, 1]", "[1, 1, 1]");
    let events = [
        kernel("0", "70", 7, 1),
        kernel("100", "136", 7, 2),
        kernel("300", "1517", 7, 3),
        kernel("2000", "224", 7, 4),
        small,
    ];
    let import = import(&events, Launches::Host, &ReadOptions::default());
    let counts = BlockTimeCounts { alone: 3, recorded: 1, upper_bound: 1, ..BlockTimeCounts::default() };
    assert_eq!(import.block_times, counts);
    let told = "recorded durations hold, whatever else is changed, for 1 kernel that overlapped: each waits for other GPUs, \
                or the same kernel alone takes very different times: 1 of f";
    assert!(import.scenario.notes.iter().any(|note| note == told), "{:?}", import.scenario.notes);
}

#[test]
fn a_collective_that_overlaps_keeps_its_recorded_time() {
    let collective = |start: &str, duration: &str, correlation: u32| {
        kernel(start, duration, 8, correlation).replace("void f<float>(int)", "ncclDevKernel_AllReduce_Sum_f32_RING_LL")
    };
    let events = [collective("0", "100", 1), collective("200", "300", 2), kernel("250", "20", 7, 3)];
    let import = import(&events, Launches::Host, &ReadOptions::default());
    assert_eq!((import.block_times.alone, import.block_times.recorded), (1, 1));
}

/// What CUPTI says of a wait: the call is `correlation`, the event was recorded by `record`.
fn sync(kind: &str, correlation: u32, start: u32, streams: (i32, i32), record: i32) -> String {
    let (stream, of_stream) = streams;
    format!(
        r#"{{"ph": "X", "cat": "cuda_sync", "name": "{kind}", "pid": 0, "tid": {stream}, "ts": {start}, "dur": 1,
            "args": {{"cuda_sync_kind": "{kind}", "stream": {stream}, "wait_on_stream": {of_stream},
            "wait_on_cuda_event_record_corr_id": {record}, "correlation": {correlation}, "device": 0, "context": 1}}}}"#
    )
}

fn half() -> ReadOptions {
    ReadOptions { vary_percent: Some((50, 50)), ..ReadOptions::default() }
}

/// A kernel of 100 us in stream 7, its end recorded, and one in stream 8 that waits for that.
fn waiting_stream() -> Vec<String> {
    vec![
        call("cudaLaunchKernel", 0, 3, 1),
        kernel("10", "100", 7, 1),
        call("cudaEventRecord", 4, 1, 2),
        call("cudaStreamWaitEvent", 6, 1, 3),
        call("cudaLaunchKernel", 8, 3, 4),
        kernel("112", "50", 8, 4),
    ]
}

#[test]
fn a_stream_waits_for_the_event_that_it_waited_for() {
    let mut events = waiting_stream();
    events.push(sync("Stream Wait Event", 3, 6, (8, 7), 2));
    for launches in Launches::ALL {
        let import = import(&events, launches, &ReadOptions::default());
        assert_eq!(starts(&import.scenario), [10_000, 110_000], "until the kernel of stream 7 has ended");
        let steps: Vec<Step> = import.scenario.threads.iter().flat_map(|thread| thread.steps.clone()).collect();
        let count = |wanted: fn(&Step) -> bool| steps.iter().filter(|step| wanted(step)).count();
        assert_eq!(count(|step| matches!(step, Step::Record(..))), 1);
        assert_eq!(count(|step| matches!(step, Step::Wait(..))), 1);
        assert_eq!(&*import.scenario.events()[0], "event 2");
        let faster = self::import(&events, launches, &half());
        assert_eq!(starts(&faster.scenario), [10_000, 60_000]);
    }
}

#[test]
fn a_wait_whose_record_is_not_in_the_file_is_for_all_that_its_stream_had() {
    let mut events = waiting_stream();
    events.push(sync("Stream Wait Event", 3, 6, (8, 7), -1));
    let import = import(&events, Launches::Host, &ReadOptions::default());
    assert_eq!(starts(&import.scenario), [10_000, 110_000]);
    assert!(import.scenario.notes.iter().any(|note| note.contains("whose record is not in the file")));
}

#[test]
fn without_events_the_order_of_calls_and_the_times_tell_for_what_a_stream_waited() {
    let import = import(&waiting_stream(), Launches::Host, &ReadOptions::default());
    assert_eq!(starts(&import.scenario), [10_000, 110_000]);
    let told = "1 wait of one stream for an event of another, and the file does not say of which: told by the order of the calls \
                and the times: 1; left out: 0";
    assert!(import.scenario.notes.iter().any(|note| note.starts_with(told)), "{:?}", import.scenario.notes);
}

#[test]
fn a_wait_that_the_times_contradict_is_left_out_with_a_count() {
    // The kernel of stream 8 starts long before that of stream 7 ends.
    let mut events = waiting_stream();
    events[5] = kernel("20", "50", 8, 4);
    let import = import(&events, Launches::Host, &ReadOptions::default());
    assert!(import.scenario.events().is_empty());
    assert!(import.scenario.notes.iter().any(|note| note.ends_with(": 0; left out: 1")), "{:?}", import.scenario.notes);
}

#[test]
fn a_host_that_waits_for_an_event_goes_on_before_later_work_of_its_stream_is_done() {
    let events = [
        call("cudaLaunchKernel", 0, 3, 1),
        kernel("10", "100", 7, 1),
        call("cudaEventRecord", 4, 1, 2),
        call("cudaLaunchKernel", 6, 3, 3),
        kernel("110", "100", 7, 3),
        call("cudaEventSynchronize", 10, 102, 4),
        sync("Event Sync", 4, 10, (-1, 7), 2),
        call("cudaLaunchKernel", 120, 3, 5),
        kernel("210", "10", 8, 5),
    ];
    let import = import(&events, Launches::Host, &half());
    // 10 us after the event, which is recorded at 10 + 50 us, the host launches again; that takes 10 us.
    let program = &import.scenario.threads[0].steps;
    assert!(program.iter().any(|step| matches!(step, Step::SynchronizeEvent(_))), "{program:?}");
    let run = crate::hosts::simulate(&import.scenario).expect("it runs");
    let last = run.trace.operations().last().expect("there are some");
    assert_eq!(last.launched().as_ns(), 70_000);
}

#[test]
fn latency_and_gap_of_a_profile_are_those_of_its_device() {
    // Idle: 10 us. Ready behind another: gaps of 1, 2, 3 and 20 us, whose middle half has the mean 2.5 us.
    let mut events = vec![call("cudaLaunchKernel", 0, 3, 1), kernel("10", "100", 7, 1)];
    let mut end = 110;
    for (number, gap) in (2..).zip([1, 3, 20, 2]) {
        events.push(call("cudaLaunchKernel", 4 * number, 3, number));
        events.push(kernel(&(end + gap).to_string(), "100", 7, number));
        end += gap + 100;
    }
    let import = import(&events, Launches::Recorded, &ReadOptions::default());
    assert_eq!(import.kernel_gap, Some(KernelGap { gap_ns: 2_500, kernels: 4, scattered: false }));
    let device = import.scenario.device();
    assert_eq!((device.launch_latency.as_ns(), device.kernel_gap.as_ns()), (10_000, 2_500));
    assert_eq!(starts(&import.scenario), [10_000, 112_500, 215_000, 317_500, 420_000]);
    let none = ReadOptions { kernel_gap: Some(Duration::ZERO), ..ReadOptions::default() };
    let none = self::import(&events, Launches::Recorded, &none);
    assert_eq!(starts(&none.scenario), [10_000, 110_000, 210_000, 310_000, 410_000]);
}

#[test]
fn a_call_that_took_long_submitted_at_its_end() {
    // Loading code takes 2 ms; usual are 10 us from the call to the start.
    let mut events = Vec::new();
    for number in 1..5 {
        events.push(call("cudaLaunchKernel", 1000 * number, 3, number));
        events.push(kernel(&(1000 * number + 10).to_string(), "100", 7, number));
    }
    events.extend([call("cudaLaunchKernel", 6000, 2000, 6), kernel("8005", "100", 7, 6)]);
    for launches in Launches::ALL {
        let import = import(&events, launches, &ReadOptions::default());
        assert_eq!(starts(&import.scenario).last(), Some(&7_005_000), "counted from the first call");
    }
}

#[test]
fn a_latency_that_nothing_shows_is_refused() {
    let profile = read(&trace(&kernel("10", "100", 7, 1)));
    let given = ReadOptions { launch_latency: Some(Duration::from_ns(1)), ..ReadOptions::default() };
    let error = profile.import(&ImportOptions::default(), &given).expect_err("no call");
    assert!(error.to_string().contains("no launch has a host call"), "{error}");
}

#[test]
fn a_copy_within_the_gpu_runs_beside_one_from_the_host() {
    let copy = |name: &str, start: u32, duration: u32, stream: u32| {
        format!(
            r#"{{"ph": "X", "cat": "gpu_memcpy", "name": "{name}", "pid": 0, "tid": {stream}, "ts": {start},
                "dur": {duration}, "args": {{"device": 0, "context": 1, "stream": {stream}, "bytes": 8}}}}"#
        )
    };
    let events = [
        copy("Memcpy HtoD (Pinned -> Device)", 10, 500, 8),
        copy("Memcpy DtoD (Device -> Device)", 20, 5, 7),
        kernel("26", "10", 7, 1),
    ];
    let import = import(&events, Launches::Recorded, &ReadOptions::default());
    assert_eq!(starts(&import.scenario), [16_000], "10 us is t = 0");
}

#[test]
fn an_operation_that_an_idle_gpu_did_not_run_is_held_as_long_by_what_is_not_in_the_file() {
    let events = |last_call: u32, more: &[String]| -> Vec<String> {
        let mut events: Vec<String> = (0..4).map(|id| call("cudaLaunchKernel", id, 1, id + 1)).collect();
        events.extend([20, 32, 44, 56].iter().zip(1..).map(|(start, id)| kernel(&start.to_string(), "10", 7, id)));
        events.extend([call("cudaLaunchKernel", last_call, 1, 5), kernel("5000", "10", 7, 5)]);
        events.extend_from_slice(more);
        events
    };
    let options = ReadOptions::default();
    // A launch latency of 20 us and gaps of 2 us: 4,930 of the 4,934 us from 66 to 5000 us are for nothing known.
    let held = import(&events(4, &[]), Launches::Host, &options);
    assert_eq!(starts(&held.scenario), [20_000, 32_000, 44_000, 56_000, 68_000, 5_000_000]);
    assert_eq!(held.submitted, [vec![0, 1, 2, 3, UNSEEN, 4]]);
    let told = "1 time of 4.93 ms in all, in which the GPU ran nothing although something had been launched";
    assert!(held.scenario.notes.iter().any(|note| note.starts_with(told)), "{:?}", held.scenario.notes);
    // Faster kernels let it go on earlier, but hold it as long.
    let block_times = vec![("f".to_owned(), NewTime::To(Duration::from_ns(2_000)))];
    let faster = held.scenario.what_if(&WhatIf { block_times, ..WhatIf::default() }).expect("it can be made");
    assert_eq!(starts(&faster).last(), Some(&4_976_000), "two waves of each of four kernels take 3 us less");
    // What was launched late, or while another stream had the GPU, was not held.
    let other = [call("cudaLaunchKernel", 4, 1, 6), kernel("66", "4900", 8, 6)];
    for events in [events(4_970, &[]), events(4, &other)] {
        let free = import(&events, Launches::Host, &options);
        assert!(!free.submitted.concat().contains(&UNSEEN), "{:?}", free.submitted);
    }
}

#[test]
fn a_first_launch_that_alone_found_the_gpu_idle_is_not_the_launch_latency() {
    // It loads code for 20 us; while it runs, others are launched into another stream and begin at once.
    let first = [call("cudaLaunchKernel", 0, 21, 1), kernel("23", "900", 7, 1)];
    let others = [(100, "107.5"), (200, "208"), (300, "310.2")].into_iter().zip(2..);
    let others = others.flat_map(|((at, start), id)| [call("cudaLaunchKernel", at, 5, id), kernel(start, "10", 8, id)]);
    let said = |events: &[String]| {
        let notes = import(events, Launches::Host, &ReadOptions::default()).scenario.notes;
        notes.into_iter().find(|note| note.starts_with("launch latency")).expect("it is told")
    };
    let events: Vec<String> = first.iter().cloned().chain(others).collect();
    assert_eq!(
        said(&events),
        "launch latency 7.5 us (upper quartile 10.2 us): the lower quartile from call to start over 4 kernels, as it is \
         more over the 1 operation that found the GPU idle"
    );
    let slow = said(&[call("cudaLaunchKernel", 0, 4_000, 1), kernel("4390", "900", 7, 1)]);
    assert!(slow.contains("over 1 launch onto an idle GPU; launches usually take 3 to 40 us"), "{slow}");
}
