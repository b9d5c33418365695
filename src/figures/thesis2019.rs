//! Figures of Paredes Zevallos' thesis, 2019, response times on a merged SM and what a TX2 measured, and a model in the
//! manner of the WATERS Industrial Challenge 2019.

mod chapter_3;
mod chapter_4;

use super::figure::{Figure, Make};
use super::made::{Published, published};
use super::paper::Paper;

const FIGURE_3_3_A: Published = published!("thesis2019/figure-3-3-a.json");
const FIGURE_3_3_B: Published = published!("thesis2019/figure-3-3-b.json");
const FIGURE_3_4: Published = published!("thesis2019/figure-3-4.json");
const FIGURE_3_5: Published = published!("thesis2019/figure-3-5.json");
const SECTION_3_5: Published = published!("thesis2019/section-3-5.json");
const FIGURE_3_10: Published = published!("thesis2019/figure-3-10.json");
const SCENARIO_1: Published = published!("thesis2019/section-4-2-scenario-1.json");
const SCENARIO_2: Published = published!("thesis2019/section-4-2-scenario-2.json");
const SCENARIO_3: Published = published!("thesis2019/section-4-2-scenario-3.json");
const FIGURE_4_7: Published = published!("thesis2019/section-4-3-figure-4-7.json");
const FIGURE_4_9: Published = published!("thesis2019/section-4-3-figure-4-9.json");

/// Up to Fig. 3.10.
pub(super) const CHAPTER_3: &[Figure] = &[
    Paper::Thesis2019
        .computed(
            "thesis2019-section-2-2",
            "Sec. 2.2, Fig. 2.4, Eq. 3.6",
            "limits of the TX2",
            "What deviceQuery says of a TX2, the threads that a block of 140 wastes, and how many blocks an SM holds.",
            Make::Compared,
        )
        .with_values(chapter_3::values_of_device),
    Paper::Thesis2019.computed(
        "thesis2019-figure-3-3-a",
        "Fig. 3.2 (a) and 3.3 (a)",
        "a kernel released before anything is free",
        "At t_1 fewer than g_max blocks are free. For every r_4 up to t_1, t_a = t_1, because K3 has left the queue.",
        Make::Analysed(FIGURE_3_3_A),
    ).with_values(chapter_3::figure_3_3_a),
    Paper::Thesis2019.computed(
        "thesis2019-figure-3-3-b",
        "Fig. 3.3 (b)",
        "a kernel released when there is room",
        "For every r_4 from t_2 to t_3, t_a = r_4, because all kernels before have left the queue and there is room. \
         (Algorithm 2 as printed has no releases: [docs/errata.md](../docs/errata.md), 4.)",
        Make::Analysed(FIGURE_3_3_B),
    ).with_values(chapter_3::figure_3_3_b),
    Paper::Thesis2019.computed(
        "thesis2019-figure-3-4",
        "Fig. 3.2 (b) and 3.4",
        "a kernel on an empty GPU",
        "g_f = g_max = 8: all six blocks of K3 start at t_a, f_3 = C_3 + t_a, and g_f = 2 is left.",
        Make::Analysed(FIGURE_3_4),
    ).with_values(chapter_3::figure_3_4),
    Paper::Thesis2019.computed(
        "thesis2019-figure-3-5",
        "Fig. 3.5",
        "a kernel behind two others",
        "Five blocks of K3 start when K1 ends, the last one when K2 ends: t_a = f_2, f_3 = f_2 + C_3, and g_f = 2.",
        Make::Analysed(FIGURE_3_5),
    ).with_values(chapter_3::figure_3_5),
    Paper::Thesis2019.computed(
        "thesis2019-figures-3-6-to-3-9",
        "Fig. 3.6 to 3.9",
        "the worked example, kernel by kernel",
        "f = {4, 10, 12, 11}, with h, t_a and g_f printed for every step of the first three kernels.",
        Make::Own(chapter_3::make_example),
    ).with_values(chapter_3::values_of_example),
    Paper::Thesis2019.computed(
        "thesis2019-figure-3-10",
        "Fig. 3.10, Eq. 3.8 to 3.15",
        "kernels of one thread execution time",
        "No algorithm is needed: K, t_a and g_f follow from three equations.",
        Make::Own(chapter_3::make_figure_3_10),
    ).with_values(chapter_3::values_of_figure_3_10),
];

/// And the appendix, then the model of the TX2 in the manner of the WATERS Industrial Challenge 2019, for which the
/// thesis was made.
pub(super) const CHAPTER_4: &[Figure] = &[
    Paper::Thesis2019.computed(
        "thesis2019-figure-4-1",
        "Fig. 4.1 and 4.2",
        "scenario 1: K2, K3, K4, K1",
        "Measured on a TX2: f = {6, 12, 11, 10}, and the same by APP4MC.",
        Make::Analysed(SCENARIO_1),
    ).with_values(|| chapter_4::values_of(&chapter_4::EXPERIMENTS[0])),
    Paper::Thesis2019.computed(
        "thesis2019-figure-4-3",
        "Fig. 4.3 and 4.4",
        "scenario 2: K2, K4, K1, K3",
        "Measured on a TX2: f = {6, 11, 10, 12}, and the same by APP4MC. The measured picture lacks a block of K4.",
        Make::Analysed(SCENARIO_2),
    ).with_values(|| chapter_4::values_of(&chapter_4::EXPERIMENTS[1])),
    Paper::Thesis2019.computed(
        "thesis2019-figure-4-5",
        "Fig. 4.5 and 4.6",
        "scenario 3: K2, K1, K3, K4",
        "Measured on a TX2: f = {6, 8, 12, 11}, and the same by APP4MC. In the measured picture two blocks overlap.",
        Make::Analysed(SCENARIO_3),
    ).with_values(|| chapter_4::values_of(&chapter_4::EXPERIMENTS[2])),
    Paper::Thesis2019.computed(
        "thesis2019-figure-4-7",
        "Fig. 4.7 and 4.8",
        "five kernels, one very long",
        "The same completion time for each kernel on the TX2 and by APP4MC.",
        Make::Analysed(FIGURE_4_7),
    ).with_values(|| chapter_4::values_of(&chapter_4::EXPERIMENTS[4])),
    Paper::Thesis2019.computed(
        "thesis2019-figure-4-9",
        "Fig. 4.9 and 4.10",
        "five kernels, one of which fills the GPU first",
        "As expected, the same completion time for each kernel on the TX2 and by APP4MC.",
        Make::Analysed(FIGURE_4_9),
    ).with_values(|| chapter_4::values_of(&chapter_4::EXPERIMENTS[5])),
    Paper::Thesis2019.computed(
        "thesis2019-chapter-4",
        "Ch. 4",
        "all experiments: measured, simulated, analysed",
        "The experiments show the accuracy of the algorithm; which SM a block is on differs, because the analysis has one.",
        Make::Own(chapter_4::make),
    ).with_values(chapter_4::values),
    Paper::Thesis2019.computed(
        "thesis2019-appendix",
        "Appendix 1",
        "an AMALTHEA model of five runnables, analysed",
        "A random software model with 10 to 20 ticks and a GridSize of 2 to 20 for each runnable; no numbers are printed, \
         so those of the model here are our own draw.",
        Make::Analysed(published!("amalthea/thesis-appendix.amxmi")),
    ),
    Paper::Waters2019.computed(
        "waters2019-tx2-like",
        "a model like the challenge's",
        "four functions offloaded to a TX2, with their copies",
        "Ticks on the TX2's GPU in millions, average and bounds: localization 180 (175.5 to 186), detection 165 (162 to \
         174), lane detection 39.75 (36.75 to 41), structure from motion 10.8 (10.575 to 11.85). The upper bounds are used \
         here. Everything else in this model is ours: grid and block sizes, labels, clocks.",
        Make::Analysed(published!("amalthea/tx2-like-waters2019.amxmi")),
    ),
];
