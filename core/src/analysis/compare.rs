//! What is analysed beside what runs: finish times against those of a simulation, whether a run keeps what is claimed
//! of all runs, the merged SM as a scenario that can be simulated, and computed occupancy against a profiler's.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use thiserror::Error;

use super::analyse::{AnalysedKernel, Analysis, analyse};
use crate::broken_bound::BrokenBound;
use crate::device::{BlockShape, DeviceError, KernelOccupancy};
use crate::hosts::{ProgramError, simulate};
use crate::proven::Proven;
use crate::run::Run;
use crate::scenario::{KernelLaunch, Scenario, Step};
use crate::time::{Duration, Instant};
use crate::trace::{OperationRecord, Trace};
use crate::workload::{
    BlockTime, Catalogue, Kernel, KernelId, OperationKind, ProcessId, ProcessSharing, ProcessSpec, StreamId,
    StreamSpec, WorkloadError,
};

/// The analysis and the simulation of one scenario side by side.
#[derive(Debug, Clone)]
pub struct Comparison<'a> {
    /// Name of the scenario.
    pub scenario: &'a str,
    /// Name of the device.
    pub device: &'a str,
    /// The placement of the simulation.
    pub placement: &'static str,
    /// Whether all finish times agree.
    pub equal: bool,
    /// Whether the analysis promises that.
    pub exact: bool,
    /// Kernels that the analysis has finish too early: it is unsafe for them.
    pub optimistic: usize,
    /// Kernels that the analysis has finish too late.
    pub pessimistic: usize,
    /// Kernel launches, in the order of the analysis.
    pub kernels: Vec<ComparedKernel<'a>>,
    /// What the user should know.
    pub notes: Vec<String>,
}

/// One kernel launch, simulated and analysed; times in ns.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ComparedKernel<'a> {
    /// Which launch it is, by the operation's number in the analysis.
    #[serde(flatten)]
    pub launch: KernelLaunch<'a>,
    /// When it finished; `None`: not before the horizon.
    pub simulated_finish_ns: Option<Instant>,
    /// When it is analysed to finish; `None`: not before the horizon.
    pub analysed_finish_ns: Option<Instant>,
    /// Analysed less simulated: negative where the analysis is optimistic, that is, unsafe.
    pub difference_ns: Option<i128>,
    /// By when it finishes even if blocks run shorter.
    pub safe_finish_ns: Option<Instant>,
}

/// Simulates and analyses a scenario.
///
/// # Errors
/// [`AnalysisError`] of either, or what the simulation does not keep of the analysis.
pub fn compare(scenario: &Scenario) -> Result<Comparison<'_>, AnalysisError> {
    Ok(Comparison::new(&analyse(scenario)?, &simulate(scenario)?)?)
}

impl<'a> Comparison<'a> {
    /// Puts the analysis of a scenario beside its simulation. Kernels are matched by host thread and the order of its
    /// launches.
    ///
    /// # Errors
    /// What the simulation does not keep although the analysis claims it of all runs.
    pub fn new(analysis: &Analysis<'a>, run: &Run<'_>) -> Result<Self, BrokenBound> {
        let launches = finishes(&run.trace);
        kept_by(analysis, &launches)?;
        Ok(side_by_side(&run.scenario, analysis, &launches))
    }
}

fn side_by_side<'a>(scenario: &Scenario, analysis: &Analysis<'a>, launches: &Finishes) -> Comparison<'a> {
    let mut kernels = Vec::with_capacity(analysis.kernels.len());
    for (kernel, simulated) in matched(analysis, launches) {
        let analysed = kernel.finish_ns;
        let ns = |instant: Instant| i128::from(instant.as_ns());
        kernels.push(ComparedKernel {
            launch: kernel.launch,
            simulated_finish_ns: simulated,
            analysed_finish_ns: analysed,
            difference_ns: analysed.zip(simulated).map(|(analysed, simulated)| ns(analysed) - ns(simulated)),
            safe_finish_ns: kernel.safe_finish_ns,
        });
    }
    let launched = launches.all.len();
    let mut notes = analysis.notes.clone();
    if launched != kernels.len() {
        notes.push(format!("{launched} kernels were launched in the simulation, {} in the analysis", kernels.len()));
    }
    let agree = |kernel: &ComparedKernel<'_>| kernel.simulated_finish_ns == kernel.analysed_finish_ns;
    // What is not finished by the horizon finishes later than what is.
    let finish = |finish: Option<Instant>| (finish.is_none(), finish);
    let early = |kernel: &ComparedKernel<'_>| finish(kernel.analysed_finish_ns) < finish(kernel.simulated_finish_ns);
    let late = |kernel: &ComparedKernel<'_>| finish(kernel.analysed_finish_ns) > finish(kernel.simulated_finish_ns);
    Comparison {
        scenario: analysis.scenario,
        device: analysis.device,
        placement: scenario.placement.name(),
        equal: launched == kernels.len() && kernels.iter().all(agree),
        exact: analysis.exact,
        optimistic: kernels.iter().filter(|kernel| early(kernel)).count(),
        pessimistic: kernels.iter().filter(|kernel| late(kernel)).count(),
        kernels,
        notes,
    }
}

/// Why nothing is said of a scenario.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// It cannot be run or analysed.
    #[error(transparent)]
    Run(#[from] ProgramError),
    /// A run exceeds what was found to hold of all runs.
    #[error(transparent)]
    Broken(#[from] BrokenBound),
}

/// When the kernels of each host thread finished, in the order of its launches.
pub(super) struct Finishes {
    /// By host thread: where its kernels are in the list, and behind the last thread where the list ends.
    first: Vec<usize>,
    all: Vec<Option<Instant>>,
}

pub(super) fn finishes(trace: &Trace) -> Finishes {
    let kernels = || trace.operations().iter().filter(|record| matches!(record.kind, OperationKind::Kernel(_)));
    let thread = |record: &OperationRecord| record.origin.thread as usize;
    let mut first = vec![0; kernels().map(thread).max().map_or(1, |last| last + 2)];
    kernels().for_each(|record| first[thread(record) + 1] += 1);
    let mut before = 0;
    for place in &mut first {
        before += *place;
        *place = before;
    }
    let (mut next, mut all) = (first.clone(), vec![None; before]);
    for record in kernels() {
        let place = &mut next[thread(record)];
        all[*place] = record.finish();
        *place += 1;
    }
    Finishes { first, all }
}

/// The kernels of an analysis, each with its finish in a run: those of one host thread are matched in launch order.
pub(super) fn matched<'k, 'a>(
    analysis: &'k Analysis<'a>,
    launches: &Finishes,
) -> impl Iterator<Item = (&'k AnalysedKernel<'a>, Option<Instant>)> {
    let mut next = launches.first.clone();
    analysis.kernels.iter().map(move |kernel| {
        let thread = kernel.launch.benchmark as usize;
        let finish = next.get_mut(thread).zip(launches.first.get(thread + 1)).and_then(|(place, end)| {
            let finish = launches.all.get(*place).filter(|_| *place < *end);
            *place += 1;
            *finish?
        });
        (kernel, finish)
    })
}

/// Whether a run keeps what the analysis claims of all runs, a check that no command leaves out that knows both: the
/// scenario's own run must not be beyond any safe finish, and just as analysed where the analysis calls itself exact.
pub(super) fn kept_by(analysis: &Analysis<'_>, launches: &Finishes) -> Result<(), BrokenBound> {
    for (kernel, finish) in matched(analysis, launches) {
        let subject = || {
            let launch = &kernel.launch;
            format!("iteration {} of {} in {} finishes at", launch.iteration, launch.title(), launch.label())
        };
        BrokenBound::check(finish, ("its safe finish in all runs", kernel.safe_finish_ns), subject)?;
        if analysis.exact && finish != kernel.finish_ns {
            let text = |finish: Option<Instant>| finish.map_or_else(|| "no instant".to_owned(), |at| at.to_string());
            let (found, claimed) = (text(finish), text(kernel.finish_ns));
            return Err(BrokenBound { subject: subject(), found, claim: "its exact finish in all runs", claimed });
        }
    }
    Ok(())
}

impl Analysis<'_> {
    /// Looks whether the scenario's own run keeps what the analysis claims of all runs.
    ///
    /// # Errors
    /// What it does not keep.
    pub fn check_run(&self, trace: &Trace) -> Result<(), BrokenBound> {
        kept_by(self, &finishes(trace))
    }
}

/// Why there is no merged scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MergedScenarioError {
    /// More blocks may be resident at once than one SM can have slots.
    #[error("all SMs merged into one: {0}")]
    Device(#[from] DeviceError),
    /// The merged SM does not take something; never so for what the device itself takes.
    #[error(transparent)]
    Workload(#[from] WorkloadError),
}

/// The scenario that the analysis is about: the same host threads, streams and kernels on a GPU whose one SM has what
/// all SMs of the device have together, and no more blocks at once than the analysis allows (`g_max`), with one
/// priority and no SM masks, and all processes as clients of MPS that take no turns: what the analysis assumes, in a
/// form that can be simulated and drawn.
///
/// # Errors
/// [`MergedScenarioError::Device`] if more blocks may be resident at once than one SM can have slots.
pub fn merged_scenario(scenario: &Scenario, analysis: &Analysis<'_>) -> Result<Scenario, MergedScenarioError> {
    let device = scenario.device();
    let sms = analysis.sms;
    let slots = analysis.g_max.unwrap_or(device.per_sm.blocks * sms);
    let merged = device.merged(sms, slots).or_else(|_| device.merged(sms, usable_slots(slots, analysis)))?;
    let mut catalogue = Catalogue::new(merged);
    catalogue.set_sharing(ProcessSharing { mps: scenario.has_processes(), ..ProcessSharing::default() })?;
    let alike = |process| ProcessSpec::new(scenario.catalogue.process_name(process));
    catalogue.set_process(ProcessId::FIRST, alike(ProcessId::FIRST))?;
    for (id, stream) in (0..).map(StreamId).zip(scenario.streams()).skip(1) {
        if scenario.catalogue.is_null_stream(id) {
            // It comes with its process, at the same place.
            catalogue.add_process(alike(stream.process))?;
            continue;
        }
        catalogue.add_stream(StreamSpec {
            priority: 0,
            sm_mask: None,
            green_context: None,
            ..StreamSpec::clone(stream)
        })?;
    }
    for event in scenario.events() {
        catalogue.add_event(Arc::clone(event))?;
    }
    for (id, kernel) in (0..).map(KernelId).zip(scenario.kernels().iter()) {
        let duration = BlockTime::fixed(scenario.longest_block_time(id).unwrap_or(kernel.duration.worst));
        catalogue.add_kernel(Kernel { sm_mask: None, duration, ..Kernel::from(kernel) })?;
    }
    for copy in scenario.copies() {
        catalogue.add_copy(**copy)?;
    }
    Ok(Scenario {
        name: "analysed: one merged SM".to_owned(),
        catalogue,
        block_times: BTreeMap::new(),
        ..scenario.clone()
    })
}

/// Of `slots` block slots those that the launches can use: one for each of their blocks.
fn usable_slots(slots: u32, analysis: &Analysis<'_>) -> u32 {
    let blocks = analysis.kernels.iter().map(|kernel| u64::from(kernel.blocks)).sum::<u64>();
    u32::try_from(blocks).map_or(slots, |blocks| slots.min(blocks.max(1)))
}

/// Launches of one kernel in one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct OccupancyEntry {
    /// Name of the function.
    pub name: Arc<str>,
    /// Launches.
    pub count: u64,
    /// Blocks.
    pub blocks: u32,
    /// What one block takes.
    pub shape: BlockShape,
    /// How it fills the GPU.
    pub occupancy: KernelOccupancy,
    /// What the profiler says \[percent\]; 0 where it could not tell.
    pub recorded_percent: Option<f64>,
    /// All launches together, as recorded or, of a scenario, by block times alone.
    pub total: Duration,
}

/// The occupancy of everything that runs, and how it compares.
///
/// How each kernel of a scenario or a profile fills the GPU when it runs alone, beside what the profiler says of it.
#[derive(Debug, Clone, PartialEq)]
pub struct OccupancyReport {
    /// By total time, longest first.
    pub entries: Vec<OccupancyEntry>,
    /// Launches whose recorded occupancy is above 0.
    pub compared: u64,
    /// Those of them for which it is what was computed, rounded to whole percent.
    pub agreeing: u64,
    /// What its user should know.
    pub notes: Vec<String>,
}

impl OccupancyReport {
    /// A report of entries.
    pub fn new(mut entries: Vec<OccupancyEntry>) -> Self {
        entries.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.name.cmp(&b.name)));
        let above_zero = |entry: &&OccupancyEntry| entry.recorded_percent.is_some_and(|percent| percent > 0.0);
        let agrees = |entry: &&OccupancyEntry| {
            entry.recorded_percent.is_some_and(|percent| entry.occupancy.agrees_with(percent))
        };
        let count = |entry: &OccupancyEntry| entry.count;
        let compared = entries.iter().filter(above_zero).map(count).sum();
        let agreeing = entries.iter().filter(above_zero).filter(agrees).map(count).sum();
        Self { entries, compared, agreeing, notes: Vec::new() }
    }
}

/// The occupancy of every kernel that a scenario launches, on the SMs that it may use there. A thread whose iterations
/// have no limit counts with one.
pub fn occupancy_of_scenario(scenario: &Scenario) -> OccupancyReport {
    let mut launches: BTreeMap<(KernelId, Vec<u32>, usize), u64> = BTreeMap::new();
    for thread in &scenario.threads {
        let iterations = thread.iterations.unwrap_or(1);
        for (index, step) in thread.steps.iter().enumerate() {
            let Step::Launch(kernel, stream) = *step else { continue };
            let repeated = thread.steps.iter().enumerate().filter_map(|(at, step)| match step {
                Step::Repeat { from, times } if (*from as usize..at).contains(&index) => Some(*times),
                _ => None,
            });
            let count = repeated.fold(iterations, u64::saturating_mul);
            let sms: Vec<u32> = scenario.catalogue.sms(kernel, stream).collect();
            let Some(process) = scenario.catalogue.process_of(stream) else { continue };
            let at_once = scenario.catalogue.sms_at_once(process) as usize;
            let at_once = at_once.min(sms.len());
            let entry = launches.entry((kernel, sms, at_once)).or_insert(0);
            *entry = entry.saturating_add(count);
        }
    }
    let device = scenario.device();
    let entry = |((id, _, at_once), count): ((KernelId, Vec<u32>, usize), u64)| {
        let kernel = scenario.kernels().get(id.index())?;
        let sms = u32::try_from(at_once).proven("no more than the device has");
        let occupancy = KernelOccupancy::new(&kernel.shape, kernel.blocks, sms, device);
        let alone = kernel.duration.worst.as_ns().saturating_mul(u64::from(occupancy.waves));
        Some(OccupancyEntry {
            name: Arc::clone(&kernel.name),
            count,
            blocks: kernel.blocks,
            shape: kernel.shape,
            occupancy,
            recorded_percent: None,
            total: Duration::from_ns(alone.saturating_mul(count)),
        })
    };
    let mut report = OccupancyReport::new(launches.into_iter().filter_map(entry).collect());
    if scenario.catalogue.has_clusters() {
        let what = "blocks count one by one here: clusters may need more waves, which simulate has";
        report.notes.push(what.to_owned());
    }
    report
}
