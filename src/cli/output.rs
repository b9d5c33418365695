//! Writing output so that nothing is ever half-written, and saying things on stderr.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::ValueEnum;
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser, ValueParser};
use gpusched::formats::{Cut, Report, RowFormat, RowsPart, TableStyle, text_of, write_json, write_json_lines};

use super::ending::{self, Reason};
use super::progress::{self, Counted};
use super::screen::Screen;
use super::temporary::Temporary;

/// What is printed on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Tables and text for people
    Table,
    /// One JSON document, times in integer nanoseconds
    Json,
    /// The rows of the JSON document's lists as one object a line, `row` being the list; before them a line `document`
    /// with everything else
    Jsonl,
    /// One table as comma-separated values
    Csv,
    /// The same table as a stream of Arrow IPC, whose columns have types; only in builds with the feature arrow
    Arrow,
    /// The tables in Markdown, all rows of them
    Markdown,
}

impl Format {
    /// Refuses what cannot be printed before anything is done.
    pub(crate) fn parser() -> ValueParser {
        let check = |format| match format {
            Self::Arrow if !cfg!(feature = "arrow") => Err(
                "this build writes no Arrow; build it with cargo build --release --features arrow, or use csv or jsonl",
            ),
            Self::Arrow if io::stdout().is_terminal() => {
                Err("a stream of Arrow is not for reading: send standard output into a file or a pipe")
            }
            format => Ok(format),
        };
        ValueParser::new(EnumValueParser::<Self>::new().try_map(check))
    }

    /// How the rows of a table for programs are written, if that is what is printed.
    pub(crate) fn rows(self) -> RowsPart<'static> {
        RowsPart::whole(if self == Self::Arrow { RowFormat::Arrow } else { RowFormat::Csv })
    }

    /// Of the tables in a text.
    pub(crate) fn style(self) -> TableStyle {
        if self == Self::Markdown { TableStyle::Markdown } else { TableStyle::Plain }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.to_possible_value().as_ref().map_or("", PossibleValue::get_name))
    }
}

/// Buffered standard output.
pub(crate) fn stdout() -> Out {
    let out = io::stdout().lock();
    let is_terminal = out.is_terminal();
    BufWriter::with_capacity(1 << 16, Counted::new(Screen::new(out), is_terminal))
}

pub(crate) type Out = BufWriter<Counted<Screen<io::StdoutLock<'static>>>>;

pub(crate) type OutFile = BufWriter<Counted<File>>;

pub(crate) fn stderr() -> Screen<io::Stderr> {
    Screen::new(io::stderr())
}

/// Prints a report, and whether the command was stopped before it was done with its work.
pub(crate) fn print_report(report: &impl Report, format: Format) -> io::Result<()> {
    let mut out = stdout();
    write_report(report, format, format.rows(), ending::reason(), &mut out)?;
    end(format, &mut out)
}

/// Writes a report in any format: of several files what is about the one of this part, which was stopped for this
/// reason, if it was. Documents have a key for that, and rows for programs nothing but the exit status.
pub(crate) fn write_report(
    report: &impl Report,
    format: Format,
    part: RowsPart<'_>,
    reason: Option<Reason>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let cut = reason.map(|reason| Cut { reason: reason.name() });
    match format {
        Format::Table | Format::Markdown => out.write_all(text_of(report, format.style()).as_bytes()),
        Format::Json => write_json(report, cut, out),
        Format::Jsonl => write_json_lines(report, part.file, cut, out),
        Format::Csv | Format::Arrow => report.rows(part, out),
    }
}

/// Ends what is printed: tables say that the command was stopped, if it was.
pub(crate) fn end(format: Format, out: &mut dyn Write) -> io::Result<()> {
    if let Some(reason) = ending::reason().filter(|_| matches!(format, Format::Table | Format::Markdown)) {
        writeln!(out, "\ncut: {reason}; what is above was complete by then")?;
    }
    out.flush()
}

/// Prints all of it.
pub(crate) fn print(bytes: &[u8]) -> io::Result<()> {
    let mut out = stdout();
    out.write_all(bytes)?;
    // What is still in the buffer may not find room, which nobody would hear of when the buffer is dropped.
    out.flush()
}

/// A note to the user, on stderr.
pub(crate) fn note(text: &str) {
    // If stderr is closed there is nobody left to tell.
    let _ = progress::aside(|| writeln!(stderr(), "note: {text}"));
}

/// Writes `path` by way of a temporary file beside it, so that it holds all or nothing of what `write` writes.
pub(crate) fn write_whole(path: &Path, write: impl FnOnce(&mut OutFile) -> io::Result<()>) -> anyhow::Result<()> {
    // Devices and pipes cannot be replaced by a renamed file.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        let opened = OpenOptions::new().write(true).open(path);
        let written = opened.and_then(|file| {
            let mut out = BufWriter::with_capacity(1 << 16, Counted::new(file, false));
            write(&mut out).and_then(|()| out.flush())
        });
        return written.with_context(|| format!("cannot write {}", path.display()));
    }
    Written::beside(path, write)?.rename()
}

/// Writes several files, all or none of them.
pub(crate) fn write_together<T>(
    files: &[T],
    path: impl Fn(&T) -> PathBuf,
    write: impl Fn(&T, &mut OutFile) -> io::Result<()>,
) -> anyhow::Result<()> {
    let written = files.iter().map(|file| Written::beside(&path(file), |out| write(file, out)));
    let written: Vec<Written> = written.collect::<anyhow::Result<_>>()?;
    Written::rename_all(&written)
}

/// Writes several files at once, all or none of them. Each is open meanwhile.
pub(crate) fn write_side_by_side(
    paths: &[PathBuf],
    write: impl FnOnce(&mut [OutFile]) -> io::Result<()>,
) -> anyhow::Result<()> {
    let begun = paths.iter().map(|path| Written::begin(path));
    let (written, mut outs): (Vec<Written>, Vec<OutFile>) = begun.collect::<anyhow::Result<_>>()?;
    let done = write(&mut outs).and_then(|()| outs.iter_mut().try_for_each(Write::flush));
    let names = || paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    done.with_context(|| format!("cannot write {}", names()))?;
    Written::rename_all(&written)
}

/// A file that has not got its name yet.
struct Written {
    temporary: Temporary,
    path: PathBuf,
}

impl Written {
    fn begin(path: &Path) -> anyhow::Result<(Self, OutFile)> {
        if path.is_dir() {
            bail!("cannot write {}: it is a directory", path.display());
        }
        let created = Temporary::create(temporary_beside(path));
        let (temporary, file) = created.with_context(|| format!("cannot write {}", path.display()))?;
        let out = BufWriter::with_capacity(1 << 16, Counted::new(file, false));
        Ok((Self { temporary, path: path.to_owned() }, out))
    }

    /// All of it.
    fn beside(path: &Path, write: impl FnOnce(&mut OutFile) -> io::Result<()>) -> anyhow::Result<Self> {
        let (written, mut out) = Self::begin(path)?;
        let done = write(&mut out).and_then(|()| out.flush());
        done.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(written)
    }

    fn rename_all(written: &[Self]) -> anyhow::Result<()> {
        // What could fail has been done: there is room for all, and every folder takes files.
        Temporary::rename_all(written.iter().map(|one| (&one.temporary, &*one.path)))
            .map_err(|(path, error)| anyhow::Error::new(error).context(format!("cannot write {}", path.display())))
    }

    fn rename(self) -> anyhow::Result<()> {
        let Self { temporary, path } = &self;
        temporary.rename(path).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// What file systems take as a name \[bytes\].
const LONGEST_NAME: usize = 255;

fn temporary_beside(path: &Path) -> PathBuf {
    let own = path.file_name().unwrap_or_default();
    let end = format!(".{}.tmp", std::process::id());
    let mut name = std::ffi::OsString::from(".");
    if own.len() + end.len() < LONGEST_NAME {
        name.push(own);
    } else {
        // A name that leaves no room for more is told from others by what it hashes to.
        let mut hasher = DefaultHasher::new();
        own.hash(&mut hasher);
        name.push(format!("{:016x}", hasher.finish()));
    }
    name.push(end);
    path.with_file_name(name)
}
