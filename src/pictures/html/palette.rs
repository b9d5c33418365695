//! The colours and hatches of figures, for a light and a dark page.

use serde::Serialize;

use crate::draw::theme::{Colour, Fill, series_colour, series_fill, turn_fill};
use crate::workload::ProcessId;

/// Fills by number of the kernel's title, see [`KernelSeries`](crate::pictures::kernel_series::KernelSeries); after the
/// last they repeat.
#[derive(Debug, Serialize)]
pub(super) struct Palette {
    light: Vec<PageFill>,
    dark: Vec<PageFill>,
}

#[derive(Debug, Serialize)]
pub(super) struct PageFill {
    background: String,
    hatch: &'static str,
    ink: String,
    /// One colour for areas that are too small for a hatch.
    small: String,
}

/// From this number on they repeat, see [`series_fill`].
const FILLS: usize = 64;

impl Palette {
    pub(super) fn new() -> Self {
        let dark = |index| {
            let Fill { hatch, .. } = series_fill(index);
            Fill { background: series_colour(index).shade(45), hatch, ink: series_colour(index).shade(85) }
        };
        Self {
            light: (0..FILLS).map(|index| PageFill::from(series_fill(index))).collect(),
            dark: (0..FILLS).map(|index| PageFill::from(dark(index))).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
pub(super) struct TurnPalette {
    processes: Vec<PageFill>,
    switch: PageFill,
}

impl TurnPalette {
    pub(super) fn new(processes: impl Iterator<Item = ProcessId>, fill: impl Fn(Fill) -> PageFill) -> Self {
        let of = |process: ProcessId| fill(turn_fill(Some(process.index())));
        Self { processes: processes.map(of).collect(), switch: fill(turn_fill(None)) }
    }
}

impl PageFill {
    /// A grey fill on a dark page: what was light is dark.
    pub(super) fn dark(fill: Fill) -> Self {
        let inverted = |Colour(red, green, blue): Colour| Colour(255 - red, 255 - green, 255 - blue);
        Self::from(Fill { background: inverted(fill.background), ink: inverted(fill.ink), ..fill })
    }
}

impl From<Fill> for PageFill {
    fn from(fill: Fill) -> Self {
        Self {
            background: fill.background.hex(),
            hatch: fill.hatch.name(),
            ink: fill.ink.hex(),
            small: fill.without_hatch().background.hex(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colours_are_those_of_figures() {
        let palette = serde_json::to_value(Palette::new()).unwrap();
        let light = palette["light"].as_array().unwrap();
        for (index, fill) in light.iter().enumerate() {
            assert_eq!(fill["background"], series_fill(index).background.hex());
        }
        assert_eq!((light.len(), palette["dark"].as_array().map(Vec::len)), (64, Some(64)));
    }
}
