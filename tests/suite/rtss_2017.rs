//! Amert, Otterness, Yang, Anderson and Smith, "GPU Scheduling on the NVIDIA TX2: Hidden Details Revealed", RTSS 2017.

use gpusched::device::{BlockShape, CopyDirection};
use gpusched::hosts::simulate;
use gpusched::scenario::{HostThread, ReadOptions, ScenarioBuilder, Step};
use gpusched::time::Duration;
use gpusched::trace::Trace;
use gpusched::workload::{BlockTime, Copy, Kernel, OperationKind, StreamId, StreamSpec};

use crate::generate::builtin;

const MS: u64 = 1_000_000;
/// 256 MiB at the TX2's assumed 10 GB/s, rounded up.
const COPY_NS: u64 = 26_843_546;

/// Figure 3: three streams, copies, shared memory; every block takes 1 s.
fn figure_3() -> Trace {
    let options = ReadOptions::default();
    let mut builder = ScenarioBuilder::new("figure 3".to_owned(), builtin("tx2"), &options);
    let kernels = [(6, 768, 0), (2, 512, 0), (2, 1024, 0), (4, 256, 32_768), (2, 256, 32_768), (2, 512, 0)];
    let kernels: Vec<_> = (1..)
        .zip(kernels)
        .map(|(number, (blocks, threads, shared_memory_bytes))| {
            let name: std::sync::Arc<str> = format!("K{number}").into();
            let kernel = Kernel {
                name: name.clone(),
                title: name,
                blocks,
                shape: BlockShape { threads, registers_per_thread: 0, shared_memory_bytes },
                duration: BlockTime::fixed(Duration::from_ns(1_000 * MS)),
                sm_mask: None,
            };
            builder.add_kernel(kernel).expect("it fits")
        })
        .collect();
    let streams: Vec<StreamId> =
        (0..3).map(|_| builder.add_stream(StreamSpec::new("stream")).expect("it exists")).collect();
    let mut copy = |direction| builder.add_copy(Copy { direction, bytes: 1 << 28, duration: None }).expect("short");
    let (copy_in, copy_out) = (copy(CopyDirection::HostToDevice), copy(CopyDirection::DeviceToHost));
    let sleep = |ms| Step::Sleep(Duration::from_ns(ms * MS));
    let launch = |kernel: usize, stream: usize| Step::Launch(kernels[kernel - 1], streams[stream]);
    let (s1, s2, s3) = (streams[0], streams[1], streams[2]);
    let programs = [
        (
            0,
            vec![
                launch(1, 0),
                launch(2, 0),
                Step::Copy(copy_out, s1),
                Step::Copy(copy_in, s1),
                launch(3, 0),
                Step::Copy(copy_out, s1),
            ],
        ),
        (
            0,
            vec![
                sleep(200),
                launch(4, 1),
                Step::SynchronizeStream(s2),
                sleep(800),
                launch(6, 1),
                Step::Copy(copy_out, s2),
            ],
        ),
        (400, vec![launch(5, 2), Step::Copy(copy_out, s3)]),
    ];
    for (release_ms, steps) in programs {
        builder.add_thread(HostThread {
            label: "thread".into(),
            release: Duration::from_ns(release_ms * MS),
            iterations: Some(1),
            time_limit: None,
            period: None,
            jitter: Duration::ZERO,
            deadline: None,
            barrier: None,
            steps,
        });
    }
    simulate(&builder.build()).expect("it runs").trace
}

/// Start and end of the only or last wave of a kernel \[ns\].
fn kernel(trace: &Trace, number: u32) -> (u64, u64) {
    let mut records = trace.operations().iter();
    let record = records.find(|record| matches!(record.kind, OperationKind::Kernel(id) if id.0 == number - 1));
    let record = record.expect("it was launched");
    (record.last_start().expect("it started").as_ns(), record.finish().expect("it finished").as_ns())
}

#[test]
fn figure_3_k5_completes_before_k2_at_one_instant_and_its_copy_out_is_first() {
    let trace = figure_3();
    let ms = |number| {
        let (start, finish) = kernel(&trace, number);
        (start / MS, finish / MS)
    };
    assert_eq!([1, 2, 4, 5, 6].map(ms), [(1000, 2000), (2000, 3000), (1000, 2000), (2000, 3000), (2800, 3800)]);
    let mut copies: Vec<_> = trace
        .operations()
        .iter()
        .filter(|record| matches!(record.kind, OperationKind::Copy(_)))
        .map(|record| (record.first_start().expect("it started").as_ns(), record.stream.0))
        .collect();
    copies.sort_unstable();
    // K5's copy-out, K2's copy-out, K3's copy-in.
    let three_seconds = 3_000 * MS;
    assert_eq!(copies[..3], [(three_seconds, 3), (three_seconds + COPY_NS, 1), (three_seconds + 2 * COPY_NS, 1)]);
    assert_eq!(kernel(&trace, 3), (three_seconds + 3 * COPY_NS, three_seconds + 1_000 * MS + 3 * COPY_NS));
}
