//! Figures of Otterness and others, OSPERT 2017: the first rules, on a Jetson TX1.

use super::figure::{Figure, Make};
use super::paper::Paper;
use super::timeline::published;

pub(super) const FIGURES: &[Figure] = &[
    Paper::Ospert2017.computed(
        "ospert2017-figure-4",
        "Fig. 4",
        "basic co-scheduling",
        "K1 and K2 fill the GPU together; K3 and K4 wait for threads (R2) and then run together.",
        Make::Timeline(published!("ospert2017/figure-4.json")),
    ),
    Paper::Ospert2017.computed(
        "ospert2017-figure-5",
        "Fig. 5",
        "greedy dispatch",
        "Blocks of the large K2 start as soon as one of them fits; the small K3 waits until K2 is fully dispatched (X1).",
        Make::Timeline(published!("ospert2017/figure-5.json")),
    ),
    Paper::Ospert2017.computed(
        "ospert2017-figure-6",
        "Fig. 6",
        "several kernels in one stream",
        "K3 would fit beside K1, but comes after K2 in its stream and is not queued before K2 has completed (G2, G4).",
        Make::Timeline(published!("ospert2017/figure-6.json")),
    ),
    Paper::Ospert2017.computed(
        "ospert2017-figure-7",
        "Fig. 7",
        "the EE queue's order is that of becoming head of a stream",
        "K2 is launched before K3, but reaches the head of its stream after K3 has, so K3 runs first (G2).",
        Make::Timeline(published!("ospert2017/figure-7.json")),
    ),
    Paper::Ospert2017.computed(
        "ospert2017-figure-8",
        "Fig. 8",
        "the distribution of blocks to SMs matters",
        "K1's blocks are spread three and three; K2's one block of 1024 threads has to wait, although 1024 threads are \
         free in total.",
        Make::Timeline(published!("ospert2017/figure-8.json")),
    ),
    Paper::Ospert2017.computed(
        "ospert2017-figure-9",
        "Fig. 9",
        "the same kernels, the larger one first",
        "K1's blocks fill what K2 has left, and all run together.",
        Make::Timeline(published!("ospert2017/figure-9.json")),
    ),
];
