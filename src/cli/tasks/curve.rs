//! `gpusched tasks curve`, and the file that has the rows of a curve, also those of an interrupted run.

use std::fs::{OpenOptions, TryLockError};
use std::io::{Read, Write, sink};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;
use gpusched::experiments::acceptance::{Curve, CurvePoint, Inputs, Theorem6};
use gpusched::experiments::segment_acceptance::{Fig8Panel, SegmentCurve, SegmentCurvePoint};
use gpusched::experiments::study::{CHECKSUM_COLUMN, with_checksum, without_checksum};
use gpusched::pictures::{acceptance_plot, segment_acceptance_plot};
use gpusched::tables::CurveReport;
use gpusched::tasks::segments::{SegmentPreset, SegmentSets};
use gpusched::tasks::{Generator, Periods, ReservationPeriod, TaskTime, Utilizations};
use serde::Serialize;
use serde_json::{Value, json};

use super::super::option_arguments::{explained, one_of};
use super::super::output::{self, Format, print_report};
use super::super::progress::{self, Unit};
use super::super::resources::Jobs;
use super::super::{Answer, figure_options, written};

/// Draw random task sets and count how many each test accepts, against the utilization of each SM's own tasks.
///
/// --figure-number takes the parameters of a figure of the paper; without it, all are options. Rows are written as they
/// come; with --out, a run that was interrupted goes on where it stopped.
#[derive(Debug, Args)]
pub(crate) struct CurveCommand {
    /// The paper's figure: 6, 7, or 8 (which has two curves)
    #[arg(long, value_name = "6|7|8", value_parser = clap::value_parser!(u8).range(6..=8))]
    figure_number: Option<u8>,
    /// What the paper does not state of figures 6 and 7: periods and numbers of tasks [default: one-period]
    #[arg(long, value_parser = explained(INPUTS), requires = "figure_number")]
    inputs: Option<Inputs>,
    /// How Theorem 6 is taken in figure 8 [default: implicit-deadlines]
    #[arg(long, value_parser = explained(THEOREMS), requires = "figure_number")]
    theorem_6: Option<Theorem6>,
    /// Sets of tasks with CPU and GPU segments instead, and what varies: a panel of Fig. 8 of ECRTS 2024
    #[arg(long, value_name = "PANEL", conflicts_with_all = ["figure_number", "step"],
          value_parser = one_of(Fig8Panel::ALL, Fig8Panel::name))]
    segments: Option<Fig8Panel>,
    /// The parameters of those sets, and the points of the panel [default: ecrts2024-paper]
    #[arg(long, value_parser = explained(PRESETS), requires = "segments")]
    preset: Option<SegmentPreset>,
    /// How those sets are drawn [default: printed, as the paper has it]
    #[arg(long, value_parser = explained(SETS), requires = "segments", conflicts_with = "preset")]
    sets: Option<SegmentSets>,
    /// Tests to apply [default: those of the figure; sbf, sbf-linear, chunks, exact, and harmonic with --harmonic]
    #[arg(long, value_delimiter = ',', value_name = "TEST", value_parser = PossibleValuesParser::new(super::test::test_names()))]
    tests: Vec<String>,
    /// Utilization of the tasks that take all SMs, in thousandths
    #[arg(long, value_name = "PERMILLE", default_value_t = 200, conflicts_with = "figure_number")]
    gang_utilization: u32,
    /// Tasks on each SM
    #[arg(long, value_name = "N", default_value_t = 3, conflicts_with = "figure_number")]
    tasks_per_sm: usize,
    /// Tasks that take all SMs
    #[arg(long, value_name = "N", default_value_t = 2, conflicts_with = "figure_number")]
    gang_tasks: usize,
    /// SMs
    #[arg(long, value_name = "N", default_value_t = 2, conflicts_with = "figure_number",
          value_parser = clap::value_parser!(u32).range(1..=128))]
    sms: u32,
    /// Periods of tasks and reservation: a list, or `LEAST..MOST` for log-uniform ones
    #[arg(
        long,
        value_name = "LIST",
        default_value = "10000,20000,25000,40000,50000,100000",
        conflicts_with = "figure_number"
    )]
    periods: String,
    /// Task periods that divide the reservation's or are multiples of it, from the list
    #[arg(long, conflicts_with = "figure_number")]
    harmonic: bool,
    /// How utilization is divided among tasks
    #[arg(long, value_parser = explained(DIVISIONS), default_value = Utilizations::UUniFast.name(),
          conflicts_with = "figure_number")]
    utilizations: Utilizations,
    /// Deadlines are uniform from this share of the period to the period, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 75, conflicts_with = "figure_number")]
    deadlines_from: u32,
    /// Give the reservation the shortest of the periods, not any of them as the paper does
    #[arg(long)]
    shortest_reservation: bool,
    /// Give the reservation this period; tasks keep theirs
    #[arg(long, value_name = "P", conflicts_with_all = ["shortest_reservation", "segments"],
          value_parser = clap::value_parser!(u64).range(1..=1 << 48))]
    reservation_period: Option<u64>,
    /// Distance of the points, in thousandths
    #[arg(long, value_name = "PERMILLE", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    step: u32,
    /// Task sets a point
    #[arg(long, value_name = "N", default_value_t = 1000)]
    samples: u64,
    /// Seed
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    jobs: Jobs,
    /// Append the rows to this file, and skip the points that it has already
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the curves as a figure [.svg, .png, .tex or .pdf]; for figure 8 one file per curve, numbered
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    /// What to print once all points are done [default: rows with counts, as they come]
    #[arg(long, value_parser = Format::parser())]
    format: Option<Format>,
}

/// What the paper does not state of Figs. 6 and 7.
const INPUTS: [(&str, Inputs, &str); 3] = [
    ("one-period", Inputs::OnePeriod, "All tasks and the reservation have one period"),
    ("two-periods", Inputs::TwoPeriods, "Periods of 8,000 and 12,000, one task on each SM and one gang task"),
    ("twelve-periods", Inputs::TwelvePeriods, "Twelve periods from 10,000 to 150,000"),
];
const THEOREMS: [(&str, Theorem6, &str); 3] = [
    ("implicit-deadlines", Theorem6::ImplicitDeadlines, "Deadlines are periods, as section 6.3 assumes"),
    (
        "as-printed",
        Theorem6::AsPrinted,
        "The printed theorem with deadlines below the periods, as section 7.1.1 draws them: unsound",
    ),
    ("corrected", Theorem6::Corrected, "The theorem made right for them"),
];
const PRESETS: [(&str, SegmentPreset, &str); 2] = [
    (SegmentPreset::Paper.name(), SegmentPreset::Paper, "Those of the paper"),
    (
        SegmentPreset::Artefact.name(),
        SegmentPreset::Artefact,
        "Those of the published experiments: published sets, a time slice of 1 ms, and the points that they compute",
    ),
];
const SETS: [(&str, SegmentSets, &str); 2] = [
    ("printed", SegmentSets::Printed, "As section 7.1 of the paper says"),
    ("published", SegmentSets::Published, "As the generator does that its authors published"),
];
/// By those who published them.
const DIVISIONS: [(&str, Utilizations, &str); 3] = [
    (Utilizations::UUniFast.name(), Utilizations::UUniFast, "Bini and Buttazzo"),
    (Utilizations::UUniFastDiscard.name(), Utilizations::UUniFastDiscard, "Davis and Burns"),
    (Utilizations::RandFixedSum.name(), Utilizations::RandFixedSum, "Emberson, Stafford and Davis"),
];

impl CurveCommand {
    pub(crate) fn run(&self) -> anyhow::Result<Answer> {
        figure_options::refuse_other_figure(self.figure.as_deref())?;
        if let Some(panel) = self.segments {
            return self.run_segments(panel);
        }
        let inputs = self.inputs.unwrap_or(Inputs::OnePeriod);
        let theorem = self.theorem_6.unwrap_or(Theorem6::ImplicitDeadlines);
        let mut curves = match self.figure_number {
            Some(6 | 7) if self.theorem_6.is_some() => bail!("--theorem-6 is for --figure-number 8"),
            Some(8) if self.inputs.is_some() => bail!("--inputs is for --figure-number 6 and 7"),
            Some(6) => vec![Curve::figure_6(inputs, self.samples, self.seed)],
            Some(7) => vec![Curve::figure_7(inputs, self.samples, self.seed)],
            Some(_) => Curve::figure_8(theorem, self.samples, self.seed).to_vec(),
            None => vec![self.curve()?],
        };
        for curve in &mut curves {
            if self.shortest_reservation {
                curve.generator.reservation = ReservationPeriod::Shortest;
            }
            if let Some(period) = self.reservation_period.map(TaskTime::from_units) {
                give_reservation(&mut curve.generator, period)?;
            }
            if !self.tests.is_empty() {
                curve.tests.clear();
                for name in &self.tests {
                    let test = super::test::reservation_test(name)?;
                    if !curve.tests.contains(&test) {
                        curve.tests.push(test);
                    }
                }
            }
            curve.points = Curve::steps(curve.generator.gang_permille, 200, self.step);
        }
        self.jobs.share()?;
        let Some(first) = curves.first() else { bail!("there is no curve") };
        let generators: Vec<&Generator> = curves.iter().map(|curve| &curve.generator).collect();
        let stated = stated(first.seed, first.samples, &generators)?;
        let mut rows = Rows::open(self.out.as_deref(), self.format.is_some(), &stated, &first.header())?;
        let samples = curves.iter().map(|curve| curve.points.len() as u64 * curve.samples).sum();
        progress::hold("drawing", Unit::Of("task sets"), Some(samples));
        let mut all = Vec::new();
        for (number, curve) in curves.iter().enumerate() {
            let gang = curve.generator.gang_permille;
            let is_it =
                |point: u32| move |known: &CurvePoint| known.single_permille == point && known.gang_permille == gang;
            let read = |line: &str, point| curve.read_line(line).filter(is_it(point));
            let make = |point| Ok(curve.point(point, progress::advance)?);
            let points = rows.points(&curve.points, curve.samples, read, make, CurvePoint::line)?;
            if let Some(path) = &self.figure {
                let path = if curves.len() > 1 { numbered(path, number + 1) } else { path.clone() };
                let gang = f64::from(curve.generator.gang_permille) / 1000.0;
                let title = format!("Acceptance ratio, gang utilization {gang}, {} sets a point", curve.samples);
                figure_options::write_figure(&path, &acceptance_plot(&title, &points)?)?;
            }
            all.extend(points);
        }
        progress::end();
        rows.finish()?;
        if let Some(format) = self.format {
            print_report(&CurveReport::of(stated, &all), format)?;
        }
        Ok(Answer::Done)
    }

    fn run_segments(&self, panel: Fig8Panel) -> anyhow::Result<Answer> {
        let tests = super::test::chosen(&self.tests)?;
        let preset = self.preset.unwrap_or(SegmentPreset::Paper);
        let mut base = preset.generator();
        base.sets = self.sets.unwrap_or(base.sets);
        let curve = SegmentCurve { panel, base, preset, samples: self.samples, seed: self.seed, tests };
        run_segment_curve(&curve, self.jobs, self.out.as_deref(), self.figure.as_deref(), self.format)
    }

    fn curve(&self) -> anyhow::Result<Curve> {
        let periods = match (self.periods.split_once(".."), self.harmonic) {
            (Some(_), true) => bail!("--harmonic needs a list of periods"),
            (Some((least, most)), false) => Periods::LogUniform(period(least)?, period(most)?),
            (None, is_harmonic) => {
                let list = self.periods.split(',').map(period).collect::<anyhow::Result<Vec<TaskTime>>>()?;
                if is_harmonic { Periods::Harmonic(list) } else { Periods::List(list) }
            }
        };
        if self.gang_utilization > 1000 {
            bail!("--gang-utilization is from 0 to 1000 thousandths");
        }
        let generator = Generator {
            sms: self.sms,
            tasks_per_sm: self.tasks_per_sm,
            gang_tasks: self.gang_tasks,
            single_permille: 0,
            gang_permille: self.gang_utilization,
            utilizations: self.utilizations,
            periods,
            reservation: ReservationPeriod::Drawn,
            deadline_percent: self.deadlines_from,
        };
        Ok(Curve::new(generator, self.samples, self.seed))
    }
}

/// Gives the reservation a period, if there are tasks for it.
fn give_reservation(generator: &mut Generator, period: TaskTime) -> anyhow::Result<()> {
    if let Periods::Harmonic(list) = &generator.periods
        && !list.iter().any(|task| task.is_multiple_of(period) || period.is_multiple_of(*task))
    {
        bail!("--reservation-period: no period of the list divides {period} or is a multiple of it");
    }
    generator.reservation = ReservationPeriod::Fixed(period);
    Ok(())
}

fn period(text: &str) -> anyhow::Result<TaskTime> {
    match text.trim().parse() {
        Ok(period) if (1..=1 << 48).contains(&period) => Ok(TaskTime::from_units(period)),
        _ => bail!("--periods: {text:?} is no period from 1 to 2^48"),
    }
}

/// `curve.svg` becomes `curve-1.svg`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{number}.{extension}"))
}

/// Writes how many sets of each point each test accepts, and draws that.
fn run_segment_curve(
    curve: &SegmentCurve,
    jobs: Jobs,
    out: Option<&Path>,
    figure: Option<&Path>,
    format: Option<Format>,
) -> anyhow::Result<Answer> {
    jobs.share()?;
    let points = curve.panel.points(curve.preset);
    let generator = points.first().map(|&point| curve.panel.generator(&curve.base, point));
    // With the generator of the first point.
    let stated = stated(curve.seed, curve.samples, &generator)?;
    let mut rows = Rows::open(out, format.is_some(), &stated, &curve.header())?;
    progress::hold("drawing", Unit::Of("task sets"), Some(points.len() as u64 * curve.samples));
    let is_it = |point| move |known: &SegmentCurvePoint| known.point == point;
    let read = |line: &str, point| curve.read_line(line).filter(is_it(point));
    let make = |point| Ok(curve.point(point, progress::advance));
    let found = rows.points(&points, curve.samples, read, make, |new| curve.line(new))?;
    if let Some(path) = figure {
        let title = format!("Acceptance ratio, {} sets a point", curve.samples);
        figure_options::write_figure(path, &segment_acceptance_plot(&title, curve, &found)?)?;
    }
    progress::end();
    rows.finish()?;
    if let Some(format) = format {
        print_report(&CurveReport::of_segments(stated, curve, &found), format)?;
    }
    Ok(Answer::Done)
}

/// Everything that the rows depend on, so that a file of another curve is not taken for this one's.
fn stated(seed: u64, samples: u64, generators: &impl Serialize) -> anyhow::Result<Value> {
    Ok(json!({"seed": seed, "sets_a_point": samples, "generator": serde_json::to_value(generators)?}))
}

/// Where rows go: to the end of a file, which also tells what is done already; to standard output; or, where that has a
/// report of all of them at the end, nowhere.
struct Rows {
    out: Box<dyn Write>,
    /// The file, in which each row has its checksum.
    file: Option<PathBuf>,
    /// Sound lines found in the file, without its head and their checksums.
    known: Vec<String>,
}

impl Rows {
    /// Begins with a line `stated` of all that the rows depend on, and with their `header`. A file that begins
    /// otherwise is refused.
    fn open(path: Option<&Path>, has_report: bool, stated: &Value, header: &str) -> anyhow::Result<Self> {
        let stated = format!("# {stated}\n");
        let Some(path) = path else {
            let mut out: Box<dyn Write> = if has_report { Box::new(sink()) } else { Box::new(output::stdout()) };
            out.write_all(format!("{stated}{header}").as_bytes())?;
            return Ok(Self { out, file: None, known: Vec::new() });
        };
        let head = format!("{stated}{},{CHECKSUM_COLUMN}\n", header.trim_end());
        let cannot = || format!("cannot write {}", path.display());
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path).with_context(cannot)?;
        // Two runs would each write the rows that the other lacks.
        // Where there are no locks, nobody is told.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            bail!("{} is being written by another run; name another file", path.display());
        }
        let mut before = String::new();
        file.read_to_string(&mut before).with_context(|| format!("cannot read {}", path.display()))?;
        let Some(rows) = before.strip_prefix(&head) else {
            // A disk that was full can have torn the head.
            if !head.starts_with(&before) {
                bail!("{} belongs to a curve with other parameters; remove it or name another file", path.display());
            }
            file.set_len(0).with_context(cannot)?;
            let mut rows = Self { out: Box::new(file), file: Some(path.to_owned()), known: Vec::new() };
            rows.write(&head)?;
            return Ok(rows);
        };
        // A run that was interrupted left a torn line; what follows a line that is not sound is not trusted either.
        let mut sound = 0;
        let mut known = Vec::new();
        for line in rows.split_inclusive('\n') {
            let Some(row) = line.strip_suffix('\n').and_then(|line| without_checksum(line.as_bytes())) else { break };
            known.push(row.to_owned());
            sound += line.len();
        }
        if sound < rows.len() {
            let (cut, at) = (rows.len() - sound, path.display());
            output::note(&format!("{at}: {cut} bytes behind the last sound row are cut off, and computed again"));
        }
        file.set_len((head.len() + sound) as u64).with_context(cannot)?;
        Ok(Self { out: Box::new(file), file: Some(path.to_owned()), known })
    }

    /// The points of a curve, of so many samples each: what `read` makes of a line of the file, if it takes one for
    /// that point, or else what `make` makes, of which a `line` is added.
    fn points<X: Copy, P>(
        &mut self,
        points: &[X],
        samples: u64,
        read: impl Fn(&str, X) -> Option<P>,
        make: impl Fn(X) -> anyhow::Result<P>,
        line: impl Fn(&P) -> String,
    ) -> anyhow::Result<Vec<P>> {
        let mut found = Vec::with_capacity(points.len());
        for &point in points {
            if let Some(known) = self.known.iter().find_map(|line| read(line, point)) {
                progress::advance(samples);
                found.push(known);
                continue;
            }
            let new = make(point)?;
            self.add(&line(&new))?;
            found.push(new);
        }
        Ok(found)
    }

    /// Adds a line, which ends with a line break.
    fn add(&mut self, line: &str) -> anyhow::Result<()> {
        if self.file.is_some() {
            return self.write(&(with_checksum(line.trim_end()) + "\n"));
        }
        self.write(line)
    }

    fn write(&mut self, text: &str) -> anyhow::Result<()> {
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        match &self.file {
            Some(path) => written.with_context(|| {
                format!("cannot write {}; the same command goes on there once the cause is mended", path.display())
            }),
            None => Ok(written?),
        }
    }

    /// The rows are complete.
    fn finish(self) -> anyhow::Result<()> {
        match self.file {
            Some(path) if !path.exists() => bail!("{} was removed while rows were written to it", path.display()),
            Some(path) => {
                written::remember(&path);
                Ok(())
            }
            None => Ok(()),
        }
    }
}
