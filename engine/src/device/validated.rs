//! A device whose numbers are known to be within their limits.

use std::ops::{Deref, Range};
use std::sync::Arc;

use serde::Serialize;

use crate::time::Duration;

use super::{CopyEngines, CopySharing, DeviceError, DeviceSpec, Gpcs, PerSmLimits, Placement, SmMask, SmOrder, limits};

/// A GPU, as far as block scheduling depends on it.
///
/// Every number is within its limits and all of them go together, since there is no way to make or change a device that
/// is not checked. Reading is as of a [`DeviceSpec`]: `device.per_sm.threads`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Device(DeviceSpec);

impl Deref for Device {
    type Target = DeviceSpec;

    fn deref(&self) -> &DeviceSpec {
        &self.0
    }
}

impl TryFrom<DeviceSpec> for Device {
    type Error = DeviceError;

    fn try_from(spec: DeviceSpec) -> Result<Self, DeviceError> {
        Self::new(spec)
    }
}

impl Device {
    /// Checks what is stated about a GPU.
    ///
    /// # Errors
    /// [`DeviceError`] naming what is out of range or does not go together.
    pub fn new(spec: DeviceSpec) -> Result<Self, DeviceError> {
        spec.check()?;
        Ok(Self(spec))
    }

    /// This device with something changed, of several GPUs each. With another number of SMs or of those per TPC it is
    /// another GPU: unless its GPCs were changed too, nothing is known of them, nor of a placement by them.
    ///
    /// # Errors
    /// As [`Device::new`].
    pub fn with(&self, change: impl FnOnce(&mut DeviceSpec)) -> Result<Self, DeviceError> {
        if self.each.is_some() {
            return self.one_gpu().with(change)?.times(self.gpus());
        }
        let mut spec = self.0.clone();
        change(&mut spec);
        let are_others = (spec.sms, spec.sms_per_tpc) != (self.sms, self.sms_per_tpc);
        if are_others && spec.gpcs.is_some() && spec.gpcs == self.gpcs {
            spec.gpcs = None;
            if spec.placement.goes_by_gpcs() {
                spec.placement = Placement::default();
            }
            for notes in [&mut spec.sources, &mut spec.assumptions] {
                notes.retain(|key, _| key != "placement" && key != "gpcs" && !key.starts_with("gpcs."));
            }
        }
        Self::new(spec)
    }

    /// So many GPUs like this one, whose SMs are numbered through. Of their GPCs nothing is said.
    ///
    /// # Errors
    /// [`DeviceError`] if these are more SMs than are simulated.
    pub fn times(&self, gpus: u32) -> Result<Self, DeviceError> {
        let one = self.one_gpu();
        let several = one.with(|spec| {
            spec.sms = spec.sms.saturating_mul(gpus);
            spec.name = format!("{gpus} x {}", one.name);
        })?;
        Ok(Self(DeviceSpec { each: Some(Arc::new(one.0)), ..several.0 }))
    }

    /// How many GPUs these are.
    pub fn gpus(&self) -> u32 {
        self.each.as_ref().map_or(1, |one| self.sms / one.sms)
    }

    /// The GPU of which these are several, or this one.
    pub fn one_gpu(&self) -> Self {
        self.each.as_ref().map_or_else(|| self.clone(), |one| Self(DeviceSpec::clone(one)))
    }

    /// The SMs that process number `process` may use: of several GPUs those of its own, else all.
    pub fn sms_of_process(&self, process: u32) -> Range<u32> {
        let gpus = self.gpus();
        if gpus == 1 {
            return 0..self.sms;
        }
        let sms = self.sms / gpus;
        process * sms..(process + 1) * sms
    }

    /// This device with channels for all streams: what an analysis that knows nothing of channels is about.
    pub fn without_channels(&self) -> Self {
        let each = self.each.as_ref().map(|one| Arc::new(DeviceSpec { channels: None, ..DeviceSpec::clone(one) }));
        Self(DeviceSpec { channels: None, each, ..self.0.clone() })
    }

    /// This device with another launch latency (L1) and kernel gap (L2). Above 2^63 - 1 ns they are that.
    pub fn with_latencies(&self, launch_latency: Duration, kernel_gap: Duration) -> Self {
        let most = Duration::from_ns(u64::MAX >> 1);
        let (launch_latency, kernel_gap) = (launch_latency.min(most), kernel_gap.min(most));
        Self(DeviceSpec { launch_latency, kernel_gap, ..self.0.clone() })
    }

    /// This device with another block gap. Above 2^63 - 1 ns it is that.
    pub fn with_block_gap(&self, block_gap: Duration) -> Self {
        Self(DeviceSpec { block_gap: block_gap.min(Duration::from_ns(u64::MAX >> 1)), ..self.0.clone() })
    }

    /// The merged SM of the analysis: one SM that has what `sms` SMs of this device have together (all, if it has
    /// fewer), but `blocks` block slots. Copies are analysed one at a time.
    ///
    /// This is the one device whose SM may hold more threads and warps than that of a device file; the products fit 32
    /// bits by the limits of this device.
    ///
    /// # Errors
    /// [`DeviceError::Range`] if there are more block slots than an SM can have.
    pub fn merged(&self, sms: u32, blocks: u32) -> Result<Self, DeviceError> {
        limits::BLOCKS_PER_SM.check(blocks)?;
        let (sms, per_sm) = (sms.clamp(1, self.sms), self.per_sm);
        let per_sm = PerSmLimits {
            threads: per_sm.threads * sms,
            warps: per_sm.warps * sms,
            blocks,
            registers: per_sm.registers * sms,
            shared_memory_bytes: per_sm.shared_memory_bytes * sms,
        };
        Ok(Self(DeviceSpec {
            name: format!("{sms} SMs merged"),
            sms: 1,
            sms_per_tpc: 1,
            per_sm,
            sm_order: SmOrder::Ascending,
            gpcs: None,
            placement: Placement::default(),
            channels: None,
            copy: CopyEngines { sharing: CopySharing::OneAtATime, ..self.copy },
            ..self.0.clone()
        }))
    }

    /// Warps that fit one SM, by both the warp and the thread limit; at least 1.
    pub fn warps_per_sm(&self) -> u32 {
        self.per_sm.warps.min(self.per_sm.threads / self.warp_size)
    }

    /// The priority levels as stream priorities, highest (most negative) first.
    pub fn priorities(&self) -> impl Iterator<Item = i32> + use<> {
        // Exact: there are at most 64 levels.
        1_i32.saturating_sub_unsigned(self.priority_levels)..=0
    }

    /// Number of TPCs, the last of which may have fewer SMs than the others.
    pub fn tpcs(&self) -> u32 {
        self.sms.div_ceil(self.sms_per_tpc)
    }

    /// The SMs of each GPC, by number; empty if it does not state them.
    pub fn sms_of_gpcs(&self) -> Vec<Vec<u32>> {
        let sms = |tpc: u32| (tpc * self.sms_per_tpc..(tpc + 1) * self.sms_per_tpc).take_while(|sm| *sm < self.sms);
        let gpcs = self.gpcs.as_ref().map(Gpcs::numbered).unwrap_or_default();
        gpcs.into_iter().map(|tpcs| tpcs.into_iter().flat_map(sms).collect()).collect()
    }

    /// The SMs of lone TPCs; none if it does not state its GPCs.
    pub fn lone_sms(&self) -> Range<u32> {
        let lone = self.gpcs.as_ref().map_or(0, |gpcs| gpcs.lone_tpcs);
        (self.tpcs().saturating_sub(lone) * self.sms_per_tpc).min(self.sms)..self.sms
    }

    /// Among which SMs a cluster of blocks finds its own, in the order in which clusters go round: each lone TPC, then
    /// each GPC. Empty if it does not state its GPCs.
    #[doc(hidden)]
    pub fn cluster_groups(&self) -> Vec<Vec<u32>> {
        let lone: Vec<u32> = self.lone_sms().collect();
        let lone = lone.chunks(self.sms_per_tpc as usize).map(<[u32]>::to_vec);
        lone.chain(self.sms_of_gpcs()).collect()
    }

    /// All SMs in the order in which a placement policy prefers them. Where it goes by GPCs and none are stated, all
    /// SMs are of one.
    #[doc(hidden)]
    pub fn sm_preference(&self, placement: Placement) -> Vec<u32> {
        match (placement, self.sms_of_gpcs()) {
            (Placement::MostRoom, _) => self.sm_order.ids(self.sms),
            (Placement::Gpc | Placement::GpcMostRoom, gpcs) if !gpcs.is_empty() => {
                self.lone_sms().chain(gpcs.into_iter().flatten()).collect()
            }
            _ => (0..self.sms).collect(),
        }
    }

    /// Whether it states what a placement policy needs.
    ///
    /// # Errors
    /// [`DeviceError::NoGpcs`] if the policy goes by GPCs and none are stated.
    pub fn check_placement(&self, placement: Placement) -> Result<(), DeviceError> {
        let lacks = placement.goes_by_gpcs() && self.gpcs.is_none();
        if lacks { Err(DeviceError::NoGpcs { placement }) } else { Ok(()) }
    }

    /// SMs that a mask leaves, in the order of their numbers.
    pub fn sms_left_by(&self, mask: Option<SmMask>) -> impl Iterator<Item = u32> {
        (0..self.sms).filter(move |&sm| mask.is_none_or(|mask| mask.enables_sm(sm, self)))
    }
}
