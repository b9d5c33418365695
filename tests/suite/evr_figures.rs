//! The data of the paper's Figures 3 to 6. The small version runs always; the campaign behind `docs/gpu-evr.md` and
//! `output/gpu-evr2014-*` is run with
//!
//! ```text
//! cargo test --release --test suite -- --ignored --nocapture evr_figures
//! ```

use gpusched::applications::figures::{
    Curves, GanttRows, Point, Quantity, SweepOptions, Variation, gantt_svg, per_period, points_csv, random_injection,
    ratios, sweep,
};
use gpusched::applications::{ApplicationSet, Class, Injections, Outcome};
use gpusched::hosts::gpu_evr::EvrRules;
use gpusched::hosts::{Scheduler, run_applications};
use gpusched::report::application_table::point_table;
use gpusched::time::Duration;

fn thirteen() -> ApplicationSet {
    let text = ApplicationSet::builtin_json("rodinia-like-k20m").expect("it is built in");
    ApplicationSet::from_json("thirteen", text, None).expect("it is sound")
}

#[test]
fn curves_have_a_point_for_every_scheduler_and_number_and_say_synthetic() {
    let options = SweepOptions { samples: 3, ..SweepOptions::default() };
    let points = random_injection(&thirteen(), &[1, 2], Duration::from_ns(500_000_000), &options).expect("it runs");
    assert_eq!(points.len(), 8);
    for point in &points {
        assert!(point.met.mean <= f64::from(point.applications) && point.samples == 3 && point.synthetic);
    }
    assert_eq!(ratios(&points, "gpu-evr").len(), 6);
    let curves = Curves { title: "Figure 3", x_title: "applications", quantity: Quantity::Met, points: &points };
    let svg = curves.svg().expect("it can be drawn");
    assert!(svg.contains("SYNTHETIC") && svg.contains("global-edf"));

    let points = per_period(&thirteen(), &[1], Duration::from_ns(1_000_000_000), 2, &options).expect("it runs");
    assert!(points.iter().all(|point| point.met.most <= 1.0));
}

const GAP: Duration = Duration::from_ns(500_000_000);
/// For comparisons in which every scheduler and rule sees the same injections.
const FEWER_SAMPLES: u32 = 50;
const MEAN_GAP: Duration = Duration::from_ns(250_000_000);

fn write(name: &str, text: &str) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("output");
    std::fs::create_dir_all(&path).expect("the folder can be made");
    std::fs::write(path.join(name), text).expect("it can be written");
}

fn draw(name: &str, title: &str, x_title: &str, quantity: Quantity, points: &[Point]) {
    let svg = Curves { title, x_title, quantity, points }.svg().expect("it can be drawn");
    write(&format!("gpu-evr2014-{name}.svg"), &svg);
}

fn factor(ratio: Option<f64>) -> String {
    ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"))
}

/// Figures 3 to 6 and Fig. 1 as files; their ratios on standard output.
#[test]
#[ignore = "a campaign of minutes"]
fn campaign_figures_3_to_6() {
    let set = thirteen();
    let options = SweepOptions::default();
    let counts: Vec<u32> = (1..=10).map(|tens| 10 * tens).collect();
    let random = random_injection(&set, &counts, GAP, &options).expect("it runs");
    let injected = "applications injected, gaps within 0.5 s";
    draw("figure-3", "Figure 3: requirements met", injected, Quantity::Met, &random);
    draw("figure-4", "Figure 4: total violation", injected, Quantity::Violation, &random);
    draw("figure-5-utilization", "Figure 5: SM utilization", injected, Quantity::Utilization, &random);
    draw("figure-5-power", "Figure 5: mean power per application", injected, Quantity::ApplicationPower, &random);
    write("gpu-evr2014-figures-3-4-5.csv", &points_csv(&random));
    let counts: Vec<u32> = (1..=15).collect();
    let periodic = per_period(&set, &counts, Duration::from_ns(1_000_000_000), 10, &options).expect("it runs");
    let per = "applications injected per period of 1 s, ten periods";
    draw("figure-6", "Figure 6: requirements met per period", per, Quantity::Met, &periodic);
    write("gpu-evr2014-figure-6.csv", &points_csv(&periodic));
    println!("{}\n{}", point_table(&set, &random), point_table(&set, &periodic));

    let text = ApplicationSet::builtin_json("gpu-evr-figure-1").expect("it is built in");
    let set = ApplicationSet::from_json("figure 1", text, None).expect("it is sound");
    let trace = run_applications(&set, Scheduler::GpuEvr, EvrRules::default()).expect("it runs");
    let outcome = Outcome::new(&set, "gpu-evr", &trace);
    let svg = gantt_svg(&set, &outcome, &[GanttRows::Application, GanttRows::Sm]).expect("it can be drawn");
    write("gpu-evr2014-figure-1.svg", &svg);
}

/// On what the ratios depend: parallelism of the applications and load of the GPU.
#[test]
#[ignore = "a campaign of minutes"]
fn campaign_parallelism_and_load() {
    let set = thirteen();
    let options = SweepOptions { samples: FEWER_SAMPLES, ..SweepOptions::default() };
    println!(
        "| narrow | load | met: EvR, TG, EDF, plain | /TG | /EDF | /plain | violation /TG | /EDF | power per app /TG | board /TG | energy /TG |"
    );
    for narrow in [1, 8, 32] {
        for load_percent in [50, 100, 200, 400, 800] {
            let variation = Variation { narrow, load_percent: Some(load_percent) };
            let changed = variation.apply(&set, MEAN_GAP).expect("short enough");
            let points = random_injection(&changed, &[50], GAP, &options).expect("it runs");
            let found = ratios(&points, "gpu-evr");
            let met: Vec<String> = points.iter().map(|point| format!("{:.1}", point.met.mean)).collect();
            println!(
                "| {narrow} | {load_percent} % | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                met.join(", "),
                factor(found[0].met),
                factor(found[1].met),
                factor(found[2].met),
                factor(found[0].violation),
                factor(found[1].violation),
                factor(found[0].application_power),
                factor(found[0].mean_power),
                factor(found[0].energy),
            );
        }
    }
}

/// What each decision that the paper leaves open changes.
#[test]
#[ignore = "a campaign of minutes"]
fn campaign_rules() {
    let mut rows = vec![("(default)".to_owned(), EvrRules::default())];
    rows.extend(EvrRules::default().alternatives());
    println!("| rule | load | narrow | met of 50 | +- | high, medium, low met | violation [s] | utilization |");
    for (load_percent, narrow) in [(100, 1), (200, 1), (800, 32)] {
        let variation = Variation { narrow, load_percent: Some(load_percent) };
        let set = variation.apply(&thirteen(), MEAN_GAP).expect("short enough");
        for (name, rules) in &rows {
            let options =
                SweepOptions { rules: *rules, schedulers: vec![Scheduler::GpuEvr], ..SweepOptions::default() };
            let outcomes =
                sweep(&set, Injections::Random { count: 50, gap: GAP }, &options).expect("it runs").remove(0).1;
            let point = Point::of("gpu-evr".to_owned(), true, 50, 1, &outcomes);
            let by_class: Vec<String> = Class::ALL
                .iter()
                .map(|&class| {
                    let own = || outcomes.iter().flat_map(|o| &o.outcomes).filter(|one| one.class == class);
                    format!("{:.0} %", 100.0 * own().filter(|one| one.met).count() as f64 / own().count() as f64)
                })
                .collect();
            println!(
                "| {name} | {load_percent} % | {narrow} | {:.2} | {:.2} | {} | {:.2} | {:.1} % |",
                point.met.mean,
                point.met.deviation,
                by_class.join(", "),
                point.violation_s.mean,
                100.0 * point.utilization.mean,
            );
        }
    }
}
