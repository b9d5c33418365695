//! What goes to the terminal or into a pipe: reports in any format, and notes on standard error.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufWriter, IsTerminal, Write};

use clap::ValueEnum;
use clap::builder::{EnumValueParser, PossibleValue, TypedValueParser, ValueParser};
use gpusched::formats::{Cut, Report, RowFormat, RowsPart, TableStyle, text_of, write_json, write_json_lines};
use gpusched::words::merged;

use super::Answer;
use super::ending::{self, Reason};
use super::progress::{self, Counted};

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
    BufWriter::with_capacity(1 << 16, Counted::writer(Screen::new(out), is_terminal))
}

/// Standard output for rows that are written while the command is still at something else, which it shows.
pub(crate) fn stdout_beside() -> BufWriter<Screen<io::Stdout>> {
    BufWriter::with_capacity(1 << 16, Screen::new(io::stdout()))
}

pub(crate) type Out = BufWriter<Counted<Screen<io::StdoutLock<'static>>>>;

pub(crate) fn stderr() -> Screen<io::Stderr> {
    Screen::new(io::stderr())
}

/// Prints a report, and whether the command was stopped before it was done with its work.
pub(crate) fn print_report(report: &impl Report, format: Format) -> anyhow::Result<Answer> {
    let mut out = stdout();
    write_report(report, format, format.rows(), ending::reason(), &mut out)?;
    end(format, &mut out)?;
    Ok(Answer::Done)
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

/// A stream of the process. If it is a terminal, control characters are shown by their codes: names come out of files
/// that others wrote, and an escape sequence in one could colour, move or hide what is shown. What goes into files and
/// pipes is left as it is.
#[derive(Debug)]
pub(crate) struct Screen<W> {
    out: W,
    is_terminal: bool,
    /// The byte before the next.
    before: u8,
}

impl<W: IsTerminal> Screen<W> {
    pub(crate) fn new(out: W) -> Self {
        let is_terminal = out.is_terminal();
        Self { out, is_terminal, before: 0 }
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.out.write(bytes);
        }
        let mut before = self.before;
        let commands = |&byte: &u8| is_command(std::mem::replace(&mut before, byte), byte);
        let written = match bytes.iter().position(commands).unwrap_or(bytes.len()) {
            0 if bytes.is_empty() => 0,
            0 => write!(self.out, "\\x{:02x}", bytes[0]).map(|()| 1)?,
            plain => self.out.write(&bytes[..plain])?,
        };
        if let Some(&last) = written.checked_sub(1).and_then(|last| bytes.get(last)) {
            self.before = last;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Control characters: those of ASCII but for ends of lines and tabs, and those that UTF-8 writes as 0xc2 and this.
fn is_command(before: u8, byte: u8) -> bool {
    let is_of_ascii = byte.is_ascii_control() && byte != b'\n' && byte != b'\t';
    is_of_ascii || before == 0xc2 && (0x80..0xa0).contains(&byte)
}

/// So many notes of one kind are all told.
const TOLD: usize = 3;

/// Tells notes in their order: three or more that differ in a name alone as one, and of a kind that has many else, the
/// first one and how many more there are.
pub(crate) fn show_abridged<T: AsRef<str>>(notes: impl IntoIterator<Item = T>, note: impl Fn(&str)) {
    let all: Vec<T> = notes.into_iter().collect();
    let mut notes: Vec<(usize, String)> = Vec::new();
    for (text, of) in merged(&all) {
        match of[..] {
            [first, _, _, ..] => notes.push((first, text)),
            _ => notes.extend(of.into_iter().map(|of| (of, all[of].as_ref().to_owned()))),
        }
    }
    notes.sort_by_key(|(first, _)| *first);
    let notes: Vec<(String, String)> = notes.into_iter().map(|(_, text)| (kind(&text), text)).collect();
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for (kind, _) in &notes {
        *counts.entry(kind).or_default() += 1;
    }
    for (kind, text) in &notes {
        // Of a kind that was summed up already nothing is left to tell.
        let Some(&count) = counts.get(&**kind) else { continue };
        note(text);
        if count > TOLD {
            counts.remove(&**kind);
            note(&format!("and {} more like this one", count - 1));
        }
    }
}

/// What notes of one kind have in common: all but numbers, names in quotation marks, and a name before a colon.
fn kind(note: &str) -> String {
    let mut kind = String::with_capacity(note.len());
    let (mut is_quoted, mut letters) = (false, note.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if is_quoted => _ = letters.next(),
            '"' => {
                is_quoted = !is_quoted;
                kind.push('"');
            }
            _ if is_quoted => {}
            '0'..='9' => {
                if !kind.ends_with('0') {
                    kind.push('0');
                }
            }
            _ => kind.push(letter),
        }
    }
    match kind.split_once(": ") {
        Some((_, behind)) => behind.to_owned(),
        None => kind,
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn a_terminal_gets_no_escape_sequences_and_a_file_gets_everything() {
        let text = "one\u{1b}[31mred\u{7}\r\ntwo\tπ\u{9b}2Jé";
        let shown = |is_terminal, at_once: usize| {
            let mut screen = Screen { out: Vec::new(), is_terminal, before: 0 };
            for part in text.as_bytes().chunks(at_once) {
                screen.write_all(part).expect("there is room");
            }
            String::from_utf8_lossy(&screen.out).into_owned()
        };
        for at_once in [1, 2, 3, 100] {
            assert_eq!(shown(true, at_once), "one\\x1b[31mred\\x07\\x0d\ntwo\tπ\u{fffd}\\x9b2Jé");
            assert_eq!(shown(false, at_once), text);
        }
    }

    fn told(notes: &[String]) -> Vec<String> {
        let said = RefCell::new(Vec::new());
        show_abridged(notes, |text| said.borrow_mut().push(text.to_owned()));
        said.into_inner()
    }

    #[test]
    fn notes_that_differ_in_a_name_are_one_and_many_of_one_kind_are_counted() {
        let unused = |name: &str| format!("kernel {name:?} is never launched");
        assert_eq!(told(&["a", "b"].map(unused)), ["a", "b"].map(unused));
        assert_eq!(told(&["a", "b", "c"].map(unused)), ["kernel \"a\", \"b\", \"c\" is never launched"]);
        let late = |number: u32| format!("\"S\" misses {number} of 30 jobs");
        let few = [1, 2, 3, 4].map(late);
        assert_eq!(told(&few[..3]), few[..3]);
        assert_eq!(told(&few), [few[0].clone(), "and 3 more like this one".to_owned()]);
        let other = "several contexts ran".to_owned();
        let mixed = [std::slice::from_ref(&other), &few[..], std::slice::from_ref(&other)].concat();
        assert_eq!(told(&mixed), [other.clone(), few[0].clone(), "and 3 more like this one".to_owned(), other]);
    }

    #[test]
    fn names_and_numbers_make_no_kinds() {
        assert_eq!(kind("camera: slower on 12 SMs than on 11"), kind("a b: slower on 2 SMs than on 1"));
        assert_eq!(kind("\"S\" misses 2 of 30 jobs"), kind("\"a \\\" misses\" misses 17 of 9 jobs"));
        assert_ne!(kind("kernel \"K\" is never launched"), kind("event \"K\" is never launched"));
    }
}
