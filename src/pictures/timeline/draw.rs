//! The layout as shapes.

use std::ops::Range;

use super::context::{Context, PALE, fill_of};
use super::options::TimelineOptions;
use super::tooltip::Tooltips;
use super::{
    Arrow, Band, ChainWay, CoreLane, EventArrow, Label, LabelStyle, Lane, LegendEntry, LegendMark, LegendSymbol,
    Occupancy, QueueRow, StreamLane, StreamRow, StreamWaits, TimeShare, Timeline, TurnBand, WaitPart, parts_between,
    pauses, waits,
};
use crate::draw::theme::{self, Colour, Fill, Theme, line_colour};
use crate::draw::{Anchor, Drawing, Length, MM, Point, Rect, Shape, Stroke, Text, font};
use crate::effort::Counted;
use crate::limits::count;
use crate::pictures::rule_look::rule_fill;
use crate::proven::OrMost;
use crate::run::Summary;

const THEME: Theme = Theme::PAPER;
const OUTLINE: Stroke = Stroke { colour: Colour(0x33, 0x33, 0x33), width: THEME.thin_line };
const PALE_OUTLINE: Stroke = Stroke { colour: Colour(0xbb, 0xbb, 0xbb), width: THEME.thin_line };
const FRAME: Stroke = Stroke { colour: Colour::FRAME, width: THEME.thin_line };
const GRID: Stroke = Stroke { colour: Colour::GRID, width: THEME.thin_line };
const AXIS: Stroke = Stroke { colour: Colour::BLACK, width: THEME.line };
/// Narrower boxes are all outline, and get none.
const LEAST_OUTLINED: Length = 4 * THEME.thin_line;
/// Lower boxes show nothing of a hatch: they are plain.
const LEAST_HATCHED: Length = MM / 2;
/// Length of an arrow's head.
const HEAD: Length = 12 * MM / 10;
/// Lower bands are only set apart from one another by a faint line.
const LEAST_FRAMED: Length = 3 * MM;
/// Where the capacity of an overfull SM ends.
const LIMIT: Stroke = Stroke { colour: theme::MARK, width: MM / 3 };
pub(super) const SUBMITTED_OTHERS: Colour = Colour(0x99, 0x99, 0x99);

impl Timeline {
    /// Draws the timeline of the run that it was made from.
    pub fn draw(&self, summary: &Summary<'_>, options: &TimelineOptions) -> Drawing {
        let scale = super::scale::TimeScale { window: self.window.clone(), left: self.plot.x, width: self.plot.width };
        let context = Context::new(summary, options, scale);
        let mut pen = Pen { shapes: Vec::new(), tooltips: Tooltips::new(summary, options.origin), context };
        pen.grid(self);
        for entry in &self.legend {
            pen.legend(entry);
        }
        for lane in &self.cores {
            pen.core_lane(lane);
        }
        if let Some(turns) = &self.turns {
            pen.turns(turns);
        }
        for band in &self.bands {
            pen.band(band);
        }
        for name in &self.across {
            let plate = Fill::plain(fill_of(&pen.context, Some(name.kernel)).background);
            pen.shapes.push(Shape::Box { area: name.label.area, fill: Some(plate), stroke: None });
            pen.label(&name.label);
        }
        for lane in &self.lanes {
            pen.lane(lane);
        }
        if let Some(occupancy) = &self.occupancy {
            pen.occupancy(occupancy);
        }
        for queue in &self.queues {
            pen.queue(queue);
        }
        for lane in &self.stream_lanes {
            pen.stream_lane(lane);
        }
        // Under what is written in the rows.
        for event in &self.events {
            pen.event(event);
        }
        for row in &self.rows {
            pen.row(row);
        }
        if let Some(way) = &self.chain {
            pen.chain(way);
        }
        pen.axis(self);
        for caption in &self.captions {
            pen.label(caption);
        }
        count(Counted::Shapes, pen.shapes.len() as u64);
        Drawing { width: self.width, height: self.height, title: self.name.clone(), shapes: pen.shapes }
    }
}

struct Pen<'a> {
    shapes: Vec<Shape>,
    tooltips: Tooltips<'a>,
    context: Context<'a>,
}

impl Pen<'_> {
    fn line(&mut self, from: (Length, Length), to: (Length, Length), stroke: Stroke) {
        let point = |(x, y)| Point { x, y };
        self.shapes.push(Shape::Line { from: point(from), to: point(to), stroke });
    }

    fn grid(&mut self, timeline: &Timeline) {
        for band in &timeline.bands {
            let fill = Some(Fill::plain(Colour(0xfa, 0xfa, 0xfa)));
            self.shapes.push(Shape::Box { area: band.area, fill, stroke: None });
        }
        for &x in &timeline.tick_places {
            self.line((x, timeline.plot.y), (x, timeline.plot.bottom()), GRID);
        }
    }

    fn axis(&mut self, timeline: &Timeline) {
        let plot = timeline.plot;
        let y = plot.bottom();
        self.line((plot.x, y), (plot.right(), y), AXIS);
        for &x in &timeline.tick_places {
            self.line((x, y), (x, y + Timeline::TICK), AXIS);
        }
        for label in timeline.tick_labels() {
            self.label(&label);
        }
    }

    fn label(&mut self, label: &Label) {
        self.shapes.push(text(label));
    }

    fn legend(&mut self, entry: &LegendEntry) {
        let mark = entry.mark.iter().flat_map(legend_shapes);
        let shapes = mark.chain([text(&entry.label)]).collect();
        self.shapes.push(Shape::Explained { tooltip: entry.full.clone(), shapes });
    }

    fn band(&mut self, band: &Band) {
        for profile in &band.profiles {
            let fill = fill_of(&self.context, profile.kernel);
            let outline = Stroke { width: THEME.thin_line / 2, ..OUTLINE };
            let polygon =
                |corners: &Vec<Point>| Shape::Polygon { corners: corners.clone(), fill, stroke: Some(outline) };
            let mut shapes: Vec<Shape> = profile.outlines.iter().map(polygon).collect();
            shapes.extend(plated(profile.label.as_ref(), fill));
            let tooltip = self.tooltips.profile(&band.name, profile);
            self.shapes.push(Shape::Explained { tooltip, shapes });
        }
        // Lines across pauses are over the blocks of others, and what is written is over these lines.
        let have_pauses = band.blocks.iter().flat_map(|blocks| &blocks.pieces).any(|piece| !piece.pauses.is_empty());
        for blocks in &band.blocks {
            let fill = fill_of(&self.context, Some(blocks.kernel));
            let outline = if fill == PALE { PALE_OUTLINE } else { OUTLINE };
            let mut shapes = Vec::new();
            for piece in &blocks.pieces {
                let small = piece.area.width < LEAST_OUTLINED || piece.area.height < LEAST_HATCHED;
                let fill = if small { fill.without_hatch() } else { fill };
                // In low bands outlines would be most of what is seen.
                let stroke = (!small && band.area.height >= LEAST_FRAMED).then_some(outline);
                let parts = piece.parts().into_iter();
                shapes.extend(parts.map(|part| Shape::Box { area: visible(part), fill: Some(fill), stroke }));
                shapes.extend(plated(piece.label.as_ref().filter(|_| !have_pauses), fill));
            }
            let tooltip = self.tooltips.blocks(&band.name, blocks);
            self.shapes.push(Shape::Explained { tooltip, shapes });
        }
        if have_pauses {
            pauses::across(&self.context, &self.tooltips, band, &mut self.shapes);
            for blocks in &band.blocks {
                let fill = fill_of(&self.context, Some(blocks.kernel));
                let labels = blocks.pieces.iter().map(|piece| piece.label.as_ref());
                self.shapes.extend(labels.flat_map(|label| plated(label, Fill { ink: Colour::BLACK, ..fill })));
            }
        }
        for line in &band.thin {
            let fill = Fill::plain(fill_of(&self.context, Some(line.kernel)).ink);
            let shapes = vec![Shape::Box { area: line.area, fill: Some(fill), stroke: None }];
            self.shapes.push(Shape::Explained { tooltip: self.tooltips.thin(&band.name, line), shapes });
        }
        let frame = if band.area.height < LEAST_FRAMED { GRID } else { FRAME };
        self.shapes.push(Shape::Box { area: band.area, fill: None, stroke: Some(frame) });
        if let Some(limit) = band.limit {
            let tooltip = format!("{}: up to {} of {}", band.name, band.shown, band.capacity);
            let [from, to] = [band.area.x, band.area.right()].map(|x| Point { x, y: limit });
            self.shapes.push(Shape::Explained { tooltip, shapes: vec![Shape::Line { from, to, stroke: LIMIT }] });
        }
        for label in band.label.iter().chain(&band.marks) {
            self.label(label);
        }
    }

    fn share<K>(&mut self, share: &TimeShare<K>, tooltip: String) {
        let polygon =
            |corners: &Vec<Point>| Shape::Polygon { corners: corners.clone(), fill: share.fill, stroke: None };
        let shapes = share.outlines.iter().map(polygon).collect();
        self.shapes.push(Shape::Explained { tooltip, shapes });
    }

    fn turns(&mut self, band: &TurnBand) {
        for share in &band.shares {
            self.share(share, self.tooltips.turn_share(share));
        }
        for turn in &band.boxes {
            let small = turn.area.width < LEAST_OUTLINED;
            let fill = if small { turn.fill.without_hatch() } else { turn.fill };
            let stroke = (!small && turn.process.is_some()).then_some(OUTLINE);
            let mut shapes = vec![Shape::Box { area: visible(turn.area), fill: Some(fill), stroke }];
            shapes.extend(plated(turn.label.as_ref(), fill));
            self.shapes.push(Shape::Explained { tooltip: self.tooltips.turn(turn), shapes });
        }
        self.shapes.push(Shape::Box { area: band.area, fill: None, stroke: Some(GRID) });
        self.label(&band.label);
    }

    fn core_lane(&mut self, lane: &CoreLane) {
        self.shapes.push(Shape::Box { area: lane.area, fill: None, stroke: Some(GRID) });
        for share in &lane.shares {
            self.share(share, self.tooltips.core_share(lane.core, share));
        }
        for one in &lane.boxes {
            let stroke = (one.area.width >= LEAST_OUTLINED).then_some(OUTLINE);
            let fill = if stroke.is_some() { one.fill } else { one.fill.without_hatch() };
            let mut shapes = vec![Shape::Box { area: visible(one.area), fill: Some(fill), stroke }];
            shapes.extend(plated(one.label.as_ref(), fill));
            self.shapes.push(Shape::Explained { tooltip: self.tooltips.on_core(&one.span), shapes });
        }
        self.label(&lane.label);
    }

    fn lane(&mut self, lane: &Lane) {
        let frame = Stroke { colour: Colour::GRID, width: THEME.thin_line };
        self.shapes.push(Shape::Box { area: lane.area, fill: None, stroke: Some(frame) });
        for share in &lane.shares {
            self.share(share, format!("{} copies {}: share of time", share.count, share.of.name()));
        }
        for copy in &lane.copies {
            let stroke = (copy.area.width >= LEAST_OUTLINED).then_some(OUTLINE);
            let fill = if stroke.is_some() { copy.fill } else { Fill::plain(Colour::FRAME) };
            let mut shapes = paused_box(&copy.area, &copy.pauses, fill, stroke);
            shapes.extend(plated(copy.label.as_ref(), copy.fill));
            let tooltip = self.tooltips.copy(copy);
            self.shapes.push(Shape::Explained { tooltip, shapes });
        }
        self.label(&lane.label);
    }

    fn stream_lane(&mut self, lane: &StreamLane) {
        self.shapes.push(Shape::Box { area: lane.area, fill: None, stroke: Some(GRID) });
        for share in &lane.shares {
            self.share(share, self.tooltips.stream_share(&lane.name, share));
        }
        for ran in &lane.boxes {
            let small = ran.count > 1 || ran.area.width < LEAST_OUTLINED;
            let (fill, stroke) = if small { (ran.fill.without_hatch(), None) } else { (ran.fill, Some(OUTLINE)) };
            let mut shapes = paused_box(&ran.area, &ran.pauses, fill, stroke);
            shapes.extend(plated(ran.label.as_ref(), fill));
            self.shapes.push(Shape::Explained { tooltip: self.tooltips.ran(&lane.name, ran), shapes });
        }
        let name = lane.name.clone();
        self.shapes.push(Shape::Explained { tooltip: name, shapes: vec![text(&lane.label)] });
    }

    fn event(&mut self, event: &EventArrow) {
        let tooltip = self.tooltips.event(event);
        let shapes = event_shapes(event.from, event.to, event.held > 0);
        self.shapes.push(Shape::Explained { tooltip, shapes });
    }

    /// A line along each job, and an arrow to the next one.
    fn chain(&mut self, way: &ChainWay) {
        let stroke = Stroke { colour: theme::EVENT, width: 2 * THEME.line };
        let along = way.jobs.iter().map(|&[from, to]| Shape::Line { from, to, stroke });
        let arrows = way.jobs.windows(2).flat_map(|jobs| event_shapes(jobs[0][1], jobs[1][0], true));
        let shapes = along.chain(arrows).collect();
        self.shapes.push(Shape::Explained { tooltip: format!("{}\n{}", way.name, way.path), shapes });
    }

    fn occupancy(&mut self, panel: &Occupancy) {
        self.shapes.push(Shape::Box { area: panel.area, fill: None, stroke: Some(FRAME) });
        for (curve, colour) in panel.curves.iter().zip([Colour::BLACK, line_colour(0), line_colour(1)]) {
            let stroke = Stroke { colour, width: THEME.arrow_line };
            for points in [curve.points.clone(), curve.key.to_vec()] {
                self.shapes.push(Shape::Path { points, stroke, dash: curve.dash });
            }
            self.label(&curve.label);
        }
        for label in panel.marks.iter().chain([&panel.label]) {
            self.label(label);
        }
    }

    /// Heads have strong outlines, what waits behind them has faint ones.
    fn queue(&mut self, queue: &QueueRow) {
        let bottom = queue.area.bottom();
        self.line((queue.area.x, bottom), (queue.area.right(), bottom), GRID);
        let (heads, others): (Vec<_>, Vec<_>) = queue.entries.iter().partition(|entry| entry.position == 0);
        for entry in others.into_iter().chain(heads) {
            let outline = if entry.position == 0 { AXIS } else { PALE_OUTLINE };
            let stroke = (entry.area.width >= LEAST_OUTLINED).then_some(outline);
            let fill = if stroke.is_some() { entry.fill } else { entry.fill.without_hatch() };
            let mut shapes = vec![Shape::Box { area: visible(entry.area), fill: Some(fill), stroke }];
            shapes.extend(plated(entry.label.as_ref(), fill));
            self.shapes.push(Shape::Explained { tooltip: self.tooltips.queued(&queue.name, entry), shapes });
        }
        for label in queue.more.iter().chain([&queue.label]) {
            self.label(label);
        }
    }

    fn row(&mut self, row: &StreamRow) {
        self.line((row.area.x, row.bottom), (row.area.right(), row.bottom), GRID);
        for strip in &row.strips {
            let tooltip = format!("{} launches, {} deadlines that were met", strip.launches, strip.deadlines);
            let shapes =
                vec![Shape::Box { area: visible(strip.area), fill: Some(Fill::plain(SUBMITTED_OTHERS)), stroke: None }];
            self.shapes.push(Shape::Explained { tooltip, shapes });
        }
        for arrow in &row.arrows {
            let mut shapes = arrow_shapes(arrow, &row.area);
            if let Some(label) = &arrow.label {
                shapes.push(text(label));
            }
            let tooltip = self.tooltips.arrow(row, arrow);
            self.shapes.push(Shape::Explained { tooltip, shapes });
        }
        // Misses in front.
        let (missed, met): (Vec<_>, Vec<_>) = row.deadlines.iter().partition(|mark| mark.missed > 0);
        for mark in met.into_iter().chain(missed) {
            let shapes = deadline_shapes(mark.x, mark.head, mark.missed > 0, &row.area);
            self.shapes.push(Shape::Explained { tooltip: mark.explanation.clone(), shapes });
        }
        let name = row.name.clone();
        self.shapes.push(Shape::Explained { tooltip: name, shapes: vec![text(&row.label)] });
        if let Some(waits) = &row.waits {
            self.waits(waits);
        }
    }

    fn waits(&mut self, waits: &StreamWaits) {
        for share in &waits.shares {
            let tooltip = format!("{} waits under {}: how many at once, on average", share.count, share.of);
            self.share(share, tooltip);
        }
        for more in &waits.more {
            let shapes = vec![Shape::Box { area: visible(more.area), fill: Some(PALE), stroke: Some(PALE_OUTLINE) }];
            self.shapes.push(Shape::Explained { tooltip: self.tooltips.more_waits(more), shapes });
        }
        for bar in &waits.bars {
            let part = |part: &WaitPart| {
                let is_small = part.area.width < LEAST_OUTLINED;
                let fill = rule_fill(part.rule);
                let fill = if is_small { Fill::plain(fill.background) } else { fill };
                Shape::Box { area: visible(part.area), fill: Some(fill), stroke: None }
            };
            let mut shapes: Vec<Shape> = bar.parts.iter().map(part).collect();
            shapes.extend(bar.label.as_ref().map(text));
            let tooltip = self.tooltips.waited(bar);
            self.shapes.push(Shape::Explained { tooltip, shapes });
        }
        if let Some(label) = &waits.label {
            self.label(label);
        }
    }
}

/// A label, if there is one; over a hatch on a plate of the background's colour.
fn plated(label: Option<&Label>, fill: Fill) -> impl Iterator<Item = Shape> + use<> {
    let plate = label.filter(|_| fill.ink != fill.background).map(|label| {
        let fill = Some(Fill::plain(fill.background));
        Shape::Box { area: label.area, fill, stroke: None }
    });
    plate.into_iter().chain(label.map(text))
}

/// A box for each part between pauses, with lines over them.
fn paused_box(area: &Rect, pauses: &[Range<Length>], fill: Fill, stroke: Option<Stroke>) -> Vec<Shape> {
    let parts = parts_between(area, pauses).into_iter();
    let boxes = parts.map(|part| Shape::Box { area: visible(part), fill: Some(fill), stroke });
    let lines = pauses.iter().map(|pause| {
        let [from, to] = [pause.start, pause.end].map(|x| Point { x, y: area.centre().y });
        pauses::line(from, to, fill)
    });
    boxes.chain(lines).collect()
}

/// At least as wide and as high as a thin line, so that nothing is lost from sight.
fn visible(area: Rect) -> Rect {
    let (width, height) = (area.width.max(THEME.thin_line), area.height.max(THEME.thin_line));
    Rect { y: area.bottom() - height, width, height, ..area }
}

/// An arrow that points upwards, with a second head if it stands for several operations.
fn arrow_shapes(arrow: &Arrow, row: &Rect) -> Vec<Shape> {
    let colour = if arrow.kernels > 0 { Colour::BLACK } else { SUBMITTED_OTHERS };
    let several = if arrow.kernels > 0 { arrow.kernels > 1 } else { arrow.others > 1 };
    let (x, top) = (arrow.x, row.y + MM / 4);
    let stroke = Stroke { colour, width: THEME.arrow_line };
    let shaft_top = Point { x, y: top + HEAD / 2 };
    let mut shapes = vec![Shape::Line { from: Point { x, y: row.bottom() }, to: shaft_top, stroke }];
    for head in 0..=i64::from(several) {
        let tip = top + head * HEAD * 3 / 4;
        let corner = |x, y| Point { x, y };
        let corners =
            vec![corner(x, tip), corner(x + arrow.head / 2, tip + HEAD), corner(x - arrow.head / 2, tip + HEAD)];
        shapes.push(Shape::Polygon { corners, fill: Fill::plain(colour), stroke: None });
    }
    shapes
}

/// An arrow from an event's record to a wait, grey if the wait had nothing to wait for.
fn event_shapes(from: Point, to: Point, held: bool) -> Vec<Shape> {
    let colour = if held { theme::EVENT } else { SUBMITTED_OTHERS };
    let stroke = Stroke { colour, width: THEME.line };
    // The head points along the arrow: its base is a head's length behind the tip.
    let (dx, dy) = (to.x - from.x, to.y - from.y);
    let length = dx.unsigned_abs().max(dy.unsigned_abs()).max(1);
    let length = Length::try_from(length).or_most();
    let back = |by: Length| Point { x: to.x - dx * by / length, y: to.y - dy * by / length };
    let (base, half) = (back(HEAD * 2 / 3), HEAD / 4);
    let (across_x, across_y) = (-dy * half / length, dx * half / length);
    let corners = vec![
        to,
        Point { x: base.x + across_x, y: base.y + across_y },
        Point { x: base.x - across_x, y: base.y - across_y },
    ];
    vec![Shape::Line { from, to: base, stroke }, Shape::Polygon { corners, fill: Fill::plain(colour), stroke: None }]
}

/// What stands beside a text of the legend.
fn legend_shapes(mark: &LegendMark) -> Vec<Shape> {
    let middle = mark.area.centre();
    let missed = mark.symbol == LegendSymbol::DeadlineMissed;
    match mark.symbol {
        LegendSymbol::Area => {
            let area = Shape::Box { area: mark.area, fill: Some(mark.fill), stroke: Some(OUTLINE) };
            let number = mark.repeat.map(|number| number_in(&mark.area, number));
            std::iter::once(area).chain(plated(number.as_ref(), mark.fill)).collect()
        }
        LegendSymbol::Thin => {
            let area = Rect { y: middle.y - MM / 8, height: MM / 4, ..mark.area };
            vec![Shape::Box { area, fill: Some(Fill::plain(mark.fill.ink)), stroke: None }]
        }
        LegendSymbol::Capacity => {
            let [from, to] = [mark.area.x, mark.area.right()].map(|x| Point { x, y: middle.y });
            vec![Shape::Line { from, to, stroke: LIMIT }]
        }
        LegendSymbol::Event => {
            let [from, to] = [mark.area.x, mark.area.right()].map(|x| Point { x, y: middle.y });
            event_shapes(from, to, true)
        }
        LegendSymbol::Launch | LegendSymbol::Submission => {
            let kernels = u64::from(mark.symbol == LegendSymbol::Launch);
            let (operations, others) = (Vec::new(), 1 - kernels);
            let arrow = Arrow { x: middle.x, head: HEAD, operations, kernels, others, label: None };
            arrow_shapes(&arrow, &mark.area)
        }
        LegendSymbol::Wait => {
            let area = Rect { y: middle.y - waits::BAR / 2, height: waits::BAR, ..mark.area };
            let stroke = (mark.fill == PALE).then_some(PALE_OUTLINE);
            vec![Shape::Box { area, fill: Some(mark.fill), stroke }]
        }
        LegendSymbol::Pause => {
            let [from, to] = [mark.area.x, mark.area.right()].map(|x| Point { x, y: middle.y });
            vec![pauses::line(from, to, mark.fill)]
        }
        LegendSymbol::Nothing => Vec::new(),
        LegendSymbol::Deadline | LegendSymbol::DeadlineMissed => deadline_shapes(middle.x, HEAD, missed, &mark.area),
    }
}

/// A number in the middle of a mark, which is hardly higher.
fn number_in(mark: &Rect, number: usize) -> Label {
    let (text, size) = (number.to_string(), THEME.small_size);
    let width = font::width(&text, size, false) + size / 4;
    let area = Rect { x: mark.centre().x - width / 2, y: mark.centre().y - size / 2, width, height: size };
    Label { text, area, anchor: Anchor::Middle, size, style: LabelStyle::Normal }
}

/// An arrow that points downwards, as deadlines are drawn where arrows upwards are releases: with an open head, or
/// filled and crossed out if the deadline was missed.
fn deadline_shapes(x: Length, head: Length, missed: bool, row: &Rect) -> Vec<Shape> {
    let colour = if missed { theme::MARK } else { Colour::BLACK };
    let stroke = Stroke { colour, width: THEME.arrow_line };
    let (top, tip) = (row.y + MM / 4, row.bottom());
    let point = |x, y| Point { x, y };
    let mut shapes = vec![Shape::Line { from: point(x, top), to: point(x, tip - HEAD), stroke }];
    let corners = vec![point(x, tip), point(x + head / 2, tip - HEAD), point(x - head / 2, tip - HEAD)];
    let fill = Fill::plain(if missed { colour } else { Colour::WHITE });
    shapes.push(Shape::Polygon { corners, fill, stroke: Some(Stroke { colour, width: THEME.thin_line }) });
    if missed {
        let (middle, reach) = ((top + tip - HEAD) / 2, head / 2);
        for slope in [-1, 1] {
            let [from, to] = [-1, 1].map(|side| point(x + side * reach, middle + side * slope * reach));
            shapes.push(Shape::Line { from, to, stroke });
        }
    }
    shapes
}

fn text(label: &Label) -> Shape {
    let middle = label.area.centre();
    let drop = Theme::baseline(label.size);
    let upwards = label.style == LabelStyle::QuietUpwards;
    let at = if upwards {
        Point { x: middle.x + drop, y: middle.y }
    } else {
        let x = match label.anchor {
            Anchor::Start => label.area.x,
            Anchor::Middle => middle.x,
            Anchor::End => label.area.x + label.area.width,
        };
        Point { x, y: middle.y + drop }
    };
    let colour = match label.style {
        LabelStyle::Normal | LabelStyle::Bold => Colour::BLACK,
        LabelStyle::Quiet | LabelStyle::QuietUpwards => Colour::GREY_TEXT,
    };
    Shape::Text(Text {
        text: label.text.clone(),
        at,
        anchor: label.anchor,
        size: label.size,
        colour,
        bold: label.style == LabelStyle::Bold,
        upwards,
    })
}
