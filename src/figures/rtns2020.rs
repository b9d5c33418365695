//! Figures of Zahaf and Lipari, RTNS 2020: real-time tasks on the GPU.
//!
//! `docs/tasks.md` says what was wrong in print and what agrees with the paper's claims.

mod acceptance;
mod measurements;
mod printed;
mod worked;

use super::figure::{Figure, Make};
use super::paper::Paper;

pub(super) const FIGURES: &[Figure] = &[
    Paper::Rtns2020.computed(
        "rtns2020-figure-2",
        "Table 1, Fig. 2",
        "EDF in time-triggered reservations",
        "Four tasks in R_L(0, 8, 12) and R_B(8, 4, 12): the last instance of tau1 misses its deadline.",
        Make::Own(worked::figure_2),
    ).with_values(printed::table_1_and_example_2),
    Paper::Rtns2020.computed(
        "rtns2020-figures-3-4",
        "Fig. 3 and 4",
        "tau1 of Table 1 as chunks",
        "tau1 has eight chunks; its first lasts 8, the fourth job has two, of 2 and 4; keeping the longest of each job \
         eliminates v4 and v7.",
        Make::Own(worked::figures_3_and_4),
    ).with_values(printed::examples_3_and_4),
    Paper::Rtns2020.computed(
        "rtns2020-figure-5",
        "Theorem 5, Fig. 5",
        "two sets which show that neither test contains the other",
        "(C, D, T) = (4, 5, 10), (6, 40, 40) in R(0, 16, 20) passes Theorem 3 and fails Theorem 4; so does \
         (3, 10, 10), (4, 15, 15) in R(0, 8, 12).",
        Make::Own(worked::figure_5),
    ).with_values(printed::theorem_5),
    Paper::Rtns2020.computed(
        "rtns2020-figure-6",
        "Fig. 6",
        "acceptance ratio, gang utilization 0.2",
        "All tests accept most sets at low load; as the load grows, the chunks of Theorem 4 (OUR) outperform SBF.",
        Make::Own(acceptance::figure_6),
    ),
    Paper::Rtns2020.computed(
        "rtns2020-figure-7",
        "Fig. 7",
        "acceptance ratio, gang utilization 0.5",
        "OUR is more pessimistic than in Fig. 6 and still outperforms the tests based on SBF; SBF* fails drastically.",
        Make::Own(acceptance::figure_7),
    ),
    Paper::Rtns2020.computed(
        "rtns2020-figure-8",
        "Fig. 8",
        "acceptance ratio, harmonic periods",
        "OUR is very efficient compared to the tests based on SBF.",
        Make::Own(acceptance::figure_8),
    ),
    Paper::Rtns2020.computed(
        "rtns2020-figure-9",
        "Fig. 9",
        "response times with and without the platform",
        "Response times of the most urgent of three tasks are more predictable with the platform; with a stream per task \
         they vary and can be very large.",
        Make::Own(measurements::figure_9),
    ),
    Paper::Rtns2020.computed(
        "rtns2020-figure-10",
        "Fig. 10",
        "execution time of a preempted task",
        "At 64 blocks the low-priority task is not preempted; with more blocks it takes longer by the execution time of \
         the high-priority task, on average.",
        Make::Own(measurements::figure_10),
    ),
];
