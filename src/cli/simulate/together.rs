//! `gpusched simulate A B --as HOW`: several scenarios as programs that share one GPU.

use anyhow::bail;
use gpusched::hosts::{OneGpu, TogetherTime, TogetherTimes};
use gpusched::pictures::timeline::Lanes;
use gpusched::run::Summary;
use gpusched::scenario::{Program, Scenario, Together};
use gpusched::tables::TogetherReport;

use super::{AS, Simulate, ToRun};
use crate::cli::progress::{self, Unit};
use crate::cli::several::{Files, Part};
use crate::cli::{Answer, needs, output};

/// In which way programs share the GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AsPrograms {
    One(Together),
    /// Each way there is, in one table.
    All,
}

impl AsPrograms {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            _ => Together::parse(text).map(Self::One).map_err(|expected| format!("{expected}, or all of these: all")),
        }
    }
}

/// A run that several programs share.
pub(super) struct Shared {
    how: Together,
    programs: Vec<Program>,
    alone: Vec<TogetherTime>,
}

impl Shared {
    pub(super) fn times(&self, summary: &Summary<'_>) -> TogetherTimes {
        OneGpu::times(self.how.clone(), &self.programs, summary, &self.alone)
    }
}

impl Simulate {
    pub(super) fn together(&self, files: &Files, how: &AsPrograms) -> anyhow::Result<Answer> {
        if files.paths.len() < 2 {
            bail!("{AS}: programs share a GPU, and this is one; name two scenarios or more (one may be named twice)");
        }
        let said = self.run.of_programs()?;
        let parts = files.paths.iter().map(|path| files.about(path, said.read(path)));
        let (scenarios, are_profiles): (Vec<Scenario>, Vec<bool>) =
            parts.collect::<anyhow::Result<Vec<_>>>()?.into_iter().unzip();
        let lanes = if are_profiles.into_iter().all(|is_profile| is_profile) { Lanes::Streams } else { Lanes::Sms };
        let gpu = OneGpu { scenarios: &scenarios, options: &said.all, changes: &said.changes };
        progress::begin("simulating each program alone", Unit::None, None);
        let AsPrograms::One(how) = how else {
            self.refuse_what_one_run_has()?;
            return self.all_ways(&gpu);
        };
        let joined = gpu.joined(how)?;
        needs::note_lacking_of_scenario(&joined.scenario.name, &joined.scenario)?;
        self.refuse_options(&joined.scenario)?;
        let shared = Shared { how: how.clone(), programs: joined.programs, alone: gpu.alone()? };
        let to_run = ToRun { scenario: joined.scenario, lanes, shared: Some(shared) };
        Files::one(self.run.path()).run(vec![to_run], 1, self.format, |to_run, part: &Part<'_>| self.one(to_run, part))
    }

    /// There is one table of several runs, and nothing of any of them.
    fn refuse_what_one_run_has(&self) -> anyhow::Result<()> {
        let mut given = self.files().into_iter().chain(self.tables());
        match given.find(|(option, is_given)| *is_given && *option != AS) {
            Some((option, _)) => {
                bail!("{option} is about one run: name one way to share the GPU, such as {AS} processes")
            }
            None => Ok(()),
        }
    }

    fn all_ways(&self, gpu: &OneGpu<'_>) -> anyhow::Result<Answer> {
        let mut report = TogetherReport::default();
        let Some(first) = gpu.scenarios.first() else { return Ok(Answer::Done) };
        let alone = gpu.alone()?;
        for how in Together::each(gpu.scenarios.len(), first.device()) {
            progress::begin("simulating all programs together", Unit::None, None);
            match gpu.simulated(how.clone(), &alone) {
                Ok(times) => report.ways.push(times),
                Err(error) => report.refused.push((how, error.to_string())),
            }
        }
        let joined = gpu.joined(&Together::Processes)?;
        needs::note_lacking_of_scenario(&joined.scenario.name, &joined.scenario)?;
        report.notes = joined.scenario.notes;
        output::show_abridged(&report.notes, output::note);
        output::print_report(&report, self.format)
    }
}
