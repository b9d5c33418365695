//! Several host threads, and what keeps its recorded time.

use super::*;

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
