//! What colours and hatches mean, and where the entries that say so stand: whole, as many side by side as there is room
//! for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use super::context::{Context, Entry, LEGEND_ROW, MOST_LEGEND_ROWS, PALE, fill_of, starting_at};
use super::plan::Plan;
use super::rows::Deadlines;
use super::{LabelStyle, LegendEntry, LegendMark, LegendSymbol, StreamRow, engine_lanes};
use crate::draw::theme::{Fill, Theme};
use crate::draw::{Length, MM, Rect, as_length, font, theme};
use crate::pictures::looks::{copy_fill, direction_name, is_launch_known};
use crate::pictures::timeline_model::HeightBy;
use crate::run::Recorded;
use crate::workload::{CheckedKernel, KernelId, OperationKind};

/// Shapes of a kernel that are told by their ranges, rather than counted, take at most so many characters.
const LONGEST_RANGES: usize = 16;
const MARK: (Length, Length) = (3 * MM + MM / 2, 2 * MM + MM / 5);
const BESIDE_MARK: Length = 7 * MM / 10;

impl Entry {
    fn full(&self) -> String {
        format!("{}{}", self.name, self.rest)
    }

    /// What stands before the text.
    fn lead(&self) -> Length {
        if self.mark.is_some() { MARK.0 + BESIDE_MARK } else { 0 }
    }
}

/// The legend, the titles of the kernels that it names or counts, its rows, and where it ends.
pub(super) struct Legend {
    pub(super) entries: Vec<LegendEntry>,
    pub(super) titles: Vec<String>,
    pub(super) rows: usize,
    pub(super) bottom: Length,
}

/// The legend between `left` and `right`, below `top`. `others` are entries of other parts. All entries are whole where
/// there are rows enough; only where there are not, names are abbreviated to half of the width, and what has no room
/// even then is counted.
pub(super) fn legend(
    context: &Context<'_>,
    (deadlines, streams): (&Deadlines, &[StreamRow]),
    plan: Option<&Plan>,
    others: Vec<Entry>,
    (left, right): (Length, Length),
    top: Length,
) -> Legend {
    let (kernels, more) = kernels(context, deadlines);
    let mut entries = more;
    entries.extend(plan.and_then(overfull));
    entries.extend(others);
    entries.extend(deadlines.legend(streams));
    entries.extend(units(context, &kernels));
    entries.extend(repeats(&kernels));
    entries.retain(|entry| !context.options.known_entries.contains(&entry.full()));

    let named: Vec<Entry> = kernels.iter().map(|kernel| kernel.entry(context)).collect();
    let titles = named.iter().map(|entry| entry.name.clone()).collect();
    let (entries, places) = arranged(context, kernels.into_iter().zip(named).collect(), entries, right - left);
    let texts = texts(&entries, &places);
    let rows = rows(&places);
    let placed = entries.iter().zip(places).zip(texts).map(|((entry, place), text)| {
        let (x, y) = (left + place.x, top + LEGEND_ROW * as_length(place.row));
        let style = if entry.mark.is_some() { LabelStyle::Normal } else { LabelStyle::Quiet };
        let label = starting_at(text, x + entry.lead(), y + LEGEND_ROW / 2, Theme::PAPER.text_size, style);
        let mark = entry.mark.map(|(fill, symbol)| LegendMark {
            fill,
            symbol,
            repeat: entry.repeat,
            area: Rect { x, y: y + (LEGEND_ROW - MARK.1) / 2, width: MARK.0, height: MARK.1 },
        });
        LegendEntry { mark, label, full: entry.full() }
    });
    let bottom = top + LEGEND_ROW * as_length(rows);
    Legend { entries: placed.collect(), titles, rows, bottom }
}

/// Which entries there are, and where: kernels before the `others`.
fn arranged(
    context: &Context<'_>,
    mut kernels: Vec<(Named, Entry)>,
    others: Vec<Entry>,
    room: Length,
) -> (Vec<Entry>, Vec<Place>) {
    kernels.retain(|(_, entry)| !context.options.known_entries.contains(&entry.name));
    let width = |entry: &Entry| entry.lead() + font::width(&entry.full(), Theme::PAPER.text_size, false);
    let widths: Vec<Length> = kernels.iter().map(|(_, entry)| entry).chain(&others).map(width).collect();
    // However long a name is, two of them fit side by side.
    let column = (widths.iter().max().copied().unwrap_or(0) + BETWEEN).min(room / 2);
    let columns = columns_of(column, room);
    // What misses a deadline is not left out for want of rows.
    let needed = others.len() + kernels.iter().filter(|(kernel, _)| kernel.misses).count() + 1;
    let least = needed.div_ceil(columns).min(MOST_LEGEND_ROWS);
    let most = context.budget.legend_rows.max(least);
    let places = whole(&widths, room);
    if rows(&places) <= most {
        return (kernels.into_iter().map(|(_, entry)| entry).chain(others).collect(), places);
    }
    let left = (columns * most).saturating_sub(others.len()).max(1);
    let (kernels, more) = chosen(kernels, left);
    let entries: Vec<Entry> = kernels.into_iter().map(|(_, entry)| entry).chain(more).chain(others).collect();
    let widths: Vec<Length> = entries.iter().map(width).collect();
    let places = whole(&widths, room);
    if rows(&places) <= most {
        return (entries, places);
    }
    let places = alike(entries.len(), column, room);
    (entries, places)
}

/// What is written of each entry: all of it, unless it has less room.
fn texts(entries: &[Entry], places: &[Place]) -> Vec<String> {
    let size = Theme::PAPER.text_size;
    let rooms: Vec<Length> = entries.iter().zip(places).map(|(entry, place)| place.room - entry.lead()).collect();
    let names: Vec<(&str, Length)> = entries
        .iter()
        .zip(&rooms)
        .map(|(entry, room)| {
            // Widths are rounded up: together the two may fit where one after the other does not.
            let rest = room - font::width(&entry.rest, size, false);
            let is_whole = font::width(&entry.full(), size, false) <= *room;
            (entry.name.as_str(), if is_whole { rest.max(font::width(&entry.name, size, false)) } else { rest })
        })
        .collect();
    let short = font::shortened_apart(&names, size);
    let text = |((entry, room), name): ((&Entry, &Length), String)| {
        let full = entry.full();
        let fits = |text: &&String| font::width(text, size, false) <= *room;
        let fitting = std::iter::once(&full).chain(&entry.shorter).find(fits);
        if let Some(fitting) = fitting.filter(|_| !entry.shorter.is_empty()) {
            fitting.clone()
        } else if name.is_empty() {
            font::shortened(&full, size, false, *room)
        } else {
            format!("{name}{}", entry.rest)
        }
    };
    entries.iter().zip(&rooms).zip(short).map(text).collect()
}

/// At most `room` kernels in their order, with how many more there are: those that miss deadlines, then those that take
/// most.
fn chosen(mut kernels: Vec<(Named, Entry)>, room: usize) -> (Vec<(Named, Entry)>, Option<Entry>) {
    if kernels.len() <= room {
        return (kernels, None);
    }
    crate::sorted::sort_by_key(&mut kernels, |(kernel, _)| {
        (!kernel.misses, std::cmp::Reverse(kernel.amount), kernel.series)
    });
    let left_out = kernels.split_off(room.saturating_sub(1).max(1));
    crate::sorted::sort_by_key(&mut kernels, |(kernel, _)| kernel.place);
    let late = left_out.iter().filter(|(kernel, _)| kernel.misses).count();
    let late = if late > 0 { format!(", {late} of them late") } else { String::new() };
    let more = (!left_out.is_empty()).then(|| Entry::remark(format!("and {} more kernels{late}", left_out.len())));
    (kernels, more)
}

/// All kernels of one title of which something is in the window.
struct Named {
    series: usize,
    first: KernelId,
    /// Its place in the legend: that of its first kernel.
    place: usize,
    /// Blocks, and what one takes of the resource shown and of shared memory.
    shapes: BTreeSet<[u32; 3]>,
    /// What they take, times how long \[units x ns\].
    amount: u128,
    /// Whether a job that launches one of them misses its deadline.
    misses: bool,
}

impl Named {
    /// The least and the greatest of something in all shapes.
    fn extremes(&self, of: impl Fn(&[u32; 3]) -> u32) -> (u32, u32) {
        let values = || self.shapes.iter().map(&of);
        (values().min().unwrap_or(0), values().max().unwrap_or(0))
    }

    fn shared_memory(&self) -> (u32, u32) {
        self.extremes(|[.., shared_memory]| *shared_memory)
    }

    fn entry(&self, context: &Context<'_>) -> Entry {
        let bytes = |bytes: u32| HeightBy::SharedMemory.amount(bytes);
        let (units, shared_memory) = (self.extremes(|[_, units, _]| *units), self.shared_memory());
        let amount = match (context.options.height_by, units) {
            (HeightBy::SharedMemory | HeightBy::Registers, (0, 0)) => "none".to_owned(),
            (HeightBy::SharedMemory, _) => range(shared_memory, bytes),
            (HeightBy::Threads | HeightBy::Registers, units) => range(units, |units| units),
        };
        let held = shared_memory.1 > 0 && shows_shared_memory(context);
        let shared = if held { format!(", {}", range(shared_memory, bytes)) } else { String::new() };
        let blocks = range(self.extremes(|[blocks, ..]| *blocks), |blocks| blocks);
        let symbol = if units.1 == 0 { LegendSymbol::Thin } else { LegendSymbol::Area };
        let name = context.kernel(self.first).map_or("", |kernel| &kernel.title);
        let mut rest = format!(" ({blocks} × {amount}{shared})");
        if self.shapes.len() > 1 && rest.chars().count() > LONGEST_RANGES {
            rest = format!(" ({} shapes)", self.shapes.len());
        }
        let repeat = theme::series_repeat(self.series).filter(|_| symbol == LegendSymbol::Area);
        Entry { rest, repeat, ..Entry::new(fill_of(context, Some(self.first)), symbol, name) }
    }
}

/// One value, or the least and the greatest of several.
fn range<T: Display>((least, most): (u32, u32), text: impl Fn(u32) -> T) -> String {
    if least == most { text(least).to_string() } else { format!("{}–{}", text(least), text(most)) }
}

/// The kernels that are seen and asked for, by their first launch, and entries for other kernels and copies.
fn kernels(context: &Context<'_>, deadlines: &Deadlines) -> (Vec<Named>, Vec<Entry>) {
    let (late, _) = deadlines.missed(context.summary.scenario);
    let mut named: BTreeMap<usize, Named> = BTreeMap::new();
    let mut others = false;
    for Recorded { record, work: kernel, .. } in context.summary.launches() {
        let OperationKind::Kernel(id) = record.kind else { continue };
        let end = record.finish().unwrap_or_else(|| record.launched().max(context.scale.window.end));
        if !is_launch_known(context.summary.trace, record) || !context.scale.shows(record.launched(), end) {
            continue;
        }
        if !context.is_chosen(id) {
            others = true;
            continue;
        }
        let units = context.units(kernel);
        let duration = u128::from(kernel.duration.worst.as_ns());
        let amount = u128::from(units) * u128::from(kernel.blocks) * duration;
        let series = context.series(id);
        let shown = shown_units(context, kernel);
        let none = Named { series, first: id, place: 0, shapes: BTreeSet::new(), amount: 0, misses: false };
        let entry = named.entry(series).or_insert(none);
        entry.misses |= late.contains(&id);
        entry.shapes.insert([kernel.blocks, shown, kernel.shape.shared_memory_bytes]);
        entry.first = entry.first.min(id);
        entry.amount = entry.amount.saturating_add(amount);
    }
    let mut kernels: Vec<Named> = named.into_values().collect();
    crate::sorted::sort_by_key(&mut kernels, |kernel| kernel.first);
    for (place, kernel) in kernels.iter_mut().enumerate() {
        kernel.place = place;
    }
    let mut entries = Vec::new();
    if others {
        entries.push(Entry::new(PALE, LegendSymbol::Area, "other kernels"));
    }
    for direction in engine_lanes::directions(context) {
        let text = format!("copy {}", direction_name(direction));
        entries.push(Entry::new(copy_fill(direction), LegendSymbol::Area, text));
    }
    (kernels, entries)
}

/// What one block takes as the legend tells it: threads as launched, the others as allocated.
fn shown_units(context: &Context<'_>, kernel: &CheckedKernel) -> u32 {
    match context.options.height_by {
        HeightBy::Threads => kernel.shape.threads,
        HeightBy::SharedMemory | HeightBy::Registers => context.units(kernel),
    }
}

/// SMs on which more ran than fits.
fn overfull(plan: &Plan) -> Option<Entry> {
    let own: usize = plan.bands.iter().filter(|band| band.overfull.is_some()).map(|band| band.sms.len()).sum();
    let in_means = plan.bands.iter().map(|band| match band.look {
        super::BandLook::Mean { overfull } => overfull,
        _ => 0,
    });
    let count = own + in_means.sum::<usize>();
    let sms = if count == 1 { "1 SM".to_owned() } else { format!("{count} SMs") };
    let text = format!("capacity, exceeded on {sms}");
    (count > 0).then(|| Entry::new(Fill::plain(theme::MARK), LegendSymbol::Capacity, text))
}

/// What the numbers of kernels mean.
fn units(context: &Context<'_>, kernels: &[Named]) -> Option<Entry> {
    let held = shows_shared_memory(context) && kernels.iter().any(|kernel| kernel.shared_memory().1 > 0);
    let shared = if held { ", shared memory" } else { "" };
    let text = format!("(blocks × {}{shared})", context.options.height_by.name());
    (!kernels.is_empty()).then(|| Entry::remark(text))
}

/// What the numbers in areas mean.
fn repeats(kernels: &[Named]) -> Option<Entry> {
    let numbers: BTreeSet<usize> = kernels.iter().filter_map(|kernel| theme::series_repeat(kernel.series)).collect();
    let (least, most) = (*numbers.first()?, *numbers.last()?);
    let numbers = range((u32::try_from(least).ok()?, u32::try_from(most).ok()?), |number| number);
    Some(Entry::remark(format!("({numbers}: hatch used again)")))
}

/// Whether a panel is about more than the resource that the height of blocks stands for.
fn shows_shared_memory(context: &Context<'_>) -> bool {
    let options = context.options;
    (options.queues || options.occupancy) && options.height_by != HeightBy::SharedMemory
}

/// The place of one entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) row: usize,
    /// From the left edge of the legend.
    pub(super) x: Length,
    /// How wide it may be.
    pub(super) room: Length,
}

/// Between entries side by side.
pub(super) const BETWEEN: Length = 2 * crate::draw::MM;
const MOST_COLUMNS: usize = 12;

/// Entries of some widths, all whole: down columns as wide as their widest entry, so that neighbours stay below one
/// another, or where these leave much free, one after another in lines. Only what is wider than a line is not whole: it
/// has a line of its own.
pub(super) fn whole(widths: &[Length], room: Length) -> Vec<Place> {
    let lines = in_lines(widths, room);
    let columns = (2..=widths.len().min(MOST_COLUMNS)).rev().find_map(|columns| in_columns(widths, columns, room));
    columns.filter(|columns| rows(columns) * 2 <= rows(&lines) * 3).unwrap_or(lines)
}

/// `count` entries down columns of one width, which may not hold them whole.
pub(super) fn alike(count: usize, column: Length, room: Length) -> Vec<Place> {
    let rows = count.div_ceil(columns_of(column, room)).max(1);
    let place =
        |number: usize| Place { row: number % rows, x: column * as_length(number / rows), room: column - BETWEEN };
    (0..count).map(place).collect()
}

/// How many columns of one width there is room for.
pub(super) fn columns_of(column: Length, room: Length) -> usize {
    usize::try_from((room + BETWEEN) / column.max(1)).unwrap_or(1).max(1)
}

pub(super) fn rows(places: &[Place]) -> usize {
    places.iter().map(|place| place.row + 1).max().unwrap_or(0)
}

fn in_columns(widths: &[Length], columns: usize, room: Length) -> Option<Vec<Place>> {
    let rows = widths.len().div_ceil(columns);
    let mut places = Vec::with_capacity(widths.len());
    let mut x = 0;
    for column in widths.chunks(rows) {
        let widest = column.iter().copied().max().unwrap_or(0);
        places.extend((0..column.len()).map(|row| Place { row, x, room: widest }));
        x += widest + BETWEEN;
    }
    (x - BETWEEN <= room).then_some(places)
}

fn in_lines(widths: &[Length], room: Length) -> Vec<Place> {
    let (mut row, mut x) = (0, 0);
    let place = |width: &Length| {
        if x > 0 && x + width > room {
            (row, x) = (row + 1, 0);
        }
        let place = Place { row, x, room: room - x };
        x += width + BETWEEN;
        place
    };
    widths.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(places: &[Place]) -> Vec<(usize, Length)> {
        places.iter().map(|place| (place.row, place.x)).collect()
    }

    #[test]
    fn columns_are_as_wide_as_what_is_in_them() {
        // 30 + 2 + 10 fit into 42, where two columns of the widest would not.
        let places = whole(&[3_000, 1_000, 900, 800], 4_200);
        assert_eq!(at(&places), [(0, 0), (1, 0), (0, 3_200), (1, 3_200)]);
    }

    #[test]
    fn one_long_entry_takes_a_line_and_leaves_the_others_side_by_side() {
        let places = whole(&[1_000, 5_900, 1_000, 1_000, 1_000], 6_000);
        assert_eq!(at(&places), [(0, 0), (1, 0), (2, 0), (2, 1_200), (2, 2_400)]);
        // Wider than any line: from its beginning to the edge.
        assert_eq!(whole(&[500, 9_000], 6_000)[1], Place { row: 1, x: 0, room: 6_000 });
    }

    #[test]
    fn nothing_takes_no_row() {
        assert_eq!((rows(&whole(&[], 1_000)), rows(&alike(0, 500, 1_000))), (0, 0));
    }
}
