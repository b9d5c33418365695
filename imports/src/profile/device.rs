//! The device on which a profile was recorded.

use std::collections::BTreeMap;

use super::gpu_profile::{GpuProfile, GpuProfileError, GpuProperties};
use crate::device::{BUILTIN_NAMES, ComputeCapability, Device, SmArchitecture};
use crate::spelling::option;

/// Words in titles and names of boards that do not tell them apart.
const COMMON_WORDS: [&str; 12] =
    ["nvidia", "geforce", "tesla", "jetson", "quadro", "gb", "sxm", "gpu", "ac", "edition", "server", "workstation"];

impl GpuProfile {
    /// The GPU that runs most kernels; of several, that of the lowest number.
    pub fn busiest_gpu(&self) -> u32 {
        let counts = self.kernels_by_gpu();
        let most = counts.values().copied().max().unwrap_or(0);
        counts.iter().find(|(_, count)| **count == most).map_or(0, |(gpu, _)| *gpu)
    }

    /// How many kernels each GPU ran.
    pub fn kernels_by_gpu(&self) -> BTreeMap<u32, usize> {
        let mut counts = BTreeMap::new();
        for operation in self.operations.iter().filter(|operation| operation.kernel().is_some()) {
            *counts.entry(self.gpu_of(operation.stream)).or_insert(0) += 1;
        }
        counts
    }

    /// The GPU of a stream.
    pub fn gpu_of(&self, stream: u32) -> u32 {
        self.streams.get(stream as usize).map_or(0, |stream| stream.gpu)
    }

    /// The GPU to look at: the one that is asked for, or the busiest, and what to tell the user of that choice.
    ///
    /// # Errors
    /// [`GpuProfileError`] if the GPU that is asked for runs no kernel.
    pub fn choose_gpu(&self, asked: Option<u32>) -> Result<(u32, Option<String>), GpuProfileError> {
        let counts = self.kernels_by_gpu();
        let list = || {
            let each = counts.iter().map(|(gpu, count)| format!("GPU {gpu} runs {count}"));
            each.collect::<Vec<_>>().join(", ")
        };
        match asked {
            Some(gpu) if counts.contains_key(&gpu) => Ok((gpu, None)),
            Some(gpu) => Err(GpuProfileError::new(&self.file, format!("GPU {gpu} runs no kernels")).with_help(list())),
            None if counts.len() < 2 => Ok((self.busiest_gpu(), None)),
            None => {
                let gpu = self.busiest_gpu();
                let other = option("gpu");
                let note = format!("GPU {gpu}, which runs most kernels ({}); {other} chooses another", list());
                Ok((gpu, Some(note)))
            }
        }
    }

    /// What is not in the profile although it is in the file, and how often, for the user.
    pub fn left_out_notes(&self) -> impl Iterator<Item = String> + '_ {
        self.left_out.iter().map(|(why, count)| format!("left out: {count} {why}"))
    }

    /// The device of one of its GPUs: what the file says, completed by what its compute capability and a built-in
    /// device of the same size and name have.
    ///
    /// # Errors
    /// [`GpuProfileError`] if the file says too little of that GPU or its compute capability is not known.
    pub fn device(&self, gpu: u32) -> Result<Device, GpuProfileError> {
        let help = format!("{} names the GPU: a built-in one (gpusched devices) or a device file", option("device"));
        let refuse = |what: String| GpuProfileError::new(&self.file, what).with_help(help.clone());
        let Some(properties) = self.gpus.get(&gpu) else {
            return Err(refuse(format!("it does not say what GPU {gpu} is")));
        };
        let name = &properties.name;
        let Some(capability) = properties.compute_capability else {
            return builtin_like(properties)
                .ok_or_else(|| refuse(format!("it says nothing of GPU {gpu} but its name, {name:?}")));
        };
        let Some(architecture) = capability.architecture() else {
            let known: Vec<String> = ComputeCapability::known().map(|known| known.to_string()).collect();
            let known = known.join(", ");
            return Err(refuse(format!(
                "GPU {gpu} ({name}) has compute capability {capability}, and known are {known}"
            )));
        };
        let device = complete(properties, capability, &architecture);
        device.map_err(|what| refuse(format!("GPU {gpu} ({name}): {what}")))
    }
}

/// The built-in device that fits what is known: size and compute capability must, the name should.
fn builtin_like(properties: &GpuProperties) -> Option<Device> {
    let fits = |device: &Device| {
        properties.sms.is_none_or(|sms| sms == device.sms)
            && properties.compute_capability.is_none_or(|known| known.to_string() == device.compute_capability)
    };
    let named = |device: &Device| is_called(device, &properties.name);
    let memory_gap = |device: &Device| {
        let in_name = || words(&properties.name).iter().find_map(|word| word.strip_suffix("gb")?.parse().ok());
        let memory = properties.memory_bytes.map(|bytes| bytes / 1_000_000_000).or_else(in_name);
        gigabytes(&device.title).zip(memory).map_or(u64::MAX, |(title, memory)| title.abs_diff(memory))
    };
    let all = || BUILTIN_NAMES.iter().filter_map(|name| Device::builtin(name).ok().flatten()).filter(|d| fits(d));
    // The longest name says most: an RTX 3080 Ti is no RTX 3080. But an A100 PCIe of 40 GB is none of 80 GB.
    let other_memory = |device: &Device| {
        let gap = memory_gap(device);
        gap != u64::MAX && gigabytes(&device.title).is_some_and(|title| gap > title / 4)
    };
    let best = all()
        .filter(named)
        .min_by_key(|device| (other_memory(device), usize::MAX - board(device).len(), memory_gap(device)));
    best.or_else(|| all().find(|_| properties.sms.is_some() && properties.compute_capability.is_some()))
}

/// Whether a name has all the words by which a built-in board is told apart, and none by which another would be: an
/// RTX 3080 Ti, a laptop's RTX 3080 or a slice of an A100 is another GPU. How it is built in, its memory and NVIDIA's
/// number of the board (PG509-200) are no such words.
fn is_called(device: &Device, name: &str) -> bool {
    let (words, board) = (words(name), board(device));
    let is_number = |word: &str| word.parse::<u32>().is_ok();
    let tells_nothing = |word: &String| {
        COMMON_WORDS.contains(&&**word)
            || word == "pcie"
            || word.starts_with("sxm")
            || word.starts_with("hbm")
            || is_number(word.trim_end_matches("gb"))
            || word.strip_prefix("pg").is_some_and(is_number)
    };
    board.iter().all(|word| words.contains(word))
        && words.iter().all(|word| board.contains(word) || tells_nothing(word))
}

fn words(name: &str) -> Vec<String> {
    let parts = name.split(|letter: char| !letter.is_ascii_alphanumeric());
    parts.filter(|part| !part.is_empty()).map(str::to_ascii_lowercase).collect()
}

/// The words by which a built-in board is told apart: `gtx`, `950`.
fn board(device: &Device) -> Vec<String> {
    let title = device.title.split('(').next().unwrap_or_default();
    let all = words(title);
    let memory = gigabytes(title).map(|gigabytes| gigabytes.to_string());
    let tells =
        |word: &String| !COMMON_WORDS.contains(&&**word) && Some(word) != memory.as_ref() && !word.starts_with("sxm");
    all.into_iter().filter(tells).collect()
}

/// The memory that a title states: `A100 40 GB`.
fn gigabytes(title: &str) -> Option<u64> {
    let all: Vec<&str> = title.split_whitespace().collect();
    all.windows(2).find_map(|pair| pair[0].parse().ok().filter(|_| pair[1] == "GB"))
}

fn complete(
    properties: &GpuProperties,
    capability: ComputeCapability,
    architecture: &SmArchitecture,
) -> Result<Device, String> {
    let own = builtin_like(properties);
    let like = own.clone().or_else(|| {
        // Speeds of copies and the number of priorities are those of a board of the same generation.
        let same = |device: &Device| device.major_compute_capability() == Some(capability.major);
        let all = BUILTIN_NAMES.iter().filter_map(|name| Device::builtin(name).ok().flatten());
        let nearest = all.filter(same).max_by_key(|device| device.compute_capability == capability.to_string());
        nearest.or_else(|| Device::builtin("h100").ok().flatten())
    });
    let Some(like) = like else { return Err("no built-in device can be read".to_owned()) };
    let changed = like.with(|spec| {
        spec.compute_capability = capability.to_string();
        if let Some(sms) = properties.sms {
            spec.sms = sms;
        }
        let stated = |stated: Option<u32>, table: u32| stated.filter(|&number| number > 0).unwrap_or(table);
        spec.warp_size = stated(properties.warp_size, 32);
        spec.per_sm.threads = stated(properties.threads_per_sm, architecture.per_sm.threads);
        spec.per_sm.warps = spec.per_sm.threads / spec.warp_size.max(1);
        spec.per_sm.blocks = stated(properties.blocks_per_sm, architecture.per_sm.blocks);
        spec.per_sm.registers = stated(properties.registers_per_sm, architecture.per_sm.registers);
        spec.per_sm.shared_memory_bytes =
            stated(properties.shared_memory_per_sm, architecture.per_sm.shared_memory_bytes);
        spec.per_block.threads = stated(properties.threads_per_block, architecture.per_block.threads);
        spec.per_block.registers = stated(properties.registers_per_block, architecture.per_block.registers);
        spec.per_block.shared_memory_bytes =
            stated(properties.shared_memory_per_block, architecture.per_block.shared_memory_bytes);
        spec.register_allocation = architecture.register_allocation;
        spec.shared_memory_allocation = architecture.shared_memory_allocation;
        spec.sms_per_tpc = architecture.sms_per_tpc.min(spec.sms);
        spec.copy.engines = stated(properties.copy_engines, spec.copy.engines);
    });
    let changed = changed.map_err(|error| error.to_string())?;
    // What has the limits of an H100 but another name is none.
    let is_own = own.is_some_and(|own| is_called(&own, &properties.name));
    if is_own && changed == like {
        return Ok(like);
    }
    let named = changed.with(|spec| {
        spec.name = words(&properties.name).join("-");
        spec.title.clone_from(&properties.name);
        spec.sources.clear();
        spec.assumptions.clear();
        let clock_mhz = properties.clock_hz.and_then(|hz| u32::try_from(hz / 1_000_000).ok());
        let stated = "stated by the profile, or published for the board of that name";
        (spec.boost_clock_mhz, spec.memory_bytes_per_s) = (
            clock_mhz.filter(|&mhz| mhz > 0).or(spec.boost_clock_mhz.filter(|_| is_own)),
            properties.memory_bytes_per_s.filter(|&rate| rate > 0).or(spec.memory_bytes_per_s.filter(|_| is_own)),
        );
        for (key, is_known) in [
            ("boost_clock_mhz", spec.boost_clock_mhz.is_some()),
            ("memory_bytes_per_s", spec.memory_bytes_per_s.is_some()),
        ] {
            if is_known {
                spec.sources.insert(key.to_owned(), stated.to_owned());
            }
        }
        let stated = "stated by the profile; where it is silent, the table of compute capabilities";
        for key in ["compute_capability", "sms", "warp_size", "per_sm", "per_block"] {
            spec.sources.insert(key.to_owned(), stated.to_owned());
        }
        for key in ["register_allocation", "shared_memory_allocation", "sms_per_tpc"] {
            spec.sources.insert(key.to_owned(), format!("table of compute capabilities, {capability}"));
        }
        for key in
            ["priority_levels", "sm_order", "copy_engines", "copy", "copies", "channels", "ns_per_spin_iteration"]
        {
            spec.assumptions.insert(key.to_owned(), format!("as of the built-in device {}", like.name));
        }
        if spec.gpcs.is_some() {
            for key in ["gpcs", "placement"] {
                spec.assumptions.insert(key.to_owned(), format!("as of the built-in device {}", like.name));
            }
        }
    });
    named.map_err(|error| error.to_string())
}
