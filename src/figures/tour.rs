//! A tour of scenes on shipped scenarios, for somebody's first quarter of an hour: from one kernel to why a kernel
//! waits, and in a second part what newer GPUs do, a rule a scene.

use std::io::Write;

use serde::Serialize;

use super::figure::FigureError;
use super::made::{Published, published};
use crate::hosts::simulate;
use crate::pictures::{HtmlScene, HtmlTimeline, write_html_tour};
use crate::run::Summary;
use crate::scenario::{ReadOptions, Scenario};

/// A scene before its scenario is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TourScene {
    /// Its heading.
    pub title: &'static str,
    /// The shipped scenario, by its path in the project.
    pub scenario: &'static str,
    #[serde(skip)]
    content: &'static str,
    /// What is to be seen.
    pub text: &'static str,
    /// What the reader may find out in the figure.
    pub question: &'static str,
    /// What there is to find out.
    pub answer: &'static str,
}

const fn scene(
    title: &'static str,
    Published { path, text: content }: Published,
    text: &'static str,
    question: &'static str,
    answer: &'static str,
) -> TourScene {
    TourScene { title, scenario: path, content, text, question, answer }
}

/// The scenes, in the order in which they are told.
pub const TOUR: [TourScene; 14] = [
    scene(
        "One kernel",
        published!("tour/one-kernel.json"),
        "This GPU has two streaming multiprocessors (SMs), each with room for 2048 threads, and K1 has six blocks of 512 \
         threads, which all start at once. Each box is a block, as wide as it runs and as high as the threads that it \
         takes.",
        "How many more blocks of this kernel could have started at 0 s?",
        "Two: an SM holds four blocks of 512 threads, both together eight, and six are taken.",
    ),
    scene(
        "No room",
        published!("ospert2017/figure-4.json"),
        "Kernels of different streams may run at the same time, as K1 and K2 do. K3 and K4 are launched at 250 ms \
         (the arrows) and wait, as the bars in the rows of their streams show: the GPU is full (rule R2) until \
         500 ms.",
        "K4's bar says X1, not R2: it stands behind K3. Would K4 start earlier without K3?",
        "No. K1 and K2 take all threads until 500 ms; alone, K4 would wait as long, under R2.",
    ),
    scene(
        "One queue",
        published!("ospert2017/figure-5.json"),
        "K2 has 16 blocks, more than fit at once, and K3 has a single one. All kernels of one priority stand in \
         one queue (the EE queue), and only blocks of its head are assigned (rule X1), so K3 waits until K2's \
         last block has found its place.",
        "At 1 s K1 ends, and there is room for a block of 512 threads. Why does K3 not take it?",
        "K2 is at the head of the EE queue and has blocks left: its next block takes the room. Move the cursor \
         to 1 s and read the state.",
    ),
    scene(
        "Priorities",
        published!("rtss2017/figure-6.json"),
        "K2 and K3 come from streams of high priority, K1 from one of low priority. A kernel that has begun goes \
         on block by block, and while an EE queue of higher priority holds a kernel, no block of a lower one is \
         assigned (rule A2): K1's last four blocks start at 4.5 s.",
        "When would they have started if all three streams had the same priority?",
        "At 500 ms: K1 was first, so it would be at the head of the only queue when its first blocks end. \
         Try it: add --set-priority S2=0 --set-priority S3=0 to the command, or use the sliders of the page.",
    ),
    scene(
        "The NULL stream",
        published!("rtss2017/figure-5.json"),
        "K2 and K5 are launched in the NULL stream. Its kernels wait for everything that was launched before them in \
         blocking streams (rule N1), which streams are unless they are made otherwise, and what is launched there after \
         them waits for them (rule N2). So K1 to K6 run one after another, although many would have room beside others.",
        "K6 is launched at 800 ms, and from 3 s on there are threads free for its two blocks. Why does it start only at \
         6 s?",
        "K5 was launched in the NULL stream at 600 ms, before K6, and waits for K3 and K4 (N1). K6 waits at the \
         head of its stream until K5 ends, at 6 s (N2): the bar in the row of S3.",
    ),
    scene(
        "Copies",
        published!("events/double-buffering.json"),
        "Copies are made by a copy engine of their own, so that they run beside kernels: the second frame is copied to \
         the GPU from 2 to 4 ms, while the first is filtered. Events keep the order between the three streams (rule E2): \
         a result is copied back only when its filter has ended.",
        "Both frames take 11 ms in all. How long would they take in a single stream?",
        "14 ms: each frame takes 2 ms in, 4 ms of filter and 1 ms out, and in one stream nothing runs beside anything.",
    ),
    scene(
        "Deadlines",
        published!("deadlines/camera-and-lidar.json"),
        "Every 20 ms a camera's frame is copied in, searched by detect and copied back, within 10 ms: the arrows \
         downwards are the deadlines. A lidar's scan comes at 18 ms. The camera's second job takes 13 ms and is late: its \
         arrow is filled and crossed out.",
        "Which kernel is in the way of the second detect? Would a higher priority for the camera help?",
        "register, of the lidar, has all threads of both SMs from 19 to 27 ms. A priority would not help: blocks that run \
         are not taken away from their SMs, so detect starts at 27 ms all the same.",
    ),
    scene(
        "Why does K5 wait?",
        published!("rtss2017/figure-3.json"),
        "At 1 s the first blocks of K1 end and K4 starts, two blocks on each SM. SM 1 then has 1536 threads free, enough \
         for K5, whose two blocks take 256 each. K5 starts only at 2 s.",
        "Which kernel must end before K5 can start, and what does it hold? Click K5's bar in the row of S3.",
        "K4: two of its blocks on each SM hold 32 KiB of shared memory each, which is all of it (rule R3). The \
         height button shows shared memory in place of threads.",
    ),
    scene(
        "Newer GPUs: GPC by GPC",
        published!("rules/placement-by-gpcs.json"),
        "SMs are parts of GPCs. A B200 was measured to count out the blocks of a kernel by levels of one block on each of its \
         148 SMs, and to give what is left, here 12, to three lone TPCs (SMs 142 to 147) and then to SMs by number. It hands \
         them out GPC by GPC, the lone TPCs first. The second kernel begins there again, although most SMs hold less.",
        "If the first kernel had 1024 blocks, how many of them would SM 0 get, and how many SM 141?",
        "7 and 6: six levels are 888 blocks, and the 136 that are left go to SMs 142 to 147 and 0 to 129.",
    ),
    scene(
        "Newer GPUs: programmatic launch",
        published!("rules/programmatic-launch.json"),
        "Each of six kernels fills a B200 for 1.02 ms. From Hopper on a launch may be programmatic (rule PDL): the kernel \
         begins once each block of the one before it in the stream has triggered, here after half of its time, and its own \
         blocks stand at their wait, before they trigger, until that one has ended. So never more than two run at once.",
        "How long do the six take, and how long would they without the attribute?",
        "3.574 ms and 6.134 ms. Measured on a B200: 3.576 and 6.134 ms, (6 + 1) / 2 stages in place of 6.",
    ),
    scene(
        "Newer GPUs: clusters",
        published!("rules/clusters.json"),
        "From Hopper on blocks may come in clusters, which begin together on SMs of one GPC (rule cluster). Of the 132 SMs of \
         this H100 92 are free at 0 s, and gemm, in clusters of 16, waits all the same: no GPC has 16 of them free.",
        "Would clusters of 8 have to wait?",
        "No: all 64 blocks begin at 0 s. Try it: add --set-cluster gemm=8 to the command.",
    ),
    scene(
        "Newer GPUs: persistent kernels",
        published!("rules/persistent-kernel.json"),
        "148 blocks of tiles, one an SM, take one tile after another, 592 in all. 24 blocks of higher priority come at 0.1 s. A \
         priority stops no block that runs; but with try_cancel (Blackwell) a block asks for its next tile, and is refused it \
         while a higher priority waits: at 3 s, when the first tiles are done, urgent begins.",
        "When would urgent begin if each block took its 4 tiles in a loop, without asking?",
        "At 12 s, when the blocks of tiles end: state 148 blocks and 592 items in the scenario, and look.",
    ),
    scene(
        "Newer GPUs: CUDA graphs",
        published!("rules/graphs.json"),
        "A graph of four kernels is launched twice, each time as one operation of the stream. Its edges say what waits for \
         what: left and right both follow norm and run side by side, out follows both.",
        "The second launch is made at 0 s as well. Why does its first kernel begin at 6 ms?",
        "What is behind the launch of a graph waits for all of it, and the graph takes 1 ms for norm, 3 ms for the longer \
         branch and 2 ms for out.",
    ),
    scene(
        "Newer GPUs: green contexts",
        published!("rules/green-contexts.json"),
        "A split of an H100 gives 16 SMs to decoding and leaves 116 for prefill, whose kernel has more blocks than these hold \
         at once. Each green context has EE queues of its own: the decode that comes at 1 ms starts at once.",
        "When would it start without green contexts, on all 132 SMs?",
        "At 9 ms: 264 blocks of prefill fit at a time, so its last ones begin then, and until that its kernel is at the head \
         of the only EE queue (rule X1).",
    ),
];

/// Writes the tour as one HTML page that loads nothing.
///
/// # Errors
/// [`FigureError`] if a scene cannot be run or `out` refuses it.
pub fn write_tour(out: impl Write) -> Result<(), FigureError> {
    write(out).map_err(|source| FigureError { figure: "tour", source })
}

fn write(out: impl Write) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let mut runs = Vec::with_capacity(TOUR.len());
    for scene in &TOUR {
        let scenario = Scenario::from_json(scene.scenario, scene.content, &ReadOptions::default())?;
        let run = simulate(&scenario)?;
        runs.push(run.into_owned());
    }
    let scenes: Vec<HtmlScene<'_>> = TOUR
        .iter()
        .zip(&runs)
        .map(|(scene, run)| HtmlScene {
            title: scene.title,
            text: scene.text,
            question: scene.question,
            answer: scene.answer,
            command: format!("gpusched simulate {} --html page.html", scene.scenario),
            timeline: HtmlTimeline::new(Summary::of(run)),
        })
        .collect();
    Ok(write_html_tour("A tour of how a GPU schedules blocks", &scenes, out)?)
}
