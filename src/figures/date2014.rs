//! Figures of Lee and Al Faruque, DATE 2014: GPU-EvR.

use std::sync::OnceLock;

use super::figure::{Figure, Make};
use super::made::{Failure, File, Made};
use super::paper::Paper;
use crate::applications::{ApplicationSet, Class, Outcome, Variation};
use crate::draw::PictureOptions;
use crate::experiments::evr::{Ratio, SweepOptions, SweepPoint, ratios};
use crate::experiments::study::{Study, StudySummary, per_period, random_injection};
use crate::formats::csv_of;
use crate::hosts::Scheduler;
use crate::hosts::gpu_evr::{EvrRules, FullGpu};
use crate::pictures::application_gantt::{GanttRows, gantt};
use crate::pictures::{Curves, Quantity, region_cells, scheduler_regions};
use crate::printed::{Printed, Value};
use crate::tables::{OutcomeDocument, PointDocument, SummaryDocument};
use crate::time::Duration;

pub(super) const FIGURES: &[Figure] = &[
    Paper::Date2014.computed("gpu-evr2014-figure-1", Make::Own(figure_1)).with_values(values_of_figure_1),
    Paper::Date2014.computed("gpu-evr2014-classes", Make::Compared).with_values(values_of_classes),
    Paper::Date2014.computed("gpu-evr2014-figures-3-4-5", Make::Own(figures_3_to_5)),
    Paper::Date2014.computed("gpu-evr2014-figure-6", Make::Own(|name| narrow_per_period(name, EvrRules::default()))),
    Paper::Date2014.computed(
        "gpu-evr2014-figure-6-full-gpu-wait",
        Make::Own(|name| narrow_per_period(name, EvrRules { full_gpu: FullGpu::Wait, ..EvrRules::default() })),
    ),
    Paper::Date2014.computed("gpu-evr2014-regions", Make::Own(regions)),
    Paper::Date2014.computed(
        "gpu-evr2014-figures-3-4-5-rodinia-like",
        Make::Own(|name| {
            let options = SweepOptions { samples: 40, ..SweepOptions::default() };
            random_injections(name, "-rodinia-like", &built_in(RODINIA_LIKE)?, &options)
        }),
    ),
    Paper::Date2014.computed(
        "gpu-evr2014-figure-6-rodinia-like",
        Make::Own(|name| {
            let options = SweepOptions { samples: 40, ..SweepOptions::default() };
            let (set, period) = (built_in(RODINIA_LIKE)?, Duration::from_ns(1_000_000_000));
            let points = per_period(&set, &PER_PERIOD_COUNTS, period, PERIODS, &options)?;
            injections_per_period(name, &set, period, &points, options.samples)
        }),
    ),
];

fn built_in(name: &str) -> Result<ApplicationSet, Failure> {
    let text = ApplicationSet::builtin_json(name).ok_or("this set of applications is not built in")?;
    Ok(ApplicationSet::from_json(name, text, None)?)
}

fn figure_1(name: &'static str) -> Result<Made, Failure> {
    let set = built_in("gpu-evr-figure-1")?;
    let trace = Scheduler::GpuEvr.run(&set, EvrRules::default())?;
    let outcomes = [Outcome::new(&set, Scheduler::GpuEvr.name(), &trace)];
    let [outcome] = &outcomes;
    let picture = gantt(&set, outcome, &[GanttRows::Application, GanttRows::Sm], PictureOptions::default())?;
    let shares: Vec<String> = (0..)
        .zip(&outcome.outcomes)
        .map(|(injection, application)| {
            let counts: Vec<String> =
                outcome.sms_over_time(injection).iter().map(|count| count.sms.to_string()).collect();
            format!("{}: {} SMs one after the other", application.name, counts.join(", "))
        })
        .collect();
    let report = OutcomeDocument { set: &set, seed: 0, outcomes: &outcomes };
    let finding = format!("{}. The block times are ours, the paper gives none.", shares.join("; "));
    Ok(Made::of(name, &picture, csv_of(&report), finding))
}

fn curves(name: &str, title: &str, x_title: &str, quantity: Quantity, points: &[SweepPoint]) -> Result<File, Failure> {
    Ok(File::svg(name, &Curves { title, x_title, quantity, points }.draw()?))
}

/// The largest of the ratios of requirements met under GPU-EvR and under each other scheduler.
fn largest(points: &[SweepPoint]) -> String {
    let mut found = Vec::new();
    for baseline in [Scheduler::TimeGraph, Scheduler::GlobalEdf, Scheduler::PlainStreams] {
        let mut most = (0.0, 0);
        for ratio in ratios(points, Scheduler::GpuEvr.name()) {
            if let Some(met) = ratio.met.filter(|met| ratio.baseline == baseline.name() && *met > most.0) {
                most = (met, ratio.applications);
            }
        }
        found.push(format!("{:.2} to {baseline} (at {})", most.0, most.1));
    }
    format!("Largest ratio of requirements met: {}.", found.join(", "))
}

/// Mean power under GPU-EvR against each scheduler that the paper compares: of an application while it runs, which is
/// how we read "average power per application", and of the board; where they differ most to either side.
fn power(points: &[SweepPoint]) -> String {
    let ratios = ratios(points, Scheduler::GpuEvr.name());
    let range = |baseline: Scheduler, quantity: fn(&Ratio) -> Option<f64>| {
        let of = ratios.iter().filter(|ratio| ratio.baseline == baseline.name()).filter_map(quantity);
        let (least, most) = of.fold((f64::MAX, f64::MIN), |(low, high), one| (low.min(one), high.max(one)));
        format!("{:+.0} to {:+.0} % against {baseline}", 100.0 * (least - 1.0), 100.0 * (most - 1.0))
    };
    let both = |quantity: fn(&Ratio) -> Option<f64>| {
        format!("{}, {}", range(Scheduler::TimeGraph, quantity), range(Scheduler::GlobalEdf, quantity))
    };
    format!(
        "Mean power by the stated linear model: of an application while it runs {}; of the board {}.",
        both(|ratio| ratio.application_power),
        both(|ratio| ratio.mean_power)
    )
}

/// Applications that fill 4 of 13 SMs.
const NARROW: &str = "narrow-k20m";
/// Applications of which most fill the GPU alone. Their thousands of blocks take longer to simulate than narrow ones,
/// 17 times as long in Figure 6 and more than 40 times in Figures 3 to 5, so their figures have a fifth of the samples.
const RODINIA_LIKE: &str = "rodinia-like-k20m";

fn finding(set: &ApplicationSet, points: &[SweepPoint], samples: u32) -> String {
    format!(
        "{}: {} {} The applications are SYNTHETIC (the paper gives no profiles); {samples} seeds a point, bars, which \
         stand beside each other around their place, are standard deviations. [docs/gpu-evr.md](../docs/gpu-evr.md) \
         says on what the ratios depend.",
        set.name,
        largest(points),
        power(points)
    )
}

fn figures_3_to_5(name: &'static str) -> Result<Made, Failure> {
    let execution = Some(Duration::from_ns(300_000_000));
    let variation = Variation { execution, tightness_percent: Some(130), ..Variation::default() };
    let set = variation.apply(&built_in(NARROW)?, Duration::ZERO)?;
    random_injections(name, "", &set, &SweepOptions::default())
}

fn random_injections(name: &str, suffix: &str, set: &ApplicationSet, options: &SweepOptions) -> Result<Made, Failure> {
    let counts: Vec<u32> = (1..=10).map(|tens| 10 * tens).collect();
    let points = random_injection(set, &counts, Duration::from_ns(500_000_000), options)?;
    let injected = "applications injected, gaps within 0.5 s";
    let pictures = [
        ("3", "Figure 3: requirements met", Quantity::Met),
        ("4", "Figure 4: total violation", Quantity::Violation),
        ("5-utilization", "Figure 5: SM utilization", Quantity::Utilization),
        ("5-power", "Figure 5: mean power per application", Quantity::ApplicationPower),
    ];
    let mut files = Vec::new();
    for (part, title, quantity) in pictures {
        files.push(curves(&format!("gpu-evr2014-figure-{part}{suffix}"), title, injected, quantity, &points)?);
    }
    let report = PointDocument { set, seed: 0, points: &points };
    files.push(File::csv(name, csv_of(&report)));
    Ok(Made { files, finding: finding(set, &points, options.samples) })
}

/// Applications injected in each of so many periods.
const PER_PERIOD_COUNTS: [u32; 15] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
const PERIODS: u32 = 10;

/// The narrow applications under rules of GPU-EvR and under the other schedulers, which have none: their runs are those
/// of all such figures.
fn narrow_per_period(name: &str, rules: EvrRules) -> Result<Made, Failure> {
    static OTHERS: OnceLock<Vec<SweepPoint>> = OnceLock::new();
    let (set, period) = (built_in(NARROW)?, Duration::from_ns(130_000_000));
    let all = SweepOptions { rules, ..SweepOptions::default() };
    let (own, others): (Vec<Scheduler>, Vec<Scheduler>) =
        all.schedulers.iter().partition(|scheduler| **scheduler == Scheduler::GpuEvr);
    let of = |schedulers| {
        let options = SweepOptions { schedulers, ..all.clone() };
        per_period(&set, &PER_PERIOD_COUNTS, period, PERIODS, &options)
    };
    let mut points = of(own)?;
    points.extend_from_slice(if let Some(known) = OTHERS.get() {
        known
    } else {
        let found = of(others)?;
        OTHERS.get_or_init(|| found)
    });
    // GPU-EvR is the first of the schedulers.
    points.sort_by_key(|point| point.applications);
    injections_per_period(name, &set, period, &points, all.samples)
}

fn injections_per_period(
    name: &str,
    set: &ApplicationSet,
    period: Duration,
    points: &[SweepPoint],
    samples: u32,
) -> Result<Made, Failure> {
    let title = "Figure 6: requirements met per period";
    let x_title = format!("applications injected per period of {period}, ten periods");
    let report = PointDocument { set, seed: 0, points };
    let files = vec![curves(name, title, &x_title, Quantity::Met, points)?, File::csv(name, csv_of(&report))];
    Ok(Made { files, finding: finding(set, points, samples) })
}

/// What [`regions`] draws.
const REGIONS: &str = include_str!("../../studies/gpu-evr-regions.json");

fn regions(name: &'static str) -> Result<Made, Failure> {
    let no_file = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let study = Study::from_json("studies/gpu-evr-regions.json", REGIONS, &no_file)?;
    let summary = StudySummary::compute(&study)?;
    let cells = region_cells(&study, &summary)?;
    let set = built_in(NARROW)?;
    // The study has E = 100 ms and periods of 130 ms.
    let panel = |number: u32| format!("{number} per period: load {:.0} %", 100.0 * f64::from(number) * 100.0 / 130.0);
    let title = "Which scheduler meets most requirements (SYNTHETIC)";
    let best = |scheduler: Scheduler| cells.iter().filter(|cell| cell.best() == [scheduler]).count();
    let alone: Vec<String> = Scheduler::ALL.into_iter().map(|one| format!("{one} {}", best(one))).collect();
    let beaten = cells.iter().filter(|cell| cell.ratio().is_some_and(|ratio| ratio > 1.0)).count();
    let finding = format!(
        "Of {} places, best alone (95 % confidence): {}. GPU-EvR meets more than both of TimeGraph and Global EDF at \
         {beaten}. Load is that of one application at a time: its 100 ms times the number per period of 130 ms. \
         Applications as in {}, SYNTHETIC, with other widths and requirements; 20 seeds a point. Study: \
         [studies/gpu-evr-regions.json](../studies/gpu-evr-regions.json).",
        cells.len(),
        alone.join(", "),
        set.name,
    );
    let csv = csv_of(&SummaryDocument { study: &study, summary: &summary });
    Ok(Made::of(name, &scheduler_regions(&cells, title, panel), csv, finding))
}

/// Which of the numbers of SMs that an application has one after the other.
#[derive(Debug, Clone, Copy)]
enum Which {
    First,
    Most,
    Last,
}

/// On how many SMs applications A and B of Fig. 1 are, one number after the other.
fn values_of_figure_1() -> Result<Vec<Printed>, Failure> {
    let set = built_in("gpu-evr-figure-1")?;
    let trace = Scheduler::GpuEvr.run(&set, EvrRules::default())?;
    let outcome = Outcome::new(&set, Scheduler::GpuEvr.name(), &trace);
    let place = "Sec. III-A, Fig. 1";
    let mut values = vec![Printed::new(place, "SMs", 4_u32, set.device.sms)];
    let known = [
        ("A", "at t", Which::First, 3_u32),
        ("B", "at t + tau, when one SM is available", Which::First, 1),
        ("B", "after the first three blocks of A", Which::Most, 3),
        ("A", "after B is done: the entire GPU", Which::Last, 4),
    ];
    for (name, when, which, printed) in known {
        let number = outcome.outcomes.iter().find(|one| one.name == name).map(|one| one.injection);
        let counts: Vec<u32> =
            number.map_or(&[][..], |number| outcome.sms_over_time(number)).iter().map(|one| one.sms).collect();
        let counts: Vec<u32> = counts.into_iter().filter(|&sms| sms > 0).collect();
        let here = match which {
            Which::First => counts.first(),
            Which::Most => counts.iter().max(),
            Which::Last => counts.last(),
        };
        values.push(Printed::or_nothing(
            place,
            format!("SMs of {name} {when}"),
            printed,
            here.copied().map(Value::from),
        ));
    }
    Ok(values)
}

/// Section V's list of applications by class, by their names in the built-in sets.
const CLASSES: [(Class, &[&str]); 3] = [
    (Class::High, &["leukocyte", "heartwall", "hotspot", "srad"]),
    (Class::Medium, &["backprop", "pathfinder", "kmeans", "streamcluster"]),
    (Class::Low, &["bfs", "b+tree", "gaussian", "lud", "cfd"]),
];

fn values_of_classes() -> Result<Vec<Printed>, Failure> {
    let set = built_in(RODINIA_LIKE)?;
    let mut values = Vec::new();
    for (class, names) in CLASSES {
        for name in names {
            let found = set.applications.iter().find(|application| *application.name == **name);
            let here = found.map(|found| Value::from(found.class.name()));
            values.push(Printed::or_nothing("Sec. V, list of classes", format!("class of {name}"), class.name(), here));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests;
