//! `gpusched occupancy`

use clap::Args;
use gpusched::analysis::{OccupancyReport, occupancy_of_profile, occupancy_of_scenario};
use gpusched::input::Input;
use gpusched::profile::GpuProfile;
use gpusched::scenario::LogUse;
use gpusched::tables::OccupancyDocument;

use super::output::{Format, note, print_report};
use super::run_options::RunOptions;
use super::{Answer, notes};

/// How each kernel fills the GPU when it runs alone: resident blocks per SM, what limits them, waves; of a profile
/// beside what the profiler itself says.
///
/// Occupancy is resident threads over the threads that the SMs could hold, as PyTorch's profiler computes it: in a full
/// wave, or over all SMs for a grid that does not fill one.
#[derive(Debug, Args)]
pub(crate) struct Occupancy {
    #[command(flatten)]
    run: RunOptions,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Occupancy {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let (device, report, notes) = match self.run.input()? {
            Input::Profile(profile) => self.of_profile(&profile)?,
            input => {
                let mut scenario = self.run.scenario(&input, LogUse::Unused)?;
                let report = occupancy_of_scenario(&scenario);
                scenario.notes.extend_from_slice(&report.notes);
                (scenario.device().name.clone(), report, scenario.notes)
            }
        };
        notes::show_abridged(&notes, note);
        print_report(&OccupancyDocument { device: &device, report: &report, notes: &notes }, self.format)?;
        Ok(Answer::Done)
    }

    fn of_profile(&self, profile: &GpuProfile) -> anyhow::Result<(String, OccupancyReport, Vec<String>)> {
        let options = self.run.options()?;
        let (gpu, choice) = profile.choose_gpu(options.import.gpu)?;
        let mut notes: Vec<String> = choice.into_iter().collect();
        notes.extend(profile.left_out_notes());
        let own = profile.device(gpu);
        let (device, is_recorded_on) = match (options.read.device, own) {
            (None, own) => (own?, true),
            (Some(device), Ok(own)) if own != device => {
                notes.push(format!(
                    "recorded on {}: the profiler's own occupancies are not compared with those on {}",
                    own.title, device.title
                ));
                (device, false)
            }
            (Some(device), _) => (device, true),
        };
        let report = occupancy_of_profile(profile, gpu, &device, is_recorded_on);
        Ok((device.name.clone(), report, notes))
    }
}
