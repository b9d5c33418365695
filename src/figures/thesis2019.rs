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
    Paper::Thesis2019.computed("thesis2019-section-2-2", Make::Compared).with_values(chapter_3::values_of_device),
    Paper::Thesis2019
        .computed("thesis2019-figure-3-3-a", Make::Analysed(FIGURE_3_3_A))
        .with_values(chapter_3::figure_3_3_a),
    Paper::Thesis2019
        .computed("thesis2019-figure-3-3-b", Make::Analysed(FIGURE_3_3_B))
        .with_values(chapter_3::figure_3_3_b),
    Paper::Thesis2019.computed("thesis2019-figure-3-4", Make::Analysed(FIGURE_3_4)).with_values(chapter_3::figure_3_4),
    Paper::Thesis2019.computed("thesis2019-figure-3-5", Make::Analysed(FIGURE_3_5)).with_values(chapter_3::figure_3_5),
    Paper::Thesis2019
        .computed("thesis2019-figures-3-6-to-3-9", Make::Own(chapter_3::make_example))
        .with_values(chapter_3::values_of_example),
    Paper::Thesis2019
        .computed("thesis2019-figure-3-10", Make::Own(chapter_3::make_figure_3_10))
        .with_values(chapter_3::values_of_figure_3_10),
];

/// And the appendix, then the model of the TX2 in the manner of the WATERS Industrial Challenge 2019, for which the
/// thesis was made.
pub(super) const CHAPTER_4: &[Figure] = &[
    Paper::Thesis2019
        .computed("thesis2019-figure-4-1", Make::Analysed(SCENARIO_1))
        .with_values(|| chapter_4::values_of(&chapter_4::EXPERIMENTS[0])),
    Paper::Thesis2019
        .computed("thesis2019-figure-4-3", Make::Analysed(SCENARIO_2))
        .with_values(|| chapter_4::values_of(&chapter_4::EXPERIMENTS[1])),
    Paper::Thesis2019
        .computed("thesis2019-figure-4-5", Make::Analysed(SCENARIO_3))
        .with_values(|| chapter_4::values_of(&chapter_4::EXPERIMENTS[2])),
    Paper::Thesis2019
        .computed("thesis2019-figure-4-7", Make::Analysed(FIGURE_4_7))
        .with_values(|| chapter_4::values_of(&chapter_4::EXPERIMENTS[4])),
    Paper::Thesis2019
        .computed("thesis2019-figure-4-9", Make::Analysed(FIGURE_4_9))
        .with_values(|| chapter_4::values_of(&chapter_4::EXPERIMENTS[5])),
    Paper::Thesis2019.computed("thesis2019-chapter-4", Make::Own(chapter_4::make)).with_values(chapter_4::values),
    Paper::Thesis2019.computed("thesis2019-appendix", Make::Analysed(published!("amalthea/thesis-appendix.amxmi"))),
    Paper::Waters2019.computed("waters2019-tx2-like", Make::Analysed(published!("amalthea/tx2-like-waters2019.amxmi"))),
];
