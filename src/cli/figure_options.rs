//! Options of figures.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Args, ValueEnum};
use gpusched::draw::{COLUMN_WIDTH, Drawing, FigureFormat, Length, PAGE_WIDTH};
use gpusched::report::Summary;
use gpusched::report::timeline::{FinishMark, HeightBy, Timeline, TimelineOptions, comparison};
use gpusched::scenario::Scenario;
use gpusched::time::Duration;

use super::output::write_whole;

/// What to draw, and where to.
#[derive(Debug, Args)]
#[command(next_help_heading = "Figure")]
pub(crate) struct FigureOptions {
    /// Draw a timeline of all blocks; the file's extension decides the format: .svg, .png, .tex (TikZ to
    /// \input), or .pdf (if built with the cargo feature "pdf")
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    /// What the height of a block stands for
    #[arg(long, value_enum, default_value_t = Height::Threads, requires = "figure")]
    height: Height,
    /// Width of the figure: one or two columns of an IEEE paper (88.9 mm, 181 mm), or millimetres
    #[arg(long, value_name = "column|page|MM", default_value = "column", value_parser = parse_width, requires = "figure")]
    width: Length,
    /// Show EE queues and CE queues over time, and which rule holds their heads
    #[arg(long, requires = "figure")]
    queues: bool,
    /// Show how much of all threads, shared memory and registers is in use over time
    #[arg(long, requires = "figure")]
    occupancy: bool,
    /// SMs to draw, for example 0-3,8
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_range, requires = "figure")]
    sms: Vec<RangeInclusive<u32>>,
    /// Beginning of the time to draw
    #[arg(long, value_name = "TIME", value_parser = Duration::parse, requires = "figure")]
    from: Option<Duration>,
    /// End of the time to draw
    #[arg(long, value_name = "TIME", value_parser = Duration::parse, requires = "figure")]
    to: Option<Duration>,
    /// Kernels to draw in colour, the others being pale
    #[arg(long, value_name = "KERNELS", value_delimiter = ',', requires = "figure")]
    only: Vec<String>,
    /// Leave out the scenario's name
    #[arg(long, requires = "figure")]
    no_title: bool,
    /// Resolution of a PNG as a multiple of 300 pixels per inch
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, requires = "figure", value_parser = parse_scale)]
    scale: f64,
}

fn parse_scale(text: &str) -> Result<f64, String> {
    const EXPECTED: &str = "expected a factor from 0.1 to 20";
    text.parse().ok().filter(|scale| (0.1..=20.0).contains(scale)).ok_or_else(|| EXPECTED.to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Height {
    /// Thread slots
    Threads,
    /// Shared memory
    SharedMemory,
    /// Registers
    Registers,
}

/// A figure that is going to be drawn.
#[derive(Debug)]
pub(crate) struct Figure<'a> {
    path: &'a Path,
    format: FigureFormat,
    scale: f64,
    options: TimelineOptions,
}

fn parse_width(text: &str) -> Result<Length, String> {
    const EXPECTED: &str = "expected column, page, or a number of millimetres such as 120";
    match text {
        "column" => return Ok(COLUMN_WIDTH),
        "page" => return Ok(PAGE_WIDTH),
        _ => {}
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{fraction:0<2}");
    let exact = !whole.is_empty() && fraction.len() <= 2 && digits.bytes().all(|digit| digit.is_ascii_digit());
    digits.parse().ok().filter(|_| exact).ok_or_else(|| EXPECTED.to_owned())
}

fn parse_range(text: &str) -> Result<RangeInclusive<u32>, String> {
    const EXPECTED: &str = "expected SMs such as 0-3 or 8";
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    match (first.trim().parse(), last.trim().parse()) {
        (Ok(first), Ok(last)) if first <= last => Ok(first..=last),
        _ => Err(EXPECTED.to_owned()),
    }
}

impl FigureOptions {
    /// The figure asked for, if any, after everything is checked that can be checked before the simulation.
    pub(crate) fn figure(&self, scenario: &Scenario) -> anyhow::Result<Option<Figure<'_>>> {
        let Some(path) = self.figure.as_deref() else { return Ok(None) };
        let format = FigureFormat::of(path).context("--figure")?;
        let options = TimelineOptions {
            width: self.width,
            height_by: match self.height {
                Height::Threads => HeightBy::Threads,
                Height::SharedMemory => HeightBy::SharedMemory,
                Height::Registers => HeightBy::Registers,
            },
            sms: (!self.sms.is_empty()).then(|| self.sms.clone()),
            from: self.from,
            to: self.to,
            only: (!self.only.is_empty()).then(|| self.only.clone()),
            queues: self.queues,
            occupancy: self.occupancy,
            title: !self.no_title,
            ..TimelineOptions::default()
        };
        options.check(scenario).context("--figure")?;
        Ok(Some(Figure { path, format, scale: self.scale, options }))
    }
}

impl Figure<'_> {
    /// Draws two runs above one another, with the finish times that differ.
    pub(crate) fn write_comparison(
        &self,
        upper: &Summary<'_>,
        lower: &Summary<'_>,
        marks: &[FinishMark],
    ) -> anyhow::Result<()> {
        let drawing = comparison(upper, lower, marks, &self.options).context("--figure")?;
        self.write_drawing(&drawing)
    }

    fn write_drawing(&self, drawing: &Drawing) -> anyhow::Result<()> {
        let file = drawing.to_file(self.format, self.scale).context("--figure")?;
        write_whole(self.path, |out| std::io::Write::write_all(out, &file))
    }

    /// Draws a run.
    pub(crate) fn write(&self, summary: &Summary<'_>) -> anyhow::Result<()> {
        let timeline = Timeline::new(summary, &self.options).context("--figure")?;
        self.write_drawing(&timeline.draw(summary, &self.options))
    }
}
