//! Programs that share a GPU: what each takes alone, and what it takes beside the others.

use std::sync::Arc;

use super::{ProgramError, simulate_in_brief};
use crate::run::{IterationSpan, Job, Summary};
use crate::scenario::{
    HostThread, JoinError, JoinedScenario, Program, ReadOptions, Scenario, Together, WhatIf, WhatIfError,
};
use crate::time::{Duration, Instant};
use crate::trace::OperationRecord;

/// What a program, or a periodic part of it, takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TogetherTime {
    /// Its name; `None`: all of them, where each comes to an end.
    pub program: Option<String>,
    /// The stream or host whose longest response time it is; `None`: it is the time until the program is done.
    pub job: Option<Arc<str>>,
    /// What it takes by itself; of all programs what they take one after the other. `None`: not known, as it did not
    /// end before the horizon.
    pub alone: Option<Duration>,
    /// What it takes beside the others.
    pub together: Option<Duration>,
}

impl TogetherTime {
    /// Whose time it is.
    pub(crate) fn name(&self) -> &str {
        self.job.as_deref().or(self.program.as_deref()).unwrap_or("all")
    }

    /// What kind of time.
    pub(crate) fn measured(&self) -> &'static str {
        match (&self.job, &self.program) {
            (Some(_), _) => "longest response",
            (None, Some(_)) => "until it is done",
            (None, None) => "until all are done",
        }
    }

    /// How many times as long it takes together.
    pub fn factor(&self) -> Option<f64> {
        let (alone, together) = self.alone.zip(self.together)?;
        Some(together.as_ns() as f64 / alone.as_ns().max(1) as f64)
    }
}

/// What programs take that share a GPU in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TogetherTimes {
    /// The way.
    pub how: Together,
    /// What each takes, and all of them.
    pub times: Vec<TogetherTime>,
}

/// Why it is not known what programs take together.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TogetherError {
    /// They cannot share the GPU so.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// A change that is asked for cannot be made.
    #[error(transparent)]
    Change(#[from] WhatIfError),
    /// A run comes to no end.
    #[error(transparent)]
    Run(#[from] ProgramError),
}

/// Scenarios that run on one GPU, and what a user says beside them.
#[derive(Debug, Clone, Copy)]
pub struct OneGpu<'a> {
    /// The scenarios.
    pub scenarios: &'a [Scenario],
    /// How what comes out is read.
    pub options: &'a ReadOptions,
    /// What is changed of it.
    pub changes: &'a WhatIf,
}

impl OneGpu<'_> {
    /// All of them as one scenario.
    ///
    /// # Errors
    /// [`TogetherError`]
    pub fn joined(&self, how: &Together) -> Result<JoinedScenario, TogetherError> {
        let JoinedScenario { scenario, programs } = JoinedScenario::new(self.scenarios, how, self.options)?;
        Ok(JoinedScenario { scenario: scenario.what_if(self.changes)?, programs })
    }

    /// What each of them takes by itself: on the whole GPU, with the same changes.
    ///
    /// # Errors
    /// [`TogetherError`]
    pub fn alone(&self) -> Result<Vec<TogetherTime>, TogetherError> {
        // As clients without limits: each has a NULL stream of its own, and nobody takes turns.
        let joined = self.joined(&Together::Mps(Vec::new()))?;
        let mut all = Vec::new();
        for (number, program) in joined.programs.iter().enumerate() {
            let scenario = joined.alone(number);
            let own = times(&Summary::of(&simulate_in_brief(&scenario)?), program);
            all.extend(own.into_iter().map(|time| TogetherTime { alone: time.together, ..time }));
        }
        Ok(all)
    }

    /// What they take in a run of what they were joined to.
    pub fn times(how: Together, programs: &[Program], run: &Summary<'_>, alone: &[TogetherTime]) -> TogetherTimes {
        let together = programs.iter().flat_map(|program| times(run, program));
        let mut times: Vec<TogetherTime> =
            alone.iter().zip(together).map(|(alone, own)| TogetherTime { alone: alone.alone, ..own }).collect();
        if times.iter().all(|time| time.job.is_none()) {
            let alone = times.iter().try_fold(Duration::ZERO, |sum, time| Some(sum.saturating_add(time.alone?)));
            let together = times.iter().map(|time| time.together).collect::<Option<Vec<_>>>();
            let together = together.and_then(|times| times.into_iter().max());
            times.push(TogetherTime { program: None, job: None, alone, together });
        }
        TogetherTimes { how, times }
    }

    /// The same of a run that nobody needs for anything else.
    ///
    /// # Errors
    /// [`TogetherError`]
    pub fn simulated(&self, how: Together, alone: &[TogetherTime]) -> Result<TogetherTimes, TogetherError> {
        let joined = self.joined(&how)?;
        let run = simulate_in_brief(&joined.scenario)?;
        Ok(Self::times(how, &joined.programs, &Summary::of(&run), alone))
    }
}

/// What a program takes in a run, as `together`: the longest response time of each of its threads that have a period,
/// or the time until all of it is done.
fn times(run: &Summary<'_>, program: &Program) -> Vec<TogetherTime> {
    let time = |job, together| TogetherTime { program: Some(program.name.clone()), job, alone: None, together };
    let threads = (0..).zip(&run.scenario.threads);
    let mut is_own = vec![false; run.scenario.threads.len()];
    for &thread in &program.threads {
        if let Some(is_own) = is_own.get_mut(thread as usize) {
            *is_own = true;
        }
    }
    let is_own = |thread: u32| is_own.get(thread as usize) == Some(&true);
    let jobs = run.jobs();
    let of_jobs = threads.filter(|(number, thread): &(u32, &HostThread)| {
        is_own(*number) && thread.period.is_some() && thread.does_jobs()
    });
    let of_jobs = of_jobs.map(|(number, thread)| {
        let own = jobs.begun.iter().filter(|job| job.thread == number);
        time(Some(Arc::clone(&thread.label)), own.filter_map(Job::response).max())
    });
    let of_jobs: Vec<TogetherTime> = of_jobs.collect();
    if !of_jobs.is_empty() {
        return of_jobs;
    }
    let operations = run.trace.operations().iter().filter(|record| is_own(record.origin.thread));
    let ends = operations.map(OperationRecord::finish);
    let iterations = run.iterations.iter().filter(|span| is_own(span.thread)).map(IterationSpan::end);
    let done = ends.chain(iterations).collect::<Option<Vec<Instant>>>();
    let done = done.map(|ends| ends.into_iter().max().unwrap_or(Instant::ZERO).since(Instant::ZERO));
    vec![time(None, done)]
}
