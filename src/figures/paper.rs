//! The papers whose figures are computed.

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
