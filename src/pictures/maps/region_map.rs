//! Which of two wins over a grid of two parameters: a map of cells, whose boundary is what one looks for.

use crate::draw::theme::{Colour, Fill, Theme, series_fill};
use crate::draw::{Anchor, COLUMN_WIDTH, Drawing, Length, MM, Rect, Sheet, as_length};

/// Height of a cell.
const CELL: Length = 6 * MM;
/// A key in the legend.
const KEY: Length = 4 * MM;
const BESIDE_KEY: Length = MM;
const ROW: Length = 4 * MM;

/// A parameter: its name and the values that the grid has of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scale {
    /// What is varied.
    pub title: String,
    /// Its values, from left to right or from the bottom up.
    pub values: Vec<String>,
}

/// A map of cells over two parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RegionMap {
    /// Above the map.
    pub title: String,
    /// To the right.
    pub x: Scale,
    /// Upwards.
    pub y: Scale,
    /// For each value of `y`, and of `x` in it, which region it belongs to, by its place in `regions` (none: left
    /// white), and what is written there.
    pub cells: Vec<Vec<(Option<usize>, String)>>,
    /// Names of the regions.
    pub regions: Vec<String>,
}

impl RegionMap {
    /// Draws the map, the same bytes for the same data.
    pub(crate) fn draw(&self) -> Drawing {
        let mut sheet = Sheet::new();
        let right = COLUMN_WIDTH - Sheet::MARGIN;
        let mut top = sheet.title(&self.title, COLUMN_WIDTH);
        for (region, name) in self.regions.iter().enumerate() {
            let key = Rect { x: Sheet::MARGIN, y: top + MM / 2, width: KEY, height: ROW - MM };
            sheet.area(key, Some(series_fill(region)), Some(Sheet::OUTLINE));
            sheet.text(Sheet::fitted(name, right - KEY), key.right() + BESIDE_KEY, top + ROW / 2, Anchor::Start);
            top += ROW;
        }
        sheet.text(self.y.title.clone(), Sheet::MARGIN, top + ROW / 2, Anchor::Start);
        top += ROW;
        let widest = self.y.values.iter().map(|value| Sheet::small_width(value)).max().unwrap_or(0);
        let left = Sheet::MARGIN + widest + MM;
        let columns = as_length(self.x.values.len().max(1));
        let edge = |column: usize| left + (right - left) * as_length(column) / columns;
        // The first value of y stands at the bottom.
        for (row, (value, cells)) in self.y.values.iter().zip(&self.cells).rev().enumerate() {
            let y = top + as_length(row) * CELL;
            sheet.small(value.clone(), left - MM / 2, y + CELL / 2, Anchor::End);
            for (column, (region, text)) in cells.iter().enumerate() {
                let area = Rect::between(edge(column), y, edge(column + 1), y + CELL);
                let fill = region.map_or(Fill::plain(Colour::WHITE), series_fill);
                sheet.area(area, Some(fill), Some(Sheet::OUTLINE));
                sheet.label(&[text], &area, fill);
            }
        }
        let bottom = top + as_length(self.y.values.len()) * CELL;
        for (column, value) in self.x.values.iter().enumerate() {
            let middle = edge(column).midpoint(edge(column + 1));
            sheet.small(value.clone(), middle, bottom + MM / 2 + Theme::PAPER.small_size / 2, Anchor::Middle);
        }
        let below = bottom + MM + Theme::PAPER.small_size;
        sheet.text(self.x.title.clone(), left.midpoint(right), below + ROW / 2, Anchor::Middle);
        sheet.into_drawing(self.title.clone(), COLUMN_WIDTH, below + ROW + Sheet::MARGIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_has_its_values_cells_and_regions() {
        let scale = |title: &str, values: [&str; 2]| Scale {
            title: title.to_owned(),
            values: values.map(str::to_owned).to_vec(),
        };
        let map = RegionMap {
            title: "Who wins".to_owned(),
            x: scale("load", ["0.2", "0.4"]),
            y: scale("periods", ["1", "2"]),
            cells: vec![
                vec![(Some(0), "+9".to_owned()), (Some(1), "-8".to_owned())],
                vec![(None, String::new()), (Some(1), "-7".to_owned())],
            ],
            regions: vec!["first".to_owned(), "second".to_owned()],
        };
        let svg = map.draw().to_svg();
        for text in ["Who wins", "load", "periods", "first", "second", ">+9<", ">-8<", ">-7<", ">0.4<"] {
            assert!(svg.contains(text), "{text} is missing");
        }
    }
}
