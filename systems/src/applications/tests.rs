use super::set::PowerModel;
use super::*;
use crate::device::Device;
use crate::statistics::Statistic;
use crate::time::Duration;

/// A set on the four SMs of the paper's Fig. 1 with these applications.
pub(crate) fn on_four_sms(applications: &str) -> ApplicationSet {
    let figure = ApplicationSet::builtin_json("gpu-evr-figure-1").expect("it is built in");
    let device = ApplicationSet::from_json("figure 1", figure, None).expect("it is sound").device;
    let text = format!(r#"{{"format": "gpusched-applications/1", "name": "test", "applications": [{applications}]}}"#);
    ApplicationSet::from_json("test.json", &text, Some(device)).expect("it is sound")
}

fn ms(ms: u64) -> Duration {
    Duration::from_ns(ms * 1_000_000)
}

/// Two blocks per SM (24 KiB of 48 each), 9 blocks of 10 ms, and 6 MB in, 12 MB out at 6 GB/s.
const WITH_COPIES: &str = r#"{"name": "A", "class": "high", "requirement": "1 s", "copy_in_bytes": 6000000,
    "copy_out_bytes": 12000000, "kernels": [
    {"blocks": 9, "threads": 32, "shared_memory_bytes": 24576, "block_time": "10 ms"},
    {"blocks": 1, "threads": 32, "block_time": "3 ms", "launches": 2}]}"#;

#[test]
fn equations_1_and_2_add_kernels_and_copies() {
    let set = on_four_sms(WITH_COPIES);
    let profile = &set.profiles[0];
    // 9 blocks in rounds of 2, 4, 6 and 8.
    let kernel: Vec<Duration> = (1..=4).map(|sms| profile.launch(0, sms)).collect();
    assert_eq!(kernel, [ms(50), ms(30), ms(20), ms(20)]);
    assert_eq!((profile.copy_in(), profile.copy_out()), (ms(1), ms(2)));
    assert_eq!(profile.from_kernel(1, 1), ms(6));
    assert_eq!((profile.execution(1), profile.execution(4)), (ms(59), ms(29)));
    assert_eq!(profile.shortest_execution(), ms(29));
}

#[test]
fn a_table_of_execution_times_gives_block_times_by_rounds_and_interpolates_them() {
    // 4 blocks, one per SM: 4, 2, 2 and 1 rounds; blocks of 10, (interpolated 12, 14) and 16 ms.
    let set = on_four_sms(
        r#"{"name": "A", "class": "low", "requirement": "1 s", "kernels": [{"blocks": 4, "threads": 32,
            "shared_memory_bytes": 49152, "execution_time": {"1": "40 ms", "4": "16 ms"}}]}"#,
    );
    let profile = &set.profiles[0];
    let blocks: Vec<Duration> = (1..=4).map(|sms| profile.block_time(0, sms)).collect();
    assert_eq!(blocks, [ms(10), ms(12), ms(14), ms(16)]);
    let kernel: Vec<Duration> = (1..=4).map(|sms| profile.launch(0, sms)).collect();
    assert_eq!(kernel, [ms(40), ms(24), ms(28), ms(16)]);
    assert_eq!(set.notes[0], "A/kernel: execution_time has no entry for 2, 3 SMs: interpolated");
    assert!(set.notes[1].starts_with("A: slower on 3 SMs than on 2"), "{:?}", set.notes);
    assert_eq!(profile.grows_at(), Some(3));
}

#[test]
fn the_built_in_sets_are_sound_and_marked_as_synthetic() {
    for name in BUILTIN_SETS {
        let text = ApplicationSet::builtin_json(name).expect("it is built in");
        let set = ApplicationSet::from_json(name, text, None).expect("it is sound");
        assert!(set.synthetic && set.notes.is_empty(), "{name}: {:?}", set.notes);
        assert_eq!(text.matches("\"reasoning\": \"SYNTHETIC").count(), set.applications.len(), "{name}");
    }
    assert_eq!(ApplicationSet::builtin_json("figure-9"), None);
}

fn builtin(name: &str) -> ApplicationSet {
    let text = ApplicationSet::builtin_json(name).expect("it is built in");
    ApplicationSet::from_json(name, text, None).expect("it is sound")
}

#[test]
fn the_thirteen_have_the_papers_classes() {
    for name in ["rodinia-like-k20m", "narrow-k20m"] {
        let set = builtin(name);
        let of = |class| {
            let own = set.applications.iter().filter(|application| application.class == class);
            own.map(|application| application.name.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(of(Class::High), ["leukocyte", "heartwall", "hotspot", "srad"]);
        assert_eq!(of(Class::Medium), ["backprop", "pathfinder", "kmeans", "streamcluster"]);
        assert_eq!(of(Class::Low), ["bfs", "b+tree", "gaussian", "lud", "cfd"]);
        assert_eq!(set.device, Device::builtin("k20m").expect("sound").expect("built in"));
    }
}

/// E(A, 1) to E(A, 13) of every application \[ms\], if they are alike.
fn executions_ms(set: &ApplicationSet) -> Vec<u64> {
    let of =
        |profile: &ExecutionProfile| (1..=13).map(|sms| profile.execution(sms).as_ns() / 1_000_000).collect::<Vec<_>>();
    let first = of(&set.profiles[0]);
    assert!(set.profiles.iter().all(|profile| of(profile) == first));
    first
}

#[test]
fn the_narrow_thirteen_fill_four_sms_and_are_no_faster_on_more() {
    // 32 blocks of 10 ms, 8 per SM, ten times: 4, 2, 2 and from four SMs on 1 round.
    let set = builtin("narrow-k20m");
    assert_eq!(executions_ms(&set), [400, 200, 200, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100]);
    assert!(set.applications.iter().all(|application| application.requirements == [ms(200)]));
}

#[test]
fn injections_depend_on_seed_and_sample_only_and_keep_the_gap() {
    let text = ApplicationSet::builtin_json("rodinia-like-k20m").expect("it is built in");
    let set = ApplicationSet::from_json("thirteen", text, None).expect("it is sound");
    let random = Injections::Random { count: 300, gap: ms(500) };
    let drawn = random.draw(&set, 5, 7).expect("few");
    assert_eq!(drawn, random.draw(&set, 5, 7).expect("few"));
    assert_ne!(drawn, random.draw(&set, 5, 8).expect("few"));
    assert_eq!((drawn.len(), drawn[0].arrival.as_ns()), (300, 0));
    assert!(drawn.windows(2).all(|pair| pair[1].arrival.since(pair[0].arrival) <= ms(500)));
    // A drawn delay is 250 ms on average; 299 of them deviate by 2.5 s (one sigma is 144 ms * sqrt(299)).
    let last = drawn[299].arrival.as_ns() / 1_000_000;
    assert!((62_000..=88_000).contains(&last), "{last} ms");
    for injection in &drawn {
        assert!(set.applications[injection.application as usize].requirements.contains(&injection.requirement));
    }

    let periodic = Injections::PerPeriod { count: 3, period: ms(100), periods: 4 }.draw(&set, 5, 7).expect("few");
    let periods: Vec<u64> = periodic.iter().map(|injection| injection.arrival.as_ns() / 100_000_000).collect();
    assert_eq!(periods, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]);

    let many = Injections::PerPeriod { count: u32::MAX, period: ms(1), periods: u32::MAX };
    assert_eq!(many.draw(&set, 0, 0), Err(ApplicationError::TooManyInjections));
    let late = Injections::Random { count: 1_000_000, gap: Duration::from_ns(1 << 62) };
    assert_eq!(late.draw(&set, 0, 0), Err(ApplicationError::InjectedTooLate));
}

#[test]
fn power_is_linear_in_busy_sms() {
    let power = PowerModel { idle_w: 50.0, per_busy_sm_w: 10.0 };
    // Two SMs busy for half of a second.
    let (busy, span) = (1_000_000_000, 1_000_000_000);
    assert!((power.mean_w(busy, span) - 60.0).abs() < 1e-9);
    assert!((power.energy_j(busy, 2 * span) - 2.0 * 55.0).abs() < 1e-9);
    assert!(power.mean_w(0, 0).abs() < 1e-9);
}

#[test]
fn spread_is_the_standard_deviation_of_the_samples() {
    let spread = Statistic::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
    assert!((spread.mean - 5.0).abs() < 1e-9 && (spread.deviation - (32.0_f64 / 7.0).sqrt()).abs() < 1e-9);
    assert!((spread.least - 2.0).abs() < 1e-9 && (spread.most - 9.0).abs() < 1e-9);
}

#[test]
fn a_variation_keeps_the_work_and_the_tightness_and_sets_the_load() {
    let text = ApplicationSet::builtin_json("rodinia-like-k20m").expect("it is built in");
    let set = ApplicationSet::from_json("thirteen", text, None).expect("it is sound");
    let changed =
        Variation { narrow: 64, load_percent: Some(200), ..Default::default() }.apply(&set, ms(250)).expect("short");
    assert!((load(&changed, ms(250)) - 2.0).abs() < 0.01);
    // hotspot: 1849 blocks become 64 launches of 29.
    let kernel = &changed.applications[2].kernels[0];
    assert_eq!((kernel.blocks, kernel.launches), (29, 64 * 20));
    let tightness = |set: &ApplicationSet, index: usize| {
        let shortest = set.profiles[index].execution(13).as_ns() as f64;
        set.applications[index].requirements[0].as_ns() as f64 / shortest
    };
    for index in 0..13 {
        assert!((tightness(&changed, index) / tightness(&set, index) - 1.0).abs() < 1e-6);
    }
}

#[test]
fn a_variation_sets_width_execution_time_and_tightness() {
    let set = builtin("narrow-k20m");
    let unchanged = Variation::default().apply(&set, ms(0)).expect("short");
    assert_eq!((&unchanged.name, &unchanged.applications), (&set.name, &set.applications));

    // 48 blocks, 8 per SM: 6, 3, 2, 2, 2 and then 1 round of 10 times 30 ms.
    let variation = Variation {
        saturation_sms: Some(6),
        execution: Some(ms(300)),
        tightness_percent: Some(130),
        ..Default::default()
    };
    let changed = variation.apply(&set, ms(0)).expect("short");
    assert_eq!(executions_ms(&changed)[..7], [1800, 900, 600, 600, 600, 300, 300]);
    assert_eq!(changed.applications[12].requirements, [ms(390)]);
    assert_eq!(changed.name, "narrow-k20m, each filling 6 SMs, E = 300 ms, T_req = 130 % of E");

    // hotspot's 1849 blocks take 24 rounds of 13 * 6 on the whole GPU; each becomes a launch of 6 blocks on one SM.
    let one = Variation { saturation_sms: Some(1), ..Default::default() };
    let changed = one.apply(&builtin("rodinia-like-k20m"), ms(0)).expect("short");
    let (before, after) = (&builtin("rodinia-like-k20m").profiles[2], &changed.profiles[2]);
    assert_eq!(before.execution(13), after.execution(1));
    assert_eq!(after.execution(1), after.execution(13));
}
