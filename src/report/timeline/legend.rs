//! What colours and hatches mean.

use super::context::{Context, PALE, fill_of, starting_at};
use super::deadlines::Deadlines;
use super::options::HeightBy;
use super::{LabelStyle, LegendEntry, LegendMark, LegendSymbol, copies};
use crate::draw::theme::{Fill, Theme};
use crate::draw::{Length, MM, Rect, font};
use crate::workload::{KernelId, OperationKind};

/// Kernels that the legend names; it says how many more there are.
const MOST_KERNELS: usize = 40;
const MARK: (Length, Length) = (3 * MM + MM / 2, 2 * MM + MM / 5);
const BESIDE_MARK: Length = 7 * MM / 10;
const BETWEEN: Length = 2 * MM;
const ROW: Length = 3 * MM + MM / 5;

/// The legend between `left` and `right`, below `top`, and where it ends.
pub(super) fn legend(
    context: &Context<'_>,
    deadlines: &Deadlines,
    left: Length,
    right: Length,
    top: Length,
) -> (Vec<LegendEntry>, Length) {
    let size = Theme::PAPER.text_size;
    let entries = entries(context, deadlines);
    let lead = |mark: &Option<(Fill, LegendSymbol)>| if mark.is_some() { MARK.0 + BESIDE_MARK } else { 0 };
    let widest = entries.iter().map(|(mark, text)| lead(mark) + font::width(text, size, false)).max().unwrap_or(0);
    // However long a name is, two of them fit side by side.
    let column = (widest + BETWEEN).min((right - left) / 2);
    let columns = usize::try_from((right - left + BETWEEN) / column.max(1)).unwrap_or(1).max(1);
    let rows = entries.len().div_ceil(columns);
    let mut placed = Vec::new();
    for (number, (mark, full)) in entries.into_iter().enumerate() {
        // Down the columns, so that kernels stay in order.
        let (row, column_number) = (number % rows, number / rows);
        let x = left + column * Length::try_from(column_number).unwrap_or(0);
        let y = top + ROW * Length::try_from(row).unwrap_or(0);
        let room = column - BETWEEN - lead(&mark);
        let text = font::truncated(&full, size, false, room);
        let style = if mark.is_some() { LabelStyle::Normal } else { LabelStyle::Quiet };
        let label = starting_at(text, x + lead(&mark), y + ROW / 2, size, style);
        let mark = mark.map(|(fill, symbol)| LegendMark {
            fill,
            symbol,
            area: Rect { x, y: y + (ROW - MARK.1) / 2, width: MARK.0, height: MARK.1 },
        });
        placed.push(LegendEntry { mark, label, full });
    }
    (placed, top + ROW * Length::try_from(rows).unwrap_or(0))
}

/// Marks and texts: the kernels that are seen, other kernels, copies, deadlines, what the kernels' numbers mean.
fn entries(context: &Context<'_>, deadlines: &Deadlines) -> Vec<(Option<(Fill, LegendSymbol)>, String)> {
    let seen = kernels_seen(context);
    let chosen: Vec<KernelId> = seen.iter().copied().filter(|id| context.is_chosen(*id)).collect();
    let mut entries = Vec::new();
    for id in chosen.iter().take(MOST_KERNELS) {
        let Some(kernel) = context.kernel(*id) else { continue };
        let amount = match context.options.height_by {
            HeightBy::Threads => kernel.shape.threads.to_string(),
            _ if context.units(kernel) == 0 => "none".to_owned(),
            HeightBy::SharedMemory => copies::bytes(u64::from(kernel.shape.shared_memory_bytes)),
            HeightBy::Registers => context.units(kernel).to_string(),
        };
        let symbol = if context.units(kernel) == 0 { LegendSymbol::Thin } else { LegendSymbol::Area };
        let mark = (fill_of(context, Some(*id)), symbol);
        let shared = match kernel.shape.shared_memory_bytes {
            held if held > 0 && shows_shared_memory(context) => format!(", {}", copies::bytes(u64::from(held))),
            _ => String::new(),
        };
        entries.push((Some(mark), format!("{} ({} × {amount}{shared})", kernel.title, kernel.blocks)));
    }
    if chosen.len() > MOST_KERNELS {
        entries.push((None, format!("and {} more kernels", chosen.len() - MOST_KERNELS)));
    }
    if chosen.len() < seen.len() {
        entries.push((Some((PALE, LegendSymbol::Area)), "other kernels".to_owned()));
    }
    for direction in copies::directions(context) {
        let text = format!("copy {}", copies::short_name(direction));
        entries.push((Some((copies::fill_of(direction), LegendSymbol::Area)), text));
    }
    entries.extend(deadlines.legend().into_iter().map(|(symbol, text)| (Some((PALE, symbol)), text)));
    if !chosen.is_empty() {
        let seen = chosen.iter().filter_map(|id| context.kernel(*id));
        let shared = shows_shared_memory(context) && seen.map(|kernel| kernel.shape.shared_memory_bytes).any(|b| b > 0);
        let shared = if shared { ", shared memory" } else { "" };
        entries.push((None, format!("(blocks × {}{shared})", context.options.height_by.name())));
    }
    entries
}

/// Whether a panel is about more than the resource that the height of blocks stands for.
fn shows_shared_memory(context: &Context<'_>) -> bool {
    let options = context.options;
    (options.queues || options.occupancy) && options.height_by != HeightBy::SharedMemory
}

/// Kernels of which something is in the window, in their order.
fn kernels_seen(context: &Context<'_>) -> Vec<KernelId> {
    let launches = context.summary.launches().filter_map(|(_, record, _)| match record.kind {
        OperationKind::Kernel(id) => {
            let end = record.finish().unwrap_or(context.scale.window.end);
            context.scale.shows(record.launched(), end).then_some(id)
        }
        _ => None,
    });
    let mut kernels: Vec<KernelId> = launches.collect();
    kernels.sort_unstable();
    kernels.dedup();
    kernels
}
