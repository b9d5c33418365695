//! What every part of the layout needs.

use rustc_hash::{FxHashMap, FxHashSet};

use super::budget::Budget;
use super::options::TimelineOptions;
use super::scale::TimeScale;
use super::{Label, LabelStyle};
use crate::device::BlockDemand;
use crate::draw::theme::{Colour, Fill, series_fill, series_repeat};
use crate::draw::{Anchor, Length, MM, Rect, font};
use crate::pictures::kernel_series::KernelSeries;
use crate::run::Summary;
use crate::time::Instant;
use crate::workload::{CheckedKernel, Kernel, KernelId};

/// Between the edge of the paper and what is drawn.
pub(super) const MARGIN: Length = MM / 2;
/// Between names and the plot.
pub(super) const BESIDE_PLOT: Length = 13 * MM / 10;

/// How kernels look that are not among those asked for.
pub(super) const PALE: Fill = Fill::plain(Colour(0xee, 0xee, 0xee));

/// The run, what to show of it, and the scale of time.
pub(super) struct Context<'a> {
    pub(super) summary: Summary<'a>,
    pub(super) options: &'a TimelineOptions,
    pub(super) scale: TimeScale,
    /// What kernels are called in the figure, by [`KernelId`].
    short_names: Vec<&'a str>,
    series: KernelSeries,
    first_of_series: Vec<KernelId>,
    pub(super) budget: Budget,
    /// Where the steps of means begin, if turns of contexts are too many and too short to be shown one by one.
    pub(super) rounds: Option<Vec<Instant>>,
}

impl<'a> Context<'a> {
    pub(super) fn new(summary: &Summary<'a>, options: &'a TimelineOptions, scale: TimeScale) -> Self {
        let kernels = summary.trace.kernels();
        let series = KernelSeries::new(kernels);
        let mut first_of_series = vec![KernelId(u32::MAX); kernels.len()];
        for id in (0..).map(KernelId).take(kernels.len()) {
            let first = &mut first_of_series[series.of(id)];
            *first = id.min(*first);
        }
        let short_names = short_names(kernels);
        let (budget, rounds) = (Budget::GENEROUS, None);
        Self { summary: *summary, options, scale, short_names, series, first_of_series, budget, rounds }
    }

    /// The number of a kernel's title: all kernels of one title look alike.
    pub(super) fn series(&self, id: KernelId) -> usize {
        self.series.of(id)
    }

    pub(super) fn first_of(&self, series: usize) -> KernelId {
        self.first_of_series.get(series).copied().unwrap_or(KernelId(u32::MAX))
    }

    /// What a kernel is called where there is little room: its title without a remark in brackets, unless another
    /// kernel would have the same name then.
    pub(super) fn short_name(&self, id: KernelId) -> &'a str {
        self.short_names.get(id.index()).copied().unwrap_or_default()
    }

    /// What tells the areas of a kernel from those with its hatch, see [`series_repeat`].
    pub(super) fn repeat(&self, id: KernelId) -> Option<String> {
        series_repeat(self.series(id)).filter(|_| self.is_chosen(id)).map(|number| number.to_string())
    }

    pub(super) fn kernel(&self, id: KernelId) -> Option<&'a Kernel> {
        self.summary.trace.kernels().get(id.index()).map(|kernel| &**kernel)
    }

    /// What one block of a kernel takes of the resource shown, and what an SM has of it.
    pub(super) fn units(&self, kernel: &Kernel) -> u32 {
        let device = self.summary.scenario.device();
        // Kernels that fit no SM never got into a scenario.
        BlockDemand::new(&kernel.shape, device).map_or(0, |demand| self.options.height_by.of_block(&demand, device))
    }

    pub(super) fn capacity(&self) -> u32 {
        self.options.height_by.of_sm(self.summary.scenario.device()).max(1)
    }

    /// Whether a kernel is one of those asked for.
    pub(super) fn is_chosen(&self, id: KernelId) -> bool {
        let Some(only) = &self.options.only else { return true };
        self.kernel(id).is_some_and(|kernel| only.iter().any(|title| **title == *kernel.title))
    }
}

fn short_names(kernels: &[CheckedKernel]) -> Vec<&str> {
    let mut titles: FxHashMap<&str, FxHashSet<&str>> = FxHashMap::default();
    for kernel in kernels {
        titles.entry(short(&kernel.title)).or_default().insert(&kernel.title);
    }
    let unique = |short: &str| titles.get(short).is_some_and(|titles| titles.len() == 1);
    kernels
        .iter()
        .map(|kernel| Some(short(&kernel.title)).filter(|name| unique(name)).unwrap_or(&kernel.title))
        .collect()
}

/// A name without the remark in brackets at its end, as `K1` of `K1 (low priority)`.
pub(super) fn short(name: &str) -> &str {
    match name.find(" (") {
        Some(end) if end > 0 && name.ends_with(')') => &name[..end],
        _ => name,
    }
}

pub(super) fn fill_of(context: &Context<'_>, kernel: Option<KernelId>) -> Fill {
    match kernel {
        Some(id) if context.is_chosen(id) => series_fill(context.series(id)),
        _ => PALE,
    }
}

/// The first of some texts that fits into the middle of `room` with some space around it.
pub(super) fn centred(texts: &[String], room: &Rect, size: Length) -> Option<Label> {
    let (beside, above) = (size / 8, size / 10);
    texts.iter().find_map(|text| {
        let width = font::width(text, size, false) + beside * 2;
        let fits = !text.is_empty() && width <= room.width && size + above * 2 <= room.height;
        let height = size + above * 2;
        let (x, y) = (room.x + (room.width - width) / 2, room.y + (room.height - height) / 2);
        let area = Rect { x, y, width, height };
        fits.then(|| Label { text: text.clone(), area, anchor: Anchor::Middle, size, style: LabelStyle::Normal })
    })
}

/// A text that ends at `right`, in the middle between `top` and `bottom`.
pub(super) fn ending_at(text: String, right: Length, middle: Length, size: Length, style: LabelStyle) -> Label {
    let width = font::width(&text, size, style == LabelStyle::Bold);
    let area = Rect { x: right - width, y: middle - size / 2, width, height: size };
    Label { text, area, anchor: Anchor::End, size, style }
}

/// A text that begins at `left`.
pub(super) fn starting_at(text: String, left: Length, middle: Length, size: Length, style: LabelStyle) -> Label {
    let width = font::width(&text, size, style == LabelStyle::Bold);
    let area = Rect { x: left, y: middle - size / 2, width, height: size };
    Label { text, area, anchor: Anchor::Start, size, style }
}
