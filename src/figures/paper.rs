//! The papers whose figures are computed.

use crate::named::named;

named! {
    /// A paper, by venue and year, in the order of the gallery.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Paper: ALL {
        /// The rules of the TX2.
        Rtss2017 = "RTSS 2017",
        /// Their first part, on the TX1.
        Ospert2017 = "OSPERT 2017",
        /// Calls of CUDA that wait, and what they hold.
        Ecrts2018 = "ECRTS 2018",
        /// Response times on a merged SM.
        Thesis2019 = "Thesis, 2019",
        /// The model of the TX2 that the thesis was made for.
        Waters2019 = "WATERS 2019",
        /// Real-time tasks on the GPU.
        Rtns2020 = "RTNS 2020",
        /// Tasks with CPU and GPU segments.
        Ecrts2024 = "ECRTS 2024",
        /// GPU-EvR.
        Date2014 = "DATE 2014",
        /// Makespan of warps.
        Cister2012 = "CISTER 2012",
    }
}

impl Paper {
    /// Authors, title, venue.
    pub const fn citation(self) -> &'static str {
        match self {
            Self::Rtss2017 => {
                "T. Amert, N. Otterness, M. Yang, J. H. Anderson, F. D. Smith: GPU Scheduling on the NVIDIA TX2: Hidden \
                 Details Revealed, RTSS 2017"
            }
            Self::Ospert2017 => {
                "N. Otterness, M. Yang, T. Amert, J. H. Anderson, F. D. Smith: Inferring the Scheduling Policies of an \
                 Embedded CUDA GPU, OSPERT 2017"
            }
            Self::Ecrts2018 => {
                "M. Yang, N. Otterness, T. Amert, J. Bakita, J. H. Anderson, F. D. Smith: Avoiding Pitfalls when Using \
                 NVIDIA GPUs for Real-Time Tasks in Autonomous Systems, ECRTS 2018"
            }
            Self::Thesis2019 => {
                "D. L. Paredes Zevallos: AMALTHEA-based GPU Response Time Analysis for NVIDIA's Jetson TX2, master's \
                 thesis, FH Dortmund, 2019"
            }
            Self::Waters2019 => {
                "A. Hamann, D. Dasari, F. Wurst, I. Sañudo, N. Capodieci, P. Burgio, M. Bertogna: WATERS Industrial \
                 Challenge 2019"
            }
            Self::Rtns2020 => {
                "H. Zahaf, G. Lipari: Design and Analysis of Programming Platform for Accelerated GPU-Like \
                 Architectures, RTNS 2020"
            }
            Self::Date2014 => {
                "H. Lee, M. A. Al Faruque: GPU-EvR: Run-Time Event Based Real-Time Scheduling Framework on GPGPU \
                 Platform, DATE 2014"
            }
            Self::Ecrts2024 => {
                "Y. Wang, C. Liu, D. Wong, H. Kim: GCAPS: GPU Context-Aware Preemptive Priority-based Scheduling for \
                 Real-Time Tasks, ECRTS 2024"
            }
            Self::Cister2012 => {
                "K. Berezovskyi, K. Bletsas, B. Andersson: Makespan Computation for GPU Threads Running on a Single \
                 Streaming Multiprocessor, technical report HURRAY-TR-120710, CISTER, 2012"
            }
        }
    }
}
