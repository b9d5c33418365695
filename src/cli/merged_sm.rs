//! `gpusched merged-sm`

use std::path::PathBuf;

use clap::Args;
use gpusched::experiments::validation::{Campaign, CampaignReport, Family};
use gpusched::pictures::campaign_figure;
use gpusched::workload::Placement;

use super::choices::one_of;
use super::output::{Format, print_report};
use super::progress::{self, Unit};
use super::{Answer, ending, input, jobs, picture};

/// Put the merged-SM assumption to the test: analyse and simulate random scenarios of several families, count how
/// often they agree, and shrink a counterexample where they do not. A command that is stopped
/// tells what is done so far.
#[derive(Debug, Args)]
pub(crate) struct MergedSm {
    /// Scenarios of each family
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..1 << 48))]
    samples: u64,
    /// A family to try; may be repeated [default: all]
    #[arg(long, value_name = "NAME", value_parser = one_of(Family::ALL, Family::name))]
    family: Vec<Family>,
    /// The GPU: a built-in name or a device file
    #[arg(long, value_name = "NAME|FILE", default_value = "tx2")]
    device: String,
    /// Which SM gets the next block
    #[arg(long, value_name = "POLICY", default_value = Placement::MostRoom.name(),
          value_parser = one_of(Placement::ALL, Placement::name))]
    placement: Placement,
    /// Seed of the random scenarios
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    jobs: jobs::Jobs,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
    /// Draw agreement and error of every family [.svg, .png, .tex or .pdf]
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
}

impl MergedSm {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        picture::check(self.figure.as_deref())?;
        let device = input::device(&self.device)?;
        device.check_placement(self.placement)?;
        let campaign = Campaign {
            device,
            placement: self.placement,
            families: if self.family.is_empty() { Family::ALL.to_vec() } else { self.family.clone() },
            samples: self.samples,
            seed: self.seed,
        };
        let report = self.campaign(&campaign)?;
        if let Some(path) = &self.figure {
            picture::write(path, &campaign_figure(&report))?;
        }
        print_report(&report, self.format)?;
        Ok(Answer::Done)
    }

    fn campaign(&self, campaign: &Campaign) -> anyhow::Result<CampaignReport> {
        ending::keep_complete_results();
        let samples = self.samples.saturating_mul(campaign.families.len() as u64);
        progress::begin("analysing and simulating", Unit::Of("scenarios"), Some(samples));
        self.jobs.share()?;
        let report = campaign.run(&progress::advance)?;
        ending::stop_working()?;
        progress::end();
        Ok(report)
    }
}
