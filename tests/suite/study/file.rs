//! Reading study files.

use super::*;

fn error(text: &str) -> String {
    let read = |name: &str| match name {
        "mine.json" => Ok(b"{}".to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    Study::from_json("study.json", text, &read).expect_err("it is refused").to_string()
}

#[test]
fn the_last_key_of_the_grid_changes_fastest() {
    let text =
        SMALL.replace("\"grid\": {", "\"grid\": {\"placement\": [\"random\", \"most-room\"], \"seed\": [3, 1, 2], ");
    let study = study(&text.replace("\"seed\": 7, ", ""));
    let texts = |point| study.coordinates(point).iter().map(|value| value.text.as_str()).collect::<Vec<_>>();
    assert_eq!((study.layout.points, study.layout.rows()), (12, 60));
    assert_eq!(texts(0), ["random", "3", "unequal"]);
    assert_eq!(texts(1), ["random", "3", "priorities"]);
    assert_eq!(texts(2), ["random", "1", "unequal"]);
    assert_eq!(texts(11), ["most-room", "2", "priorities"]);
}

#[test]
fn keys_of_schedulers_of_applications_that_have_no_effect_are_refused() {
    for (parameters, grid, refused) in [
        ("", r#""gap": ["3 ms", "300 ms"]"#, r#"grid.gap: "gap" has no effect at any point: it needs "inject""#),
        (r#", "inject": 5"#, r#""period": ["3 ms"]"#, r#""period" has no effect at any point: it needs "per_period""#),
        (r#", "gap": "1 s""#, r#""per_period": [1, 2]"#, r#"parameters.gap: "gap" has no effect"#),
        (
            r#", "scheduler": "timegraph", "inject": 5"#,
            r#""rules": [{"full-gpu": "wait"}, {}]"#,
            "it needs the scheduler gpu-evr",
        ),
    ] {
        let text = error(&format!(
            r#"{{"format": "gpusched-study/1", "name": "a", "command": "evr", "seed": 1, "samples": 1,
                "parameters": {{"applications": "rodinia-like-k20m"{parameters}}}, "grid": {{{grid}}}}}"#
        ));
        assert!(text.contains(refused), "{text}");
    }
}

#[test]
fn mistakes_are_named_with_their_place() {
    for (old, new, message) in [
        ("\"chains\"", "\"chain\"", "1:142: grid.family[0]: expected one of equal-power-of-two"),
        ("\"grid\"", "\"parameters\": {\"colour\": 1}, \"grid\"", "unknown key \"colour\""),
        ("\"grid\"", "\"parameters\": {\"family\": \"chains\"}, \"grid\"", "\"family\" stands twice in the study"),
        ("[\"chains\"]", "[\"chains\", \"chains\"]", "\"chains\" stands twice in the grid"),
        ("[\"chains\"]", "[]", "expected at least one entry"),
        ("\"seed\": 7, ", "", "the key \"seed\" is missing"),
        ("\"samples\": 45", "\"samples\": 0", "samples: expected a whole number from 1"),
        ("\"grid\"", "\"parameters\": {\"device\": \"none.json\"}, \"grid\"", "cannot read none.json"),
        ("\"grid\"", "\"parameters\": {\"device\": \"mine.json\"}, \"grid\"", "mine.json:1:1"),
    ] {
        let sound = r#"{"format": "gpusched-study/1", "name": "small", "command": "merged-sm", "seed": 7, "samples": 45, "samples_per_row": 10, "grid": {"family": ["chains"]}}"#;
        let text = error(&sound.replace(old, new));
        assert!(text.contains(message), "{text}");
    }
}

#[test]
fn the_digest_sees_whatever_changes_results_and_nothing_else() {
    let digest = |text: &str| study(text).digest;
    let same = SMALL.replace("{\"format\"", "{\n  \"comment\": \"why\",\n  \"format\"").replace(", ", ",   ");
    assert_eq!(digest(SMALL), digest(&same));
    for (old, new) in
        [("\"seed\": 7", "\"seed\": 8"), ("10", "9"), ("45", "46"), ("unequal", "chains"), ("small", "new")]
    {
        assert_ne!(digest(SMALL), digest(&SMALL.replace(old, new)), "{new}");
    }
    let device = gpusched::device::Device::builtin_json("tx2").expect("it is built in");
    let text = SMALL.replace("\"grid\"", "\"parameters\": {\"device\": \"mine.json\"}, \"grid\"");
    let with = |device: &str| {
        Study::from_json("study.json", &text, &|_| Ok(device.as_bytes().to_vec())).expect("it is sound").digest
    };
    assert_ne!(with(device), with(&device.replace("NVIDIA", "Nvidia")), "a device file counts");
}

#[test]
fn rows_cover_every_sample_of_every_point_once() {
    for (samples, per_row) in [(45, 10), (40, 10), (1, 10), (7, 1)] {
        let text = SMALL.replace("45", &samples.to_string()).replace("10", &per_row.to_string());
        let layout = study(&text).layout;
        for count in [1, 2, 3, 4, 7, 64] {
            let shards: Vec<Shard> = (0..count).filter_map(|index| Shard::new(index, count)).collect();
            let mut seen: Vec<(u64, u64)> = Vec::new();
            for shard in shards {
                let own = shard.rows(layout.rows());
                let mut of_shard = 0;
                for row in 0..own {
                    let place = layout.place(shard.row(row));
                    seen.extend((place.first..place.first + place.samples).map(|sample| (place.point, sample)));
                    of_shard += place.samples;
                    assert_eq!(layout.samples_of(shard, row + 1), of_shard);
                }
            }
            seen.sort_unstable();
            let all = (0..layout.points).flat_map(|point| (0..samples).map(move |sample| (point, sample)));
            assert!(seen.into_iter().eq(all), "{samples} samples, {per_row} a row, {count} shards");
        }
    }
}
