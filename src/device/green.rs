//! Which SMs green contexts and static partitions of MPS get: NVIDIA's rounding, and the units in which a GPU is split.

use super::{DeviceSpec, Gpcs};

/// How few SMs a group of a split has at least, and of what its number is a multiple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SplitRounding {
    /// SMs at least.
    least: u32,
    /// A group has a multiple of so many.
    pub(crate) multiple: u32,
}

impl SplitRounding {
    /// How many SMs a group gets for which so many are asked; saturating.
    pub(crate) fn round(self, sms: u32) -> u32 {
        sms.max(self.least).div_ceil(self.multiple.max(1)).saturating_mul(self.multiple.max(1))
    }
}

impl DeviceSpec {
    /// How numbers of SMs are rounded where the GPU is split for green contexts (CUDA Driver API, NVIDIA, on
    /// `cuDevSmResourceSplitByCount`): by compute capability, and up to whole TPCs. `None`: it has no green contexts.
    pub(crate) fn split_rounding(&self) -> Option<SplitRounding> {
        let sms = match self.major_compute_capability()? {
            ..=5 => return None,
            6 => 1,
            7 | 8 => 2,
            _ => Self::COSCHEDULED_SMS,
        };
        // All are powers of two but for TPCs of a device file, so that the larger is a multiple of both or is rounded.
        let multiple = self.sms_per_tpc.max(1) * sms.div_ceil(self.sms_per_tpc.max(1));
        Some(SplitRounding { least: multiple, multiple })
    }

    /// SMs of a chunk, of which static partitions of MPS are made (NVIDIA, Multi-Process Service, release 615): 8 from
    /// compute capability 9.0 on, 4 before, and 2 on an integrated GPU (those of Orin, Thor and GB10), in whole TPCs.
    /// `None`: it has none.
    pub(crate) fn mps_chunk(&self) -> Option<u32> {
        let is_integrated = matches!(&*self.compute_capability, "8.7" | "11.0" | "12.1");
        let sms = match self.major_compute_capability()? {
            ..=7 => return None,
            _ if is_integrated => 2,
            8 => 4,
            _ => Self::COSCHEDULED_SMS,
        };
        Some(self.sms_per_tpc.max(1) * sms.div_ceil(self.sms_per_tpc.max(1)))
    }

    /// SMs that a split keeps together on one GPC, from compute capability 9.0 on.
    const COSCHEDULED_SMS: u32 = 8;

    /// The units in which a split hands out some of the SMs, in the order in which it does: the lowest SMs first, which
    /// nobody published. From compute capability 9.0 on those of one GPC stay together, as far as GPCs are stated.
    pub(crate) fn split_units(&self, has: impl Fn(u32) -> bool) -> Vec<Vec<u32>> {
        let Some(SplitRounding { multiple, .. }) = self.split_rounding() else { return Vec::new() };
        let sms_of = |tpc: u32| (tpc * self.sms_per_tpc..(tpc + 1) * self.sms_per_tpc).filter(|sm| *sm < self.sms);
        let keeps_gpcs = multiple >= Self::COSCHEDULED_SMS;
        let gpcs = self.gpcs.as_ref().filter(|_| keeps_gpcs).map(Gpcs::numbered);
        let gpcs = gpcs.unwrap_or_else(|| vec![(0..self.sms.div_ceil(self.sms_per_tpc)).collect()]);
        let mut units = Vec::new();
        for tpcs in gpcs {
            let sms: Vec<u32> = tpcs.into_iter().flat_map(sms_of).filter(|sm| has(*sm)).collect();
            units.extend(sms.chunks_exact(multiple as usize).map(<[u32]>::to_vec));
        }
        units
    }
}
