//! For how long kernels run on another GPU than the one that was recorded.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Rescale;
use super::gpu_profile::{GpuProfile, ProfiledKernel, short_name};
use crate::device::{BUILTIN_NAMES, Device, KernelOccupancy};
use crate::named::named;
use crate::spelling::option;
use crate::time::Duration;
use crate::words::counted;

named! {
    /// What keeps a kernel from being faster: a roof of the roofline.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum Limiter {
        /// What SMs compute.
        Compute = "SMs, their clocks and 32-bit operations a clock",
        /// The bandwidth of the memory.
        Memory = "memory bandwidth",
    }
}

/// What names of functions contain that do an operation or two for each number that they move. Elementwise kernels,
/// softmax and layer normalization were measured (docs/validation.md).
const LIMITED_BY_MEMORY: [&str; 6] = [
    "elementwise_kernel",
    "softmax",
    "layer_norm",
    "catarraybatchedcopy",
    "reduce_kernel",
    "multi_tensor_apply_kernel",
];

/// What names of functions contain that multiply matrices of 32-bit numbers without units for matrices: those of
/// cuBLAS, CUTLASS and cuDNN.
const LIMITED_BY_SMS: [&str; 3] = ["sgemm", "scudnn", "gemm_f32f32_f32f32_f32"];

impl Limiter {
    /// What a kernel's name says.
    fn of_name(name: &str) -> Option<Self> {
        let name = short_name(name).to_ascii_lowercase();
        let has = |known: &[&str]| known.iter().any(|known| name.contains(known));
        if has(&LIMITED_BY_MEMORY) { Some(Self::Memory) } else { has(&LIMITED_BY_SMS).then_some(Self::Compute) }
    }
}

/// What moves durations from the recorded GPU to another one; ratios of rates are those of the recorded GPU to the
/// other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale<'d> {
    rescale: Rescale,
    pub(super) recorded_on: &'d Device,
    pub(super) simulated: &'d Device,
    /// What an SM computes.
    sms: (u64, u64),
    memory: (u64, u64),
}

/// What no kernel takes less than, on whatever GPU \[ns\]: the shortest of public profiles take 1.5 to 2 us on a 2080
/// Ti, an A100 and an H100 alike (`docs/profiles.md`). That part of a kernel, in which its blocks are launched and
/// drained, is not rescaled.
const LAUNCH_AND_DRAIN_NS: u64 = 2_000;

impl<'d> Scale<'d> {
    /// Durations stay as they are.
    pub(super) const fn none(recorded_on: &'d Device, simulated: &'d Device) -> Self {
        Self { rescale: Rescale::None, recorded_on, simulated, sms: (1, 1), memory: (1, 1) }
    }

    /// How durations go from one GPU to the other.
    ///
    /// # Errors
    /// What one of the two does not state.
    pub(super) fn new(rescale: Rescale, recorded_on: &'d Device, simulated: &'d Device) -> Result<Self, String> {
        let lacks = |device: &Device, what: &str| {
            format!("{} needs {what}, and {} states none", option("rescale").with(rescale.name()), device.title)
        };
        let both = |rate: fn(&Device) -> Option<u64>, what: &str| {
            let of = |device| rate(device).ok_or_else(|| lacks(device, what));
            Ok::<_, String>((of(recorded_on)?, of(simulated)?))
        };
        let mut scale = Self { rescale, ..Self::none(recorded_on, simulated) };
        if matches!(rescale, Rescale::Compute | Rescale::ByName) {
            let what = "the clock (boost_clock_mhz) and a known compute capability of both GPUs";
            scale.sms = both(|device| device.fp32_mega_per_s(), what)?;
        }
        if matches!(rescale, Rescale::Memory | Rescale::ByName) {
            let what = "the memory bandwidth (memory_bytes_per_s) of both GPUs";
            scale.memory = both(|device| device.memory_bytes_per_s, what)?;
        }
        Ok(scale)
    }

    /// Whether names of kernels decide, and there is another GPU.
    pub(super) fn goes_by_names(self) -> bool {
        self.rescale == Rescale::ByName && self.recorded_on.name != self.simulated.name
    }

    /// By what a kernel of this name is rescaled, if at all. What leaves SMs idle is limited by neither.
    pub(super) fn limiter(self, name: &str, kernel: &ProfiledKernel) -> Option<Limiter> {
        let fills = || kernel.blocks >= self.recorded_on.sms.max(self.simulated.sms);
        match self.rescale {
            Rescale::None => None,
            Rescale::Compute => Some(Limiter::Compute),
            Rescale::Memory => Some(Limiter::Memory),
            Rescale::ByName => Limiter::of_name(name).filter(|_| fills()),
        }
    }

    /// How long a block takes on the other GPU of a kernel that took `duration_ns` on `measured_on`, which is the
    /// recorded GPU, or that of another profile \[ns\].
    pub(super) fn block_ns(self, name: &str, kernel: &ProfiledKernel, duration_ns: u64, measured_on: &Device) -> u64 {
        // Blocks of the SM that has most of them, if each gets as many as any other.
        let on_busiest = |device: &Device| u128::from(kernel.blocks.div_ceil(device.sms).max(1));
        let (numerator, denominator) = match self.limiter(name, kernel) {
            None => return over_waves(kernel, duration_ns, measured_on),
            Some(Limiter::Compute) => {
                (u128::from(self.sms.0) * on_busiest(self.simulated), u128::from(self.sms.1) * on_busiest(measured_on))
            }
            Some(Limiter::Memory) => (u128::from(self.memory.0), u128::from(self.memory.1)),
        };
        let fixed = duration_ns.min(LAUNCH_AND_DRAIN_NS);
        let scaled = u128::from(duration_ns - fixed).saturating_mul(numerator).div_ceil(denominator);
        over_waves(kernel, u64::try_from(scaled).unwrap_or(u64::MAX).saturating_add(fixed), self.simulated)
    }

    /// How many times as long a kernel takes that fills both GPUs.
    fn factor(self, limiter: Limiter) -> f64 {
        let ratio = |(recorded, other): (u64, u64)| recorded as f64 / other as f64;
        match limiter {
            Limiter::Compute => ratio(self.sms) * f64::from(self.recorded_on.sms) / f64::from(self.simulated.sms),
            Limiter::Memory => ratio(self.memory),
        }
    }

    /// What a user should know of the device that is simulated: what of it is assumed, and how times are rescaled.
    pub(super) fn notes(self) -> Vec<String> {
        let Self { rescale, recorded_on, simulated, .. } = self;
        let mut notes = Vec::new();
        let (title, other) = (&recorded_on.title, &simulated.title);
        let is_builtin = BUILTIN_NAMES.contains(&recorded_on.name.as_str());
        if let Some(assumed) = recorded_on.assumptions.values().next().filter(|_| !is_builtin) {
            notes.push(format!("{title} is no built-in device: what the file does not say of it is {assumed}"));
        }
        if recorded_on.name == simulated.name {
            if rescale != Rescale::None {
                let (rescale, device) = (option("rescale").with(rescale.name()), option("device"));
                notes.push(format!(
                    "{rescale} changes nothing: {title} is the recorded GPU, and {device} names no other"
                ));
            }
            return notes;
        }
        let by = |limiter: Limiter| {
            let factor = self.factor(limiter);
            format!("{}: x{factor:.2} for a kernel that fills both", limiter.name())
        };
        let from_to = format!("durations of kernels are those of {title}, rescaled for {other} by");
        match rescale {
            Rescale::None => {
                notes.push(format!(
                    "block and copy times, launch latency and kernel gap are those of {title}, not rescaled for {other}: what \
                     changes is where blocks find room"
                ));
                let known = [(Rescale::Compute, Limiter::Compute), (Rescale::Memory, Limiter::Memory)];
                let known = known.into_iter().filter_map(|(rescale, limiter)| {
                    let factor = Self::new(rescale, recorded_on, simulated).ok()?.factor(limiter);
                    Some(format!("x{factor:.2} by {}", option("rescale").with(rescale.name())))
                });
                let known: Vec<String> = known.collect();
                if !known.is_empty() {
                    notes.push(format!("durations of kernels that fill both GPUs would be {}", known.join(", ")));
                }
                return notes;
            }
            Rescale::Memory => {
                notes.push(format!("{from_to} {}; all kernels are taken to be limited by it", by(Limiter::Memory)));
            }
            Rescale::Compute => notes.push(format!(
                "{from_to} {}; all kernels are taken to be limited by them; units for matrices need not differ as much",
                by(Limiter::Compute)
            )),
            Rescale::ByName => notes.push(format!(
                "{from_to} what their names say limits them: {}; {}",
                by(Limiter::Memory),
                by(Limiter::Compute)
            )),
        }
        notes.push(
            "not rescaled: collectives and kernels that keep their recorded durations, copies, memsets, launch latency, \
             kernel gap, host work"
                .to_owned(),
        );
        notes
    }
}

/// How many launches were rescaled by what their names say.
#[derive(Debug, Default)]
pub(super) struct Rescaled {
    by_memory: u64,
    by_sms: u64,
    /// Launches that were not, by function, and how long they took \[ns\].
    not: BTreeMap<u32, u64>,
    not_ns: u64,
    /// Launches that were, though they are [`SHORT_NS`] or shorter.
    short: u64,
}

/// Kernels up to here are told worst on another GPU \[ns\].
const SHORT_NS: u64 = 10_000;

impl Rescaled {
    pub(super) fn add(&mut self, kernel: &ProfiledKernel, duration_ns: u64, limiter: Option<Limiter>) {
        self.short += u64::from(limiter.is_some() && duration_ns <= SHORT_NS);
        match limiter {
            Some(Limiter::Memory) => self.by_memory += 1,
            Some(Limiter::Compute) => self.by_sms += 1,
            None => {
                *self.not.entry(kernel.function).or_insert(0) += 1;
                self.not_ns = self.not_ns.saturating_add(duration_ns);
            }
        }
    }

    /// What was rescaled by what, and what was not.
    pub(super) fn note(&self, profile: &GpuProfile) -> String {
        let Self { by_memory, by_sms, not, not_ns, short } = self;
        let mut counts =
            format!("rescaled: {} by memory bandwidth, {by_sms} by what SMs compute", counted(*by_memory, "kernel"));
        if *short > 0 {
            let _ = write!(counts, ", {short} of them of 10 us or less, which this tells worst");
        }
        let launches: u64 = not.values().sum();
        if launches == 0 {
            return counts;
        }
        let time = Duration::from_ns(*not_ns);
        format!(
            "{counts}; not rescaled: {} of {time} in all, where no name says what limits it, or of fewer blocks than one of \
             the GPUs has SMs: {}",
            counted(launches, "kernel"),
            profile.most_launched(not)
        )
    }
}

/// The duration of a kernel over its waves, rounded to the nearest nanosecond.
pub(super) fn over_waves(kernel: &ProfiledKernel, duration: u64, device: &Device) -> u64 {
    let occupancy = KernelOccupancy::new(&kernel.shape, kernel.blocks, device.sms, device);
    let waves = u64::from(occupancy.waves.max(1));
    duration.saturating_add(waves / 2) / waves
}
