//! A tour of five scenes on shipped scenarios, from one kernel to why a kernel waits, for somebody's first ten minutes.

use std::io::Write;

use super::error::FigureError;
use super::timeline::{Published, published};
use crate::hosts::simulate;
use crate::pictures::{HtmlScene, HtmlTimeline, write_html_tour};
use crate::run::Summary;
use crate::scenario::{ReadOptions, Scenario};

/// A scene before its scenario is run.
struct Scene {
    title: &'static str,
    scenario: Published,
    text: &'static str,
    question: &'static str,
    answer: &'static str,
}

const SCENES: [Scene; 5] = [
    Scene {
        title: "One kernel",
        scenario: published!("thesis2019/figure-3-4.json"),
        text: "This GPU has two streaming multiprocessors (SMs), each with room for 2048 threads, and K3 has six blocks \
               of 512 threads, which all start at once. Each box is a block, as wide as it runs and as high as the \
               threads that it takes.",
        question: "How many more blocks of this kernel could have started at 0 s?",
        answer: "Two: an SM holds four blocks of 512 threads, both together eight, and six are taken.",
    },
    Scene {
        title: "No room",
        scenario: published!("ospert2017/figure-4.json"),
        text: "Kernels of different streams may run at the same time, as K1 and K2 do. K3 and K4 are launched at 250 ms \
               (the arrows) and wait, as the bars in the rows of their streams show: the GPU is full (rule R2) until \
               500 ms.",
        question: "K4's bar says X1, not R2: it stands behind K3. Would K4 start earlier without K3?",
        answer: "No. K1 and K2 take all threads until 500 ms; alone, K4 would wait as long, under R2.",
    },
    Scene {
        title: "One queue",
        scenario: published!("ospert2017/figure-5.json"),
        text: "K2 has 16 blocks, more than fit at once, and K3 has a single one. All kernels of one priority stand in \
               one queue (the EE queue), and only blocks of its head are assigned (rule X1), so K3 waits until K2's \
               last block has found its place.",
        question: "At 1 s K1 ends, and there is room for a block of 512 threads. Why does K3 not take it?",
        answer: "K2 is at the head of the EE queue and has blocks left: its next block takes the room. Move the cursor \
                 to 1 s and read the state.",
    },
    Scene {
        title: "Priorities",
        scenario: published!("rtss2017/figure-6.json"),
        text: "K2 and K3 come from streams of high priority, K1 from one of low priority. A kernel that has begun goes \
               on block by block, and while an EE queue of higher priority holds a kernel, no block of a lower one is \
               assigned (rule A2): K1's last four blocks start at 4.5 s.",
        question: "When would they have started if all three streams had the same priority?",
        answer: "At 500 ms: K1 was first, so it would be at the head of the only queue when its first blocks end. \
                 Try it: add --set-priority S2=0 --set-priority S3=0 to the command below.",
    },
    Scene {
        title: "Why does K5 wait?",
        scenario: published!("rtss2017/figure-3.json"),
        text: "At 1 s the first blocks of K1 end and K4 starts, two blocks on each SM. SM 1 then has 1536 threads free, enough \
               for K5, whose two blocks take 256 each. K5 starts only at 2 s.",
        question: "Which kernel must end before K5 can start, and what does it hold? Click K5's bar in the row of S3.",
        answer: "K4: two of its blocks on each SM hold 32 KiB of shared memory each, which is all of it (rule R3). The \
                 height button shows shared memory in place of threads.",
    },
];

/// Writes the tour as one HTML page that loads nothing.
///
/// # Errors
/// [`FigureError`] if a scene cannot be run or `out` refuses it.
pub fn write_tour(out: impl Write) -> Result<(), FigureError> {
    write(out).map_err(|source| FigureError { figure: "tour", source })
}

fn write(out: impl Write) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut runs = Vec::with_capacity(SCENES.len());
    for Scene { scenario, .. } in &SCENES {
        let scenario = Scenario::from_json(scenario.path, scenario.text, &ReadOptions::default())?;
        let run = simulate(&scenario)?;
        runs.push((scenario, run));
    }
    let scenes: Vec<HtmlScene<'_>> = SCENES
        .iter()
        .zip(&runs)
        .map(|(scene, (scenario, run))| HtmlScene {
            title: scene.title,
            text: scene.text,
            question: scene.question,
            answer: scene.answer,
            command: format!("gpusched simulate {} --html page.html", scene.scenario.path),
            timeline: HtmlTimeline::new(Summary::of(scenario, run)),
        })
        .collect();
    Ok(write_html_tour("A tour of how a GPU schedules blocks", &scenes, out)?)
}
