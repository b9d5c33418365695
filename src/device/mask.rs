//! SM masks in the notation of libsmctrl.

use thiserror::Error;

use super::DeviceSpec;

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
    pub(crate) fn of_64_tpcs(&self) -> Option<Self> {
        let bits = u64::try_from(self.bits()).ok()?;
        Some(Self::only(if self.inverted { bits } else { !bits }.into()))
    }

    /// Whether none of the first 64 TPCs is disabled.
    pub(crate) fn takes_nothing(&self) -> bool {
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
