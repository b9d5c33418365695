//! Who made whom wait, summed over all launches of a kernel, or over streams.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::formats::{Column, Page};
use crate::limits::NowAndThen;
use crate::named::named;
use crate::run::{Recorded, Summary, title_of};
use crate::spelling::{formats, option};
use crate::tables::RuleWords;
use crate::time::Duration;
use crate::trace::{Accuser, BehindHeads, Blame, Queue, Reason, Rule, reasons};
use crate::workload::{OperationId, ProcessId, StreamId};

named! {
    /// Whose work something waited for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Behind {
        /// That of other streams, or of other processes: what sharing the GPU costs.
        Others = "others",
        /// Earlier work of its own stream.
        OwnStream = "own_stream",
        /// Nobody's: its launch had to reach the GPU (L1, L2).
        Launch = "launch",
    }
}

/// Under which rules something made something else wait: `G2`, or `G2 (E2)` behind a wait for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlameRules {
    /// The rule that held what waited.
    pub rule: Rule,
    /// Where the head of its queue was a memset, record or wait, the rule that held that, see [`Blame::through`].
    pub through: Option<Rule>,
}

impl BlameRules {
    /// Its codes with what they mean.
    pub(crate) fn in_words(self) -> String {
        let mut words = format!("{self}: {}", self.rule.meaning());
        if let Some(through) = self.through {
            // Writing to a string cannot fail.
            let _ = write!(words, "; {through}: {}", through.meaning());
        }
        words
    }
}

impl fmt::Display for BlameRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.through {
            Some(through) => write!(f, "{} ({through})", self.rule),
            None => self.rule.fmt(f),
        }
    }
}

/// How long something made something else wait under one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlameRow {
    /// The kernel, copies or stream that waited, from launches until first blocks were assigned, or paused (T4, T5).
    pub waiting: Arc<str>,
    /// The kernel, copies or stream that stood in the way, or the turns of the context that did (T1, T4, T5); `None`:
    /// none did.
    pub blocking: Option<Arc<str>>,
    /// Whose that is.
    pub behind: Behind,
    /// Under which rules.
    pub rules: BlameRules,
    /// How long in all.
    pub wait_ns: Duration,
}

/// All of a run, once by kernels and copies and once by streams: what waited for others first, and of each kind the
/// longest. Launches of kernels of one title are one, and so are copies of one direction. What kernels and copies
/// waited and paused is all there, so both add up to the same; memsets, records and waits are passed over, and who
/// holds them stands in their place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlameTables {
    /// By kernel and copy.
    pub kernels: Vec<BlameRow>,
    /// By stream.
    pub streams: Vec<BlameRow>,
}

impl BlameTables {
    /// Of a simulated run.
    pub fn new(summary: &Summary<'_>) -> Self {
        Self::of(summary, &reasons(summary.trace, summary.scenario.device()))
    }

    /// The same, where the [`reasons`] of the run are known already.
    pub(crate) fn of(summary: &Summary<'_>, reasons: &[Reason]) -> Self {
        let trace = summary.trace;
        let mut copies: BTreeMap<&str, usize> = BTreeMap::new();
        for Recorded { work: copy, .. } in summary.copies() {
            *copies.entry(copy.direction.name()).or_default() += 1;
        }
        let kernel_or_copies = |id: OperationId| {
            let several = trace.copy_of(id).and_then(|copy| copies.get_key_value(copy.direction.name()));
            match several.filter(|(_, count)| **count > 1) {
                Some((direction, count)) => Cow::Owned(format!("{count} copies ({direction})")),
                None => title_of(summary, id),
            }
        };
        let (mut kernels, mut streams) = (Sums::new(summary, kernel_or_copies), Sums::new(summary, stream_of(summary)));
        let mut add = |part: &Blame, times: u64| {
            kernels.add(part, times);
            streams.add(part, times);
        };
        let accuser = Accuser::new(trace, summary.scenario.device(), reasons);
        // What waits behind a queue under one name in one stream is blamed on the same heads, some of them many times.
        let mut groups: FxHashMap<(Cow<'_, str>, StreamId), OperationId> = FxHashMap::default();
        let mut behind: BTreeMap<(OperationId, Rule, Queue), Vec<(usize, i64)>> = BTreeMap::new();
        for (id, record) in trace.numbered().filter(|(_, record)| !record.kind.is_instant()) {
            let alike = *groups.entry((kernel_or_copies(id), record.stream)).or_insert(id);
            accuser.each_lump(
                id,
                |part| add(&part, 1),
                |BehindHeads { rule, queue, places }| {
                    behind.entry((alike, rule, queue)).or_default().extend([(places.start, 1), (places.end, -1)]);
                },
            );
        }
        for ((alike, rule, queue), mut changes) in behind {
            changes.sort_unstable();
            let mut times = 0;
            for (one, next) in changes.iter().zip(changes.iter().skip(1)) {
                times += one.1;
                let times = u64::try_from(times).unwrap_or_default();
                for place in (one.0..next.0).filter(|_| times > 0) {
                    accuser.each_part_of_place((alike, rule), (queue, place), |part| add(&part, times));
                }
            }
        }
        Self { kernels: kernels.rows(), streams: streams.rows() }
    }

    /// What waited in all.
    pub fn total(&self) -> Duration {
        total(&self.streams)
    }
}

/// The name of an operation's stream.
fn stream_of<'a>(summary: &Summary<'a>) -> impl Fn(OperationId) -> Cow<'a, str> {
    let trace = summary.trace;
    move |id| Cow::Borrowed(trace.record(id).map_or("", |record| trace.stream_name(record.stream)))
}

/// For how long which stream could not go on for work of which other: what the head of its queue waited, and not what
/// stood behind that, so that no stream waits longer than the run lasts. The longest first.
pub fn stream_waits(summary: &Summary<'_>) -> Vec<BlameRow> {
    let device = summary.scenario.device();
    let mut heads = reasons(summary.trace, device);
    heads.retain(|reason| !reason.rule.is_behind_in_stream());
    let accuser = Accuser::new(summary.trace, device, &heads);
    let mut sums = Sums::new(summary, stream_of(summary));
    for (id, _) in summary.trace.numbered() {
        accuser.each_part(id, |part| sums.add(&part, 1));
    }
    let mut rows = sums.rows();
    rows.retain(|row| row.behind == Behind::Others);
    rows
}

/// Adds them as a table, or that there are none, where there are several streams.
pub fn add_stream_waits(page: &mut Page, summary: &Summary<'_>) {
    if summary.trace.streams().len() < 2 {
        return;
    }
    page.blank();
    let rows = stream_waits(summary);
    if rows.is_empty() {
        return page.line(&format!(
            "who delayed whom, as simulated: no stream waited for work of another; why they do not run side by side, \
             gpusched simulate says with {}",
            option("overlap")
        ));
    }
    page.line("who delayed whom, as simulated: for how long a stream could not go on for work of another");
    let mut words = RuleWords::default();
    add_rows(page, MAX_DELAYS, &columns_of("waiting stream", "blocking stream"), rows, &mut words);
    words.add_to(page);
}

/// What tells rows apart: what waited, what stood in the way, whose that is, and the rules. Names are places among all
/// names in order: so many pairs can wait for one another that to hold and compare names takes long.
type Key = (u32, Option<u32>, Behind, BlameRules);

/// How long what has one name waited for what has another.
struct Sums<'s, 'a> {
    summary: &'s Summary<'a>,
    /// In order, each once.
    names: Vec<Arc<str>>,
    /// The name of each operation.
    of_operations: Vec<u32>,
    /// Those of the turns of each context, and of switches between them.
    of_turns: Vec<u32>,
    of_switches: u32,
    by_key: FxHashMap<Key, Duration>,
}

impl<'s, 'a> Sums<'s, 'a> {
    fn new<'n>(summary: &'s Summary<'a>, name: impl Fn(OperationId) -> Cow<'n, str>) -> Self {
        let trace = summary.trace;
        let processes = (0..).take(trace.processes().len().max(1)).map(ProcessId);
        let turns = processes.map(|process| Cow::Owned(format!("turns of {}", trace.process_name(process))));
        let turns: Vec<Cow<'_, str>> = turns.collect();
        let switches = || Cow::Borrowed("switches of contexts");
        let all = || trace.numbered().map(|(id, _)| name(id)).chain(turns.iter().cloned()).chain([switches()]);
        let mut places: FxHashMap<Cow<'_, str>, u32> = all().map(|name| (name, 0)).collect();
        let mut in_order: Vec<(&Cow<'_, str>, &mut u32)> = places.iter_mut().collect();
        in_order.sort_unstable();
        in_order.iter_mut().zip(0..).for_each(|((_, place), number)| **place = number);
        let names = in_order.into_iter().map(|(name, _)| Arc::from(name.as_ref())).collect();
        let place = |name| places.get(&name).copied().unwrap_or_default();
        let of_operations = trace.numbered().map(|(id, _)| place(name(id))).collect();
        let of_turns = turns.iter().cloned().map(place).collect();
        Self { summary, names, of_operations, of_turns, of_switches: place(switches()), by_key: FxHashMap::default() }
    }

    /// Adds a part so many times.
    fn add(&mut self, part: &Blame, times: u64) {
        let place = |id: OperationId| self.of_operations.get(id.index()).copied().unwrap_or_default();
        let turns = || match (part.rule, part.turn_of) {
            (Rule::T1 | Rule::T4 | Rule::T5, Some(process)) => self.of_turns.get(process.index()).copied(),
            (Rule::T1 | Rule::T4 | Rule::T5, None) => Some(self.of_switches),
            _ => None,
        };
        let rules = BlameRules { rule: part.rule, through: part.through };
        let blocking = part.blocking.map(place).or_else(turns);
        let sum = self.by_key.entry((place(part.operation), blocking, behind(self.summary, part), rules)).or_default();
        let wait_ns = part.to.since(part.from).as_ns();
        *sum = sum.saturating_add(Duration::from_ns(wait_ns.saturating_mul(times)));
    }

    fn rows(self) -> Vec<BlameRow> {
        let Self { names, by_key, .. } = self;
        let mut sums: Vec<(Key, Duration)> = by_key.into_iter().collect();
        sums.sort_unstable_by_key(|((waiting, blocking, behind, rules), wait)| {
            (*behind, Reverse(*wait), *waiting, *blocking, *rules)
        });
        let mut now_and_then = NowAndThen::default();
        let name = |place: u32| names.get(place as usize).map_or_else(|| Arc::from(""), Arc::clone);
        let row = |((waiting, blocking, behind, rules), wait_ns): (Key, Duration)| {
            now_and_then.end_if_stopped();
            BlameRow { waiting: name(waiting), blocking: blocking.map(name), behind, rules, wait_ns }
        };
        sums.into_iter().map(row).collect()
    }
}

/// Whose work a part of a wait was for.
fn behind(summary: &Summary<'_>, part: &Blame) -> Behind {
    let stream = |id: OperationId| summary.trace.record(id).map(|record| record.stream);
    let rule = part.through.unwrap_or(part.rule);
    match part.blocking {
        Some(blocking) if stream(blocking) == stream(part.operation) => Behind::OwnStream,
        None if rule.is_latency() => Behind::Launch,
        None if rule.is_behind_in_stream() => Behind::OwnStream,
        _ => Behind::Others,
    }
}

/// Of waits between streams.
pub fn blame_columns() -> [Column<BlameRow>; 7] {
    columns_of("waiting", "blocking")
}

fn columns_of(waiting: &'static str, blocking: &'static str) -> [Column<BlameRow>; 7] {
    [
        Column::new("waiting", waiting, |row: &BlameRow| row.waiting.as_ref().into()).names(),
        Column::new("blocking", blocking, |row: &BlameRow| row.blocking.as_deref().into()).names(),
        Column::data("behind", |row: &BlameRow| row.behind.name().into()),
        Column::data("rule", |row: &BlameRow| row.rules.rule.name().into()),
        Column::data("through", |row: &BlameRow| row.rules.through.map(Rule::name).into()),
        Column::table("rule", |row: &BlameRow| row.rules.to_string().into()).left(),
        Column::new("wait_ns", "waited", |row| row.wait_ns.into()),
    ]
}

/// Rows that a table shows at most, of what waited for others and of what waited within its stream.
const MAX_ROWS: usize = 40;
const MAX_OWN_ROWS: usize = 20;
/// Of what streams waited for one another, above other tables.
const MAX_DELAYS: usize = 10;

/// Who made whom wait, as tables: what waited for others by stream, if there are several, and by kernel; below it, how
/// long others waited within their streams, and if asked for, which.
/// Which stream waits longest for work of another, in one line.
pub(super) fn blame_answer(tables: &BlameTables) -> String {
    let others = tables.streams.iter().filter(|row| row.behind == Behind::Others);
    others.max_by_key(|row| row.wait_ns).map_or_else(
        || {
            format!(
                "no stream waited for work of another; {} says why streams do not run side by side",
                option("overlap")
            )
        },
        |row| {
            let rule = row.rules.through.unwrap_or(row.rules.rule);
            let (waiting, blocking) = (&row.waiting, row.blocking.as_deref().unwrap_or("nobody"));
            format!("{waiting} waits most for others: {} for {blocking} ({rule})", row.wait_ns)
        },
    )
}

pub(super) fn add_blame(page: &mut Page, tables: &BlameTables, lists_own: bool, words: &mut RuleWords) {
    if tables.kernels.is_empty() {
        return page.line("who made whom wait: nothing waited for anything");
    }
    let of = |rows: &[BlameRow], is_for_others: bool| -> Vec<BlameRow> {
        rows.iter().filter(|row| (row.behind == Behind::Others) == is_for_others).cloned().collect()
    };
    let (streams, others) = (of(&tables.streams, true), of(&tables.kernels, true));
    let what = "for work of other streams or processes";
    if others.is_empty() {
        page.line(&format!("nothing waited {what}"));
    } else {
        page.line(&format!("waits {what}, {}:", summed(&others)));
        let columns = columns_of("waiting stream", "blocking stream");
        add_rows(page, MAX_ROWS, &columns, streams, words);
        page.blank();
        add_rows(page, MAX_ROWS, &blame_columns(), others, words);
        words.add_to(page);
    }
    let own = of(&tables.kernels, false);
    if !own.is_empty() {
        page.blank();
        let what = "within a stream, for earlier work of its own or for the launch to reach the GPU";
        if lists_own {
            page.line(&format!("waits {what}, {}:", summed(&own)));
            add_rows(page, MAX_OWN_ROWS, &blame_columns(), own, words);
            words.add_to(page);
        } else {
            let listed = option("own_waits");
            page.line(&format!("waits {what}, {}; {listed} lists them", summed(&own)));
        }
    }
}

fn add_rows(page: &mut Page, most: usize, columns: &[Column<BlameRow>], rows: Vec<BlameRow>, words: &mut RuleWords) {
    for row in rows.iter().take(page.most_rows(most)) {
        words.see(row.rules.rule);
        row.rules.through.into_iter().for_each(|rule| words.see(rule));
    }
    page.first_rows(most, columns, rows, "", &formats(&["json"]));
}

fn total<'r>(rows: impl IntoIterator<Item = &'r BlameRow>) -> Duration {
    rows.into_iter().fold(Duration::ZERO, |sum, row| sum.saturating_add(row.wait_ns))
}

/// A sum can be longer than the run, and says why.
fn summed(rows: &[BlameRow]) -> String {
    format!("{} summed over all that waited, also side by side", total(rows))
}
