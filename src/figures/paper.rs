//! The papers whose figures are computed, and in what our pictures are drawn otherwise than theirs: axes, legends,
//! curves and lanes.

use crate::named::named;

named! {
    /// A paper, by venue and year, in the order of the gallery.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Paper: ALL, words {
        /// T. Amert, N. Otterness, M. Yang, J. H. Anderson, F. D. Smith: GPU Scheduling on the NVIDIA TX2: Hidden
        /// Details Revealed, RTSS 2017
        Rtss2017 = "RTSS 2017",
        /// N. Otterness, M. Yang, T. Amert, J. H. Anderson, F. D. Smith: Inferring the Scheduling Policies of an
        /// Embedded CUDA GPU, OSPERT 2017
        Ospert2017 = "OSPERT 2017",
        /// M. Yang, N. Otterness, T. Amert, J. Bakita, J. H. Anderson, F. D. Smith: Avoiding Pitfalls when Using NVIDIA
        /// GPUs for Real-Time Tasks in Autonomous Systems, ECRTS 2018
        Ecrts2018 = "ECRTS 2018",
        /// D. L. Paredes Zevallos: AMALTHEA-based GPU Response Time Analysis for NVIDIA's Jetson TX2, master's thesis,
        /// FH Dortmund, 2019
        Thesis2019 = "Thesis, 2019",
        /// A. Hamann, D. Dasari, F. Wurst, I. Sañudo, N. Capodieci, P. Burgio, M. Bertogna: WATERS Industrial Challenge
        /// 2019
        Waters2019 = "WATERS 2019",
        /// H. Zahaf, G. Lipari: Design and Analysis of Programming Platform for Accelerated GPU-Like Architectures,
        /// RTNS 2020
        Rtns2020 = "RTNS 2020",
        /// Y. Wang, C. Liu, D. Wong, H. Kim: GCAPS: GPU Context-Aware Preemptive Priority-based Scheduling for
        /// Real-Time Tasks, ECRTS 2024
        Ecrts2024 = "ECRTS 2024",
        /// H. Lee, M. A. Al Faruque: GPU-EvR: Run-Time Event Based Real-Time Scheduling Framework on GPGPU Platform,
        /// DATE 2014
        Date2014 = "DATE 2014",
        /// K. Berezovskyi, K. Bletsas, B. Andersson: Makespan Computation for GPU Threads Running on a Single Streaming
        /// Multiprocessor, technical report HURRAY-TR-120710, CISTER, 2012
        Cister2012 = "CISTER 2012",
    }
}

impl Paper {
    /// Authors, title, venue.
    pub const fn citation(self) -> &'static str {
        self.words()
    }
}

/// What is drawn otherwise in figures whose names begin so. Of several beginnings that fit a name the longest counts.
pub(super) const NOTES: &[(&str, &str)] = &[
    (
        "rtss2017-figure-3",
        "print has a legend of streams, its clock begins 0.31 s before the first launch, and SM 1 is above SM 0. How \
         high in its SM's band a block is drawn means nothing in either; on SM 1 K4's blocks are at the bottom in \
         print, and K3:1 below K6:0. The lanes of copies, shares in use, queues and streams are ours.",
    ),
    ("rtss2017-figure-3-placements", "a table of ours, where print has one run."),
    ("rtss2017-", NOT_AT_HAND),
    ("ospert2017-", NOT_AT_HAND),
    (
        "ecrts2018-",
        "print's pictures were not at hand; the artefact draws the blocks of each SM, and a launch that is postponed as a \
         long arrow. Ours has a bar for a call that waits, from the call to its return.",
    ),
    (
        "thesis2019-figure-3-",
        "print draws one merged SM, without axes or numbers, and K as a symbol. Ours has the SMs of the TX2 above \
         and the merged one below, seconds, and lanes of streams.",
    ),
    (
        "thesis2019-figures-3-6-to-3-9",
        "print draws each kernel, the GPU before it and the GPU after it side by side, without axes. Ours are the \
         GPU after it, in seconds, with a lane for each stream.",
    ),
    (
        "thesis2019-figure-3-10",
        "print draws one kernel behind another, without axes, with g_f, K and C as symbols. Ours is in seconds with \
         K = 2 and C = 1 s, and goes on with two kernels for the errata.",
    ),
    ("thesis2019-section-3-7", "print has no picture of turns, only the table."),
    (
        "thesis2019-figure-3-11",
        "the author's pictures have one g_max each, points and fit, kernels and blocks side by side, and seconds up \
         to 0.4. Ours have both g_max in one picture, and microseconds.",
    ),
    (
        "thesis2019-figure-3-12",
        "the author's picture has its three parts side by side, and seconds up to 1 in (a) and (c). Ours are three \
         files, with microseconds. The legend is the same.",
    ),
    (
        "thesis2019-figure-3-13",
        "the author's picture has its three parts side by side, seconds up to 0.12 in (a) and (c), and its legend \
         says bmax for what is called grids up to here. Ours are three files, with microseconds.",
    ),
    ("thesis2019-merged-sm", "print has no such picture."),
    (
        "thesis2019-figure-4-",
        "print has two pictures. In the measured one SM 1 is above SM 0, the legend names streams, every box is \
         called GPUSpin, and the clock begins 0.05 s before the first block. In the analysed one there are no SMs; \
         its axes are tenths of seconds and ten for each block. Ours has the simulation above the analysis, both in \
         seconds, and lanes of streams.",
    ),
    ("thesis2019-chapter-4", "a table, where print has pictures."),
    ("thesis2019-appendix", "print has the model alone, and no picture."),
    ("waters2019-", "print has drawings of runnables, without times."),
    ("cister2012-figure-2", "print's picture was not at hand. Ours has a row for each warp and numbers cycles from 1."),
    ("cister2012-equation-42", "print has no such picture."),
    (
        "cister2012-figure-5",
        "print has the two integer programs alone. The exact search and the logarithmic scale of times are ours.",
    ),
    (
        "cister2012-figure-7-times",
        "print has times and estimates in one picture, against x. Ours are two pictures, and exact search is in this \
         one beside the integer programs.",
    ),
    (
        "cister2012-figure-7",
        "print has times and estimates in one picture. Ours are two pictures; the exact worst case and the part of \
         the estimate that has no bound are drawn only here.",
    ),
    (
        "cister2012-",
        "print has the estimate and, dashed, the pessimistic value. The exact worst case and the part of the \
         estimate that has no bound are drawn only here.",
    ),
    ("rtns2020-figure-2", "print draws core 1, and reservations as hatched areas. Ours has both SMs."),
    (
        "rtns2020-figures-3-4",
        "print's pictures were not at hand. By its text they are graphs, of chunks with the times between their \
         releases on the edges, and so are ours.",
    ),
    (
        "rtns2020-figure-5",
        "print has demand and supply of both sets in one figure of two parts. Ours are four pictures, with the \
         linear supply besides.",
    ),
    (
        "rtns2020-figure-9",
        "print has measured times of an Autoware kernel. Ours has a kernel of our own, so its scale is not print's, \
         and legends with the names of strategies here.",
    ),
    (
        "rtns2020-figure-10",
        "print has measured times of an Autoware kernel. Ours has a kernel of our own, so its scale is not print's.",
    ),
    (
        "rtns2020-",
        "print has the tests of its sections. The curves `exact`, `periodic-resource` and those called as printed \
         are ours; so are the names in the legend.",
    ),
    (
        "ecrts2024-",
        "print has one figure of six panels, with the eight curves under its own names. Ours are two sets of six \
         pictures, as published and proven; panels (e) and (f) are labelled with the values that were computed \
         ([docs/errata.md](../docs/errata.md#ecrts-2024), 12).",
    ),
    (
        "gpu-evr2014-figure-1",
        "print's picture was not at hand. Ours has a lane for each application above those of the SMs.",
    ),
    (
        "gpu-evr2014-figures-3-4-5",
        "print compares three schedulers; plain streams are ours. Print has power as lines over bars of utilization \
         in one picture, ours are two. Ours has standard deviations.",
    ),
    ("gpu-evr2014-regions", "print has no such picture."),
    ("gpu-evr2014-", "print compares three schedulers; plain streams and standard deviations are ours."),
];

const NOT_AT_HAND: &str = "print's picture was not at hand, so its axes and legend are not compared. The lanes of shares \
                           in use, queues and streams are ours.";

/// What is to be said of the pictures of the figure of that name; `None` if nothing.
pub(super) fn note_on_axes(name: &str) -> Option<&'static str> {
    let fitting = NOTES.iter().filter(|(beginning, _)| name.starts_with(beginning));
    fitting.max_by_key(|(beginning, _)| beginning.len()).map(|(_, note)| *note)
}
