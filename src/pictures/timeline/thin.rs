//! Blocks that take none of the resource shown: thin lines below the band.

use std::collections::BTreeMap;

use super::context::Context;
use super::{ThinLine, items};
use crate::draw::{Length, MM, Rect, as_length};
use crate::run::Recorded;
use crate::time::Instant;
use crate::workload::{KernelId, OperationKind};

const LINE: Length = MM / 4;
/// From one line to the next.
pub(super) const STEP: Length = 4 * MM / 10;

/// One line in the making, without its place: the row below the band is kept apart.
#[derive(Debug, Clone)]
pub(super) struct BlockLine {
    kernel: KernelId,
    count: u64,
    start: Instant,
    end: Instant,
    row: usize,
}

/// The lines of each SM, and how many rows they need at most.
pub(super) fn spans(context: &Context<'_>, sms: usize) -> (Vec<Vec<BlockLine>>, usize) {
    let mut by_sm: Vec<BTreeMap<KernelId, Vec<BlockLine>>> = vec![BTreeMap::new(); sms];
    for Recorded { id: operation, record, work: kernel } in context.summary.launches() {
        let OperationKind::Kernel(id) = record.kind else { continue };
        if context.units(kernel) > 0 {
            continue;
        }
        for run in items::runs(context, operation) {
            let Some(spans) = by_sm.get_mut(usize::from(run.first.sm)) else { continue };
            let span = BlockLine { kernel: id, count: run.blocks(), start: run.first.start, end: run.end(), row: 0 };
            spans.entry(id).or_default().push(span);
        }
    }
    let by_sm: Vec<Vec<BlockLine>> = by_sm.into_iter().map(|spans| in_rows(context, spans)).collect();
    let rows = by_sm.iter().flatten().map(|span| span.row + 1).max().unwrap_or(0);
    (by_sm, rows)
}

/// Joins what touches on paper, and gives each line the first row in which it meets no other.
fn in_rows(context: &Context<'_>, spans: BTreeMap<KernelId, Vec<BlockLine>>) -> Vec<BlockLine> {
    let mut lines: Vec<BlockLine> = Vec::new();
    for (_, mut spans) in spans {
        crate::sorted::sort_by_key(&mut spans, |span| span.start);
        let first = lines.len();
        for span in spans {
            match lines[first..].last_mut() {
                Some(last) if context.scale.x(span.start) <= context.scale.x(last.end) => {
                    last.end = last.end.max(span.end);
                    last.count += span.count;
                }
                _ => lines.push(span),
            }
        }
    }
    crate::sorted::sort_by_key(&mut lines, |span| (span.start, span.kernel));
    let mut row_ends: Vec<Instant> = Vec::new();
    for span in &mut lines {
        let row = row_ends.iter().position(|end| *end <= span.start).unwrap_or(row_ends.len());
        row_ends.resize(row_ends.len().max(row + 1), Instant::ZERO);
        row_ends[row] = span.end;
        span.row = row;
    }
    lines
}

/// Puts the lines of one SM below its band.
pub(super) fn placed(context: &Context<'_>, spans: &[BlockLine], band: &Rect) -> Vec<ThinLine> {
    let line = |span: &BlockLine| {
        let (left, right) = (context.scale.x(span.start), context.scale.x(span.end));
        let row = as_length(span.row);
        let y = band.bottom() + STEP * row + (STEP - LINE);
        let area = Rect { x: left, y, width: right - left, height: LINE };
        ThinLine { kernel: span.kernel, count: span.count, time: span.start..span.end, area }
    };
    spans.iter().map(line).collect()
}
