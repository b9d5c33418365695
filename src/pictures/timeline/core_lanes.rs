//! Cores that hosts share, as lanes above the GPU: who has each of them when.

use super::context::{BESIDE_PLOT, Context, PALE, centred, ending_at};
use super::crowd;
use super::legend_entry::Other;
use super::shares::{self, Had};
use super::{CoreBox, CoreLane, LabelStyle, LegendSymbol};
use crate::draw::theme::{Fill, Theme, share_fill};
use crate::draw::{Length, MM, Rect};
use crate::run::CoreSpan;

const HEIGHT: Length = 5 * MM;
/// Between it and what is below.
const GAP: Length = MM / 2;
/// Hosts that the legend names.
const MOST_NAMED: usize = 6;

/// What is seen of the cores, by core.
fn seen<'a>(context: &'a Context<'_>) -> impl Iterator<Item = &'a CoreSpan> {
    context.summary.cores.iter().filter(|span| context.scale.shows(span.start, span.end))
}

/// What cores are called beside the plot.
fn name(core: u32) -> String {
    format!("core {core}")
}

/// How the work of a host looks; while it spins it is paler.
fn fill_of(span: &CoreSpan) -> Fill {
    let fill = share_fill(span.thread as usize);
    if span.spins { Fill::plain(fill.background.tint(70)) } else { fill }
}

/// The lanes below `top`, and where they end.
pub(super) fn lanes(context: &Context<'_>, top: Length) -> (Vec<CoreLane>, Length) {
    let mut bottom = top;
    let mut lanes: Vec<CoreLane> = Vec::new();
    let spans: Vec<CoreSpan> = seen(context).copied().collect();
    for own in spans.chunk_by(|one, other| one.core == other.core) {
        let area = Rect { x: context.scale.left, y: bottom, width: context.scale.width, height: HEIGHT };
        bottom = area.bottom() + GAP;
        let core = own.first().map_or(0, |span| span.core);
        let size = Theme::PAPER.text_size;
        let label = ending_at(name(core), area.x - BESIDE_PLOT, area.centre().y, size, LabelStyle::Normal);
        let times = || own.iter().map(|span| span.start..span.end);
        let (boxes, shares) = if crowd::are_dense(&context.scale, times()) {
            let had = own.iter().map(|span| Had { what: span.thread, count: 1, time: span.start..span.end });
            (Vec::new(), shares::stacked(context, &area, Some(1), had, |thread| share_fill(thread as usize)).0)
        } else {
            (own.iter().map(|span| core_box(context, span, &area)).collect(), Vec::new())
        };
        lanes.push(CoreLane { core, label, area, boxes, shares });
    }
    (lanes, bottom)
}

fn core_box(context: &Context<'_>, span: &CoreSpan, lane: &Rect) -> CoreBox {
    let left = context.scale.x(span.start.max(context.scale.window.start));
    let area = Rect { x: left, width: context.scale.x(span.end) - left, ..*lane };
    let label = centred(&[context.host(span.thread).to_owned()], &area, Theme::PAPER.small_size);
    CoreBox { span: *span, fill: fill_of(span), area, label }
}

/// What the boxes mean.
pub(super) fn legend(context: &Context<'_>) -> Vec<Other> {
    let mut threads: Vec<u32> = seen(context).map(|span| span.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    let named = |thread: &u32| {
        let text = format!("{} on its core", context.host(*thread));
        Other::new(share_fill(*thread as usize), LegendSymbol::Area, text)
    };
    let mut entries: Vec<Other> = threads.iter().take(MOST_NAMED).map(named).collect();
    if let Some(rest) = threads.len().checked_sub(MOST_NAMED).filter(|rest| *rest > 0) {
        let shorter = vec![format!("and {rest} more")];
        let text = format!("and {rest} more hosts on cores");
        entries.push(Other { shorter, ..Other::new(PALE, LegendSymbol::Nothing, text) });
    }
    if seen(context).any(|span| span.spins) {
        entries.push(Other::new(PALE, LegendSymbol::Nothing, "paler: spins".to_owned()));
    }
    entries
}

impl Context<'_> {
    /// What a host thread is called.
    fn host(&self, thread: u32) -> &str {
        self.summary.scenario.threads.get(thread as usize).map_or("", |thread| &thread.label)
    }
}
