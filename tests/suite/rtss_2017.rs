//! Amert, Otterness, Yang, Anderson and Smith, "GPU Scheduling on the NVIDIA TX2: Hidden Details Revealed", RTSS 2017.

use gpusched::hosts::simulate;
use gpusched::trace::Trace;
use gpusched::workload::OperationKind;

use crate::published;

const MS: u64 = 1_000_000;
/// 256 MiB at the TX2's assumed 10 GB/s, rounded up.
const COPY_NS: u64 = 26_843_546;

/// Start and end of the only or last wave of a kernel \[ns\].
fn kernel(trace: &Trace, number: u32) -> (u64, u64) {
    let mut records = trace.operations().iter();
    let record = records.find(|record| matches!(record.kind, OperationKind::Kernel(id) if id.0 == number - 1));
    let record = record.expect("it was launched");
    (record.last_start().expect("it started").as_ns(), record.finish().expect("it finished").as_ns())
}

#[test]
fn figure_3_k5_completes_before_k2_at_one_instant_and_its_copy_out_is_first() {
    let trace = simulate(&published::figure("rtss2017/figure-3")).expect("it runs").trace;
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
