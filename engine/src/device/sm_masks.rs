//! Masks of SMs, and in which units a split of the GPU (green contexts, static partitions of MPS) hands SMs out.

use thiserror::Error;

use super::{DeviceSpec, Gpcs};

// Which SMs green contexts and static partitions of MPS get: NVIDIA's rounding, and the units in which a GPU is split.

/// How few SMs a group of a split has at least, and of what its number is a multiple.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitRounding {
    /// SMs at least.
    least: u32,
    /// A group has a multiple of so many.
    pub multiple: u32,
}

impl SplitRounding {
    /// How many SMs a group gets for which so many are asked; saturating.
    pub fn round(self, sms: u32) -> u32 {
        sms.max(self.least).div_ceil(self.multiple.max(1)).saturating_mul(self.multiple.max(1))
    }
}

impl DeviceSpec {
    /// How numbers of SMs are rounded where the GPU is split for green contexts (CUDA Driver API, NVIDIA, on
    /// `cuDevSmResourceSplitByCount`): by compute capability, and up to whole TPCs. `None`: it has no green contexts.
    #[doc(hidden)]
    pub fn split_rounding(&self) -> Option<SplitRounding> {
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

// SM masks in the notation of libsmctrl.

/// TPCs that a kernel or stream must not use: a set bit `i` disables TPC `i`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SmMask {
    /// Bits as written, before inversion, the lowest byte first. There is a place for a mask in every stream and
    /// kernel, of which there may be millions: as bytes it takes 15 bytes less than as a number, which begins at a
    /// multiple of 16.
    bits: [u8; 16],
    /// Written with `~` in front: set bits are the *only* ones enabled.
    inverted: bool,
}

/// Why a text is no SM mask.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is no SM mask; expected up to 32 hexadecimal digits, with an optional ~ in front: \"0x1\", \"~0x2\"")]
pub struct MaskError {
    /// What was written.
    pub text: String,
}

impl SmMask {
    /// Reads `0x2` (TPC 1 disabled) or `~0x2` (only TPC 1 enabled).
    ///
    /// # Errors
    /// [`MaskError`] if it is neither.
    pub fn parse(text: &str) -> Result<Self, MaskError> {
        let refuse = || MaskError { text: text.to_owned() };
        let (inverted, digits) = match text.trim().strip_prefix('~') {
            Some(rest) => (true, rest.trim_start()),
            None => (false, text.trim()),
        };
        let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")).unwrap_or(digits);
        if digits.starts_with('+') {
            return Err(refuse());
        }
        let bits = u128::from_str_radix(digits, 16).map_err(|_| refuse())?;
        Ok(Self::new(bits, inverted))
    }

    const fn new(bits: u128, inverted: bool) -> Self {
        Self { bits: bits.to_le_bytes(), inverted }
    }

    const fn bits(&self) -> u128 {
        u128::from_le_bytes(self.bits)
    }

    /// The mask under which only the TPCs of `bits` may be used: bit `i` is TPC `i`.
    pub const fn only(bits: u128) -> Self {
        Self::new(bits, true)
    }

    /// The same mask in the hands of a program that knows 64 TPCs and takes all others away; `None`: it names others.
    #[doc(hidden)]
    pub fn of_64_tpcs(&self) -> Option<Self> {
        let bits = u64::try_from(self.bits()).ok()?;
        Some(Self::only(if self.inverted { bits } else { !bits }.into()))
    }

    /// Whether none of the first 64 TPCs is disabled.
    #[doc(hidden)]
    pub fn takes_nothing(&self) -> bool {
        (0..64).all(|tpc| self.enables_tpc(tpc))
    }

    /// Whether TPC `tpc` may be used.
    pub fn enables_tpc(&self, tpc: u32) -> bool {
        let bit = self.bits().checked_shr(tpc).unwrap_or(0) & 1 == 1;
        bit == self.inverted
    }

    /// Whether SM `sm` of `device` may be used.
    pub fn enables_sm(&self, sm: u32, device: &DeviceSpec) -> bool {
        self.enables_tpc(sm / device.sms_per_tpc)
    }

    /// Whether every SM of `device` is left.
    pub fn leaves_all(&self, device: &DeviceSpec) -> bool {
        (0..device.sms).all(|sm| self.enables_sm(sm, device))
    }

    /// Whether no SM of `device` is left.
    pub fn leaves_none(&self, device: &DeviceSpec) -> bool {
        !(0..device.sms).any(|sm| self.enables_sm(sm, device))
    }
}

impl std::fmt::Display for SmMask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{:#x}", if self.inverted { "~" } else { "" }, self.bits())
    }
}
