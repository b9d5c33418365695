//! Agreement and error of the merged SM, family by family, as an SVG picture.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::analysis::validation::{CampaignReport, FamilyReport};

/// Plotters places things on whole pixels, so the picture is drawn ten times as large as it is meant to be.
const SCALE: i32 = 10;
const WIDTH: i32 = 900;
const ROW: i32 = 26;
const TOP: i32 = 58;
const BOTTOM: i32 = 46;
/// Where the two panels begin and how wide they are.
const SHARES: (i32, i32) = (190, 380);
const ERRORS: (i32, i32) = (620, 250);

const EQUAL: RGBColor = RGBColor(0, 114, 178);
const PESSIMISTIC: RGBColor = RGBColor(180, 180, 180);
const OPTIMISTIC: RGBColor = RGBColor(213, 94, 0);

/// The left panel has the shares of samples on which the analysis is exact, pessimistic and optimistic (unsafe), the
/// right one the largest relative error, and that on the unsafe side.
#[must_use]
pub fn campaign_figure(report: &CampaignReport) -> String {
    let rows = i32::try_from(report.families.len()).unwrap_or(i32::MAX / 1_000);
    let height = TOP + BOTTOM + ROW * rows;
    let mut svg = String::new();
    {
        let size = |length: i32| u32::try_from(length * SCALE).unwrap_or(1);
        let root = SVGBackend::with_string(&mut svg, (size(WIDTH), size(height))).into_drawing_area();
        // Drawing into a string fails only where a text cannot be laid out; the picture then lacks it.
        let _ = root.fill(&WHITE);
        let picture = Picture { root: &root, bottom: TOP + ROW * rows };
        picture.frame(report);
        let most = report.families.iter().map(|family| family.max_error).fold(0.0, f64::max).max(0.01);
        for (row, family) in (0..).zip(&report.families) {
            picture.family(TOP + ROW * row, family, most);
        }
        picture.error_axis(most);
        let _ = root.present();
    }
    // The picture keeps its size on paper whatever the scale of the drawing.
    let (large, small) = (
        format!("width=\"{}\" height=\"{}\"", WIDTH * SCALE, height * SCALE),
        format!("width=\"{WIDTH}\" height=\"{height}\""),
    );
    svg.replacen(&large, &small, 1)
}

struct Picture<'a, 'b> {
    root: &'a DrawingArea<SVGBackend<'b>, plotters::coord::Shift>,
    bottom: i32,
}

impl Picture<'_, '_> {
    fn text(&self, text: &str, (x, y): (i32, i32), at: HPos, size: i32) {
        let style = TextStyle::from(("sans-serif", size * SCALE).into_font()).pos(Pos::new(at, VPos::Center));
        let _ = self.root.draw_text(text, &style, (x * SCALE, y * SCALE));
    }

    fn bar(&self, (left, right): (i32, i32), (top, bottom): (i32, i32), colour: RGBColor) {
        if right > left {
            let corners = [(left, top * SCALE), (right, bottom * SCALE)];
            let _ = self.root.draw(&Rectangle::new(corners, colour.filled()));
        }
    }

    fn line(&self, from: (i32, i32), to: (i32, i32)) {
        let points = [from, to].map(|(x, y)| (x * SCALE, y * SCALE));
        let _ = self.root.draw(&PathElement::new(points, BLACK.mix(0.5).stroke_width(8)));
    }

    fn frame(&self, report: &CampaignReport) {
        let legend = [("equal", EQUAL), ("pessimistic", PESSIMISTIC), ("optimistic (unsafe)", OPTIMISTIC)];
        let mut x = SHARES.0;
        for (name, colour) in legend {
            self.bar((x * SCALE, (x + 12) * SCALE), (14, 26), colour);
            self.text(name, (x + 17, 20), HPos::Left, 12);
            x += 110;
        }
        let what = format!("{}, {} placement, seed {}", report.device, report.placement, report.seed);
        self.text(&what, (ERRORS.0, 20), HPos::Left, 12);
        self.text("share of samples", (SHARES.0, 44), HPos::Left, 12);
        self.text("largest relative error of a kernel's response time", (ERRORS.0, 44), HPos::Left, 12);
        for percent in [0, 25, 50, 75, 100] {
            let x = SHARES.0 + SHARES.1 * percent / 100;
            self.line((x, self.bottom), (x, self.bottom + 5));
            self.text(&format!("{percent} %"), (x, self.bottom + 16), HPos::Center, 11);
        }
        self.line((SHARES.0, self.bottom), (SHARES.0 + SHARES.1, self.bottom));
        self.line((ERRORS.0, self.bottom), (ERRORS.0 + ERRORS.1, self.bottom));
    }

    fn error_axis(&self, most: f64) {
        for quarter in 0..=4 {
            let x = ERRORS.0 + ERRORS.1 * quarter / 4;
            self.line((x, self.bottom), (x, self.bottom + 5));
            let percent = 25.0 * most * f64::from(quarter);
            self.text(&format!("{percent:.0} %"), (x, self.bottom + 16), HPos::Center, 11);
        }
    }

    fn family(&self, top: i32, family: &FamilyReport, most: f64) {
        self.text(family.family, (SHARES.0 - 8, top + ROW / 2), HPos::Right, 12);
        let samples = family.samples.max(1) as f64;
        let mut sum = 0;
        for (count, colour) in
            [(family.equal, EQUAL), (family.pessimistic, PESSIMISTIC), (family.optimistic, OPTIMISTIC)]
        {
            let left = scaled(SHARES, sum as f64 / samples);
            sum += count;
            self.bar((left, scaled(SHARES, sum as f64 / samples)), (top + 4, top + ROW - 4), colour);
        }
        let begin = ERRORS.0 * SCALE;
        self.bar((begin, scaled(ERRORS, family.max_error / most)), (top + 4, top + ROW - 4), PESSIMISTIC);
        let unsafe_side = scaled(ERRORS, family.max_optimistic_error / most);
        self.bar((begin, unsafe_side), (top + 8, top + ROW - 8), OPTIMISTIC);
    }
}

/// A share, 0 to 1, of a panel, on the drawing's scale.
#[expect(clippy::cast_possible_truncation, reason = "a share of a panel's width fits")]
fn scaled((begin, width): (i32, i32), share: f64) -> i32 {
    begin * SCALE + (f64::from(width * SCALE) * share.clamp(0.0, 1.0)).round() as i32
}
