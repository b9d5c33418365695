//! The chunks of a task as a cycle of vertices (RTNS 2020, Figs. 3 and 4).

use crate::draw::theme::{Colour, Fill, Theme};
use crate::draw::{Anchor, Drawing, Length, MM, PAGE_WIDTH, Point, Rect, Shape, Sheet, times};
use crate::tasks::TaskTime;

/// Of one vertex, and the room between two.
const HEIGHT: Length = 9 * MM;
const GAP: Length = 8 * MM;
const HEAD: Length = MM;

/// One chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Vertex {
    /// Its name.
    pub name: String,
    /// Its execution time, for example `3` or `C₁`.
    pub wcet: String,
    /// Its deadline, counted from its start.
    pub deadline: TaskTime,
    /// From its start to that of the next vertex, round the end of the cycle.
    pub to_next: TaskTime,
}

/// Vertices from left to right with (execution time, deadline), and on each edge the time between two starts.
pub(crate) fn chunk_cycle(title: &str, vertices: &[Vertex]) -> Drawing {
    let mut sheet = Sheet::new();
    let top = sheet.title(title, PAGE_WIDTH) + MM;
    let count = times(vertices.len().max(1));
    let width = (PAGE_WIDTH - 2 * Sheet::MARGIN - (count - 1) * GAP) / count;
    let middle = top + HEIGHT / 2;
    let small = Theme::PAPER.small_size;
    let left = |index: usize| Sheet::MARGIN + times(index) * (width + GAP);
    for (index, vertex) in vertices.iter().enumerate() {
        let area = Rect { x: left(index), y: top, width, height: HEIGHT };
        sheet.area(area, Some(Fill::plain(Colour::WHITE)), Some(Sheet::AXIS));
        sheet.text(vertex.name.clone(), area.centre().x, top + HEIGHT * 3 / 10, Anchor::Middle);
        let pair = format!("({}, {})", vertex.wcet, vertex.deadline);
        sheet.text(pair, area.centre().x, top + HEIGHT * 7 / 10, Anchor::Middle);
        if index + 1 < vertices.len() {
            let (from, to) = (area.right(), left(index + 1));
            sheet.line((from, middle), (to, middle), Sheet::AXIS);
            sheet.push(head(Point { x: to, y: middle }, (-HEAD, HEAD / 2), (-HEAD, -HEAD / 2)));
            sheet.small(vertex.to_next.to_string(), from.midpoint(to), middle - small, Anchor::Middle);
        }
    }
    let below = top + HEIGHT + 5 * MM;
    if let Some(last) = vertices.last() {
        let (from, to) = (left(vertices.len() - 1) + width / 2, left(0) + width / 2);
        sheet.line((from, top + HEIGHT), (from, below), Sheet::AXIS);
        sheet.line((from, below), (to, below), Sheet::AXIS);
        sheet.line((to, below), (to, top + HEIGHT), Sheet::AXIS);
        sheet.push(head(Point { x: to, y: top + HEIGHT }, (-HEAD / 2, HEAD), (HEAD / 2, HEAD)));
        sheet.small(last.to_next.to_string(), from.midpoint(to), below - small, Anchor::Middle);
    }
    sheet.into_drawing(title.to_owned(), PAGE_WIDTH, below + MM)
}

/// The point of an arrow, its other two corners relative to its tip.
fn head(tip: Point, one: (Length, Length), other: (Length, Length)) -> Shape {
    let corner = |(x, y): (Length, Length)| Point { x: tip.x + x, y: tip.y + y };
    Shape::Polygon { corners: vec![tip, corner(one), corner(other)], fill: Fill::plain(Colour::BLACK), stroke: None }
}
