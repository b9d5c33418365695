//! Draws a layout: each of its parts as shapes, with what viewers say of it under the pointer.

use std::ops::Range;

use super::context::PALE;
use super::options::TimelineOptions;
use super::shapes::{
    PALE_OUTLINE, SUBMITTED_OTHERS, arrow_shapes, deadline_shapes, event_shapes, legend_shapes, pause_lines,
    paused_box, plated, text, visible,
};
use super::tooltip::Tooltips;
use super::{
    Band, ChainWay, CoreLane, EventArrow, Label, Lane, LegendEntry, Occupancy, QueueRow, StreamLane, StreamRow,
    StreamWaits, TimeShare, Timeline, TurnBand, WaitPart,
};
use crate::draw::theme::{Colour, Fill, Theme};
use crate::draw::{Drawing, Length, MM, Point, Rect, Shape, Sheet, Stroke, theme};
use crate::pictures::looks::waiting_fill;
use crate::run::Summary;

const THEME: Theme = Theme::PAPER;
/// Lower boxes show nothing of a hatch: they are plain.
const LEAST_HATCHED: Length = MM / 2;
/// Lower bands are only set apart from one another by a faint line.
const LEAST_FRAMED: Length = 3 * MM;

impl Timeline {
    /// Draws the timeline of the run that it was made from.
    pub fn draw(&self, summary: &Summary<'_>, options: &TimelineOptions) -> Drawing {
        let mut pen = Pen { sheet: Sheet::new(), tooltips: Tooltips::new(summary, options.origin) };
        pen.grid(self);
        self.legend.iter().for_each(|entry| pen.legend(entry));
        self.cores.iter().for_each(|lane| pen.core_lane(lane));
        self.turns.iter().for_each(|band| pen.turns(band));
        self.bands.iter().for_each(|band| pen.band(band));
        for name in &self.across {
            pen.sheet.area(name.label.area, Some(name.plate), None);
            pen.sheet.push(text(&name.label));
        }
        self.lanes.iter().for_each(|lane| pen.lane(lane));
        self.occupancy.iter().for_each(|panel| pen.occupancy(panel));
        self.queues.iter().for_each(|queue| pen.queue(queue));
        self.stream_lanes.iter().for_each(|lane| pen.stream_lane(lane));
        // Under what is written in the rows.
        self.events.iter().for_each(|event| pen.event(event));
        self.rows.iter().for_each(|row| pen.row(row));
        self.chain.iter().for_each(|way| pen.chain(way));
        pen.axis(self);
        self.captions.iter().for_each(|caption| pen.sheet.push(text(caption)));
        pen.sheet.into_drawing(self.name.clone(), self.width, self.height)
    }
}

struct Pen<'a> {
    sheet: Sheet,
    tooltips: Tooltips<'a>,
}

impl<'a> Pen<'a> {
    fn explained(&mut self, tooltip: String, shapes: Vec<Shape>) {
        self.sheet.push(Shape::Explained { tooltip, shapes });
    }

    /// A box with what is written on it, interrupted where it pauses. A narrow one has neither outline nor hatch.
    fn lane_box(
        &mut self,
        (area, pauses): (&Rect, &[Range<Length>]),
        (fill, outline): (Fill, Option<Stroke>),
        label: Option<&Label>,
        tooltip: String,
    ) {
        let is_narrow = area.width < Sheet::LEAST_OUTLINED;
        let fill = if is_narrow { fill.without_hatch() } else { fill };
        let mut shapes = paused_box(area, pauses, fill, outline.filter(|_| !is_narrow));
        shapes.extend(plated(label, fill));
        self.explained(tooltip, shapes);
    }

    fn grid(&mut self, timeline: &Timeline) {
        for band in &timeline.bands {
            self.sheet.area(band.area, Some(Fill::plain(Colour(0xfa, 0xfa, 0xfa))), None);
        }
        for &x in &timeline.tick_places {
            self.sheet.line((x, timeline.plot.y), (x, timeline.plot.bottom()), Sheet::GRID);
        }
    }

    fn axis(&mut self, timeline: &Timeline) {
        let plot = timeline.plot;
        let y = plot.bottom();
        self.sheet.line((plot.x, y), (plot.right(), y), Sheet::AXIS);
        for &x in &timeline.tick_places {
            self.sheet.line((x, y), (x, y + Sheet::TICK), Sheet::AXIS);
        }
        timeline.tick_labels().for_each(|label| self.sheet.push(text(&label)));
    }

    fn legend(&mut self, entry: &LegendEntry) {
        let mark = entry.mark.iter().flat_map(legend_shapes);
        let shapes = mark.chain([text(&entry.label)]).collect();
        self.explained(entry.full.clone(), shapes);
    }

    fn band(&mut self, band: &Band) {
        for profile in &band.profiles {
            let outline = Stroke { width: THEME.thin_line / 2, ..Sheet::OUTLINE };
            let mut shapes = polygons(&profile.outlines, profile.fill, Some(outline));
            shapes.extend(plated(profile.label.as_ref(), profile.fill));
            self.explained(self.tooltips.profile(&band.name, profile), shapes);
        }
        // Lines across pauses are over the blocks of others, and what is written is over these lines.
        let have_pauses = band.blocks.iter().flat_map(|blocks| &blocks.pieces).any(|piece| !piece.pauses.is_empty());
        for blocks in &band.blocks {
            let fill = blocks.fill;
            let outline = if fill == PALE { PALE_OUTLINE } else { Sheet::OUTLINE };
            let mut shapes = Vec::new();
            for piece in &blocks.pieces {
                let small = piece.area.width < Sheet::LEAST_OUTLINED || piece.area.height < LEAST_HATCHED;
                let fill = if small { fill.without_hatch() } else { fill };
                // In low bands outlines would be most of what is seen.
                let stroke = (!small && band.area.height >= LEAST_FRAMED).then_some(outline);
                let parts = piece.parts().into_iter();
                shapes.extend(parts.map(|part| Shape::Box { area: visible(part), fill: Some(fill), stroke }));
                let waiting = waiting_fill(blocks.fill);
                let waiting = if small { Fill::plain(waiting.background) } else { waiting };
                let stands = piece.stands.iter();
                shapes.extend(stands.map(|part| Shape::Box { area: visible(*part), fill: Some(waiting), stroke }));
                shapes.extend(plated(piece.label.as_ref().filter(|_| !have_pauses), fill));
            }
            let tooltip = self.tooltips.blocks(&band.name, blocks);
            self.explained(tooltip, shapes);
        }
        if have_pauses {
            self.pauses(band);
            for blocks in &band.blocks {
                let labels = blocks.pieces.iter().map(|piece| piece.label.as_ref());
                let shapes = labels.flat_map(|label| plated(label, Fill { ink: Colour::BLACK, ..blocks.fill }));
                shapes.for_each(|shape| self.sheet.push(shape));
            }
        }
        for line in &band.thin {
            let shapes = vec![Shape::Box { area: line.area, fill: Some(line.fill), stroke: None }];
            self.explained(self.tooltips.thin(&band.name, line), shapes);
        }
        let frame = if band.area.height < LEAST_FRAMED { Sheet::GRID } else { Sheet::FRAME };
        self.sheet.area(band.area, None, Some(frame));
        if let Some(limit) = band.limit {
            let [from, to] = [band.area.x, band.area.right()].map(|x| Point { x, y: limit });
            self.explained(Tooltips::limit(band), vec![Shape::Line { from, to, stroke: Sheet::MARK }]);
        }
        band.label.iter().chain(&band.marks).for_each(|label| self.sheet.push(text(label)));
    }

    /// Lines across the pauses of all blocks of a band (T4), over the blocks of other contexts that run meanwhile.
    fn pauses(&mut self, band: &Band) {
        for blocks in &band.blocks {
            for piece in blocks.pieces.iter().filter(|piece| !piece.pauses.is_empty()) {
                let lines = pause_lines(&piece.pauses, piece.pause_line, blocks.fill);
                self.explained(self.tooltips.pauses(&band.name, blocks), lines.collect());
            }
        }
    }

    fn shares<K>(&mut self, shares: &[TimeShare<K>], told: impl Fn(&Tooltips<'a>, &TimeShare<K>) -> String) {
        for share in shares {
            self.explained(told(&self.tooltips, share), polygons(&share.outlines, share.fill, None));
        }
    }

    fn turns(&mut self, band: &TurnBand) {
        self.shares(&band.shares, Tooltips::turn_share);
        for turn in &band.boxes {
            let look = (turn.fill, turn.process.map(|_| Sheet::OUTLINE));
            self.lane_box((&turn.area, &[]), look, turn.label.as_ref(), self.tooltips.turn(turn));
        }
        self.sheet.area(band.area, None, Some(Sheet::GRID));
        self.sheet.push(text(&band.label));
    }

    fn core_lane(&mut self, lane: &CoreLane) {
        self.sheet.area(lane.area, None, Some(Sheet::GRID));
        self.shares(&lane.shares, |tooltips, share| tooltips.core_share(lane.core, share));
        for one in &lane.boxes {
            let tooltip = self.tooltips.on_core(&one.span);
            self.lane_box((&one.area, &[]), (one.fill, Some(Sheet::OUTLINE)), one.label.as_ref(), tooltip);
        }
        self.sheet.push(text(&lane.label));
    }

    fn lane(&mut self, lane: &Lane) {
        self.sheet.area(lane.area, None, Some(Sheet::GRID));
        self.shares(&lane.shares, |_, share| Tooltips::copy_share(share));
        for copy in &lane.copies {
            let (tooltip, look) = (self.tooltips.copy(copy), (copy.fill, Some(Sheet::OUTLINE)));
            self.lane_box((&copy.area, &copy.pauses), look, copy.label.as_ref(), tooltip);
        }
        self.sheet.push(text(&lane.label));
    }

    fn stream_lane(&mut self, lane: &StreamLane) {
        self.sheet.area(lane.area, None, Some(Sheet::GRID));
        self.shares(&lane.shares, |tooltips, share| tooltips.stream_share(&lane.name, share));
        for ran in &lane.boxes {
            let tooltip = self.tooltips.ran(&lane.name, ran);
            let look = (ran.fill, (ran.count == 1).then_some(Sheet::OUTLINE));
            self.lane_box((&ran.area, &ran.pauses), look, ran.label.as_ref(), tooltip);
        }
        self.explained(lane.name.clone(), vec![text(&lane.label)]);
    }

    fn event(&mut self, event: &EventArrow) {
        let shapes = event_shapes(event.from, event.to, event.held > 0);
        self.explained(self.tooltips.event(event), shapes);
    }

    /// A line along each job, and an arrow to the next one.
    fn chain(&mut self, way: &ChainWay) {
        let stroke = Stroke { colour: theme::EVENT, width: 2 * THEME.line };
        let along = way.jobs.iter().map(|&[from, to]| Shape::Line { from, to, stroke });
        let arrows = way.jobs.windows(2).flat_map(|jobs| event_shapes(jobs[0][1], jobs[1][0], true));
        self.explained(format!("{}\n{}", way.name, way.path), along.chain(arrows).collect());
    }

    fn occupancy(&mut self, panel: &Occupancy) {
        self.sheet.area(panel.area, None, Some(Sheet::FRAME));
        for curve in &panel.curves {
            for points in [curve.points.clone(), curve.key.to_vec()] {
                self.sheet.push(Shape::Path { points, stroke: curve.stroke, dash: curve.dash });
            }
            self.sheet.push(text(&curve.label));
        }
        panel.marks.iter().chain([&panel.label]).for_each(|label| self.sheet.push(text(label)));
    }

    /// Heads have strong outlines, what waits behind them has faint ones.
    fn queue(&mut self, queue: &QueueRow) {
        let bottom = queue.area.bottom();
        self.sheet.line((queue.area.x, bottom), (queue.area.right(), bottom), Sheet::GRID);
        let (heads, others): (Vec<_>, Vec<_>) = queue.entries.iter().partition(|entry| entry.position == 0);
        for entry in others.into_iter().chain(heads) {
            let outline = if entry.position == 0 { Sheet::AXIS } else { PALE_OUTLINE };
            let tooltip = self.tooltips.queued(&queue.name, entry);
            self.lane_box((&entry.area, &[]), (entry.fill, Some(outline)), entry.label.as_ref(), tooltip);
        }
        queue.more.iter().chain([&queue.label]).for_each(|label| self.sheet.push(text(label)));
    }

    fn row(&mut self, row: &StreamRow) {
        self.sheet.line((row.area.x, row.bottom), (row.area.right(), row.bottom), Sheet::GRID);
        for strip in &row.strips {
            let fill = Some(Fill::plain(SUBMITTED_OTHERS));
            self.explained(Tooltips::strip(strip), vec![Shape::Box { area: visible(strip.area), fill, stroke: None }]);
        }
        for arrow in &row.arrows {
            let mut shapes = arrow_shapes(arrow, &row.area);
            shapes.extend(arrow.label.as_ref().map(text));
            self.explained(self.tooltips.arrow(row, arrow), shapes);
        }
        // Misses in front.
        let (missed, met): (Vec<_>, Vec<_>) = row.deadlines.iter().partition(|mark| mark.missed > 0);
        for mark in met.into_iter().chain(missed) {
            let shapes = deadline_shapes(mark.x, mark.head, mark.missed > 0, &row.area);
            self.explained(mark.explanation.clone(), shapes);
        }
        self.explained(row.name.clone(), vec![text(&row.label)]);
        row.waits.iter().for_each(|waits| self.waits(waits));
    }

    fn waits(&mut self, waits: &StreamWaits) {
        self.shares(&waits.shares, |_, share| Tooltips::wait_share(share));
        for more in &waits.more {
            let shapes = vec![Shape::Box { area: visible(more.area), fill: Some(PALE), stroke: Some(PALE_OUTLINE) }];
            self.explained(self.tooltips.more_waits(more), shapes);
        }
        for bar in &waits.bars {
            let part = |part: &WaitPart| Shape::Box { area: visible(part.area), fill: Some(part.fill), stroke: None };
            let shapes = bar.parts.iter().map(part).chain(bar.label.as_ref().map(text)).collect();
            let tooltip = self.tooltips.waited(bar);
            self.explained(tooltip, shapes);
        }
        waits.label.iter().for_each(|label| self.sheet.push(text(label)));
    }
}

fn polygons(outlines: &[Vec<Point>], fill: Fill, stroke: Option<Stroke>) -> Vec<Shape> {
    outlines.iter().map(|corners| Shape::Polygon { corners: corners.clone(), fill, stroke }).collect()
}
