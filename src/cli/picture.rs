//! `--figure FILE` of the commands whose pictures have no options of their own.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use gpusched::draw::{Drawing, FigureFormat};

use super::output::write_whole;

/// Refuses a file whose extension tells no format, before anything is computed.
pub(crate) fn check(path: Option<&Path>) -> anyhow::Result<()> {
    path.map(FigureFormat::of).transpose().context("--figure")?;
    Ok(())
}

/// Writes a picture in the format that the file's extension states; PNGs have 300 pixels per inch.
pub(crate) fn write(path: &Path, drawing: &Drawing) -> anyhow::Result<()> {
    let file = FigureFormat::of(path).and_then(|format| drawing.to_file(format, 1.0));
    let file = file.with_context(|| format!("cannot draw {}", path.display()))?;
    write_whole(path, |out| out.write_all(&file))
}
