//! Table 3 of Yang and others, ECRTS 2018: which calls of CUDA make their caller wait for the GPU, let kernels that are
//! launched later wait (implicit synchronization), and hold the calls of other CPU tasks.

use super::figure::{Figure, Make};
use super::made::{self, Failure, File, Made, Published, published};
use super::paper::Paper;
use crate::hosts::simulate;
use crate::pictures::timeline::{Timeline, TimelineOptions};
use crate::printed::Printed;
use crate::run::{Recorded, Run, Summary};
use crate::scenario::{ReadOptions, Scenario};
use crate::time::{Duration, Instant};

const FREE: Published = published!("ecrts2018/free.json");

pub(super) const FIGURES: &[Figure] =
    &[Paper::Ecrts2018.computed("ecrts2018-table-3", Make::Own(make)).with_values(values)];

/// A call under test: its name, its step in the scenario, and whether, as published, its caller waits, kernels that are
/// launched later wait, and the calls of other tasks do.
type Source = (&'static str, &'static str, [bool; 3]);

/// All of which the description of the artefact says something. It runs `cudaMalloc` and `cudaMallocHost` too, and does
/// not say what came out.
const SOURCES: [Source; 9] = [
    ("cudaDeviceSynchronize", r#"{"synchronize": "device"}"#, [true, false, false]),
    (
        "cudaStreamSynchronize",
        r#"{"launch": "K3", "stream": "Task 3"}, {"synchronize": "Task 3"}"#,
        [true, false, false],
    ),
    ("cudaFree", STEP, [true, true, true]),
    ("cudaFreeHost", r#"{"free": "host"}"#, [true, true, true]),
    ("cudaMemset (synchronous)", r#"{"memset": 4096, "synchronous": true}"#, [true, true, false]),
    ("cudaMemsetAsync", r#"{"memset": 4096, "stream": "Task 3"}"#, [false; 3]),
    ("cudaMemcpyAsync (D-D)", r#"{"copy": "device-to-device", "bytes": 4096, "stream": "Task 3"}"#, [false; 3]),
    ("cudaMemcpyAsync (D-H)", r#"{"copy": "device-to-host", "bytes": 4096, "stream": "Task 3"}"#, [false; 3]),
    ("cudaMemcpyAsync (H-D)", r#"{"copy": "host-to-device", "bytes": 4096, "stream": "Task 3"}"#, [false; 3]),
];

/// The call of the shipped scenario.
const STEP: &str = r#"{"free": "device"}"#;

/// Those that are drawn, each with what its file is called.
const DRAWN: [(&str, &str); 4] = [
    ("cudaMemcpyAsync (H-D)", "copy"),
    ("cudaDeviceSynchronize", "device-synchronize"),
    ("cudaMemset (synchronous)", "memset"),
    ("cudaFree", "free"),
];

/// When the call under test comes, and when task 4 wants to launch its kernel.
const CALL: Instant = Instant::from_ns(400_000_000);
const LAUNCH_OF_TASK_4: Instant = Instant::from_ns(800_000_000);
/// From the return of the call to the launch of task 3.
const DELAY: Duration = Duration::from_ns(200_000_000);

/// The shipped scenario with another call in place of `cudaFree`.
fn scenario_of((name, step, _): Source) -> Result<Scenario, Failure> {
    let text = FREE.text.replacen(STEP, step, 1).replacen("ECRTS 2018, cudaFree", &format!("ECRTS 2018, {name}"), 1);
    Ok(Scenario::from_json(FREE.path, &text, &ReadOptions::default())?)
}

/// When a kernel was launched last, and when it began then.
fn last_of(run: &Run<'_>, kernel: &str) -> Option<(Instant, Instant)> {
    let summary = Summary::of(run);
    let own = summary.launches().filter(|Recorded { work, .. }| &*work.name == kernel);
    own.last().and_then(|launch| Some((launch.record.launched(), launch.record.first_start()?)))
}

fn values() -> Result<Vec<Printed>, Failure> {
    let mut values = Vec::new();
    for source in SOURCES {
        let scenario = scenario_of(source)?;
        let run = simulate(&scenario)?;
        let (third, fourth) = (last_of(&run, "K3"), last_of(&run, "K4"));
        let (launch_of_3, _) = third.ok_or("task 3 never begins")?;
        let (launch_of_4, start_of_4) = fourth.ok_or("task 4 never begins")?;
        let (name, _, [waits, synchronizes, holds]) = source;
        let of = |what: &str| format!("{name}: {what}");
        let place = "Table 3; artefact, Compare";
        values.extend([
            Printed::new(place, of("its caller waits"), waits, launch_of_3 > CALL + DELAY),
            Printed::new(place, of("later kernels wait"), synchronizes, start_of_4 > LAUNCH_OF_TASK_4),
            Printed::new(place, of("other CPU tasks are blocked"), holds, launch_of_4 > LAUNCH_OF_TASK_4),
        ]);
    }
    Ok(values)
}

fn make(name: &'static str) -> Result<Made, Failure> {
    let Made { mut files, finding } = made::make_compared(name, Paper::Ecrts2018, &values()?);
    let options = TimelineOptions { waits: true, ..TimelineOptions::default() };
    for (number, (drawn, file)) in DRAWN.into_iter().enumerate() {
        let Some(source) = SOURCES.into_iter().find(|(name, ..)| *name == drawn) else { continue };
        let scenario = scenario_of(source)?;
        let run = simulate(&scenario)?;
        let summary = Summary::of(&run);
        let picture = Timeline::new(&summary, &options)?.draw(&summary, &options);
        files.insert(number, File::svg(format!("{name}-{file}"), &picture));
    }
    Ok(Made { files, finding })
}
