//! A scheduler of one's own in front of the simulated GPU, from [`Host`] to a table and a timeline figure.
//!
//! It admits the shorter of two kernels first and lets one run at a time: shortest job first, which the hardware's
//! queues, first in, first out, cannot do.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use gpusched::device::Device;
use gpusched::formats::{TableStyle, text_of};
use gpusched::gpu::{Ended, GpuEvent, GpuInterface, GpuOptions, Host, RunError, Simulated};
use gpusched::pictures::timeline::{Timeline, TimelineOptions};
use gpusched::run::Summary;
use gpusched::scenario::ScenarioBuilder;
use gpusched::tables::SimulationReport;
use gpusched::time::{Duration, Instant};
use gpusched::workload::{Kernel, KernelId, OperationId, OperationKind, Origin, StreamId};

/// A job: when it comes, and its kernel.
struct Job {
    arrival: Instant,
    kernel: Kernel,
}

/// Runs one job at a time, of those that have come the one with the shortest blocks.
struct ShortestFirst {
    jobs: Vec<Job>,
    known: Vec<KernelId>,
    waiting: Vec<usize>,
    is_busy: bool,
}

impl Host for ShortestFirst {
    type Error = RunError;

    fn start(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        for (token, job) in (0..).zip(&self.jobs) {
            self.known.push(gpu.add_kernel(job.kernel.clone())?);
            gpu.wake_at(job.arrival, token);
        }
        Ok(())
    }

    fn on_wake(&mut self, token: u64) {
        self.waiting.extend(usize::try_from(token));
    }

    fn on_event(&mut self, event: GpuEvent, _: &impl GpuInterface) {
        if matches!(event, GpuEvent::Completed(_)) {
            self.is_busy = false;
        }
    }

    fn act(&mut self, gpu: &mut impl GpuInterface) -> Result<(), RunError> {
        let shortest = self.waiting.iter().copied().min_by_key(|&job| self.jobs[job].kernel.duration.worst);
        if let Some(job) = shortest.filter(|_| !self.is_busy) {
            self.waiting.retain(|&other| other != job);
            gpu.submit(StreamId::NULL, OperationKind::Kernel(self.known[job]), Origin::default())?;
            self.is_busy = true;
        }
        Ok(())
    }
}

fn job(name: &str, arrival_ms: u64, blocks: u32, block_ms: u64) -> Job {
    let kernel = Kernel::new(name, blocks, 512, Duration::from_ns(block_ms * 1_000_000));
    Job { arrival: Instant::from_ns(arrival_ms * 1_000_000), kernel }
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let tx2 = Device::builtin("tx2")?.ok_or("the TX2 is built in")?;
    let jobs = vec![job("first", 0, 8, 10), job("long", 1, 8, 30), job("short", 2, 8, 5)];
    let host = ShortestFirst { jobs, known: Vec::new(), waiting: Vec::new(), is_busy: false };
    let Simulated { trace, ended, .. } = Simulated::of(&tx2, GpuOptions::default(), host)?;

    // Eight blocks of 512 threads fill a TX2 once. "short" came last and runs second.
    assert_eq!(ended, Ended::Done);
    let mut finishes = Vec::new();
    for (id, record) in (0..).map(OperationId).zip(trace.operations()) {
        let kernel = trace.kernel_of(id).ok_or("only kernels were submitted")?;
        finishes.push((&*kernel.title, record.finish().map(Instant::as_ns)));
    }
    assert_eq!(finishes, [("first", Some(10_000_000)), ("short", Some(15_000_000)), ("long", Some(45_000_000))]);

    // Reports take a scenario, for names and the device: this one has nothing but those.
    let scenario = ScenarioBuilder::on(&tx2, "shortest job first").build();
    let summary = Summary::of_trace(&scenario, &trace);
    let table = text_of(&SimulationReport::of(summary), TableStyle::Plain);
    assert_eq!(table.lines().count(), 4);
    println!("{table}");

    let options = TimelineOptions::default();
    let svg = Timeline::new(&summary, &options)?.draw(&summary, &options).to_svg();
    assert!(svg.contains("short"));
    println!("a timeline of {} bytes of SVG", svg.len());
    Ok(())
}
