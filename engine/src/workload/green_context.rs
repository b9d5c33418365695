//! Green contexts: sets of SMs that splits of the GPU make, on which streams of theirs run by themselves.

use std::sync::Arc;

use super::WorkloadError;
use crate::device::{Device, SmMask};

/// A green context, numbered from 0 in the order in which splits make them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(transparent)]
pub struct GreenContextId(pub u16);

impl GreenContextId {
    /// Its place in [`Catalogue::green_contexts`](super::Catalogue::green_contexts).
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A split of the GPU, or of a green context, as `cuDevSmResourceSplitByCount` makes one: groups of equally many SMs
/// that have none in common, and what remains. Each split begins anew, so that groups of two splits may have SMs in
/// common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SmSplit {
    /// SMs that each group is to have, before they are rounded to what its compute capability splits off.
    pub sms: u32,
    /// What is split; `None`: the GPU.
    pub of: Option<GreenContextId>,
    /// Names of the groups, each a green context.
    pub names: Vec<Arc<str>>,
    /// Name of the green context of all SMs that are in no group; `None`: nobody uses these.
    pub remaining: Option<Arc<str>>,
    /// Work queues of each of these green contexts, which its streams share; `None`: they take channels as all others.
    pub work_queues: Option<u32>,
}

/// A green context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GreenContext {
    /// Its name in reports.
    pub name: Arc<str>,
    /// Its SMs, as the mask that leaves just these.
    pub mask: SmMask,
    /// How many they are.
    pub sms: u32,
    /// Work queues that its streams share and others do not take; `None`: they take channels as all others.
    pub work_queues: Option<u32>,
}

impl SmSplit {
    /// The green contexts that it makes of a device, whose other green contexts are `known`.
    pub(super) fn apply(&self, device: &Device, known: &[GreenContext]) -> Result<Vec<GreenContext>, WorkloadError> {
        if self.work_queues == Some(0) {
            return Err(WorkloadError::NoWorkQueue);
        }
        let rounding = device.split_rounding().ok_or(WorkloadError::NoGreenContexts)?;
        let source = match self.of {
            Some(of) => Some(known.get(of.index()).ok_or(WorkloadError::NoGreenContext)?),
            None => None,
        };
        let is_there = |sm: u32| source.is_none_or(|source| source.mask.enables_sm(sm, device));
        let asked = rounding.round(self.sms);
        let units = device.split_units(is_there);
        let (each, have) = ((asked / rounding.multiple) as usize, units.len());
        if each.saturating_mul(self.names.len()) > have {
            let units = u32::try_from(have).unwrap_or(u32::MAX);
            return Err(WorkloadError::SplitTooLarge { asked, units, multiple: rounding.multiple });
        }
        let mut left: Vec<bool> = (0..device.sms).map(is_there).collect();
        let mut made = Vec::with_capacity(self.names.len() + 1);
        for (name, group) in self.names.iter().zip(units.chunks(each)) {
            let mut own = vec![false; left.len()];
            for &sm in group.iter().flatten() {
                own[sm as usize] = true;
                left[sm as usize] = false;
            }
            made.push(GreenContext::of(name, &own, device)?);
        }
        if let Some(name) = &self.remaining {
            made.push(GreenContext::of(name, &left, device)?);
        }
        for context in &mut made {
            context.work_queues = self.work_queues;
        }
        Ok(made)
    }
}

impl GreenContext {
    /// Of the SMs for which `own` says so: whole TPCs.
    pub(super) fn of(name: &Arc<str>, own: &[bool], device: &Device) -> Result<Self, WorkloadError> {
        let (mut bits, mut sms) = (0_u128, 0);
        for (sm, _) in (0_u32..).zip(own).filter(|(_, own)| **own) {
            bits |= 1_u128.checked_shl(sm / device.sms_per_tpc).ok_or(WorkloadError::TooManyTpcs)?;
            sms += 1;
        }
        if sms == 0 {
            Err(WorkloadError::NothingRemains)
        } else {
            Ok(Self { name: Arc::clone(name), mask: SmMask::only(bits), sms, work_queues: None })
        }
    }

    /// Whether it has all SMs of another.
    #[doc(hidden)]
    pub fn contains(&self, other: &Self, device: &Device) -> bool {
        self.common_sms(other, device) == other.sms
    }

    /// How many SMs it has in common with another.
    #[doc(hidden)]
    pub fn common_sms(&self, other: &Self, device: &Device) -> u32 {
        let both = |sm: &u32| self.mask.enables_sm(*sm, device) && other.mask.enables_sm(*sm, device);
        (0..device.sms).filter(both).map(|_| 1).sum()
    }
}
