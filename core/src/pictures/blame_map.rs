//! Who made whom wait as a picture: a map with a row for each that waited and a column for each that stood in the way,
//! once by stream and once by kernel or copies, and beside each row its time divided by rule.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use rustc_hash::FxHashMap;

use crate::draw::theme::{Colour, Fill, Hatch};
use crate::draw::{Anchor, Drawing, Length, MM, PAGE_WIDTH, Rect, Sheet, as_length};
use crate::pictures::looks::rule_look;
use crate::run::{Recorded, Summary};
use crate::tables::{BlameRow, BlameRules, BlameTables};
use crate::time::Duration;

/// Names that have a row or column of their own; the rest share one.
const MOST: usize = 12;
const ROW: Length = 6 * MM;
/// A line of text.
const LINE: Length = 7 * MM / 2;
/// Names beside the rows, where columns leave room, and at least.
const NAMES: Length = 42 * MM;
const LEAST_NAMES: Length = 24 * MM;
/// Bars by rule, with their sums.
const BARS: Length = 32 * MM;
const SUMS: Length = 12 * MM;
const WIDEST_CELL: Length = 12 * MM;
/// The colour of the longest time; shorter ones are lighter. Black on it has a contrast of 8 to 1.
const DARKEST: Colour = Colour(0x66, 0xaa, 0xd3);

/// What waited for what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlameMap {
    /// What rows and columns stand for: `stream` or `kernel`.
    pub of: &'static str,
    /// Names of rows and columns, those with the longest times first.
    pub names: Vec<String>,
    /// How many more there are, which share the row and the column behind the last.
    pub others: usize,
    /// Times by rule, by row and by column. The last column stands for nobody (a channel, a latency).
    pub cells: BTreeMap<(usize, usize), BTreeMap<BlameRules, Duration>>,
}

impl BlameMap {
    fn new(of: &'static str, rows: &[BlameRow]) -> Self {
        let mut weights: FxHashMap<&str, Duration> = FxHashMap::default();
        for row in rows {
            for name in std::iter::once(&row.waiting).chain(&row.blocking) {
                let weight = weights.entry(name).or_default();
                *weight = weight.saturating_add(row.wait_ns);
            }
        }
        let mut names: Vec<(&str, Duration)> = weights.into_iter().collect();
        crate::sorted::sort_by_key(&mut names, |(name, weight)| (std::cmp::Reverse(*weight), *name));
        let shown: Vec<&str> = names.iter().take(MOST).map(|(name, _)| *name).collect();
        let place: FxHashMap<&str, usize> = shown.iter().copied().zip(0..).collect();
        let place = |name: &str| place.get(name).copied().unwrap_or(MOST);
        let mut cells: BTreeMap<(usize, usize), BTreeMap<BlameRules, Duration>> = BTreeMap::new();
        for row in rows {
            let column = row.blocking.as_deref().map_or(MOST + 1, place);
            let time = cells.entry((place(&row.waiting), column)).or_default().entry(row.rules).or_default();
            *time = time.saturating_add(row.wait_ns);
        }
        let others = names.len() - shown.len();
        Self { of, names: shown.into_iter().map(str::to_owned).collect(), others, cells }
    }

    /// Everything in it.
    pub(crate) fn total(&self) -> Duration {
        sum(self.cells.values().flat_map(BTreeMap::values))
    }

    /// Rows and columns: those with a name, so that each number has its name beside a row, and what else is used.
    fn used(&self, which: impl Fn(&(usize, usize)) -> usize) -> Vec<usize> {
        (0..self.names.len()).chain(self.cells.keys().map(which)).collect::<BTreeSet<usize>>().into_iter().collect()
    }

    fn name(&self, place: usize) -> String {
        match self.names.get(place) {
            Some(name) => name.clone(),
            None if place == MOST => format!("{} others", self.others),
            None => "nobody".to_owned(),
        }
    }

    /// The number of a row as it stands above its column.
    fn number(&self, place: usize) -> String {
        match place {
            _ if place < self.names.len() => (place + 1).to_string(),
            MOST => "others".to_owned(),
            _ => "nobody".to_owned(),
        }
    }
}

/// The maps of a run by stream, if there are several, and by kernel.
pub(crate) fn blame_maps(tables: &BlameTables) -> Vec<BlameMap> {
    let streams = BlameMap::new("stream", &tables.streams);
    let several = streams.names.len() > 1;
    several.then_some(streams).into_iter().chain([BlameMap::new("kernel", &tables.kernels)]).collect()
}

/// Draws who made whom wait, the same bytes for the same run. What is under the pointer tells whole names and exact
/// times.
pub fn blame_figure(summary: &Summary<'_>, tables: &BlameTables) -> Drawing {
    let mut whole: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Recorded { work: kernel, .. } in summary.launches() {
        whole.entry(&kernel.title).or_default().insert(&kernel.name);
    }
    let mut sheet = Sheet::new();
    let title = format!("Who made whom wait: {}", summary.scenario.name);
    let mut top = sheet.title(&title, PAGE_WIDTH);
    top = legend(&mut sheet, tables, top) + MM;
    for map in blame_maps(tables) {
        top = Picture { sheet: &mut sheet, map: &map, whole: &whole }.draw(top) + 2 * MM;
    }
    sheet.into_drawing(title, PAGE_WIDTH, top)
}

/// What the colours of the bars mean.
fn legend(sheet: &mut Sheet, tables: &BlameTables, top: Length) -> Length {
    let rules: BTreeSet<BlameRules> = tables.streams.iter().map(|row| row.rules).collect();
    let (mut x, mut y) = (Sheet::MARGIN, top);
    for rules in rules {
        let text = rules.in_words();
        let width = 4 * MM + Sheet::small_width(&text) + 3 * MM;
        if x + width > PAGE_WIDTH && x > Sheet::MARGIN {
            (x, y) = (Sheet::MARGIN, y + LINE);
        }
        let mark = Rect { x, y: y + MM / 2, width: 3 * MM, height: LINE - MM };
        sheet.area(mark, Some(fill_of(rules)), Some(Sheet::OUTLINE));
        sheet.small(text, x + 4 * MM, y + LINE / 2, Anchor::Start);
        x += width;
    }
    y + LINE
}

/// The fill of a rule; on the ground of the rule behind it, so that both `G2` and `G2 (E2)` are told.
fn fill_of(rules: BlameRules) -> Fill {
    let own = rule_look(rules.rule).fill;
    let Some(behind) = rules.through.map(|rule| rule_look(rule).fill) else { return own };
    match own.hatch {
        Hatch::Plain => Fill::plain(behind.background),
        hatch => Fill { background: behind.background, hatch, ink: own.ink },
    }
}

struct Picture<'p, 'a> {
    sheet: &'p mut Sheet,
    map: &'p BlameMap,
    /// The names of the functions behind each title.
    whole: &'p BTreeMap<&'a str, BTreeSet<&'a str>>,
}

impl Picture<'_, '_> {
    fn draw(&mut self, top: Length) -> Length {
        let map = self.map;
        let (rows, columns) = (map.used(|cell| cell.0), map.used(|cell| cell.1));
        let text = match map.total() {
            Duration::ZERO => format!("By {}: nothing waited", map.of),
            total => format!("By {}: waiting (rows) for blocking (columns), {total} in all", map.of),
        };
        self.sheet.text(text, Sheet::MARGIN, top + LINE / 2, Anchor::Start);
        // Cells hold their numbers; names have what these leave.
        let count = as_length(columns.len().max(1));
        let numbers = map.cells.values().map(|times| Sheet::label_width(&rounded(sum(times.values()))));
        let needed = numbers.max().unwrap_or(0);
        let both = PAGE_WIDTH - 2 * Sheet::MARGIN - BARS;
        let names = (both - needed * count).clamp(LEAST_NAMES, NAMES);
        let left = Sheet::MARGIN + names;
        let cell = ((both - names) / count).min(WIDEST_CELL);
        let first = top + 2 * LINE;
        for (x, column) in (0..).map(|index| left + index * cell).zip(&columns) {
            let (label, name) = (map.number(*column), self.whole_name(*column));
            self.sheet.explained(name, |sheet| {
                sheet.small(label, x + cell / 2, first - LINE / 2, Anchor::Middle);
            });
        }
        let longest = map.cells.values().map(|times| sum(times.values())).max().unwrap_or_default();
        let row_sum = |row: usize| sum(map.cells.range((row, 0)..(row + 1, 0)).flat_map(|(_, times)| times.values()));
        let longest_row = rows.iter().map(|row| row_sum(*row)).max().unwrap_or_default();
        let names = self.row_names(&rows, left);
        for ((y, row), name) in (0..).map(|index| first + index * ROW).zip(&rows).zip(names) {
            let whole = self.whole_name(*row);
            self.sheet.explained(whole, |sheet| sheet.text(name, left - MM, y + ROW / 2, Anchor::End));
            for (x, column) in (0..).map(|index| left + index * cell).zip(&columns) {
                let area = Rect { x, y, width: cell, height: ROW };
                match map.cells.get(&(*row, *column)) {
                    Some(times) => self.cell((*row, *column), times, longest, &area),
                    None => self.sheet.area(area, None, Some(Sheet::GRID)),
                }
            }
            let bars = left + count * cell + MM;
            self.bars(*row, (row_sum(*row), longest_row), (bars, y));
        }
        first + as_length(rows.len()) * ROW
    }

    /// What rows are called: names with their numbers, shortened to what tells them apart.
    fn row_names(&self, rows: &[usize], left: Length) -> Vec<String> {
        let number = |row: usize| if row < self.map.names.len() { format!("{} ", row + 1) } else { String::new() };
        let widest = rows.iter().map(|&row| Sheet::text_width(&number(row))).max().unwrap_or(0);
        let names: Vec<String> = rows.iter().map(|&row| self.map.name(row)).collect();
        let room = left - Sheet::MARGIN - 2 * MM - widest;
        let fitted = Sheet::fitted_apart(names.iter().map(String::as_str), room);
        rows.iter().zip(fitted).map(|(&row, name)| number(row) + &name).collect()
    }

    fn cell(&mut self, cell: (usize, usize), times: &BTreeMap<BlameRules, Duration>, longest: Duration, area: &Rect) {
        let time = sum(times.values());
        let mut tooltip = format!("{}\nwaited for {}\n{time} in all", self.whole_name(cell.0), self.whole_name(cell.1));
        for (rules, time) in times {
            // Writing to a string cannot fail.
            let _ = write!(tooltip, "\n{time} ({})", rules.in_words());
        }
        let most = times.iter().max_by_key(|(_, time)| **time).map(|(rules, _)| *rules);
        let more = if times.len() > 1 { " +" } else { "" };
        let whole = most.map_or_else(String::new, |rules| format!("{rules}{more}"));
        let short = most.map_or_else(String::new, |rules| format!("{}{more}", rules.rule));
        let fill = Fill::plain(DARKEST.tint(10 + 90 * percent(time, longest) / 100));
        self.sheet.explained(tooltip, |sheet| {
            sheet.area(*area, Some(fill), Some(Sheet::FRAME));
            let half = Rect { height: ROW / 2, ..*area };
            sheet.label(&[&rounded(time)], &half, fill);
            sheet.label(&[&whole, &short], &Rect { y: area.y + ROW / 2, ..half }, fill);
        });
    }

    /// What a row waited, divided by rule.
    fn bars(&mut self, row: usize, (total, longest): (Duration, Duration), (left, y): (Length, Length)) {
        let mut by_rule: BTreeMap<BlameRules, Duration> = BTreeMap::new();
        for (rules, time) in self.map.cells.range((row, 0)..(row + 1, 0)).flat_map(|(_, times)| times) {
            let sum = by_rule.entry(*rules).or_default();
            *sum = sum.saturating_add(*time);
        }
        let room = BARS - SUMS - 2 * MM;
        let x_of = |time: Duration| left + scaled(room, time, longest);
        if total == Duration::ZERO {
            return;
        }
        let mut before = Duration::ZERO;
        for (rules, time) in by_rule {
            let after = before.saturating_add(time);
            // At least as wide as a line, so that nothing is lost from sight.
            let right = x_of(after).max(x_of(before) + Sheet::OUTLINE.width);
            let area = Rect::between(x_of(before), y + MM, right, y + ROW - MM);
            self.sheet.explained(format!("{time} ({})", rules.in_words()), |sheet| {
                sheet.area(area, Some(fill_of(rules)), Some(Sheet::OUTLINE));
            });
            before = after;
        }
        self.sheet.small(rounded(total), x_of(total) + MM / 2, y + ROW / 2, Anchor::Start);
    }

    /// The names of the functions behind a title, or the title.
    fn whole_name(&self, place: usize) -> String {
        let name = self.map.name(place);
        let Some(functions) = self.whole.get(&*name).filter(|_| self.map.of == "kernel") else { return name };
        let listed: Vec<&str> = functions.iter().take(3).copied().collect();
        match functions.len() - listed.len() {
            0 => listed.join("\n"),
            more => format!("{}\nand {more} more functions of this short name", listed.join("\n")),
        }
    }
}

fn sum<'d>(times: impl Iterator<Item = &'d Duration>) -> Duration {
    times.fold(Duration::ZERO, |sum, time| sum.saturating_add(*time))
}

fn scaled(room: Length, time: Duration, longest: Duration) -> Length {
    let share = i128::from(room) * i128::from(time.as_ns()) / i128::from(longest.as_ns().max(1));
    Length::try_from(share).unwrap_or(room)
}

/// The share of `time` in the longest one \[percent\].
fn percent(time: Duration, longest: Duration) -> u16 {
    u16::try_from(scaled(100, time, longest)).unwrap_or(100)
}

/// A time of three digits, for labels: `3.06 s`.
fn rounded(time: Duration) -> String {
    let ns = time.as_ns();
    let digits = ns.checked_ilog10().unwrap_or(0) + 1;
    let unit = 10_u64.pow(digits.saturating_sub(3));
    let nearest = ns.checked_add(unit / 2).map_or(ns, |half_up| half_up / unit * unit);
    Duration::from_ns(nearest).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tables::Behind;
    use crate::trace::Rule;

    #[test]
    fn labels_have_three_digits() {
        let texts = [3_060_108_821, 784_386_020, 999_600_000, 26_843, 7, 0].map(|ns| rounded(Duration::from_ns(ns)));
        assert_eq!(texts, ["3.06 s", "784 ms", "1 s", "26.8 us", "7 ns", "0 s"]);
    }

    #[test]
    fn what_waits_behind_an_event_is_told_from_what_waits_in_its_stream_alone() {
        let rules = |rule, through| BlameRules { rule, through };
        let all = [Rule::G2, Rule::C1].map(|rule| [rules(rule, None), rules(rule, Some(Rule::E2))]);
        let fills: Vec<Fill> = all.iter().flatten().map(|rules| fill_of(*rules)).collect();
        assert!((1..fills.len()).all(|one| !fills[..one].contains(&fills[one])), "{fills:?}");
    }

    #[test]
    fn what_has_no_row_of_its_own_is_counted_among_the_others() {
        let row = |number: usize| BlameRow {
            waiting: format!("W{number}").into(),
            blocking: (number > 0).then(|| format!("B{number}").into()),
            behind: Behind::Others,
            rules: BlameRules { rule: if number.is_multiple_of(2) { Rule::G2 } else { Rule::X1 }, through: None },
            wait_ns: Duration::from_ns(number as u64 + 1),
        };
        let rows: Vec<BlameRow> = (0..40).map(row).collect();
        let map = BlameMap::new("kernel", &rows);
        assert_eq!((map.names.len(), map.others), (MOST, 40 + 39 - MOST));
        assert_eq!(map.total(), Duration::from_ns(40 * 41 / 2));
    }
}
