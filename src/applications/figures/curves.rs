//! Curves over the number of applications, drawn with plotters.

use plotters::prelude::*;
use thiserror::Error;

use super::points::{Point, Statistic};

/// What is drawn upwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Requirements met (Figures 3 and 6).
    Met,
    /// Total violation \[s\] (Figure 4).
    Violation,
    /// SM utilization \[%\] (Figure 5, bars).
    Utilization,
    /// Mean of the applications' own powers \[W\] (Figure 5, lines).
    ApplicationPower,
    /// Mean power of the board \[W\].
    BoardPower,
}

impl Quantity {
    fn title(self) -> &'static str {
        match self {
            Self::Met => "timing requirements met",
            Self::Violation => "total violation [s]",
            Self::Utilization => "SM utilization [%]",
            Self::ApplicationPower => "mean power per application [W]",
            Self::BoardPower => "mean board power [W]",
        }
    }

    fn of(self, point: &Point) -> Statistic {
        match self {
            Self::Met => point.met,
            Self::Violation => point.violation_s,
            Self::Utilization => {
                let Statistic { mean, deviation, least, most } = point.utilization;
                Statistic { mean: 100.0 * mean, deviation: 100.0 * deviation, least: 100.0 * least, most: 100.0 * most }
            }
            Self::ApplicationPower => point.application_power_w,
            Self::BoardPower => point.mean_power_w,
        }
    }
}

/// A picture with one curve for each scheduler; bars show one standard deviation to either side of the mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Curves<'a> {
    /// Above the picture.
    pub title: &'a str,
    /// What is counted to the right.
    pub x_title: &'a str,
    /// What is drawn upwards.
    pub quantity: Quantity,
    /// The points, in any order.
    pub points: &'a [Point],
}

/// The drawing library gave up.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("cannot draw the curves: {what}")]
pub struct CurveError {
    /// What it said.
    pub what: String,
}

/// Okabe and Ito's colours, which people with colour-vision deficiencies can tell apart.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];

/// Pixels. The backend places everything on whole pixels, so the canvas is large.
const SIZE: (u32, u32) = (1600, 1000);

impl Curves<'_> {
    /// The picture as SVG.
    ///
    /// # Errors
    /// [`CurveError`]
    pub fn svg(&self) -> Result<String, CurveError> {
        let mut text = String::new();
        {
            let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
            self.draw(&area).map_err(|error| CurveError { what: error.to_string() })?;
        }
        Ok(text)
    }

    fn draw<'b>(
        &self,
        area: &DrawingArea<SVGBackend<'b>, plotters::coord::Shift>,
    ) -> Result<(), DrawingAreaErrorKind<<SVGBackend<'b> as DrawingBackend>::ErrorType>> {
        let value = |point: &Point| self.quantity.of(point);
        let last = self.points.iter().map(|point| f64::from(point.applications)).fold(1.0, f64::max);
        let highest = self.points.iter().map(|point| value(point).mean + value(point).deviation).fold(1e-3, f64::max);
        let synthetic = self.points.iter().any(|point| point.synthetic);
        let title = format!("{}{}", self.title, if synthetic { " (SYNTHETIC profiles)" } else { "" });
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 34))
            .margin(24)
            .x_label_area_size(80)
            .y_label_area_size(110)
            .build_cartesian_2d(0.0..last * 1.03, 0.0..highest * 1.05)?;
        chart
            .configure_mesh()
            .light_line_style(TRANSPARENT)
            .label_style(("sans-serif", 26))
            .axis_desc_style(("sans-serif", 28))
            .x_desc(self.x_title)
            .y_desc(self.quantity.title())
            .draw()?;
        let mut names: Vec<&str> = Vec::new();
        for point in self.points {
            if !names.contains(&point.scheduler.as_str()) {
                names.push(&point.scheduler);
            }
        }
        for (name, colour) in names.into_iter().zip(COLOURS.into_iter().cycle()) {
            let mut own: Vec<&Point> = self.points.iter().filter(|point| point.scheduler == name).collect();
            own.sort_by_key(|point| point.applications);
            let at = |point: &&Point| f64::from(point.applications);
            chart
                .draw_series(LineSeries::new(
                    own.iter().map(|point| (at(point), value(point).mean)),
                    colour.stroke_width(4),
                ))?
                .label(name)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 40, y)], colour.stroke_width(4)));
            chart.draw_series(own.iter().map(|point| {
                let Statistic { mean, deviation, .. } = value(point);
                let below = (mean - deviation).max(0.0);
                ErrorBar::new_vertical(at(point), below, mean, mean + deviation, colour.stroke_width(2), 10)
            }))?;
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.85))
            .border_style(BLACK)
            .legend_area_size(60)
            .label_font(("sans-serif", 26))
            .draw()?;
        area.present()
    }
}
