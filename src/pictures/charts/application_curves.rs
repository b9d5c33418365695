//! Curves over the number of applications.

use crate::draw::{Axis, Chart, DrawError, Drawing, Series};
use crate::experiments::evr::SweepPoint;
use crate::named::named;
use crate::statistics::Statistic;

named! {
    /// What is drawn upwards, by the title of its axis.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Quantity {
        /// Requirements met (Figures 3 and 6).
        Met = "timing requirements met",
        /// Total violation \[s\] (Figure 4).
        Violation = "total violation [s]",
        /// SM utilization \[%\] (Figure 5, bars).
        Utilization = "SM utilization [%]",
        /// Mean of the applications' own powers \[W\] (Figure 5, lines).
        ApplicationPower = "mean power per application [W]",
    }
}

impl Quantity {
    fn of(self, point: &SweepPoint) -> Statistic {
        match self {
            Self::Met => point.met,
            Self::Violation => point.violation_s,
            Self::Utilization => {
                let Statistic { mean, deviation, least, most } = point.utilization;
                Statistic { mean: 100.0 * mean, deviation: 100.0 * deviation, least: 100.0 * least, most: 100.0 * most }
            }
            Self::ApplicationPower => point.application_power_w,
        }
    }
}

/// A picture with one curve for each scheduler; bars show one standard deviation to either side of the mean. Bars of
/// the same number of applications stand beside each other, around their place.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Curves<'a> {
    /// Above the picture.
    pub title: &'a str,
    /// What is counted to the right.
    pub x_title: &'a str,
    /// What is drawn upwards.
    pub quantity: Quantity,
    /// The points, in any order.
    pub points: &'a [SweepPoint],
}

impl Curves<'_> {
    /// The picture.
    ///
    /// # Errors
    /// [`DrawError::Backend`] if plotters cannot draw it.
    pub(crate) fn draw(&self) -> Result<Drawing, DrawError> {
        let value = |point: &SweepPoint| self.quantity.of(point);
        let last = self.points.iter().map(|point| f64::from(point.applications)).fold(1.0, f64::max);
        let highest = self.points.iter().map(|point| value(point).mean + value(point).deviation).fold(1e-3, f64::max);
        let synthetic = self.points.iter().any(|point| point.synthetic);
        let title = format!("{}{}", self.title, if synthetic { " (SYNTHETIC)" } else { "" });
        let mut names: Vec<&str> = Vec::new();
        for point in self.points {
            if !names.contains(&point.scheduler.as_str()) {
                names.push(&point.scheduler);
            }
        }
        let step = self.step();
        let series = names.into_iter().map(|name| {
            let mut own: Vec<&SweepPoint> = self.points.iter().filter(|point| point.scheduler == name).collect();
            crate::sorted::sort_by_key(&mut own, |point| point.applications);
            let points = own.iter().map(|point| (f64::from(point.applications), value(point).mean)).collect();
            let bar = |Statistic { mean, deviation, .. }: Statistic| (mean - deviation, mean + deviation);
            let bars = own.iter().map(|point| bar(value(point))).collect();
            Series { bars, ..Series::new(name, points) }
        });
        let x = Axis { title: self.x_title.to_owned(), range: 0.0..last * 1.03 + step / 4.0 };
        let y = Axis { title: self.quantity.name().to_owned(), range: 0.0..highest * 1.05 };
        Chart::new(title, x, y, series.collect()).with_points().draw()
    }

    /// The smallest distance of two numbers of applications; 0 if there is one only.
    fn step(&self) -> f64 {
        let mut numbers: Vec<u32> = self.points.iter().map(|point| point.applications).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers.windows(2).map(|pair| pair[1] - pair[0]).min().map_or(0.0, f64::from)
    }
}
