//! A run, or two runs above one another, as one HTML file to look at in a browser.
//!
//! The file holds everything it needs and loads nothing: data as JSON, a style sheet, and scripts, which draw what is
//! visible on a canvas and look up the state at the cursor, which is that of [`State`](crate::run::State). The scripts
//! know no rules. Who is in which queue, why each operation waits, and with which turns rounds begin is in the data for
//! the whole run. What is free on an SM at each instant, and which rounds are seen as one at each width of the window,
//! would make the file many times as long: the scripts add that up from what the data says of each SM, kernel and turn.
//! They also find means for each column of pixels (`counts.js`, `lanes.js`), as the printed timeline does for paper.
//!
//! Times are exact at any size although JavaScript's numbers are only up to 2^53: the data holds each instant once, in
//! ascending order as 64 bits, and everything else refers to its number in that list, of which there are at most 2^32.

mod blocks;
mod columns;
mod data;
mod reports;
mod waits;

use std::io::{self, Write};

use data::PageData;
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter};
use thiserror::Error;

use super::timeline::FinishMark;
use crate::formats::escaped_html;
use crate::limits::count_turn;
use crate::run::{Recorded, Summary};
use crate::time::Instant;

/// What an HTML file shows.
#[derive(Debug, Clone)]
pub struct HtmlTimeline<'a> {
    runs: Vec<HtmlRun<'a>>,
    marks: &'a [FinishMark],
    merged: bool,
    origin: Instant,
    notes: Vec<String>,
}

/// One run in an HTML file.
#[derive(Debug, Clone, Copy)]
pub struct HtmlRun<'a> {
    /// What it is called where there are two, such as `simulated`.
    pub name: &'a str,
    /// The run.
    pub summary: Summary<'a>,
    /// Whether only what ran is known of it, not its queues and waits: a measured run. If not even its blocks are
    /// known, as of a recorded application, it is shown by stream.
    pub blocks_only: bool,
}

impl<'a> HtmlTimeline<'a> {
    /// One run.
    pub fn new(summary: Summary<'a>) -> Self {
        Self::of(vec![HtmlRun { name: "simulated", summary, blocks_only: false }], &[])
    }

    /// Two runs on one axis of time, with the finish times of both.
    pub fn comparison(upper: HtmlRun<'a>, lower: HtmlRun<'a>, marks: &'a [FinishMark]) -> Self {
        Self::of(vec![upper, lower], marks)
    }

    fn of(runs: Vec<HtmlRun<'a>>, marks: &'a [FinishMark]) -> Self {
        Self { runs, marks, merged: false, origin: Instant::ZERO, notes: Vec::new() }
    }

    /// The same with all instants told as counted from `origin`, as tables beside it do; those before it are negative.
    pub fn counted_from(self, origin: Instant) -> Self {
        Self { origin, ..self }
    }

    /// The same with what else is to be known of it, beside the notes of its runs.
    pub fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }

    /// Blocks of all its runs.
    pub fn blocks(&self) -> u64 {
        // Of a recorded application no blocks are known.
        let known = self.runs.iter().filter(|run| run.summary.trace.waves() > 0);
        let launches = known.flat_map(|run| run.summary.launches());
        launches.map(|Recorded { work: kernel, .. }| u64::from(kernel.blocks)).sum()
    }

    /// Turns of contexts of all its runs.
    pub fn turns(&self) -> u64 {
        self.runs.iter().map(|run| run.summary.trace.turns().len() as u64).sum()
    }

    /// The same with blocks of one launch that do the same, at one time or following one another without a pause, as
    /// one entry each.
    pub fn merged(self) -> Self {
        Self { merged: true, ..self }
    }

    /// Entries that a [merged](Self::merged) file has for blocks.
    pub fn merged_blocks(&self) -> u64 {
        let runs = |run: &HtmlRun<'_>| {
            let trace = run.summary.trace;
            run.summary.launches().map(|Recorded { id, .. }| trace.repeated_runs(id).count() as u64).sum::<u64>()
        };
        self.runs.iter().map(runs).sum()
    }

    /// Writes the file, the same bytes each time. Memory grows with the number of [blocks](Self::blocks), or of
    /// [merged ones](Self::merged_blocks).
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write(&self, out: impl Write) -> io::Result<()> {
        let title = self.runs.first().map_or("", |run| &run.summary.scenario.name);
        write_page(title, "", &[data::PageData::new(self)], out)
    }

    /// Writes the data alone, as JSON that an open file of a timeline takes in place of its own (`gpusched.show` of its
    /// scripts).
    ///
    /// # Errors
    /// Whatever `out` refuses.
    pub fn write_data(&self, out: impl Write) -> io::Result<()> {
        let mut json = serde_json::Serializer::with_formatter(out, InsideScript);
        Ok([data::PageData::new(self)].serialize(&mut json)?)
    }
}

/// Blocks above which those that do the same are one entry of the file.
const MANY_BLOCKS: u64 = 200_000;
/// Entries above which a browser takes long to open the file.
const MANY_ENTRIES: u64 = 5_000_000;

/// A timeline of which a browser would show too much.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("would hold {entries} {of}, more than a browser shows well ({MANY_ENTRIES})")]
pub struct TooManyEntries {
    /// How many.
    pub entries: u64,
    /// Of what.
    pub of: &'static str,
}

impl HtmlTimeline<'_> {
    /// The same as a browser shows it well: of very many blocks those that do the same are [merged](Self::merged).
    ///
    /// # Errors
    /// [`TooManyEntries`] if even then too many are left, or if turns are too many.
    pub fn sized(self) -> Result<Self, TooManyEntries> {
        let refused = |entries, of| if entries > MANY_ENTRIES { Err(TooManyEntries { entries, of }) } else { Ok(()) };
        refused(self.turns(), "turns of contexts")?;
        if self.blocks() <= MANY_BLOCKS {
            return Ok(self);
        }
        refused(self.merged_blocks(), "groups of blocks")?;
        Ok(self.merged())
    }
}

const PAGE: &str = include_str!("html/page.html");
const STYLE: &str = include_str!("html/style.css");

macro_rules! scripts {
    ($($name:literal),*) => { [$(include_str!(concat!("html/script/", $name, ".js"))),*] };
}

/// One module, in the order in which its parts need one another.
const SCRIPTS: [&str; 20] = scripts![
    "time", "scenes", "data", "turns", "state", "text", "view", "layout", "fills", "draw", "cores", "counts", "lanes",
    "find", "rules", "panel", "report", "app", "input", "main"
];

/// `scenes` is HTML that stands above the figure; each of `data` is one figure, of which the scripts show one.
fn write_page(title: &str, scenes: &str, data: &[PageData<'_>], mut out: impl Write) -> io::Result<()> {
    let mut rest = PAGE;
    // The template names them in this order.
    for place in ["{{title}}", "{{style}}", "{{title}}", "{{scenes}}", "{{data}}", "{{script}}"] {
        let Some((before, after)) = rest.split_once(place) else { continue };
        out.write_all(before.as_bytes())?;
        match place {
            "{{title}}" => out.write_all(escaped_html(title).as_bytes())?,
            "{{style}}" => out.write_all(STYLE.as_bytes())?,
            "{{scenes}}" => out.write_all(scenes.as_bytes())?,
            "{{data}}" => data.serialize(&mut serde_json::Serializer::with_formatter(&mut out, InsideScript))?,
            _ => SCRIPTS.iter().try_for_each(|script| out.write_all(script.as_bytes()))?,
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// The largest integer up to which JavaScript's numbers hold all integers.
const MAX_EXACT: u64 = 1 << 53;

/// Writes JSON that may stand inside a `<script>` element: no `<`, so that no text ends the element or opens a
/// comment in it; and no integer that JavaScript would not hold exactly: those are texts.
#[derive(Debug, Clone, Copy)]
struct InsideScript;

impl Formatter for InsideScript {
    fn write_u64<W: ?Sized + Write>(&mut self, writer: &mut W, value: u64) -> io::Result<()> {
        if value <= MAX_EXACT { CompactFormatter.write_u64(writer, value) } else { write!(writer, "\"{value}\"") }
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((before, after)) = rest.split_once('<') {
            count_turn();
            CompactFormatter.write_string_fragment(writer, before)?;
            writer.write_all(b"\\u003c")?;
            rest = after;
        }
        CompactFormatter.write_string_fragment(writer, rest)
    }
}

/// One scene: a run, what is said of it, and a question about it.
#[derive(Debug, Clone)]
pub struct HtmlScene<'a> {
    /// Its heading.
    pub title: &'a str,
    /// What is to be seen.
    pub text: &'a str,
    /// What the reader may find out in the figure.
    pub question: &'a str,
    /// Shown when asked for.
    pub answer: &'a str,
    /// The command that makes a page of this run alone.
    pub command: String,
    /// The run.
    pub timeline: HtmlTimeline<'a>,
}

/// Writes scenes as one page: one figure at a time, with links between them.
///
/// # Errors
/// Whatever `out` refuses.
pub fn write_html_tour(title: &str, scenes: &[HtmlScene<'_>], out: impl Write) -> io::Result<()> {
    let data: Vec<PageData<'_>> = scenes.iter().map(|scene| PageData::new(&scene.timeline)).collect();
    let links: Vec<String> = (1..)
        .zip(scenes)
        .map(|(number, scene)| format!("<li><a href=\"#scene-{number}\">{}</a></li>", escaped_html(scene.title)))
        .collect();
    let links = links.concat();
    let mut text = format!("<section id=\"scenes\">\n<nav id=\"tour\" aria-label=\"Scenes\"><ol>{links}</ol></nav>\n");
    for (number, scene) in (1..).zip(scenes) {
        text += &section(number, scene, number < scenes.len());
    }
    text += "</section>\n";
    write_page(title, &text, &data, out)
}

fn section(number: usize, scene: &HtmlScene<'_>, has_next: bool) -> String {
    let next = if has_next {
        format!("<p><a href=\"#scene-{}\">Next scene</a> (Page Down)</p>\n", number + 1)
    } else {
        String::new()
    };
    format!(
        "<section class=\"scene\" id=\"scene-{number}\">\n<h2>{number}. {}</h2>\n<p>{}</p>\n<p class=\"question\">{}</p>\n\
         <details><summary>Answer</summary><p>{}</p></details>\n<p class=\"quiet\">This scene alone: \
         <code>{}</code></p>\n{next}</section>\n",
        escaped_html(scene.title),
        escaped_html(scene.text),
        escaped_html(scene.question),
        escaped_html(scene.answer),
        escaped_html(&scene.command),
    )
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::*;

    #[test]
    fn no_text_ends_a_script_and_it_reads_back_the_same() {
        let text = "a</script><!--\"\\\n&";
        let mut out = Vec::new();
        text.serialize(&mut serde_json::Serializer::with_formatter(&mut out, InsideScript)).expect("it can be written");
        let written = String::from_utf8(out).expect("UTF-8");
        assert!(!written.contains('<'), "{written}");
        assert_eq!(serde_json::from_str::<String>(&written).expect("JSON"), text);
    }
}
