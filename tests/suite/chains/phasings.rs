//! Chains in any phasing of their threads: no run is above the bound on its phasing.

use super::*;

/// A chain from camera to brake, with so many releases \[us\]: the first of each thread of the path.
struct Phased {
    name: &'static str,
    periods_us: &'static [u64],
    file: fn(&[u64]) -> Value,
}

/// Chains whose threads may begin at any time within their periods.
const PHASED: [Phased; 4] = [
    Phased {
        name: "camera to brake",
        periods_us: &[40_000, 20_000, 10_000],
        file: |at| {
            json!({
                "hosts": [{"name": "camera", "release": us(at[0]), "period": "40 ms", "steps": [{"sleep": "4 ms"}]},
                          {"name": "brake", "release": us(at[2]), "period": "10 ms", "steps": [{"sleep": "1 ms"}]}],
                "streams": [{"name": "vision", "release": us(at[1]), "period": "20 ms", "operations": [
                    {"copy": "host-to-device", "duration": "2 ms"}, {"kernel": "K"},
                    {"copy": "device-to-host", "duration": "1 ms"}]}],
                "path": ["camera", "vision", "brake"],
            })
        },
    },
    // Vision shares the GPU with what is more urgent, which may delay it.
    Phased {
        name: "beside a more urgent stream",
        periods_us: &[30_000, 20_000, 10_000, 15_000],
        file: |at| {
            json!({
                "hosts": [{"name": "camera", "release": us(at[0]), "period": "30 ms", "steps": [{"sleep": "2 ms"}]},
                          {"name": "brake", "release": us(at[2]), "period": "10 ms", "steps": [{"sleep": "1 ms"}]}],
                "streams": [
                    {"name": "urgent", "priority": -1, "release": us(at[3]), "period": "15 ms", "operations": [{"kernel": "L"}]},
                    {"name": "vision", "release": us(at[1]), "period": "20 ms", "operations": [{"kernel": "K"}]}],
                "path": ["camera", "vision", "brake"],
            })
        },
    },
    // All of them on one core, and the one in the middle waits for the GPU there.
    Phased {
        name: "on one core",
        periods_us: &[20_000, 40_000, 10_000],
        file: |at| {
            json!({
                "hosts": [
                    {"name": "camera", "core": 0, "cpu_priority": 2, "release": us(at[0]), "period": "20 ms",
                     "steps": [{"work": "2 ms"}]},
                    {"name": "vision", "core": 0, "cpu_priority": 3, "release": us(at[1]), "period": "40 ms", "steps": [
                     {"work": "1 ms"}, {"launch": "K", "stream": "S"}, {"synchronize": "S"}, {"work": "1 ms"}]},
                    {"name": "brake", "core": 0, "cpu_priority": 1, "release": us(at[2]), "period": "10 ms",
                     "steps": [{"work": "1 ms"}]}],
                "streams": [{"name": "S"}],
                "path": ["camera", "vision", "brake"],
            })
        },
    },
    // The end of the camera's job releases vision, and that what filters its output; the brake samples that.
    Phased {
        name: "released one by one",
        periods_us: &[20_000, 10_000, 15_000],
        file: |at| {
            json!({
                "hosts": [
                    {"name": "camera", "core": 0, "cpu_priority": 2, "release": us(at[0]), "period": "20 ms",
                     "steps": [{"work": "2 ms"}]},
                    {"name": "vision", "core": 0, "cpu_priority": 3, "triggered_by": "camera", "steps": [
                     {"work": "1 ms"}, {"launch": "K", "stream": "S"}, {"synchronize": "S"}]},
                    {"name": "filter", "core": 1, "cpu_priority": 2, "triggered_by": "vision", "steps": [{"work": "2 ms"}]},
                    {"name": "brake", "core": 0, "cpu_priority": 1, "release": us(at[1]), "period": "10 ms",
                     "steps": [{"work": "1 ms"}]},
                    {"name": "other", "core": 1, "cpu_priority": 1, "release": us(at[2]), "period": "15 ms",
                     "steps": [{"work": "3 ms"}]}],
                "streams": [{"name": "S"}],
                "path": ["camera", "vision", "filter", "brake"],
            })
        },
    },
];

fn us(time: u64) -> String {
    format!("{time} us")
}

/// The same with releases half as late, and the rest as jitter.
fn stated_early(mut file: Value) -> Value {
    for list in ["hosts", "streams"] {
        for thread in file[list].as_array_mut().into_iter().flatten().filter(|thread| thread["period"].is_string()) {
            let release = thread["release"].as_str().and_then(|release| release.strip_suffix(" us")).unwrap_or("0");
            let release: u64 = release.parse().expect("a number");
            (thread["release"], thread["jitter"]) = (us(release - release / 2).into(), us(release / 2).into());
        }
    }
    file
}

/// A run of one phasing is not above the bound on that phasing; bound / run of both measures.
fn ratios_of_phasing(shape: &Phased, releases_us: &[u64]) -> Result<Vec<f64>, TestCaseError> {
    let mut file = (shape.file)(releases_us);
    let path = file["path"].take();
    file.as_object_mut().expect("it is one").remove("path");
    file["format"] = "gpusched-scenario/1".into();
    file["name"] = shape.name.into();
    file["horizon"] = "240 ms".into();
    file["kernels"] = json!({"K": {"blocks": 4, "threads": 1024, "duration": "5 ms"},
                             "L": {"blocks": 4, "threads": 1024, "duration": "2 ms"}});
    if shape.periods_us.len() < 4 {
        file["kernels"].as_object_mut().expect("it is one").remove("L");
    }
    file["chains"] = json!([{"name": "chain", "path": path}]);
    let scenario = read(&file);
    let rows = judged(&scenario, 1).1.rows;
    let found = of_run(&scenario)?;
    for (row, found) in rows.iter().zip(&found) {
        let unphased = row.unphased_bound_ns.map(Duration::as_ns);
        prop_assert!(unphased >= *found, "{releases_us:?}: {found:?} is above any phases of {row:?}");
    }
    // Jobs that are stated to come half as late, and may be as late as this, are in this run.
    for row in judged(&read(&stated_early(file)), 1).1.rows.iter().zip(&found) {
        let (late, found) = (row.0.bound_ns.map(Duration::as_ns), row.1);
        prop_assert!(late.is_none_or(|late| *found <= Some(late)), "{releases_us:?}: {found:?} is above {row:?}");
    }
    let mut ratios = Vec::new();
    for (row, found) in rows.iter().zip(found) {
        let (bound, found) = (row.bound_ns.map(Duration::as_ns), found.expect("there are outputs"));
        prop_assert!(bound.is_some_and(|bound| found <= bound), "{releases_us:?}: {found} is above {row:?}");
        ratios.extend(bound.map(|bound| bound as f64 / found as f64));
    }
    Ok(ratios)
}

fn phasings(shape: &'static Phased) -> impl Strategy<Value = Vec<u64>> {
    shape.periods_us.iter().map(|&period| 0..period).collect::<Vec<_>>()
}

#[test]
fn chains_keep_their_bounds_in_several_phasings() {
    for shape in &PHASED {
        for step in 0..8 {
            let releases: Vec<u64> =
                shape.periods_us.iter().zip(1..).map(|(period, n)| period * (step * n % 8) / 8).collect();
            ratios_of_phasing(shape, &releases).expect("no run is above its bound");
        }
    }
}

#[test]
#[ignore = "a long campaign"]
fn long_campaign_chains_keep_their_bounds_in_any_phasing() {
    for shape in &PHASED {
        println!("{}", campaign(shape.name, 100_000, &phasings(shape), |at| ratios_of_phasing(shape, &at)));
    }
}
