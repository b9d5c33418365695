//! `gpusched evr`

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use gpusched::applications::{ApplicationSet, BUILTIN_SETS, Injections, Outcome};
use gpusched::applications::{InjectedError, Variation};
use gpusched::effort::{self, EarlyEnd};
use gpusched::experiments::evr::SweepOptions;
use gpusched::experiments::study::sample_applications;
use gpusched::hosts::gpu_evr::EvrRules;
use gpusched::hosts::{Scheduler, UsageDetail};
use gpusched::pictures::application_gantt::{GanttRows, gantt};
use gpusched::tables::{OutcomeDocument, PointDocument};
use gpusched::time::Duration;
use gpusched::words::did_you_mean;

use super::figure_options::{self, Look};
use super::needs::{self, Lacking};
use super::option_arguments::one_of;
use super::output::{self, Format, note, print_report};
use super::progress::{self, Unit};
use super::resources::Jobs;
use super::{Answer, ending, input};

/// Run applications with timing requirements under GPU-EvR (DATE 2014) and the schedulers it is compared with, all on
/// the same simulated GPU: how many requirements are met, by how much the others are late, utilization and power.
#[derive(Debug, Args)]
pub(crate) struct Evr {
    /// Application file, or the name of a built-in set (rodinia-like-k20m, narrow-k20m and gpu-evr-figure-1, all
    /// SYNTHETIC); - reads standard input
    file: PathBuf,
    /// Run this scheduler; may be repeated [default: all of them]
    #[arg(long, value_parser = one_of(Scheduler::ALL, Scheduler::name))]
    scheduler: Vec<Scheduler>,
    /// GPU to simulate: a built-in name or a device file [default: the file's, or k20m]
    #[arg(long, value_name = "NAME|FILE")]
    device: Option<String>,
    /// Seed of the injections that are drawn
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Inject N applications drawn from the file, each up to --gap after the one before
    #[arg(long, value_name = "N", conflicts_with = "per_period")]
    inject: Option<u32>,
    /// Longest delay between two injections
    #[arg(long, value_name = "TIME", value_parser = Duration::parse, default_value = "500ms", requires = "inject")]
    gap: Duration,
    /// Inject N applications drawn from the file in each --period
    #[arg(long, value_name = "N")]
    per_period: Option<u32>,
    /// Length of a period
    #[arg(long, value_name = "TIME", value_parser = Duration::parse, default_value = "1s", requires = "per_period")]
    period: Duration,
    /// Number of periods
    #[arg(long, value_name = "N", default_value_t = 10, requires = "per_period")]
    periods: u32,
    /// Change the applications so that each just fills N SMs, and more do not help
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    saturation_sms: Option<u32>,
    /// Scale block times so that each application takes this long on the whole GPU
    #[arg(long, value_name = "TIME", value_parser = Duration::parse)]
    execution: Option<Duration>,
    /// Require N percent of the execution time on the whole GPU, instead of the stated requirements
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    tightness_percent: Option<u32>,
    /// Draw the injections this often and give means and standard deviations
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    samples: u32,
    #[command(flatten)]
    jobs: Jobs,
    /// Decide differently where the paper leaves it open, for example full-gpu=wait (see docs/gpu-evr.md)
    #[arg(long, value_name = "RULE=VALUE")]
    rule: Vec<String>,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
    /// Draw which SMs each application had over time, under the first scheduler [.svg, .png, .tex or .pdf]
    #[arg(long, value_name = "FILE", conflicts_with = "samples")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    look: Look,
}

impl Evr {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        figure_options::refuse_other_figure(self.figure.as_deref())?;
        let mut set = self.read()?;
        let rules = self.rules()?;
        let schedulers = if self.scheduler.is_empty() { Scheduler::ALL.to_vec() } else { self.scheduler.clone() };
        for scheduler in &schedulers {
            scheduler.check(&set.device)?;
        }
        if !schedulers.contains(&Scheduler::GpuEvr) {
            needs::lacking(Lacking::GpuEvr)?;
        }
        let generator = self.generator(&set);
        if generator.is_none() {
            needs::note_lacking(Lacking::Draws)?;
        }
        let variation = Variation {
            saturation_sms: self.saturation_sms,
            execution: self.execution,
            tightness_percent: self.tightness_percent,
            ..Variation::default()
        };
        set = variation.varied(set, generator)?;
        output::show_abridged(&set.notes, note);
        if self.samples > 1 {
            let injections = generator.ok_or(InjectedError::SamplesArrivals)?;
            return self.sample(
                &set,
                injections,
                &SweepOptions { samples: self.samples, seed: self.seed, schedulers, rules },
            );
        }
        set = set.injected(generator, self.seed)?;
        // Of all of them, before the first takes its time.
        for scheduler in &schedulers {
            scheduler.check_work(&set)?;
        }
        let mut outcomes = Vec::with_capacity(schedulers.len());
        progress::begin("running", Unit::Of("schedulers"), Some(schedulers.len() as u64));
        ending::keep_complete_results();
        for scheduler in schedulers {
            if !outcomes.is_empty() && effort::check() == Err(EarlyEnd::Stopped) {
                break;
            }
            let context = || format!("under {scheduler}");
            // The figure shows which SMs; on how many an application was, JSON says of every scheduler, the table of
            // the first.
            outcomes.push(if self.figure.is_some() && outcomes.is_empty() {
                let trace = scheduler.run(&set, rules).with_context(context)?;
                Outcome::new(&set, scheduler.name(), &trace)
            } else {
                let detail = match self.format {
                    Format::Json => UsageDetail::ALL_SMS_OVER_TIME,
                    Format::Table | Format::Markdown if outcomes.is_empty() => {
                        UsageDetail::SmsOverTime(OutcomeDocument::rows_shown(self.format.style()))
                    }
                    _ => UsageDetail::Totals,
                };
                let usage = scheduler.usage(&set, rules, detail).with_context(context)?;
                Outcome::of_usage(&set, scheduler.name(), usage)
            });
            progress::advance(1);
        }
        ending::stop_working()?;
        self.draw(&set, &outcomes)?;
        print_report(&OutcomeDocument { set: &set, seed: self.seed, outcomes: &outcomes }, self.format)
    }

    fn read(&self) -> anyhow::Result<ApplicationSet> {
        let device = self.device.as_deref().map(input::device).transpose()?;
        let name = self.file.display().to_string();
        if let Some(text) = ApplicationSet::builtin_json(&name) {
            return Ok(ApplicationSet::from_json(&name, text, device)?);
        }
        let near = || did_you_mean(&name, BUILTIN_SETS);
        let builtin = || format!("built-in application sets are {}{}", BUILTIN_SETS.join(", "), near());
        let is_file = name == "-" || self.file.exists();
        let (file, text) =
            input::read(&self.file).map_err(|error| if is_file { error } else { error.context(builtin()) })?;
        Ok(ApplicationSet::from_json(&file, &text, device)?)
    }

    fn rules(&self) -> anyhow::Result<EvrRules> {
        let mut rules = EvrRules::default();
        let mut given = BTreeSet::new();
        for text in &self.rule {
            let (key, value) = text.split_once('=').with_context(|| format!("--rule {text:?}: expected RULE=VALUE"))?;
            if !given.insert(key) {
                bail!("--rule is given twice for {key:?}");
            }
            rules.set(key, value).with_context(|| format!("--rule {text}"))?;
        }
        Ok(rules)
    }

    /// How to draw injections: as the command line says, or else the file; `None` if the file states arrivals.
    fn generator(&self, set: &ApplicationSet) -> Option<Injections> {
        let random = self.inject.map(|count| Injections::Random { count, gap: self.gap });
        let periodic =
            self.per_period.map(|count| Injections::PerPeriod { count, period: self.period, periods: self.periods });
        random.or(periodic).or(set.generator)
    }

    fn sample(&self, set: &ApplicationSet, injections: Injections, options: &SweepOptions) -> anyhow::Result<Answer> {
        let samples = u64::from(options.samples) * options.schedulers.len() as u64;
        progress::begin("running", Unit::Of("samples"), Some(samples));
        self.jobs.share()?;
        ending::keep_complete_results();
        let points = sample_applications(set, injections, options, &mut progress::advance)?;
        ending::stop_working()?;
        progress::end();
        let complete: u64 = points.iter().map(|point| u64::from(point.samples)).sum();
        if complete < samples {
            note(&format!("stopped after {complete} of {samples} samples: each mean is of those of its scheduler"));
        }
        print_report(&PointDocument { set, seed: self.seed, points: &points }, self.format)
    }

    fn draw(&self, set: &ApplicationSet, outcomes: &[Outcome]) -> anyhow::Result<()> {
        let (Some(path), Some(outcome)) = (&self.figure, outcomes.first()) else { return Ok(()) };
        figure_options::write_figure(
            path,
            &gantt(set, outcome, &[GanttRows::Application, GanttRows::Sm], self.look.options())?,
        )
    }
}
