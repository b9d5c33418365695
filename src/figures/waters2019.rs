//! A model of the TX2 in the manner of the WATERS Industrial Challenge 2019.

use super::figure::{Figure, FigureKind, Make};
use super::paper::Paper;
use super::timeline::{Published, published};

const MODEL: Published = published!("amalthea/tx2-like-waters2019.amxmi");

pub(super) const FIGURES: &[Figure] = &[Figure {
    name: "waters2019-tx2-like",
    paper: Paper::Waters2019,
    part: "a model like the challenge's",
    subject: "four functions offloaded to a TX2, with their copies",
    published: "Ticks on the TX2's GPU in millions, average and bounds: localization 180 (175.5 to 186), detection 165 \
                (162 to 174), lane detection 39.75 (36.75 to 41), structure from motion 10.8 (10.575 to 11.85). The upper \
                bounds are used here. Everything else in this model is ours: grid and block sizes, labels, clocks.",
    kind: FigureKind::Computed,
    make: Make::Analysed(MODEL),
    printed: None,
}];
