//! What-ifs that change how long blocks run.

use gpusched::hosts::simulate;
use gpusched::run::Summary;
use gpusched::scenario::{NewTime, ReadOptions, Scenario, WhatIf};
use gpusched::time::Duration;

use crate::published;

fn figure_3() -> Scenario {
    let text = std::fs::read_to_string(published::root().join("rtss2017/figure-3.json")).expect("it is there");
    Scenario::from_json("figure-3.json", &text, &ReadOptions::default()).expect("it is sound")
}

fn changed(kernel: &str, time: NewTime) -> Result<Scenario, String> {
    let changes = WhatIf { block_times: vec![(kernel.to_owned(), time)], ..WhatIf::default() };
    figure_3().what_if(&changes).map_err(|error| error.to_string())
}

/// When the first block of a kernel started, in ms.
fn first_start(scenario: &Scenario, kernel: &str) -> u64 {
    let run = simulate(scenario).expect("it runs");
    let found = Summary::of(&run).kernels().find(|row| row.launch.title() == kernel);
    found.and_then(|row| row.first_start_ns).expect("it started").as_ns() / 1_000_000
}

#[test]
fn a_kernel_with_another_block_time_lets_those_behind_it_start_at_another_time() {
    assert_eq!(first_start(&figure_3(), "K2"), 2000);
    // With half its time K1 ends at 1 s. K2 is then behind K5, which waits for the shared memory of K4's blocks: these
    // begin with the second blocks of K1 at 0.5 s.
    let shorter = changed("K1", NewTime::To(Duration::from_ns(500_000_000))).expect("there is one");
    assert_eq!(first_start(&shorter, "K2"), 1500);
    let text = shorter.to_native_json().expect("it can be written");
    let again = Scenario::from_json("again.json", &text, &ReadOptions::default()).expect("it is sound");
    assert_eq!(first_start(&again, "K2"), 1500, "it is written too");
    let half = NewTime::parse_share("50%").expect("it is one");
    let k1 = shorter.kernels().iter().find(|kernel| &*kernel.title == "K1").expect("there is one");
    // No other kernel's name ends with 1.
    for name in ["K1", "*1", &format!("K1[{}x{}]", k1.blocks, k1.shape.threads)] {
        assert_eq!(first_start(&changed(name, half).expect("there is one"), "K2"), 1500, "{name}");
    }
    assert!(changed("K1[1x1]", half).is_err());
}

#[test]
fn an_unknown_kernel_is_told_with_those_that_there_are() {
    let said = changed("K9", NewTime::To(Duration::ZERO)).expect_err("there is no K9");
    assert!(said.starts_with("\"set_block_time\": no kernel is called \"K9\"; there are K1, K2"), "{said}");
}

#[test]
fn a_grid_of_more_blocks_than_have_times_is_refused_where_no_time_is_stated_for_all() {
    let with = |duration: &str| {
        let text = format!(
            r#"{{"format": "gpusched-scenario/1", "name": "times", "device": "tx2", "kernels": {{"k": {{"blocks": 2,
            "threads": 64, {duration}"block_times": ["2 ms", "1 ms"]}}}}, "streams": [{{"name": "s", "operations":
            [{{"kernel": "k"}}]}}]}}"#
        );
        let scenario = Scenario::from_json("times.json", &text, &ReadOptions::default()).expect("it is sound");
        let changes = WhatIf { blocks: vec![("k".to_owned(), 3)], ..WhatIf::default() };
        scenario.what_if(&changes).map(|_| ()).map_err(|error| error.to_string())
    };
    let refused = with("").expect_err("nothing says how long it takes");
    assert!(refused.ends_with("\"k\" would have 3 blocks, and \"block_times\" has 2 times"), "{refused}");
    assert_eq!(with(r#""duration": "3 ms", "#), Ok(()));
}
