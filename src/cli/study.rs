//! `gpusched study`, with its commands that read rows or draw samples: `status`, `merge`, `plot` and `export`.

mod run;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::{Args, Subcommand};
use gpusched::experiments::study::{ResultFile, Shard, ShardStatus, Study, StudySummary, merge};
use gpusched::pictures::study_plot::{PlotOptions, plot};
use gpusched::tables::{ShardsDocument, SummaryDocument};

use super::figure_options::{self, Look};
use super::output::{Format, note, print_report};
use super::progress::{self, Unit};
use super::written::{write_bytes, write_whole};
use super::{Answer, ending, input};

/// Repeat a command with millions of random samples over a grid, on one machine or many: docs/studies.md.
#[derive(Debug, Args)]
pub(crate) struct StudyArguments {
    #[command(subcommand)]
    command: StudyAction,
}

#[derive(Debug, Subcommand)]
enum StudyAction {
    /// Compute the rows of a study, or of one shard of it; goes on where an earlier run stopped
    Run(run::Run),
    /// Say how far the shards of a study are
    Status(Status),
    /// Put shards together to the bytes that one machine would have written
    Merge(Merge),
    /// Sum the rows up, with confidence intervals, and draw them
    Plot(Plot),
    /// Write what is drawn as files: scenarios or task sets that other commands read
    Export(Export),
    /// Write and submit a batch script for Slurm
    Submit(run::Submit),
}

impl StudyArguments {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        match &self.command {
            StudyAction::Run(command) => command.run(),
            StudyAction::Status(command) => command.run(),
            StudyAction::Merge(command) => command.run(),
            StudyAction::Plot(command) => command.run(),
            StudyAction::Export(command) => command.run(),
            StudyAction::Submit(command) => command.run(),
        }
    }
}

/// Which study, and where its rows are.
#[derive(Debug, Args)]
struct Files {
    /// Study file (see `gpusched schema study`)
    file: PathBuf,
    /// Directory of the rows [default: the study file's name, ending in .results]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
}

/// The study of a file; files that it names are looked for beside it.
fn study_of(file: &Path) -> anyhow::Result<Study> {
    let (name, text) = input::read(file)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let read = |file: &str| Study::read_beside(folder, file);
    Ok(Study::from_json(&name, &text, &read)?)
}

impl Files {
    fn study(&self) -> anyhow::Result<Study> {
        study_of(&self.file)
    }

    /// Where its rows are.
    fn results(&self) -> anyhow::Result<PathBuf> {
        match &self.results {
            Some(results) => Ok(results.clone()),
            None if self.file.as_os_str() == "-" => bail!("a study on standard input needs --results"),
            None => Ok(self.file.with_extension("results")),
        }
    }
}

/// Files that are written at most, unless fewer are asked for.
const MOST_FILES: u64 = 100_000;

/// Write the scenarios or task sets that a study draws, one file for each sample, so that any command reads again what
/// a row is about: `point-0-sample-0.json` and so on. Numbers are those of the study's rows.
#[derive(Debug, Args)]
struct Export {
    /// Study file (see `gpusched schema study`)
    file: PathBuf,
    /// Directory for the files
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// Write those of this point alone [default: of all points]
    #[arg(long, value_name = "N")]
    point: Option<u64>,
    /// Write the first N samples of each point [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    samples: Option<u64>,
}

impl Export {
    fn run(&self) -> anyhow::Result<Answer> {
        let study = study_of(&self.file)?;
        let points = match self.point {
            Some(point) if point >= study.layout.points => {
                bail!("--point: the study has points 0 to {}", study.layout.points - 1)
            }
            Some(point) => point..point + 1,
            None => 0..study.layout.points,
        };
        let samples = self.samples.unwrap_or(study.layout.samples);
        if samples > study.layout.samples {
            bail!("--samples: each point has {}", study.layout.samples);
        }
        let files = (points.end - points.start).saturating_mul(samples);
        if files > MOST_FILES {
            bail!("these are {files} files, more than {MOST_FILES}: say --point or --samples");
        }
        std::fs::create_dir_all(&self.to).with_context(|| format!("cannot make {}", self.to.display()))?;
        progress::begin("writing files", Unit::Of("files"), Some(files));
        for point in points {
            for sample in 0..samples {
                let text = study.input(point, sample).map_err(|what| anyhow!("{}: {what}", study.command_name()))?;
                let path = self.to.join(format!("point-{point}-sample-{sample}.json"));
                write_bytes(&path, text.as_bytes())?;
                progress::advance(1);
            }
        }
        ending::stop_working()?;
        progress::end();
        note(&format!("{files} files are in {}", self.to.display()));
        Ok(Answer::Done)
    }
}

/// Put the shards of a study together, once they are complete, to the bytes that one machine would have written.
#[derive(Debug, Args)]
struct Merge {
    #[command(flatten)]
    files: Files,
    /// The shards' files [default: all in the directory of the rows]
    shards: Vec<PathBuf>,
    /// Where to write [default: rows.csv in the directory of the rows]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Overwrite rows.csv
    #[arg(long)]
    force: bool,
}

impl Merge {
    fn run(&self) -> anyhow::Result<Answer> {
        let (study, results) = (self.files.study()?, self.files.results()?);
        let mut shards = self.shards.clone();
        if shards.is_empty() {
            shards = Shard::files(&results)?.into_iter().map(|(_, path)| path).collect();
        }
        let whole = results.join(Shard::WHOLE.file_name());
        if ResultFile::is_claimed(&whole) {
            bail!("{} is being written by a run", whole.display());
        }
        if self.out.is_none() && whole.exists() && !self.force {
            bail!("{} exists already: --force overwrites it, --out writes elsewhere", whole.display());
        }
        if self.out.is_none() {
            fs::create_dir_all(&results).with_context(|| format!("cannot make {}", results.display()))?;
        }
        let out = self.out.as_ref().unwrap_or(&whole);
        // What merging says is more than what writing a file can say.
        let mut merged = None;
        progress::hold("merging", Unit::Of("rows"), Some(study.layout.rows()));
        let written = write_whole(out, |out| match merged.insert(merge(&study, &shards, out, progress::own())) {
            Ok(_) => Ok(()),
            Err(_) => Err(io::Error::other("the shards cannot be merged")),
        });
        progress::end();
        match merged {
            Some(Err(error)) => return Err(error.into()),
            Some(Ok(rows)) => {
                written?;
                note(&format!("{}: {rows} rows of {} shards", out.display(), shards.len()));
            }
            None => written?,
        }
        Ok(Answer::Done)
    }
}

/// Sum the rows of a study up, with 95 % confidence intervals, and draw them.
#[derive(Debug, Args)]
struct Plot {
    #[command(flatten)]
    files: Files,
    /// Draw them into this file [.svg, .png, .pdf, .tex]
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    look: Look,
    /// The key of the grid to draw over [default: the last one of numbers, or else the last one]
    #[arg(long, value_name = "KEY")]
    x: Option<String>,
    /// A quantity to draw; may be repeated [default: all shares, or else the first mean]
    #[arg(long, value_name = "NAME")]
    y: Vec<String>,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Plot {
    fn run(&self) -> anyhow::Result<Answer> {
        let (study, results) = (self.files.study()?, self.files.results()?);
        figure_options::refuse_other_figure(self.figure.as_deref())?;
        let path = results.join(Shard::WHOLE.file_name());
        if !path.exists() {
            let advice = if Shard::files(&results)?.is_empty() { "study run" } else { "study merge" };
            bail!("there is no {}: `gpusched {advice}` makes it", path.display());
        }
        progress::begin("summing rows up", Unit::None, None);
        let summary = StudySummary::read(&study, &path)?;
        if summary.rows < summary.expected {
            note(&format!("{} of {} rows: the study is not complete", summary.rows, summary.expected));
        }
        if let Some(figure) = &self.figure {
            let drawing = plot(
                &study,
                &summary,
                &PlotOptions { x: self.x.clone(), y: self.y.clone(), picture: self.look.options() },
            )?;
            figure_options::write_figure(figure, &drawing)?;
        }
        print_report(&SummaryDocument { study: &study, summary: &summary }, self.format)
    }
}

/// Say how far the shards of a study are: missing, running, stopped or complete.
#[derive(Debug, Args)]
struct Status {
    #[command(flatten)]
    files: Files,
    /// Exit with status 1 unless all rows are there
    #[arg(long)]
    check: bool,
    /// What to print
    #[arg(long, value_parser = Format::parser(), default_value_t = Format::Table)]
    format: Format,
}

impl Status {
    fn run(&self) -> anyhow::Result<Answer> {
        let study = self.files.study()?;
        progress::begin("checking shards", Unit::None, None);
        let shards = ShardStatus::of_all(&study, &self.files.results()?)?;
        // Complete is a whole file, or all shards of one division.
        let counts = shards.iter().map(|one| one.shard.count());
        let is_complete = counts
            .into_iter()
            .any(|count| shards.iter().filter(|one| one.shard.count() == count).all(ShardStatus::is_complete));
        print_report(&ShardsDocument { study: &study, shards: &shards, complete: is_complete }, self.format)?;
        Ok(if self.check && !is_complete { Answer::No } else { Answer::Done })
    }
}
