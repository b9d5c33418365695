//! Hosts that answer to what the GPU tells them.

use gpusched::device::BlockShape;
use gpusched::gpu::{GpuEvent, GpuInterface, GpuOptions, Host, RunError, Simulated};
use gpusched::time::{Duration, Instant};
use gpusched::trace::Trace;
use gpusched::workload::{
    BlockClock, BlockTime, Kernel, KernelId, OperationId, OperationKind, Origin, StreamId, StreamSpec,
};

use crate::common::tx2;

fn kernel(blocks: u32, ns: u64) -> Kernel {
    Kernel {
        name: "K".into(),
        title: "K".into(),
        blocks,
        shape: BlockShape { threads: 1024, ..BlockShape::default() },
        duration: BlockTime::fixed(Duration::from_ns(ns)),
        clock: BlockClock::RunTime,
        sm_mask: None,
    }
}

/// Launches a long block of high priority and a large grid of low priority, and when the first is dispatched, at once
/// a further block of high priority.
#[derive(Default)]
struct Answers {
    kernels: Vec<KernelId>,
    streams: Vec<StreamId>,
    to_launch: Vec<usize>,
}

impl Host for Answers {
    type Error = RunError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        for (priority, blocks, ns) in [(-1, 1, 1_000), (0, 100, 10), (-1, 1, 10)] {
            self.kernels.push(gpu.add_kernel(kernel(blocks, ns))?);
            self.streams.push(gpu.add_stream(StreamSpec { priority, blocking: false, ..StreamSpec::new("S") })?);
        }
        self.to_launch = vec![0, 1];
        gpu.wake_at(Instant::ZERO, 0);
        Ok(())
    }

    fn on_event(&mut self, event: GpuEvent, _gpu: &impl GpuInterface) {
        if event == GpuEvent::FullyDispatched(OperationId(0)) {
            self.to_launch.push(2);
        }
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        for index in self.to_launch.drain(..) {
            gpu.submit(self.streams[index], OperationKind::Kernel(self.kernels[index]), Origin::default())?;
        }
        Ok(())
    }
}

#[test]
fn cycles_are_not_skipped_before_the_host_has_answered() {
    let run = |skip_cycles| -> Trace {
        let options = GpuOptions { skip_cycles, ..GpuOptions::default() };
        Simulated::of(&tx2(), options, Answers::default()).expect("it runs").trace
    };
    let (skipping, plain) = (run(true), run(false));
    // The first three blocks of the grid end at 10 ns, and the further block of high priority takes a place of theirs.
    assert_eq!(plain.operations()[2].first_start(), Some(Instant::from_ns(10)));
    assert_eq!(skipping.operations(), plain.operations());
    assert!(skipping.waves() < plain.waves(), "cycles are still skipped");
}
