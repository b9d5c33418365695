//! Where the entries of a legend stand: whole, as many side by side as there is room for.

use crate::draw::{Length, times};

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
    let place = |number: usize| Place { row: number % rows, x: column * times(number / rows), room: column - BETWEEN };
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
