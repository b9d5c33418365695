//! Analysed against simulated finish times.

use serde::Serialize;

use super::analyse::{Analysis, analyse};
use super::kept::{AnalysisError, Finishes, finishes, kept_by, matched};
use crate::broken_bound::BrokenBound;
use crate::hosts::simulate;
use crate::run::Run;
use crate::scenario::{KernelLaunch, Scenario};
use crate::time::Instant;

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
    let launched: usize = launches.values().map(Vec::len).sum();
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
