//! The device that a driver tells of: its limits, completed by what is known of its compute capability and of the
//! built-in device of the same size and name.

use super::{BUILTIN_NAMES, ComputeCapability, Device, SmArchitecture};

/// Words in titles and names of boards that do not tell them apart.
const COMMON_WORDS: [&str; 12] =
    ["nvidia", "geforce", "tesla", "jetson", "quadro", "gb", "sxm", "gpu", "ac", "edition", "server", "workstation"];

/// What a driver says of one GPU, as profiles and the probe hand it on; `None`: they do not say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GpuProperties {
    /// Name of the board.
    pub name: String,
    /// Compute capability.
    pub compute_capability: Option<ComputeCapability>,
    /// SMs.
    pub sms: Option<u32>,
    /// Threads per warp.
    pub warp_size: Option<u32>,
    /// Threads of one SM.
    pub threads_per_sm: Option<u32>,
    /// Block slots of one SM.
    pub blocks_per_sm: Option<u32>,
    /// Threads of one block at most.
    pub threads_per_block: Option<u32>,
    /// Registers of one SM.
    pub registers_per_sm: Option<u32>,
    /// Registers of one block at most.
    pub registers_per_block: Option<u32>,
    /// Shared memory of one SM \[bytes\].
    pub shared_memory_per_sm: Option<u32>,
    /// Shared memory of one block at most, with opt-in \[bytes\].
    pub shared_memory_per_block: Option<u32>,
    /// Memory of the GPU \[bytes\].
    pub memory_bytes: Option<u64>,
    /// The clock that its SMs reach \[Hz\].
    pub clock_hz: Option<u64>,
    /// How fast its memory is read or written \[bytes/s\].
    pub memory_bytes_per_s: Option<u64>,
    /// Copy engines.
    pub copy_engines: Option<u32>,
}

impl GpuProperties {
    /// The device: what `stated_by` says, such as a profile, completed by what its compute capability and a built-in
    /// device of the same size and name have.
    ///
    /// # Errors
    /// What is too little, or not known.
    pub fn device(&self, stated_by: &str) -> Result<Device, String> {
        let Some(capability) = self.compute_capability else {
            return builtin_like(self).ok_or_else(|| format!("{stated_by} says nothing of it but its name"));
        };
        let Some(architecture) = capability.architecture() else {
            let known: Vec<String> = ComputeCapability::known().map(|known| known.to_string()).collect();
            return Err(format!("it has compute capability {capability}, and known are {}", known.join(", ")));
        };
        complete(self, capability, &architecture, stated_by)
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

/// What `stated_by` is silent about is that of the compute capability, and of a built-in device.
fn complete(
    properties: &GpuProperties,
    capability: ComputeCapability,
    architecture: &SmArchitecture,
    stated_by: &str,
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
        let stated = format!("stated by {stated_by}, or published for the board of that name");
        (spec.boost_clock_mhz, spec.memory_bytes_per_s) = (
            clock_mhz.filter(|&mhz| mhz > 0).or(spec.boost_clock_mhz.filter(|_| is_own)),
            properties.memory_bytes_per_s.filter(|&rate| rate > 0).or(spec.memory_bytes_per_s.filter(|_| is_own)),
        );
        for (key, is_known) in [
            ("boost_clock_mhz", spec.boost_clock_mhz.is_some()),
            ("memory_bytes_per_s", spec.memory_bytes_per_s.is_some()),
        ] {
            if is_known {
                spec.sources.insert(key.to_owned(), stated.clone());
            }
        }
        let stated = format!("stated by {stated_by}; where it is silent, the table of compute capabilities");
        for key in ["compute_capability", "sms", "warp_size", "per_sm", "per_block"] {
            spec.sources.insert(key.to_owned(), stated.clone());
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
