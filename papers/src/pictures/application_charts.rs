//! Experiments with applications that share the GPU: curves over their number, and a map of which scheduler meets most
//! requirements by what applications are like, one panel for each number of applications per period.

use std::collections::BTreeSet;

use crate::draw::theme::{Colour, Fill, Hatch, series_colour};
use crate::draw::{Anchor, Axis, Chart, DrawError, Drawing, Length, MM, PAGE_WIDTH, Rect, Series, Sheet, as_length};
use crate::experiments::evr::SweepPoint;
use crate::experiments::study::{Study, StudyError, StudySummary};
use crate::hosts::Scheduler;
use crate::named::named;
use crate::statistics::Statistic;
use crate::tables::measure;

named! {
    /// What is drawn upwards, by the title of its axis.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Quantity {
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
pub struct Curves<'a> {
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
    #[doc(hidden)]
    pub fn draw(&self) -> Result<Drawing, DrawError> {
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
        let numbers: BTreeSet<u32> = self.points.iter().map(|point| point.applications).collect();
        numbers.iter().zip(numbers.iter().skip(1)).map(|(one, next)| next - one).min().map_or(0.0, f64::from)
    }
}

const PANELS_IN_A_ROW: usize = 3;
const CELL_HEIGHT: Length = 5 * MM;
/// Left of a panel, for the values of tightness.
const LEFT: Length = 11 * MM;
const BETWEEN: Length = 2 * MM;
const LINE: Length = 4 * MM;
/// A sample of a fill in the legend.
const KEY: Length = 6 * MM;

/// The requirements met under each scheduler at one place of the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct RegionCell {
    /// Applications injected per period.
    pub per_period: u32,
    /// SMs that an application fills.
    pub saturation_sms: u32,
    /// The requirement as a share of the execution time \[percent\].
    pub tightness_percent: u32,
    /// How many, by scheduler.
    pub met: Vec<RegionMean>,
}

/// The requirements that are met under one scheduler.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegionMean {
    /// Who schedules.
    pub scheduler: Scheduler,
    /// The mean.
    pub mean: f64,
    /// Half of its 95 % confidence interval.
    pub half: f64,
}

impl RegionCell {
    /// The scheduler with the highest mean and all others whose 95 % confidence intervals do not tell them from it:
    /// means differ by no more than the root of the sum of the squared halves.
    #[doc(hidden)]
    pub fn best(&self) -> Vec<Scheduler> {
        let Some(most) = self.met.iter().max_by(|one, other| one.mean.total_cmp(&other.mean)) else {
            return Vec::new();
        };
        let alike = |one: &&RegionMean| most.mean - one.mean <= most.half.hypot(one.half) + 1e-9;
        self.met.iter().filter(alike).map(|one| one.scheduler).collect()
    }

    /// Requirements met under GPU-EvR, divided by those under the better of TimeGraph and Global EDF; `None` if those
    /// are none.
    #[doc(hidden)]
    pub fn ratio(&self) -> Option<f64> {
        let mean = |wanted| self.met.iter().find(|one| one.scheduler == wanted).map(|one| one.mean);
        let baseline = mean(Scheduler::TimeGraph)?.max(mean(Scheduler::GlobalEdf)?);
        (baseline > 0.0).then_some(mean(Scheduler::GpuEvr)? / baseline)
    }

    /// Its place in the grid.
    fn place(&self) -> (u32, u32, u32) {
        (self.per_period, self.saturation_sms, self.tightness_percent)
    }

    fn look(&self) -> Look {
        let best = self.best();
        let one_at_a_time = best.contains(&Scheduler::TimeGraph) || best.contains(&Scheduler::GlobalEdf);
        match (best.contains(&Scheduler::GpuEvr), best.contains(&Scheduler::PlainStreams), one_at_a_time) {
            (true, false, false) => Look::Evr,
            (true, true, false) => Look::EvrAndPlain,
            (false, true, false) => Look::Plain,
            (true, false, true) => Look::EvrAndOne,
            (false, false, _) => Look::One,
            (false, true, true) => Look::PlainAndOne,
            (true, true, true) => Look::All,
        }
    }
}

named! {
    /// Who is best, as it is drawn.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Look: ALL {
        Evr = "GPU-EvR",
        EvrAndPlain = "GPU-EvR and plain streams alike",
        Plain = "plain streams",
        One = "one at a time (TimeGraph or Global EDF)",
        EvrAndOne = "GPU-EvR and one at a time alike",
        PlainAndOne = "plain streams and one at a time alike",
        All = "all alike",
    }
}

impl Look {
    /// The colour of the first, with the hatch and in the ink of the second.
    fn fill(self) -> Fill {
        let [evr, plain, one] = [0, 1, 2].map(|index| series_colour(index).tint(60));
        let hatched = |background, hatch, ink: usize| Fill { background, hatch, ink: series_colour(ink).shade(70) };
        match self {
            Self::Evr => Fill::plain(evr),
            Self::EvrAndPlain => hatched(evr, Hatch::Rising, 1),
            Self::Plain => hatched(plain, Hatch::Crossed, 1),
            Self::EvrAndOne => hatched(evr, Hatch::Dots, 2),
            Self::One => hatched(one, Hatch::Horizontal, 2),
            Self::PlainAndOne => hatched(plain, Hatch::Dots, 2),
            Self::All => Fill::plain(Colour::WHITE),
        }
    }
}

/// The places of a study of `evr` whose grid has `per_period`, `saturation_sms`, `tightness_percent` and `scheduler`.
///
/// # Errors
/// [`StudyError::Draw`] if its grid lacks one of them.
pub fn region_cells(study: &Study, summary: &StudySummary) -> Result<Vec<RegionCell>, StudyError> {
    let axis = |key: &str| {
        let found = study.axes.iter().position(|axis| axis.key == key);
        found.ok_or_else(|| StudyError::Draw(format!("a map of regions needs {key:?} in the grid")))
    };
    let [per_period, width, tightness] = [axis("per_period")?, axis("saturation_sms")?, axis("tightness_percent")?];
    let scheduler = axis("scheduler")?;
    let mut cells: Vec<RegionCell> = Vec::new();
    for point in &summary.points {
        let place = study.coordinates(point.point);
        let number = |axis: usize| place[axis].text.parse().unwrap_or_default();
        let (Some(scheduler), Some(met)) =
            (Scheduler::from_name(place[scheduler].text.trim_matches('"')), measure(point, "met"))
        else {
            continue;
        };
        let Some(mean) = met.value() else { continue };
        let half = met.interval().map_or(0.0, |(low, high)| (high - low) / 2.0);
        let cell = RegionCell {
            per_period: number(per_period),
            saturation_sms: number(width),
            tightness_percent: number(tightness),
            met: Vec::new(),
        };
        match cells.iter_mut().find(|other| other.place() == cell.place()) {
            Some(known) => known.met.push(RegionMean { scheduler, mean, half }),
            None => cells.push(RegionCell { met: vec![RegionMean { scheduler, mean, half }], ..cell }),
        }
    }
    Ok(cells)
}

/// Draws the map, as wide as a page. `panel` names the panel of a number of applications per period. In each place
/// stands [`RegionCell::ratio`].
pub fn scheduler_regions(cells: &[RegionCell], title: &str, panel: impl Fn(u32) -> String) -> Drawing {
    let distinct = |of: fn(&RegionCell) -> u32| cells.iter().map(of).collect::<BTreeSet<u32>>();
    let (numbers, widths) = (distinct(|cell| cell.per_period), distinct(|cell| cell.saturation_sms));
    let tightnesses = distinct(|cell| cell.tightness_percent);
    let mut sheet = Sheet::new();
    let top = sheet.title(title, PAGE_WIDTH);
    let top = region_legend(&mut sheet, top, cells) + MM;
    let columns = as_length(PANELS_IN_A_ROW);
    let panel_width = (PAGE_WIDTH - 2 * Sheet::MARGIN - (columns - 1) * BETWEEN) / columns;
    let cell_width = (panel_width - LEFT) / as_length(widths.len().max(1));
    // Its name, the rows, the widths and what they are.
    let panel_height = LINE + CELL_HEIGHT * as_length(tightnesses.len()) + 2 * LINE + BETWEEN;
    for (index, &number) in numbers.iter().enumerate() {
        let x = Sheet::MARGIN + as_length(index % PANELS_IN_A_ROW) * (panel_width + BETWEEN);
        let y = top + as_length(index / PANELS_IN_A_ROW) * panel_height;
        let (left, first) = (x + LEFT, y + LINE);
        sheet.text(panel(number), left, y + LINE / 2, Anchor::Start);
        for (row, &tightness) in tightnesses.iter().rev().enumerate() {
            let upper = first + CELL_HEIGHT * as_length(row);
            let text = format!("{}.{}", tightness / 100, tightness % 100 / 10);
            sheet.small(text, left - MM, upper + CELL_HEIGHT / 2, Anchor::End);
            for (column, &width) in widths.iter().enumerate() {
                let found = cells.iter().find(|cell| cell.place() == (number, width, tightness));
                let Some(cell) = found else { continue };
                let area =
                    Rect { x: left + cell_width * as_length(column), y: upper, width: cell_width, height: CELL_HEIGHT };
                draw_cell(&mut sheet, cell, area);
            }
        }
        let bottom = first + CELL_HEIGHT * as_length(tightnesses.len());
        for (column, width) in widths.iter().enumerate() {
            let middle = left + cell_width * as_length(column) + cell_width / 2;
            sheet.small(width.to_string(), middle, bottom + LINE / 2, Anchor::Middle);
        }
        sheet.small("T_req / E", x, y + LINE / 2, Anchor::Start);
        let middle = left + cell_width * as_length(widths.len()) / 2;
        sheet.small("SMs that an application fills", middle, bottom + LINE + LINE / 3, Anchor::Middle);
    }
    let rows = as_length(numbers.len().div_ceil(PANELS_IN_A_ROW));
    sheet.into_drawing(title.to_owned(), PAGE_WIDTH, top + rows * panel_height)
}

fn draw_cell(sheet: &mut Sheet, cell: &RegionCell, area: Rect) {
    let met: Vec<String> = cell.met.iter().map(|one| format!("{} {:.2}", one.scheduler, one.mean)).collect();
    let note = format!(
        "{} per period, {} SMs, T_req = {} % of E: {} met per period",
        cell.per_period,
        cell.saturation_sms,
        cell.tightness_percent,
        met.join(", ")
    );
    let fill = cell.look().fill();
    let ratio = cell.ratio().map_or_else(String::new, |ratio| match ratio {
        ratio if ratio < 9.95 => format!("{ratio:.1}"),
        ratio => format!("{ratio:.0}"),
    });
    sheet.explained(note, |sheet| {
        sheet.area(area, Some(fill), Some(Sheet::OUTLINE));
        sheet.label(&[&ratio], &area, fill);
    });
}

/// The looks that occur; gives where they end.
fn region_legend(sheet: &mut Sheet, top: Length, cells: &[RegionCell]) -> Length {
    sheet.text("Most requirements met by:", Sheet::MARGIN, top + LINE / 2, Anchor::Start);
    let left = Sheet::MARGIN + Sheet::text_width("Most requirements met by:") + 2 * MM;
    let (mut x, mut y) = (left, top);
    for look in Look::ALL.into_iter().filter(|look| cells.iter().any(|cell| cell.look() == *look)) {
        let width = KEY + MM + Sheet::text_width(look.name()) + 3 * MM;
        if x + width > PAGE_WIDTH && x > left {
            (x, y) = (left, y + LINE);
        }
        let area = Rect { x, y: y + MM / 2, width: KEY, height: LINE - MM };
        sheet.area(area, Some(look.fill()), Some(Sheet::OUTLINE));
        sheet.text(look.name(), x + KEY + MM, y + LINE / 2, Anchor::Start);
        x += width;
    }
    let text = "Numbers: met under GPU-EvR, divided by the better of TimeGraph and Global EDF (the paper: up to 6.4).";
    sheet.text(text, Sheet::MARGIN, y + LINE + LINE / 2, Anchor::Start);
    y + 2 * LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(met: [(f64, f64); 4]) -> RegionCell {
        let met =
            Scheduler::ALL.into_iter().zip(met).map(|(scheduler, (mean, half))| RegionMean { scheduler, mean, half });
        RegionCell { per_period: 4, saturation_sms: 4, tightness_percent: 200, met: met.collect() }
    }

    #[test]
    fn schedulers_within_each_others_intervals_are_alike() {
        assert_eq!(Scheduler::ALL.map(Scheduler::name), ["gpu-evr", "timegraph", "global-edf", "plain-streams"]);
        // The intervals of 2.5 ± 0.3 and 3.0 ± 0.4 differ by 0.5, which is the root of 0.09 + 0.16.
        let tie = cell([(2.5, 0.3), (1.0, 0.1), (0.5, 0.0), (3.0, 0.4)]);
        assert_eq!(tie.best(), [Scheduler::GpuEvr, Scheduler::PlainStreams]);
        assert_eq!((tie.look(), tie.ratio()), (Look::EvrAndPlain, Some(2.5)));
        let ahead = cell([(2.5, 0.3), (1.0, 0.1), (0.5, 0.0), (3.1, 0.4)]);
        assert_eq!((ahead.best(), ahead.look()), (vec![Scheduler::PlainStreams], Look::Plain));
        let behind = cell([(1.0, 0.0), (2.0, 0.0), (2.0, 0.0), (1.0, 0.0)]);
        assert_eq!((behind.look(), behind.ratio()), (Look::One, Some(0.5)));
        let same = cell([(1.0, 0.0); 4]);
        assert_eq!(same.look(), Look::All);
        assert_eq!(cell([(1.0, 0.0), (0.0, 0.0), (0.0, 0.0), (1.0, 0.0)]).ratio(), None);
    }

    #[test]
    fn every_place_is_in_the_map_with_its_ratio() {
        let cells = [cell([(3.0, 0.1), (0.5, 0.1), (0.2, 0.1), (4.0, 0.1)])];
        let svg = scheduler_regions(&cells, "Regions", |number| format!("{number} per period")).to_svg();
        for text in ["4 per period", "6.0", "T_req = 200 % of E: gpu-evr 3.00, timegraph 0.50", "plain streams", "2.0"]
        {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("all alike"), "nothing is in the legend that is not in the map");
    }
}
