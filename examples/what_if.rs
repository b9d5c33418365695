//! A what-if from code: a stream's priority or its period is changed, and response times are compared.
#![allow(clippy::print_stdout, reason = "an example shows what it finds")]

use gpusched::hosts::simulate;
use gpusched::run::Summary;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;

/// A control loop of 2 ms in 10 ms beside image processing that fills the GPU for 8 ms in every 20 ms.
const SCENARIO: &str = r#"{
    "format": "gpusched-scenario/1",
    "name": "control beside image processing",
    "device": "tx2",
    "horizon": "100 ms",
    "kernels": {
        "control": {"blocks": 4, "threads": 1024, "duration": "2 ms"},
        "image": {"blocks": 8, "threads": 1024, "duration": "4 ms"}
    },
    "streams": [
        {"name": "image", "period": "20 ms", "operations": [{"kernel": "image"}]},
        {"name": "control", "period": "10 ms", "deadline": "9 ms", "operations": [{"kernel": "control"}]}
    ]
}"#;

/// The longest response time of the control loop, and how many of its deadlines were missed.
fn control(scenario: &Scenario) -> Result<(Option<Duration>, u64), Box<dyn std::error::Error>> {
    let run = simulate(scenario)?;
    let summary = Summary::of(&run);
    let rows = summary.responses();
    let row = rows.iter().find(|row| row.stream == "control").ok_or("the scenario has a stream called control")?;
    Ok((row.max_ns, summary.jobs().misses()))
}

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let read = |text: &str, options: &ReadOptions| Scenario::from_json("what-if.json", text, options);
    let ms = |count: u64| Duration::from_ns(count * 1_000_000);

    // Two waves of the image's blocks go before the control loop's: 8 ms, and 2 ms of its own.
    let as_is = control(&read(SCENARIO, &ReadOptions::default())?)?;
    assert_eq!(as_is, (Some(ms(10)), 5));

    // With a higher priority it goes before the image that is released at the same instant (A2).
    let urgent = SCENARIO.replace(r#"{"name": "control","#, r#"{"name": "control", "priority": -1,"#);
    let with_priority = control(&read(&urgent, &ReadOptions::default())?)?;
    assert_eq!(with_priority, (Some(ms(2)), 0));

    // Half as many images: the longest response stays, fewer jobs have it.
    let mut options = ReadOptions::default();
    options.periods.insert("image".into(), ms(40));
    let with_period = control(&read(SCENARIO, &options)?)?;
    assert_eq!(with_period, (Some(ms(10)), 3));

    for (what, (longest, misses)) in
        [("as it is", as_is), ("control at priority -1", with_priority), ("an image every 40 ms", with_period)]
    {
        let longest = longest.map_or_else(|| "none".to_owned(), |longest| longest.to_string());
        println!("{what}: longest response {longest}, deadlines missed {misses}");
    }
    Ok(())
}
