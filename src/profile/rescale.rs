//! For how long kernels run on another GPU than the one that was recorded.

use super::import_options::Rescale;
use super::model::ProfiledKernel;
use crate::device::{Device, KernelOccupancy};
use crate::spelling::option;

/// What moves durations from the recorded GPU to another one; a ratio is that of the recorded GPU to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scale {
    /// Blocks take as long as recorded.
    Unscaled,
    /// An SM does its blocks at this ratio of rates.
    Sms(u64, u64),
    /// The memory serves the kernel at this ratio of rates.
    Memory(u64, u64),
}

impl Scale {
    /// How durations go from one GPU to the other.
    ///
    /// # Errors
    /// What one of the two does not state.
    pub(super) fn new(rescale: Rescale, recorded_on: &Device, simulated: &Device) -> Result<Self, String> {
        let lacks = |device: &Device, what: &str| {
            format!("{} needs {what}, and {} states none", option("rescale").with(rescale.name()), device.title)
        };
        let both = |rate: fn(&Device) -> Option<u64>, what: &str| {
            let of = |device| rate(device).ok_or_else(|| lacks(device, what));
            Ok::<_, String>((of(recorded_on)?, of(simulated)?))
        };
        Ok(match rescale {
            Rescale::None => Self::Unscaled,
            Rescale::Compute => {
                let what = "the clock (boost_clock_mhz) and a known compute capability of both GPUs";
                let (recorded, other) = both(|device| device.fp32_mega_per_s(), what)?;
                Self::Sms(recorded, other)
            }
            Rescale::Memory => {
                let what = "the memory bandwidth (memory_bytes_per_s) of both GPUs";
                let (recorded, other) = both(|device| device.memory_bytes_per_s, what)?;
                Self::Memory(recorded, other)
            }
        })
    }

    /// How long a block takes on `simulated` of a kernel that took `duration_ns` on `recorded_on` \[ns\].
    pub(super) fn block_ns(
        self,
        kernel: &ProfiledKernel,
        duration_ns: u64,
        recorded_on: &Device,
        simulated: &Device,
    ) -> u64 {
        // Blocks of the SM that has most of them, if each gets as many as any other.
        let on_busiest = |device: &Device| u128::from(kernel.blocks.div_ceil(device.sms).max(1));
        let (numerator, denominator) = match self {
            Self::Unscaled => return over_waves(kernel, duration_ns, recorded_on),
            Self::Sms(recorded, other) => {
                (u128::from(recorded) * on_busiest(simulated), u128::from(other) * on_busiest(recorded_on))
            }
            Self::Memory(recorded, other) => (u128::from(recorded), u128::from(other)),
        };
        let scaled = u128::from(duration_ns).saturating_mul(numerator).div_ceil(denominator);
        over_waves(kernel, u64::try_from(scaled).unwrap_or(u64::MAX), simulated)
    }

    /// How many times as long a kernel takes that fills both GPUs; `None`: as on the recorded one but for its waves.
    pub(super) fn factor(self, recorded_on: &Device, simulated: &Device) -> Option<f64> {
        match self {
            Self::Unscaled => None,
            Self::Sms(recorded, other) => {
                let sms = f64::from(recorded_on.sms) / f64::from(simulated.sms);
                Some(recorded as f64 / other as f64 * sms)
            }
            Self::Memory(recorded, other) => Some(recorded as f64 / other as f64),
        }
    }
}

/// The duration of a kernel over its waves, rounded to the nearest nanosecond.
pub(super) fn over_waves(kernel: &ProfiledKernel, duration: u64, device: &Device) -> u64 {
    let occupancy = KernelOccupancy::new(&kernel.shape, kernel.blocks, device.sms, device);
    let waves = u64::from(occupancy.waves.max(1));
    duration.saturating_add(waves / 2) / waves
}
