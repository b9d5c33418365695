//! Commands with a row for each kernel: `gpusched orders`, `gpusched residents` and `gpusched occupancy`.

use clap::Args;
use gpusched::analysis::{OccupancyReport, launch_orders, occupancy_of_scenario, orders_to_try};
use gpusched::input::Input;
use gpusched::profile::GpuProfile;
use gpusched::run::Summary;
use gpusched::scenario::LogUse;
use gpusched::tables::{OccupancyDocument, ResidentsReport};
use gpusched::time::Duration;

use super::needs::{self, Lacking};
use super::output::{self, Format, note, print_report};
use super::progress::{self, Unit};
use super::run_options::RunOptions;
use super::{Answer, ending, resources};

/// Each kernel's best and worst finish over the orders of simultaneous launches, and the orders that give them. Up to
/// 40320 orders all are tried (those of 8 threads that launch together), else a seeded sample. One of threads is kept
/// throughout a run, and a note says what that leaves out; each has all orders of what else becomes ready at one
/// instant.
#[derive(Debug, Args)]
pub(crate) struct Orders {
    #[command(flatten)]
    run: RunOptions,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
    /// Orders to draw where there are too many to try all
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    samples: u64,
    #[command(flatten)]
    jobs: resources::Jobs,
}

impl Orders {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let scenario = self.run.read(LogUse::Unused)?;
        self.jobs.share()?;
        let run = progress::simulated(&scenario, false, note)?;
        ending::keep_complete_results();
        progress::begin("trying", Unit::Of("orders"), Some(orders_to_try(&run, self.samples)));
        let mut orders = launch_orders(&run, self.samples, scenario.seed, progress::own())?;
        ending::stop_working()?;
        if orders.orders == Some(orders.orders_tried) && orders.seed.is_none() {
            orders.notes.extend(needs::lacking(Lacking::DrawnOrders)?);
            let is_drawn = scenario.depends_on_seed();
            orders.notes.extend(if is_drawn { Vec::new() } else { needs::lacking(Lacking::OrdersOrDraws)? });
        }
        output::show_abridged(&orders.notes, note);
        print_report(&orders, self.format)
    }
}

/// How many blocks of each kernel launch are on SMs at once, how many never start, and how many fit.
///
/// Kernels whose blocks wait for one another end only if all of their blocks fit: surely, if they do whichever SMs the
/// blocks of all other kernels of the scenario are on.
#[derive(Debug, Args)]
pub(crate) struct Residents {
    #[command(flatten)]
    run: RunOptions,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
    /// Tell how many are resident, have ended and have not started after all events of that instant; may be repeated
    #[arg(long, value_name = "T", value_parser = Duration::parse)]
    at: Vec<Duration>,
}

impl Residents {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        let scenario = self.run.read(LogUse::Unused)?;
        let at = RunOptions::instants("--at", &self.at, &scenario)?;
        let run = progress::simulated(&scenario, true, note)?;
        let report = ResidentsReport { summary: Summary::of(&run), at: &at };
        output::show_abridged(report.summary.notes(), note);
        print_report(&report, self.format)
    }
}

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
        output::show_abridged(&notes, note);
        print_report(&OccupancyDocument { device: &device, report: &report, notes: &notes }, self.format)
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
        let report = profile.occupancy(gpu, &device, is_recorded_on);
        Ok((device.name.clone(), report, notes))
    }
}
