//! `--figure FILE` of the commands whose pictures have no options but these.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use clap::Args;
use gpusched::draw::{Drawing, FigureFormat, Length, PictureOptions};

use super::output::{note, write_whole};

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
pub(crate) fn check(path: Option<&Path>) -> anyhow::Result<()> {
    path.map(FigureFormat::of).transpose().context("--figure")?;
    Ok(())
}

/// Writes a picture in the format that the file's extension states; PNGs have 300 pixels per inch.
pub(crate) fn write(path: &Path, drawing: &Drawing) -> anyhow::Result<()> {
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
    write_whole(path, |out| out.write_all(&file))
}

/// TeX holds a picture in memory, some hundred words for each shape, of usually five million.
const MOST_TEX_SHAPES: usize = 10_000;
