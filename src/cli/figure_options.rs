//! Options of figures: all those of timelines, and the few that other pictures have.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use gpusched::draw::{Drawing, FigureFormat, Length, PictureOptions};
use gpusched::pictures::timeline::{HeightBy, Lanes, Panels, Timeline, TimelineError, TimelineOptions};
use gpusched::run::Summary;
use gpusched::scenario::Scenario;
use gpusched::time::{Duration, Instant};

use super::needs::{self, Lacking};
use super::option_arguments::explained;
use super::output::note;
use super::progress::{self, Unit};
use super::written::write_bytes;

/// What to draw, and where to.
#[derive(Debug, Args)]
#[command(next_help_heading = "Figure")]
pub(crate) struct FigureOptions {
    /// Draw a timeline of all blocks, or of a profile's kernels by stream unless --sms, --height or --full-height is
    /// given; the file's extension decides the format: .svg, .png, .tex (TikZ to \input), or .pdf (if built with the
    /// cargo feature "pdf")
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    /// What the height of a block stands for [default: threads]
    #[arg(long, value_parser = explained(HEIGHTS), requires = "figure")]
    height: Option<HeightBy>,
    /// Width of the figure: one or two columns of an IEEE paper (88.57 mm, 181 mm), or millimetres
    #[arg(long, value_name = "column|page|MM", default_value = "column", value_parser = parse_width, requires = "figure")]
    width: Length,
    /// Height of the figure at most: what an IEEE paper's page leaves with a caption (220 mm), or millimetres; SMs that
    /// look alike share a band on GPUs of more than 8, SMs that differ a band of their mean where there is no room, and
    /// what else does not fit is counted; refused with the least height if even that is higher
    #[arg(long, value_name = "page|MM", default_value = "page", value_parser = parse_height_limit, requires = "figure")]
    height_limit: Length,
    /// Show EE queues and CE queues over time, and which rule holds their heads
    #[arg(long, requires = "figure")]
    queues: bool,
    /// Show what waits in each stream, from launch to start, and under which rules
    #[arg(long, requires = "figure")]
    waits: bool,
    /// Draw SMs as high as all that they have, also where no more than a quarter is ever in use
    #[arg(long, requires = "figure")]
    full_height: bool,
    /// Show how much of all threads, shared memory and registers is in use over time
    #[arg(long, requires = "figure")]
    occupancy: bool,
    /// SMs to draw, each in a band of its own, for example 0-3,8
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

const HEIGHTS: [(&str, HeightBy, &str); 3] = [
    ("threads", HeightBy::Threads, "Thread slots"),
    ("shared-memory", HeightBy::SharedMemory, "Shared memory"),
    ("registers", HeightBy::Registers, "Registers"),
];

/// A figure that is going to be drawn.
#[derive(Debug)]
pub(crate) struct Figure<'a> {
    path: &'a Path,
    format: FigureFormat,
    scale: f64,
    /// Whether what is asked for is about SMs.
    is_of_sms: bool,
    options: TimelineOptions,
}

fn parse_height_limit(text: &str) -> Result<Length, String> {
    const EXPECTED: &str = "expected page, or a number of millimetres such as 120";
    PictureOptions::height_named(text).ok_or_else(|| EXPECTED.to_owned())
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
    pub(crate) fn is_given(&self) -> bool {
        self.figure.is_some()
    }

    /// The part of the run that is asked for, if it is not all.
    pub(crate) fn window(&self) -> Option<RangeInclusive<Instant>> {
        let end = self.to.map_or(Instant::MAX, |to| Instant::ZERO + to);
        (self.from.is_some() || self.to.is_some()).then(|| Instant::ZERO + self.from.unwrap_or_default()..=end)
    }

    /// The figure asked for, if any, after everything is checked that can be checked before the simulation.
    pub(crate) fn figure(&self, scenario: &Scenario) -> anyhow::Result<Option<Figure<'_>>> {
        let Some(path) = self.figure.as_deref() else { return Ok(None) };
        let format = FigureFormat::of(path).context("--figure")?;
        if format != FigureFormat::Png {
            needs::lacking(Lacking::Pixels)?;
        }
        let options = TimelineOptions {
            width: self.width,
            height_limit: self.height_limit,
            height_by: self.height.unwrap_or_default(),
            sms: (!self.sms.is_empty()).then(|| self.sms.clone()),
            from: self.from,
            to: self.to,
            only: (!self.only.is_empty()).then(|| self.only.clone()),
            queues: self.queues,
            waits: self.waits,
            most_zoom: if self.full_height { 1 } else { u32::MAX },
            occupancy: self.occupancy,
            title: !self.no_title,
            ..TimelineOptions::default()
        };
        options.check(scenario).context("--figure")?;
        let is_of_sms = !self.sms.is_empty() || self.height.is_some() || self.full_height;
        Ok(Some(Figure { path, format, scale: self.scale, is_of_sms, options }))
    }
}

impl Figure<'_> {
    /// Draws two runs above one another, with the finish times that differ; times count from `origin`.
    pub(crate) fn write_panels(&self, panels: &Panels<'_>, origin: Instant, lanes: Lanes) -> anyhow::Result<()> {
        progress::begin("drawing", Unit::None, None);
        self.write_drawn(|options| panels.draw(&TimelineOptions { origin, lanes, ..options.clone() }))
    }

    /// Draws a run; where nothing is asked for about SMs, its lanes are `lanes`.
    pub(crate) fn write(&self, summary: &Summary<'_>, lanes: Lanes) -> anyhow::Result<()> {
        progress::begin("drawing", Unit::None, None);
        let lanes = if self.is_of_sms { Lanes::Sms } else { lanes };
        self.write_drawn(|options| {
            let options = &TimelineOptions { lanes, ..options.clone() };
            Ok(Timeline::new(summary, options)?.draw(summary, options))
        })
    }

    fn write_drawn(&self, draw: impl Fn(&TimelineOptions) -> Result<Drawing, TimelineError>) -> anyhow::Result<()> {
        let drawing = draw(&self.options).context("--figure")?;
        let default = TimelineOptions::default().most_zoom;
        if self.options.most_zoom != default {
            let otherwise = draw(&TimelineOptions { most_zoom: default, ..self.options.clone() });
            if otherwise.is_ok_and(|otherwise| otherwise == drawing) {
                needs::note_lacking(Lacking::UnusedSms)?;
            }
        }
        write_scaled(self.path, &drawing, self.format, self.scale).context("--figure")
    }
}

/// How a picture looks; the command says what `--figure` draws.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Figure")]
pub(crate) struct Look {
    /// Width of the figure: one or two columns of an IEEE paper (88.57 mm, 181 mm), or millimetres [default: what the
    /// figure needs]
    #[arg(long, value_name = "column|page|MM", value_parser = parse_width, requires = "figure")]
    width: Option<Length>,
    /// Leave out the title above the figure
    #[arg(long, requires = "figure")]
    no_title: bool,
}

impl Look {
    /// As the library takes it.
    pub(crate) fn options(self) -> PictureOptions {
        PictureOptions { width: self.width, title: !self.no_title }
    }
}

/// The width of a figure from the command line.
pub(crate) fn parse_width(text: &str) -> Result<Length, String> {
    const EXPECTED: &str = "expected column, page, or a number of millimetres such as 120";
    PictureOptions::width_named(text).ok_or_else(|| EXPECTED.to_owned())
}

/// Refuses a file whose extension tells no format, before anything is computed.
pub(crate) fn refuse_other_figure(path: Option<&Path>) -> anyhow::Result<()> {
    path.map(FigureFormat::of).transpose().context("--figure")?;
    Ok(())
}

/// Writes a picture in the format that the file's extension states; PNGs have 300 pixels per inch.
pub(crate) fn write_figure(path: &Path, drawing: &Drawing) -> anyhow::Result<()> {
    let format = FigureFormat::of(path).with_context(|| format!("cannot draw {}", path.display()))?;
    write_scaled(path, drawing, format, 1.0)
}

/// Writes a picture in a format; `scale` counts for PNG.
pub(crate) fn write_scaled(path: &Path, drawing: &Drawing, format: FigureFormat, scale: f64) -> anyhow::Result<()> {
    let file = drawing.to_file(format, scale).with_context(|| format!("cannot draw {}", path.display()))?;
    let shapes = drawing.shapes();
    if format == FigureFormat::Tex && shapes > MOST_TEX_SHAPES {
        note(&format!(
            "{} has {shapes} shapes, which may be more than TeX's memory holds; .svg or .pdf",
            path.display()
        ));
    }
    write_bytes(path, &file)
}

/// TeX holds a picture in memory, some hundred words for each shape, of usually five million.
const MOST_TEX_SHAPES: usize = 10_000;
