//! Writing output so that nothing is ever half-written, and saying things on stderr.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::ValueEnum;
use gpusched::report::TableStyle;

use super::ending::Temporary;

/// What is printed on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables and text for people
    Table,
    /// One JSON document, times in integer nanoseconds
    Json,
    /// One table as comma-separated values
    Csv,
    /// The tables in Markdown, all rows of them
    Markdown,
}

impl Format {
    /// Of the tables in a text.
    pub(crate) fn style(self) -> TableStyle {
        if self == Self::Markdown { TableStyle::Markdown } else { TableStyle::Plain }
    }
}

/// Buffered standard output.
pub(crate) fn stdout() -> BufWriter<io::StdoutLock<'static>> {
    BufWriter::with_capacity(1 << 16, io::stdout().lock())
}

/// A note to the user, on stderr.
pub(crate) fn note(text: &str) {
    // If stderr is closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "note: {text}");
}

/// Writes `path` by way of a temporary file beside it, so that it holds all or nothing of what `write` writes.
pub(crate) fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    if path.is_dir() {
        bail!("cannot write {}: it is a directory", path.display());
    }
    // Devices and pipes cannot be replaced by a renamed file.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let file = OpenOptions::new().write(true).open(path).with_context(cannot)?;
        let mut out = BufWriter::new(file);
        return write(&mut out).and_then(|()| out.flush()).with_context(cannot);
    }
    let result = Temporary::create(temporary_beside(path)).and_then(|(temporary, file)| {
        let mut out = BufWriter::with_capacity(1 << 16, file);
        write(&mut out)?;
        out.flush()?;
        temporary.rename(path)
    });
    result.with_context(cannot)
}

fn temporary_beside(path: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.tmp", std::process::id()));
    path.with_file_name(name)
}
