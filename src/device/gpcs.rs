//! Graphics processing clusters: which TPCs make one.

use serde::Serialize;

use crate::named::named;

named! {
    /// How the numbers of SMs run over the GPCs of a GPU.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum SmNumbering: ALL, from_name, Serialize {
        /// The first TPC of each GPC in order, then the second of each that has one, and so on. What logs of single
        /// blocks of a B200 show (repository memory-of-star/gpu_sheduler_survey, 2026).
        #[default]
        Striped = "striped",
        /// GPC by GPC.
        Consecutive = "consecutive",
    }
}

/// The GPCs of a GPU, and its lone TPCs: those that belong to no full GPC. These have the highest numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Gpcs {
    /// TPCs of each GPC.
    pub tpcs: Vec<u32>,
    /// TPCs of no full GPC.
    pub lone_tpcs: u32,
    /// How their SMs are numbered.
    pub numbering: SmNumbering,
}

impl Gpcs {
    /// All of its TPCs; saturating.
    pub(super) fn all_tpcs(&self) -> u32 {
        self.tpcs.iter().fold(self.lone_tpcs, |all, tpcs| all.saturating_add(*tpcs))
    }

    /// TPC numbers of each GPC.
    pub(super) fn numbered(&self) -> Vec<Vec<u32>> {
        let mut numbers = 0..self.all_tpcs();
        let mut gpcs = vec![Vec::new(); self.tpcs.len()];
        match self.numbering {
            SmNumbering::Consecutive => {
                for (gpc, &tpcs) in gpcs.iter_mut().zip(&self.tpcs) {
                    gpc.extend(numbers.by_ref().take(tpcs as usize));
                }
            }
            SmNumbering::Striped => {
                for place in 0..self.tpcs.iter().copied().max().unwrap_or(0) {
                    let with_one = gpcs.iter_mut().zip(&self.tpcs).filter(|(_, tpcs)| place < **tpcs);
                    with_one.zip(numbers.by_ref()).for_each(|((gpc, _), number)| gpc.push(number));
                }
            }
        }
        gpcs
    }
}
