//! Figures of Berezovskyi, Bletsas and Andersson, 2012: the makespan of warps on one SM.

use std::fmt::Write;
use std::time::Duration;

use super::figure::{Figure, Make};
use super::made::{Failure, Made};
use super::paper::Paper;
use crate::draw::PictureOptions;
use crate::effort::Progress;
use crate::experiments::warp_curves::{SolvingTime, convergence, solving_times};
use crate::formats::{Column, csv_text};
use crate::pictures::{convergence_chart, convergence_csv, schedule_figure, solving_times_chart, solving_times_csv};
use crate::printed::{Printed, Value};
use crate::warps::{
    Instance, Issue, KernelString, MakespanSearch, Objective, Schedule, SearchLimits, Unit, bound, estimate,
    pessimistic, verify,
};

pub(super) const FIGURES: &[Figure] = &[
    Paper::Cister2012.computed("cister2012-figure-1", Make::Compared).with_values(values_of_figure_1),
    Paper::Cister2012.computed("cister2012-figure-2", Make::Own(report_schedule)).with_values(values_of_figure_2),
    Paper::Cister2012.computed("cister2012-equation-42", Make::Own(counterexample)),
    Paper::Cister2012
        .computed("cister2012-figure-5", Make::Limited(|name, limit| times(name, "LLCLL", "1", 60, limit)))
        .timed(&["cister2012-figure-5.svg", "cister2012-figure-5.csv"]),
    Paper::Cister2012.computed("cister2012-figure-6", Make::Own(|name| converging(name, "LLCLL", "1", 600, 30))),
    Paper::Cister2012.computed("cister2012-figure-7", Make::Own(|name| converging(name, "LCLCL", "1/2", 420, 16))),
    Paper::Cister2012
        .computed("cister2012-figure-7-times", Make::Limited(|name, limit| times(name, "LCLCL", "1/2", 25, limit)))
        .timed(&["cister2012-figure-7-times.svg", "cister2012-figure-7-times.csv"]),
];

fn string(text: &str, sigma_l: &str) -> Result<KernelString, Failure> {
    Ok(KernelString::parse(text, &[Unit { sigma: sigma_l.parse()?, ..Unit::new('L') }, Unit::new('C')])?)
}

/// The report's schedule: the cycles, from 1, in which its warps do L, L and C.
const FIGURE_2: [[usize; 3]; 4] = [[1, 5, 6], [2, 6, 7], [3, 7, 8], [4, 8, 9]];

fn schedule_of_figure_2() -> Schedule {
    let mut schedule = Schedule { warps: 4, cycles: vec![Vec::new(); 9] };
    for (warp, times) in (0..).zip(FIGURE_2) {
        for (step, time) in times.into_iter().enumerate() {
            schedule.cycles[time - 1].push(Issue { warp, step });
        }
    }
    schedule
}

/// In how many cycles from the first on the CUDA cores have nothing to do.
fn idle_cycles(string: &KernelString, schedule: &Schedule) -> usize {
    let idle = |cycle: &&Vec<Issue>| cycle.iter().all(|issue| letter(string, issue.step) != 'C');
    schedule.cycles.iter().take_while(idle).count()
}

fn report_schedule(name: &'static str) -> Result<Made, Failure> {
    let (string, schedule) = (string("LLC", "1")?, schedule_of_figure_2());
    let makespan = verify(&string, &schedule)?;
    let finding = format!(
        "The report's schedule is work-conserving and takes {makespan} cycles; in the first {} the CUDA cores are idle. \
         {}",
        idle_cycles(&string, &schedule),
        known(&string, schedule.warps)?,
    );
    Ok(drawn(name, &string, &schedule, finding))
}

/// The smallest case in which the estimate is below the worst case.
fn counterexample(name: &'static str) -> Result<Made, Failure> {
    let (string, warps) = (string("LCL", "1")?, 4);
    let search = MakespanSearch::run(&string, warps, Objective::WorstCase, &SearchLimits::DEFAULT, Progress::NONE)?;
    let worst = search.schedule(warps).ok_or("the search has come this far")?;
    let makespan = verify(&string, &worst)?;
    let estimate = estimate(warps, &search.makespans()[..=2]).ok_or("there are warps")?.cycles;
    let below = if estimate < makespan { "below it, so it is no bound" } else { "not below it" };
    let finding = format!(
        "The schedule drawn, of 4 warps of LCL, is work-conserving and takes {makespan} cycles; the estimate from two \
         warps, {estimate}, is {below}. {} No shorter string and no fewer warps do this \
         ([docs/warps.md](../docs/warps.md), section 3).",
        known(&string, warps)?,
    );
    Ok(drawn(name, &string, &worst, finding))
}

/// All that is known of the makespan.
fn known(string: &KernelString, warps: u32) -> Result<String, Failure> {
    let last = |objective| -> Result<u64, Failure> {
        let search = MakespanSearch::run(string, warps, objective, &SearchLimits::DEFAULT, Progress::NONE)?;
        Ok(search.makespans().last().copied().ok_or("the search has come this far")?)
    };
    Ok(format!(
        "By exact search the worst case is {} cycles and the best {}; the proven bound is {}, the pessimistic value {}.",
        last(Objective::WorstCase)?,
        last(Objective::BestCase)?,
        bound(string, warps).cycles,
        pessimistic(string, warps),
    ))
}

fn drawn(name: &str, string: &KernelString, schedule: &Schedule, finding: String) -> Made {
    let picture = schedule_figure(string, schedule, PictureOptions { title: false, ..PictureOptions::default() });
    Made::of(name, &picture, schedule_csv(string, schedule), finding)
}

fn letter(string: &KernelString, step: usize) -> char {
    string.steps().get(step).map_or(' ', |step| string.units()[step.unit].letter)
}

/// One line for each instruction; cycles and warps count from 1, as in the figure.
fn schedule_csv(string: &KernelString, schedule: &Schedule) -> String {
    type Row = (u64, u32, char);
    let columns = [
        Column::data("cycle", |(cycle, ..): &Row| (*cycle).into()),
        Column::data("warp", |(_, warp, _)| (*warp).into()),
        Column::data("unit", |(.., unit)| unit.to_string().into()),
    ];
    let rows = (1..).zip(&schedule.cycles).flat_map(|(cycle, issues)| {
        issues.iter().map(move |issue| (cycle, issue.warp + 1, letter(string, issue.step)))
    });
    csv_text(&columns, rows)
}

fn converging(name: &str, text: &str, sigma_l: &str, warps: u32, up_to: u32) -> Result<Made, Failure> {
    let string = string(text, sigma_l)?;
    let found = convergence(&string, warps, up_to, &SearchLimits::DEFAULT)?;
    let (first, last) = found.points.first().zip(found.points.last()).ok_or("there are points")?;
    let bound = found.bound.cycles;
    let known = match found.at_least {
        Some(cycles) if cycles == bound => format!("The exact worst case is {bound} cycles"),
        Some(cycles) => format!("The worst case is between {cycles} and {bound} cycles"),
        None => format!("The worst case is at most {bound} cycles"),
    };
    let finding = format!(
        "{known} (the report could not know it), the pessimistic value {}. The estimate falls from {} for x = 1 to {} for \
         x = {}, {:.1} % above the proven bound; it is no bound itself ([docs/warps.md](../docs/warps.md), section 3).",
        found.pessimistic,
        first.estimate,
        last.estimate,
        last.x,
        100.0 * (last.estimate as f64 / bound as f64 - 1.0),
    );
    Ok(Made::of(name, &convergence_chart(&found)?, convergence_csv(&found), finding))
}

/// A way to the worst case and its time.
type Way = (&'static str, fn(&SolvingTime) -> Option<Duration>);

fn times(name: &str, text: &str, sigma_l: &str, up_to: u32, limit: Duration) -> Result<Made, Failure> {
    let limits = SearchLimits { time: Some(limit), ..SearchLimits::DEFAULT };
    let times = solving_times(&string(text, sigma_l)?, up_to, &limits);
    let mut finding = format!("Each computation was given {} s. ", limit.as_secs_f64());
    let ways: [Way; 3] = [
        ("exact search", |time| time.search),
        ("the integer program with short constraints", |time| time.ilp_short),
        ("the integer program with long constraints", |time| time.ilp_long),
    ];
    for (way, of) in ways {
        let longest = times.iter().filter_map(|time| Some((time.warps, of(time)?))).next_back();
        if let Some((warps, time)) = longest {
            let _ = write!(finding, "{warps} warps take {way} {:.3} s. ", time.as_secs_f64());
        }
    }
    Ok(Made::of(name, &solving_times_chart(&times)?, solving_times_csv(&times), finding))
}

/// Fig. 1 and its units, from the instance that is shipped.
fn values_of_figure_1() -> Result<Vec<Printed>, Failure> {
    let path = "witnesses/cister2012/llc-of-four-warps.json";
    let text = include_str!("../../witnesses/cister2012/llc-of-four-warps.json");
    let string = Instance::from_json(path, text)?.string;
    // Sigma = 1/n writes each letter n times, and the string has each letter once.
    let sigma = |unit: usize| match string.steps_on(unit) {
        1 => "1".to_owned(),
        times => format!("1/{times}"),
    };
    let capacity = |unit: usize| string.units().get(unit).map(|unit| Value::from(unit.capacity));
    Ok(vec![
        Printed::new("Sec. 3, Eq. 1", "sigma_L of 16 units and warps of 32", "1/2", sigma(0)),
        Printed::new("Sec. 3, Eq. 2", "sigma_C of 32 cores and warps of 32", "1", sigma(1)),
        Printed::new("Fig. 1", "LC becomes", "LLC", string.to_string()),
        Printed::or_nothing("Fig. 1", "sigma_L then", 1_u32, capacity(0)),
    ])
}

fn values_of_figure_2() -> Result<Vec<Printed>, Failure> {
    let (string, schedule) = (string("LLC", "1")?, schedule_of_figure_2());
    let makespan = verify(&string, &schedule);
    let cycles = makespan.as_ref().ok().map(|cycles| Value::Number(*cycles as f64, "cycles"));
    Ok(vec![
        Printed::new("Sec. 4, third paragraph", "the schedule is work-conserving", true, makespan.is_ok()),
        Printed::or_nothing("Fig. 2", "clock cycles", Value::Number(9.0, "cycles"), cycles),
        Printed::new(
            "Sec. 4, third paragraph",
            "first cycles in which the CUDA cores are idle",
            Value::Number(5.0, "cycles"),
            Value::Number(idle_cycles(&string, &schedule) as f64, "cycles"),
        ),
    ])
}
