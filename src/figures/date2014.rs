//! Figures of Lee and Al Faruque, DATE 2014: GPU-EvR.

use super::figure::{Failure, Figure, File, Made, Make};
use super::paper::Paper;
use crate::applications::{ApplicationSet, Outcome};
use crate::experiments::evr::{SweepOptions, SweepPoint, per_period, points_csv, random_injection, ratios};
use crate::hosts::gpu_evr::EvrRules;
use crate::hosts::{Scheduler, run_applications};
use crate::report::application_curves::{Curves, Quantity};
use crate::report::application_gantt::{GanttRows, gantt};
use crate::report::application_table::outcome_csv;
use crate::time::Duration;

pub(super) const FIGURES: &[Figure] = &[
    Paper::Date2014.computed(
        "gpu-evr2014-figure-1",
        "Fig. 1",
        "SMs change hands at block boundaries",
        "Application A gets three SMs; B arrives later and gets one, then two more at A's block boundary; then A takes \
         all.",
        Make::Own(figure_1),
    ),
    Paper::Date2014.computed(
        "gpu-evr2014-figures-3-4-5",
        "Fig. 3 to 5",
        "random injection: requirements met, violation, utilization, power",
        "GPU-EvR meets more timing requirements than TimeGraph and Global EDF, violates the others by less, and needs up \
         to 20 % less power.",
        Make::Own(figures_3_to_5),
    ),
    Paper::Date2014.computed(
        "gpu-evr2014-figure-6",
        "Fig. 6",
        "requirements met against applications injected per period",
        "Up to 6.4 times as many met as under the baselines; nearly all up to three applications per period, a fall \
         from seven on.",
        Make::Own(figure_6),
    ),
];

fn built_in(name: &str) -> Result<ApplicationSet, Failure> {
    let text = ApplicationSet::builtin_json(name).ok_or("this set of applications is not built in")?;
    Ok(ApplicationSet::from_json(name, text, None)?)
}

fn figure_1(name: &'static str) -> Result<Made, Failure> {
    let set = built_in("gpu-evr-figure-1")?;
    let trace = run_applications(&set, Scheduler::GpuEvr, EvrRules::default())?;
    let outcomes = [Outcome::new(&set, Scheduler::GpuEvr.name(), &trace)];
    let [outcome] = &outcomes;
    let svg = gantt(&set, outcome, &[GanttRows::Application, GanttRows::Sm])?.to_svg();
    let shares: Vec<String> = (0..)
        .zip(&outcome.outcomes)
        .map(|(injection, application)| {
            let counts: Vec<String> =
                outcome.sms_over_time(injection).iter().map(|count| count.sms.to_string()).collect();
            format!("{}: {} SMs one after the other", application.name, counts.join(", "))
        })
        .collect();
    Ok(Made {
        files: vec![
            File { name: format!("{name}.svg"), text: svg },
            File { name: format!("{name}.csv"), text: outcome_csv(&set, &outcomes) },
        ],
        finding: format!("{}. The block times are ours, the paper gives none.", shares.join("; ")),
    })
}

fn curves(name: &str, title: &str, x_title: &str, quantity: Quantity, points: &[SweepPoint]) -> Result<File, Failure> {
    Ok(File { name: format!("{name}.svg"), text: Curves { title, x_title, quantity, points }.draw()?.to_svg() })
}

/// The largest of the ratios of GPU-EvR to a baseline.
fn largest(points: &[SweepPoint], of: fn(&crate::experiments::evr::Ratio) -> Option<f64>) -> String {
    let mut found = Vec::new();
    for baseline in [Scheduler::TimeGraph, Scheduler::GlobalEdf, Scheduler::PlainStreams] {
        let ratios = ratios(points, Scheduler::GpuEvr.name());
        let most = ratios.iter().filter(|ratio| ratio.baseline == baseline.name()).filter_map(of).fold(0.0, f64::max);
        found.push(format!("{most:.2} to {baseline}"));
    }
    found.join(", ")
}

const SYNTHETIC: &str = "The applications are SYNTHETIC (the paper gives no profiles); 200 seeds a point, bars are standard \
                         deviations. [docs/gpu-evr.md](../docs/gpu-evr.md) says on what the ratios depend.";

fn figures_3_to_5(name: &'static str) -> Result<Made, Failure> {
    let set = built_in("rodinia-like-k20m")?;
    let counts: Vec<u32> = (1..=10).map(|tens| 10 * tens).collect();
    let points = random_injection(&set, &counts, Duration::from_ns(500_000_000), &SweepOptions::default())?;
    let injected = "applications injected, gaps within 0.5 s";
    let files = vec![
        curves("gpu-evr2014-figure-3", "Figure 3: requirements met", injected, Quantity::Met, &points)?,
        curves("gpu-evr2014-figure-4", "Figure 4: total violation", injected, Quantity::Violation, &points)?,
        curves(
            "gpu-evr2014-figure-5-utilization",
            "Figure 5: SM utilization",
            injected,
            Quantity::Utilization,
            &points,
        )?,
        curves(
            "gpu-evr2014-figure-5-power",
            "Figure 5: mean power per application",
            injected,
            Quantity::ApplicationPower,
            &points,
        )?,
        File { name: format!("{name}.csv"), text: points_csv(&points) },
    ];
    let finding = format!("Largest ratio of requirements met: {}. {SYNTHETIC}", largest(&points, |ratio| ratio.met));
    Ok(Made { files, finding })
}

fn figure_6(name: &'static str) -> Result<Made, Failure> {
    let set = built_in("rodinia-like-k20m")?;
    let counts: Vec<u32> = (1..=15).collect();
    let points = per_period(&set, &counts, Duration::from_ns(1_000_000_000), 10, &SweepOptions::default())?;
    let title = "Figure 6: requirements met per period";
    let x_title = "applications injected per period of 1 s, ten periods";
    let files = vec![
        curves(name, title, x_title, Quantity::Met, &points)?,
        File { name: format!("{name}.csv"), text: points_csv(&points) },
    ];
    let finding = format!("Largest ratio of requirements met: {}. {SYNTHETIC}", largest(&points, |ratio| ratio.met));
    Ok(Made { files, finding })
}
