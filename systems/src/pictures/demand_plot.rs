//! Demand of tasks against the supply of their reservation.

use crate::draw::{Axis, Chart, DrawError, Drawing, Series};
use crate::tasks::demand::dbf;
use crate::tasks::{LinearSupply, Reservation, Supply, SupplyBound, TaskTime, Timing};

/// Points of a step curve beyond which a demand plot is cut.
const MAX_INSTANTS: u64 = 20_000;

/// dbf, sbf, its linear bound, and t, over [0, `end`]; `end` is cut to 20,000 units.
///
/// # Errors
/// [`DrawError::Backend`] if plotters cannot draw it.
pub fn demand_plot(
    title: &str,
    tasks: &[Timing],
    reservation: Reservation,
    end: TaskTime,
) -> Result<Drawing, DrawError> {
    let end = end.units().clamp(1, MAX_INSTANTS);
    let (supply, linear) = (SupplyBound(reservation), LinearSupply(reservation));
    let mut demand = Vec::new();
    for t in 0..=end {
        let before = demand.last().map_or(0.0, |&(_, before)| before);
        let now = dbf(tasks, TaskTime::from_units(t)).as_f64();
        if now > before {
            demand.push((t as f64, before));
        }
        if now > before || t == 0 || t == end {
            demand.push((t as f64, now));
        }
    }
    let supplied = (0..=end).map(|t| (t as f64, supply.within(TaskTime::from_units(t)).as_f64())).collect();
    let delay = linear.rate_and_delay().1.units().min(end) as f64;
    let slope = reservation.budget.as_f64() / reservation.period.as_f64();
    let straight = vec![(0.0, 0.0), (delay, 0.0), (end as f64, slope * (end as f64 - delay))];
    let series = vec![
        Series::new("demand dbf(t)", demand),
        Series::new("supply sbf(t)", supplied),
        Series::new("linear supply", straight),
    ];
    let x = Axis { title: "t".to_owned(), range: 0.0..end as f64 };
    let y = Axis { title: "execution time".to_owned(), range: 0.0..Series::above(&series) };
    Chart::new(title, x, y, series).draw()
}
