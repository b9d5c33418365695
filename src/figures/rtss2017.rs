//! Figures of Amert and others, RTSS 2017: the rules, one experiment each.

mod placements;

use super::figure::{Figure, Make};
use super::paper::Paper;
use super::timeline::{Published, published};

const FIGURE_3: Published = published!("rtss2017/figure-3.json");

pub(super) const FIGURES: &[Figure] = &[
    Paper::Rtss2017.computed(
        "rtss2017-figure-3",
        "Fig. 3 and 4, Table 1",
        "six kernels, three streams, copies",
        "K1's last two blocks hold back K4, for which there is room (X1). K5 waits for shared memory, which K4 holds, \
         until 2 s (R3), though threads are free. K3 waits for the copies before it (C1 to C4).",
        Make::Timeline(FIGURE_3),
    ),
    Paper::Rtss2017.computed(
        "rtss2017-figure-3-placements",
        "Fig. 3",
        "how often its blocks come to lie as published",
        "Blocks 4 and 5 of K1 and both blocks of K2 are on SM 0, both blocks of K5 on SM 1. The paper states no rule for \
         which SM gets a block, and not by how much blocks end one before another.",
        Make::Own(placements::make),
    ),
    Paper::Rtss2017.computed(
        "rtss2017-figure-5",
        "Fig. 5, Table 2",
        "the NULL stream",
        "K2, in the NULL stream, waits for K1 (N1); K3, K4 and K6 wait for K2 (N2), though there is room beside K1. K5 \
         waits for K3 and K4, and K6 for K5. (Table 2 prints the launch of K3 and K4 as 0.2 s; the authors' configuration \
         has 0.4 s, as here. Either gives this picture: [docs/errata.md](../docs/errata.md), RTSS 2017.)",
        Make::Timeline(published!("rtss2017/figure-5.json")),
    ),
    Paper::Rtss2017.computed(
        "rtss2017-figure-6",
        "Fig. 6, Table 3",
        "starvation of a low-priority stream",
        "After its first four blocks K1 waits until both high-priority kernels are fully dispatched (A1, A2).",
        Make::Timeline(published!("rtss2017/figure-6.json")),
    ),
    Paper::Rtss2017.computed(
        "rtss2017-figure-7",
        "Fig. 7, Table 4",
        "a stream without a stated priority counts as low",
        "High-priority K3 passes K1 once K1's first blocks end; then K1, K2 (no stated priority) and K4 follow in launch \
         order.",
        Make::Timeline(published!("rtss2017/figure-7.json")),
    ),
    Paper::Rtss2017.computed(
        "rtss2017-figure-8",
        "Fig. 8, Table 5",
        "a high-priority head that does not fit blocks low priority",
        "K8 needs 1024 threads on one SM and waits until K2 ends; K9 would fit as soon as K1 ends, but waits for K8 (A2).",
        Make::Timeline(published!("rtss2017/figure-8.json")),
    ),
];
