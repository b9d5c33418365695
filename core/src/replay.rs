//! A measurement simulated again: what the model says of it, beside what happened.
//!
//! The scenario comes from the logs themselves (`scenario_of_logs`: launch order and times, measured block times,
//! one stream per log), or it is the one that made them with measured block times put in (`with_measured_times`)
//! and the measured order of launches (`measured_launch_order`).
//! [`replay`] simulates it and sets measured against simulated, kernel by kernel and block by block.

mod scenario;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use crate::audit::{DecidableBlock, ObservedRun, Tolerances, decidable_blocks};
use crate::device::Device;
use crate::effort::Progress;
use crate::hosts::{LaunchOrder, SimulateOptions, simulate_with};
use crate::logs::{LogRun, LogTime, LogTimeError, Pairing};
use crate::proven::Proven;
use crate::scenario::{ReadOptions, Scenario};
use crate::statistics::nearest_rank;
use crate::time::{Duration, Instant};
use crate::trace::{Observed, ObservedBlock, OperationRecord, Trace, TraceFull};
use crate::workload::OperationId;
pub use scenario::ReplayError;
use scenario::{first_launch, logs_by_thread, measured_launch_order, scenario_of_logs, with_measured_times};

/// A measurement and its simulation, side by side. Times count from the first kernel launch on both sides (measured:
/// from the return of the launch call).
#[derive(Debug, Clone, PartialEq)]
pub struct Replay {
    /// The scenario that was simulated.
    pub scenario: Scenario,
    /// What happened in the simulation.
    pub trace: Trace,
    /// All kernels, in launch order.
    pub kernels: Vec<KernelComparison>,
    /// Blocks that were compared.
    pub blocks: usize,
    /// Blocks whose SM the model can tell: measured ones that were assigned while nothing was ending.
    pub sm_decidable: usize,
    /// Those of them that ran on the same SM in the simulation.
    pub sm_equal: usize,
    /// Median difference of block starts \[ns\].
    pub median_start_error_ns: u64,
    /// Largest difference of block starts \[ns\].
    pub max_start_error_ns: u64,
    /// Both timelines, for a figure.
    pub(crate) timelines: Timelines,
}

/// One kernel launch on both sides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KernelComparison {
    /// Number of the operation in the simulation.
    pub id: u32,
    /// Name.
    #[serde(serialize_with = "as_text")]
    pub name: Arc<str>,
    /// Index of the log.
    pub benchmark: usize,
    /// What the log calls the benchmark.
    #[serde(serialize_with = "as_text")]
    pub label: Arc<str>,
    /// Index of the log, -1 for the NULL stream.
    pub stream: i64,
    /// Iteration, from 0.
    pub iteration: u32,
    /// Blocks that were compared.
    pub blocks: usize,
    /// When the first block started.
    pub measured_start_ns: i64,
    /// When the first block started.
    pub simulated_start_ns: Option<i64>,
    /// When the last block ended.
    pub measured_finish_ns: i64,
    /// When the last block ended; `None`: it never did.
    pub simulated_finish_ns: Option<i64>,
    /// Measured minus simulated finish.
    pub difference_ns: Option<i64>,
    /// Largest difference of the starts of its blocks.
    pub max_start_error_ns: u64,
}

fn as_text<S: serde::Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

/// Both sides as lists of blocks, in the same form.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Timelines {
    /// What was measured.
    pub(crate) measured: Vec<BlockSpan>,
    /// What was simulated.
    pub(crate) simulated: Vec<BlockSpan>,
    /// When each kernel of [`Replay::kernels`] was launched in the measurement, from the first launch \[ns\].
    pub measured_launches: Vec<i64>,
}

/// One block on one SM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockSpan {
    /// Index of its kernel in [`Replay::kernels`].
    pub kernel: usize,
    /// Its number.
    pub block: usize,
    /// Its SM.
    pub sm: u32,
    /// Start, from the first kernel launch \[ns\].
    pub start_ns: i64,
    /// End, from the first kernel launch \[ns\].
    pub end_ns: i64,
}

impl Replay {
    /// What was measured, on the clock of [`Replay::trace`]: as if the first kernel had been launched when it was in
    /// the simulation. Blocks that seem to start before it (clocks differ) start with it.
    ///
    /// # Errors
    /// [`TraceFull`] for more than 2^32 blocks.
    pub fn measured_trace(&self) -> Result<Trace, TraceFull> {
        let first = self.first_launch();
        let launches = self.kernels.iter().zip(&self.timelines.measured_launches);
        let launches = launches.map(|(kernel, ns)| (OperationId(kernel.id), shifted(first, *ns)));
        let blocks = self.observed(&self.timelines.measured, first);
        self.trace.with_observed(&Observed { launches: launches.collect(), spans: Vec::new(), blocks })
    }

    /// Measured blocks on SMs that the device lacks: they are in no [trace](Self::measured_trace).
    pub fn blocks_on_unknown_sms(&self) -> usize {
        let sms = self.scenario.device().sms;
        self.timelines.measured.iter().filter(|span| span.sm >= sms).count()
    }

    /// When the first of the compared kernels was launched in the simulation.
    pub fn first_launch(&self) -> Instant {
        let launches = self.kernels.iter().filter_map(|kernel| self.trace.operations().get(kernel.id as usize));
        launches.map(OperationRecord::launched).min().unwrap_or_default()
    }

    /// Each kernel that the simulation got to the end of, and when it finished, measured and simulated, on the clock of
    /// [`Replay::trace`].
    pub fn finishes(&self) -> impl Iterator<Item = (String, [Instant; 2])> + '_ {
        let first = self.first_launch();
        self.kernels.iter().filter_map(move |kernel| {
            let launched = self.trace.kernel_of(OperationId(kernel.id));
            let name = launched.map_or_else(|| kernel.name.to_string(), |launched| launched.title.to_string());
            Some((name, [kernel.measured_finish_ns, kernel.simulated_finish_ns?].map(|ns| shifted(first, ns))))
        })
    }

    /// Blocks on a clock on which the first kernel was launched at `launch`.
    fn observed(&self, spans: &[BlockSpan], launch: Instant) -> Vec<ObservedBlock> {
        let blocks = spans.iter().filter_map(|span| {
            Some(ObservedBlock {
                operation: OperationId(self.kernels.get(span.kernel)?.id),
                index: u32::try_from(span.block).ok()?,
                sm: u16::try_from(span.sm).ok().filter(|sm| u32::from(*sm) < self.scenario.device().sms)?,
                start: shifted(launch, span.start_ns),
                end: shifted(launch, span.end_ns),
            })
        });
        blocks.collect()
    }
}

/// Some time after the first launch; what seems to be before it is with it.
fn shifted(launch: Instant, ns: i64) -> Instant {
    launch + Duration::from_ns(u64::try_from(ns).unwrap_or(0))
}

/// Simulates the run that some logs were taken from and compares; `known` is the scenario that made them, if it is
/// known, with its pairing. How many simulated operations have completed is in `completed`.
///
/// # Errors
/// [`ReplayError`] if the device cannot run a kernel, there is none, or the simulation outlasts the clock of logs.
pub fn replay(
    run: &LogRun,
    device: &Device,
    known: Option<(&Scenario, &Pairing)>,
    options: &ReadOptions,
    tolerances: &Tolerances,
    completed: Progress<'_>,
) -> Result<Replay, ReplayError> {
    let zero = first_launch(run).ok_or(ReplayError::Empty)?;
    let (scenario, order, log_of_thread, observation) = if let Some((scenario, pairing)) = known {
        if let Some(thread) = scenario.threads.iter().find(|thread| thread.triggered_by.is_some()) {
            return Err(ReplayError::Triggered { thread: thread.label.to_string() });
        }
        let observation = ObservedRun::of_logs_with(run, scenario, pairing);
        let order = measured_launch_order(run, scenario, pairing);
        let scenario = with_measured_times(run, scenario, pairing, tolerances);
        (scenario, order, pairing.log_of_thread.clone(), observation)
    } else {
        let scenario = scenario_of_logs(run, device, options, tolerances)?;
        // Its threads launch when the calls returned; where that was one instant, in the order of the logs.
        (scenario, LaunchOrder::default(), logs_by_thread(run), ObservedRun::of_logs(run, device))
    };
    let trace = simulate_with(
        &scenario,
        SimulateOptions { order: Some(order), progress: completed, ..SimulateOptions::of(&scenario) },
    )?
    .trace;
    let mut sides = Sides {
        run,
        trace: &trace,
        zero,
        simulated_zero: LogTime::from_ns(0),
        starts: Vec::new(),
        timelines: Timelines::default(),
    };
    sides.simulated_zero = sides.first_simulated_launch(&log_of_thread)?;
    let (kernels, operation_of) = sides.compare(&log_of_thread)?;
    let (mut sm_decidable, mut sm_equal) = (0, 0);
    let simulated_sm: BTreeMap<(usize, usize), u32> =
        sides.timelines.simulated.iter().map(|span| ((span.kernel, span.block), span.sm)).collect();
    for DecidableBlock { origin, block, sm } in decidable_blocks(&observation, tolerances) {
        let Some(kernel) = operation_of.get(&origin) else { continue };
        sm_decidable += 1;
        sm_equal += usize::from(simulated_sm.get(&(*kernel, block)) == Some(&sm));
    }
    let Sides { mut starts, timelines, .. } = sides;
    starts.sort_unstable();
    Ok(Replay {
        kernels,
        blocks: starts.len(),
        sm_decidable,
        sm_equal,
        median_start_error_ns: nearest_rank(&starts, 50).unwrap_or(0),
        max_start_error_ns: starts.last().copied().unwrap_or(0),
        timelines,
        scenario,
        trace,
    })
}

/// All kernels, and which of them belongs to which place in the logs.
type Compared = (Vec<KernelComparison>, BTreeMap<(usize, usize), usize>);

struct Sides<'a> {
    run: &'a LogRun,
    trace: &'a Trace,
    zero: LogTime,
    simulated_zero: LogTime,
    /// Differences of all block starts.
    starts: Vec<u64>,
    timelines: Timelines,
}

impl Sides<'_> {
    /// The launches of each thread, in order.
    fn launches(&self) -> BTreeMap<u32, Vec<OperationId>> {
        let mut launches: BTreeMap<u32, Vec<OperationId>> = BTreeMap::new();
        for (id, record) in self.trace.numbered() {
            if self.trace.kernel_of(id).is_some() {
                launches.entry(record.origin.thread).or_default().push(id);
            }
        }
        launches
    }

    fn first_simulated_launch(&self, log_of_thread: &[Option<usize>]) -> Result<LogTime, LogTimeError> {
        let logged = |thread: u32| log_of_thread.get(thread as usize).copied().flatten().is_some();
        let launches = self.launches().into_iter().filter(|(thread, _)| logged(*thread));
        let first = launches.filter_map(|(_, ids)| Some(self.trace.operations().get(ids.first()?.index())?.launched()));
        first.min().map_or(Ok(LogTime::from_ns(0)), LogTime::try_from)
    }

    /// Compares all kernels; also tells which kernel belongs to which place in the logs.
    fn compare(&mut self, log_of_thread: &[Option<usize>]) -> Result<Compared, LogTimeError> {
        let mut pairs = Vec::new();
        for (thread, ids) in self.launches() {
            let Some(log) = log_of_thread.get(thread as usize).copied().flatten() else { continue };
            pairs.extend(ids.into_iter().enumerate().map(|(position, id)| (id, log, position)));
        }
        pairs.sort_unstable();
        let (mut kernels, mut operation_of) = (Vec::new(), BTreeMap::new());
        for (id, log, position) in pairs {
            if let Some(kernel) = self.compare_kernel(kernels.len(), id, log, position)? {
                operation_of.insert((log, position), kernels.len());
                kernels.push(kernel);
            }
        }
        Ok((kernels, operation_of))
    }

    /// `None`: there is nothing to compare, as the log has no such kernel or no block of it.
    fn compare_kernel(
        &mut self,
        kernel: usize,
        id: OperationId,
        benchmark: usize,
        at: usize,
    ) -> Result<Option<KernelComparison>, LogTimeError> {
        let found = || {
            let log = self.run.logs.get(benchmark)?;
            let logged = log.kernels.get(at)?;
            let kernel = self.trace.kernel_of(id)?;
            let ends = (logged.blocks.first_start_ns()?, logged.blocks.finish_ns()?);
            Some((log, logged, self.trace.record(id)?, Arc::clone(&kernel.title), ends))
        };
        let Some((log, logged, record, name, (first_start, finish))) = found() else { return Ok(None) };
        let simulated_zero = self.simulated_zero;
        // Neither time of the simulated clock is negative. Logs that were read have none beyond 2^62 ns.
        let simulated = |at| LogTime::try_from(at).map(|at| at.since(simulated_zero));
        let zero = self.zero;
        let measured = |at: LogTime| at.since(zero);
        let mut max_start_error_ns = 0;
        for block in self.trace.blocks(id) {
            let (start_ns, end_ns) = (simulated(block.start)?, simulated(block.end)?);
            let number = block.index as usize;
            let span = BlockSpan { kernel, block: number, sm: u32::from(block.sm), start_ns, end_ns };
            self.timelines.simulated.push(span);
            if let Some(seen) = logged.blocks.get(number) {
                let error = measured(seen.start_ns).abs_diff(start_ns);
                max_start_error_ns = max_start_error_ns.max(error);
                self.starts.push(error);
            }
        }
        let blocks = logged.blocks.iter().enumerate().map(|(number, block)| BlockSpan {
            kernel,
            block: number,
            sm: block.sm,
            start_ns: measured(block.start_ns),
            end_ns: measured(block.end_ns),
        });
        self.timelines.measured.extend(blocks);
        self.timelines.measured_launches.push(measured(logged.launch_return_ns));
        let measured_finish_ns = measured(finish);
        let simulated_finish_ns = record.finish().map(simulated).transpose()?;
        Ok(Some(KernelComparison {
            id: id.0,
            name,
            benchmark,
            label: log.title(),
            stream: if self.trace.is_null_stream(record.stream) {
                -1
            } else {
                i64::try_from(benchmark).proven("a list has fewer than 2^63 entries")
            },
            iteration: logged.iteration,
            blocks: logged.blocks.len(),
            measured_start_ns: measured(first_start),
            simulated_start_ns: record.first_start().map(simulated).transpose()?,
            measured_finish_ns,
            simulated_finish_ns,
            difference_ns: simulated_finish_ns.map(|simulated| measured_finish_ns.saturating_sub(simulated)),
            max_start_error_ns,
        }))
    }
}
