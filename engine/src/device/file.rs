//! Device files: reading and writing.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    ChannelOrder, CopyEngines, CopySharing, Device, DeviceSpec, Gpcs, PerBlockLimits, PerSmLimits, Placement,
    Preemption, RegisterAllocation, RegisterDealing, Runlists, SharedMemoryAllocation, SmNumbering, SmOrder,
    SynchronousMemset, TimeSlicing, limits,
};
use crate::json::{Node, Object, Problem};
use crate::time::Duration;

/// Reads the device file that starts at `node`.
///
/// # Errors
///
/// If a key is missing, unknown or has another type, or a number is out of its range: with its place.
pub fn device(node: Node<'_>) -> Result<Device, Problem> {
    let mut file = node.object()?;
    let name = file.required("name")?.string()?;
    let title = match file.optional("title")? {
        Some(title) => title.string()?,
        None => name.clone(),
    };
    let compute_capability = match file.optional("compute_capability")? {
        Some(text) => text.string()?,
        None => String::new(),
    };
    let sms = limits::SMS.read_u32(file.required("sms")?)?;
    let copy_engines = limits::COPY_ENGINES.read_u32(file.required("copy_engines")?)?;
    let spin = file.required("ns_per_spin_iteration")?;
    let spec = DeviceSpec {
        name,
        title,
        compute_capability,
        sms,
        sms_per_tpc: file.required("sms_per_tpc")?.whole_u32(1, sms)?,
        warp_size: limits::WARP_SIZE.read_u32(file.required("warp_size")?)?,
        per_sm: per_sm(file.required("per_sm")?)?,
        per_block: per_block(file.required("per_block")?)?,
        register_allocation: registers(file.required("register_allocation")?)?,
        shared_memory_allocation: shared_memory(file.required("shared_memory_allocation")?)?,
        priority_levels: limits::PRIORITY_LEVELS.read_u32(file.required("priority_levels")?)?,
        sm_order: sm_order(file.required("sm_order")?, sms)?,
        gpcs: file.optional("gpcs")?.map(gpcs).transpose()?,
        placement: match file.optional("placement")? {
            Some(node) => node.named(&Placement::ALL.map(Placement::name), Placement::from_name)?,
            None => Placement::default(),
        },
        copy: copy(file.required("copy")?, copy_engines, copy_sharing(&mut file)?)?,
        channels: file.optional("channels")?.map(|node| limits::CHANNELS.read_u32(node)).transpose()?,
        channel_order: match file.optional("channel_order")? {
            Some(node) => ChannelOrder::from_name(&node.string()?)
                .ok_or_else(|| node.expected("\"fifo\", \"lifo\" or \"random\""))?,
            None => ChannelOrder::default(),
        },
        launch_latency: latency(&mut file, "launch_latency_ns", &limits::LAUNCH_LATENCY)?,
        kernel_gap: latency(&mut file, "kernel_gap_ns", &limits::KERNEL_GAP)?,
        block_gap: latency(&mut file, "block_gap_ns", &limits::BLOCK_GAP)?,
        pdl_trigger_latency: latency(&mut file, "pdl_trigger_latency_ns", &limits::TRIGGER_LATENCY)?,
        pdl_wait_latency: latency(&mut file, "pdl_wait_latency_ns", &limits::WAIT_LATENCY)?,
        synchronous_memset: match file.optional("synchronous_memset")? {
            Some(node) => {
                node.named(&SynchronousMemset::ALL.map(SynchronousMemset::name), SynchronousMemset::from_name)?
            }
            None => SynchronousMemset::default(),
        },
        time_slicing: time_slicing(&mut file)?,
        boost_clock_mhz: file
            .optional("boost_clock_mhz")?
            .map(|node| limits::BOOST_CLOCK.read_u32(node))
            .transpose()?,
        memory_bytes_per_s: file
            .optional("memory_bytes_per_s")?
            .map(|node| limits::MEMORY_BANDWIDTH.read(node))
            .transpose()?,
        spin_iteration_atto: spin
            .decimal()?
            .scaled(9, u64::MAX)
            .map_err(|_| spin.expected("nanoseconds, below 18446744073"))?,
        sources: notes(&mut file, "sources")?,
        assumptions: notes(&mut file, "assumptions")?,
    };
    let device = Device::new(spec).map_err(|error| file.node().problem(error.to_string()))?;
    file.finish()?;
    Ok(device)
}

fn per_sm(node: Node<'_>) -> Result<PerSmLimits, Problem> {
    let mut group = node.object()?;
    let limits = PerSmLimits {
        threads: limits::THREADS_PER_SM.read_u32(group.required("threads")?)?,
        warps: limits::WARPS_PER_SM.read_u32(group.required("warps")?)?,
        blocks: limits::BLOCKS_PER_SM.read_u32(group.required("blocks")?)?,
        registers: limits::REGISTERS_PER_SM.read_u32(group.required("registers")?)?,
        shared_memory_bytes: limits::SHARED_MEMORY_PER_SM.read_u32(group.required("shared_memory_bytes")?)?,
    };
    group.finish()?;
    Ok(limits)
}

fn per_block(node: Node<'_>) -> Result<PerBlockLimits, Problem> {
    let mut group = node.object()?;
    let limits = PerBlockLimits {
        threads: limits::THREADS_PER_BLOCK.read_u32(group.required("threads")?)?,
        registers: limits::REGISTERS_PER_BLOCK.read_u32(group.required("registers")?)?,
        shared_memory_bytes: limits::SHARED_MEMORY_PER_BLOCK.read_u32(group.required("shared_memory_bytes")?)?,
    };
    group.finish()?;
    Ok(limits)
}

fn registers(node: Node<'_>) -> Result<RegisterAllocation, Problem> {
    let mut group = node.object()?;
    let allocation = RegisterAllocation {
        unit_per_warp: limits::REGISTER_UNIT.read_u32(group.required("unit_per_warp")?)?,
        sub_partitions: limits::SUB_PARTITIONS.read_u32(group.required("sub_partitions")?)?,
        warps_rounded_to: limits::WARPS_ROUNDED_TO.read_u32(group.required("warps_rounded_to")?)?,
        dealing: match group.optional("dealing")? {
            Some(node) => node.named(&RegisterDealing::ALL.map(RegisterDealing::name), RegisterDealing::from_name)?,
            None => RegisterDealing::default(),
        },
    };
    group.finish()?;
    Ok(allocation)
}

fn shared_memory(node: Node<'_>) -> Result<SharedMemoryAllocation, Problem> {
    let mut group = node.object()?;
    let allocation = SharedMemoryAllocation {
        unit_bytes: limits::SHARED_MEMORY_UNIT.read_u32(group.required("unit_bytes")?)?,
        reserved_per_block_bytes: limits::RESERVED_PER_BLOCK.read_u32(group.required("reserved_per_block_bytes")?)?,
    };
    group.finish()?;
    Ok(allocation)
}

fn copy_sharing(file: &mut Object<'_>) -> Result<CopySharing, Problem> {
    let Some(node) = file.optional("copies")? else { return Ok(CopySharing::default()) };
    CopySharing::from_name(&node.string()?).ok_or_else(|| node.expected("\"one-at-a-time\" or \"shared-link\""))
}

fn copy(node: Node<'_>, engines: u32, sharing: CopySharing) -> Result<CopyEngines, Problem> {
    let mut group = node.object()?;
    let copy = CopyEngines {
        engines,
        sharing,
        latency: Duration::from_ns(limits::COPY_LATENCY.read(group.required("latency_ns")?)?),
        host_to_device_bytes_per_s: limits::HOST_TO_DEVICE.read(group.required("host_to_device_bytes_per_s")?)?,
        device_to_host_bytes_per_s: limits::DEVICE_TO_HOST.read(group.required("device_to_host_bytes_per_s")?)?,
        device_to_device_bytes_per_s: limits::DEVICE_TO_DEVICE.read(group.required("device_to_device_bytes_per_s")?)?,
        device_to_device_engine: match group.optional("device_to_device_engine")? {
            Some(node) => node.whole_u32(0, engines - 1)?,
            None => 0,
        },
    };
    group.finish()?;
    Ok(copy)
}

fn latency(file: &mut Object<'_>, key: &'static str, limit: &limits::Limit) -> Result<Duration, Problem> {
    let stated = file.optional(key)?.map(|node| limit.read(node)).transpose()?;
    Ok(stated.map_or(Duration::ZERO, Duration::from_ns))
}

/// What is not stated is as [`TimeSlicing::NOMINAL`] has it.
fn time_slicing(file: &mut Object<'_>) -> Result<TimeSlicing, Problem> {
    let nominal = TimeSlicing::NOMINAL;
    let mut time = |key: &'static str, limit: &limits::Limit, nominal: Duration| {
        let stated = file.optional(key)?.map(|node| limit.read(node)).transpose()?;
        Ok(stated.map_or(nominal, Duration::from_ns))
    };
    let time_slice = time("time_slice_ns", &limits::TIME_SLICE, nominal.time_slice)?;
    let switch_cost = time("switch_cost_ns", &limits::SWITCH_COST, nominal.switch_cost)?;
    let copy_time_slice = time("copy_time_slice_ns", &limits::COPY_TIME_SLICE, nominal.copy_time_slice)?;
    let runlists = match file.optional("runlists")? {
        Some(node) => {
            Runlists::from_name(&node.string()?).ok_or_else(|| node.expected("\"separate\" or \"shared\""))?
        }
        None => nominal.runlists,
    };
    let preemption = match file.optional("preemption")? {
        Some(node) => {
            Preemption::from_name(&node.string()?).ok_or_else(|| node.expected("\"mid-block\" or \"block-end\""))?
        }
        None => nominal.preemption,
    };
    Ok(TimeSlicing { time_slice, switch_cost, copy_time_slice, runlists, preemption })
}

fn sm_order(node: Node<'_>, sms: u32) -> Result<SmOrder, Problem> {
    if node.is_list() {
        let ids: Vec<u32> = node.list()?.iter().map(|id| id.whole_u32(0, sms - 1)).collect::<Result<_, _>>()?;
        let order = SmOrder::Explicit(ids);
        let complete = order.names_every_sm_once(sms);
        return if complete { Ok(order) } else { Err(node.expected("every SM id exactly once")) };
    }
    match node.string().as_deref() {
        Ok("ascending") => Ok(SmOrder::Ascending),
        Ok("descending") => Ok(SmOrder::Descending),
        Ok("even-then-odd") => Ok(SmOrder::EvenThenOdd),
        _ => Err(node.expected("\"ascending\", \"descending\", \"even-then-odd\" or a list of all SM ids")),
    }
}

fn gpcs(node: Node<'_>) -> Result<Gpcs, Problem> {
    let mut group = node.object()?;
    let tpcs = group.required("tpcs")?.list()?;
    let gpcs = Gpcs {
        tpcs: tpcs.iter().map(|tpcs| limits::GPC_TPCS.read_u32(*tpcs)).collect::<Result<_, _>>()?,
        lone_tpcs: group.optional("lone_tpcs")?.map_or(Ok(0), |node| limits::LONE_TPCS.read_u32(node))?,
        numbering: match group.optional("numbering")? {
            Some(node) => node.named(&SmNumbering::ALL.map(SmNumbering::name), SmNumbering::from_name)?,
            None => SmNumbering::default(),
        },
    };
    group.finish()?;
    Ok(gpcs)
}

fn notes(file: &mut Object<'_>, key: &'static str) -> Result<BTreeMap<String, String>, Problem> {
    let Some(node) = file.optional(key)? else { return Ok(BTreeMap::new()) };
    node.object()?
        .into_distinct_entries()?
        .into_iter()
        .map(|(key, note)| Ok((key.into_owned(), note.string()?)))
        .collect()
}

impl Device {
    /// This device as a device file.
    pub fn to_json(&self) -> String {
        format!("{:#}", self.to_value())
    }

    /// Every number and setting of the device file with its dotted key, in the order of the file.
    pub fn entries(&self) -> Vec<(String, String)> {
        let mut entries = Vec::new();
        let Value::Object(file) = self.to_value() else { return entries };
        for (key, value) in file {
            match value {
                Value::Object(_) if key == "sources" || key == "assumptions" => {}
                Value::Object(group) => {
                    entries.extend(group.iter().map(|(member, value)| (format!("{key}.{member}"), plain(value))));
                }
                _ if key == "name" || key == "title" => {}
                value => entries.push((key, plain(&value))),
            }
        }
        entries
    }

    #[doc(hidden)]
    pub fn to_value(&self) -> Value {
        let order = match &self.sm_order {
            SmOrder::Explicit(ids) => json!(ids),
            SmOrder::Ascending => json!("ascending"),
            SmOrder::Descending => json!("descending"),
            SmOrder::EvenThenOdd => json!("even-then-odd"),
        };
        let mut file = Map::new();
        let mut put = |key: &str, value: Value| file.insert(key.to_owned(), value);
        put("name", json!(self.name));
        put("title", json!(self.title));
        put("compute_capability", json!(self.compute_capability));
        put("sms", json!(self.sms));
        put("sms_per_tpc", json!(self.sms_per_tpc));
        put("warp_size", json!(self.warp_size));
        put("per_sm", json!(self.per_sm));
        put("per_block", json!(self.per_block));
        put("register_allocation", json!(self.register_allocation));
        put("shared_memory_allocation", json!(self.shared_memory_allocation));
        put("priority_levels", json!(self.priority_levels));
        put("sm_order", order);
        if let Some(gpcs) = &self.gpcs {
            put("gpcs", json!(gpcs));
        }
        if self.placement != Placement::default() {
            put("placement", json!(self.placement));
        }
        put("copy_engines", json!(self.copy.engines));
        let mut copy = json!({
            "latency_ns": self.copy.latency,
            "host_to_device_bytes_per_s": self.copy.host_to_device_bytes_per_s,
            "device_to_host_bytes_per_s": self.copy.device_to_host_bytes_per_s,
            "device_to_device_bytes_per_s": self.copy.device_to_device_bytes_per_s,
        });
        if self.copy.device_to_device_engine > 0 {
            copy["device_to_device_engine"] = json!(self.copy.device_to_device_engine);
        }
        put("copy", copy);
        if self.copy.sharing != CopySharing::default() {
            put("copies", json!(self.copy.sharing));
        }
        if let Some(channels) = self.channels {
            put("channels", json!(channels));
        }
        if self.channel_order != ChannelOrder::default() {
            put("channel_order", json!(self.channel_order));
        }
        let latencies = [
            ("launch_latency_ns", self.launch_latency),
            ("kernel_gap_ns", self.kernel_gap),
            ("block_gap_ns", self.block_gap),
            ("pdl_trigger_latency_ns", self.pdl_trigger_latency),
            ("pdl_wait_latency_ns", self.pdl_wait_latency),
        ];
        for (key, latency) in latencies {
            if latency > Duration::ZERO {
                put(key, json!(latency));
            }
        }
        if self.synchronous_memset != SynchronousMemset::default() {
            put("synchronous_memset", json!(self.synchronous_memset));
        }
        let TimeSlicing { time_slice, switch_cost, copy_time_slice, runlists, preemption } = self.time_slicing;
        put("time_slice_ns", json!(time_slice));
        put("switch_cost_ns", json!(switch_cost));
        put("copy_time_slice_ns", json!(copy_time_slice));
        put("runlists", json!(runlists));
        put("preemption", json!(preemption));
        if let Some(clock) = self.boost_clock_mhz {
            put("boost_clock_mhz", json!(clock));
        }
        if let Some(bandwidth) = self.memory_bytes_per_s {
            put("memory_bytes_per_s", json!(bandwidth));
        }
        put("ns_per_spin_iteration", json!(self.spin_iteration_atto as f64 / 1e9));
        put("sources", json!(self.sources));
        put("assumptions", json!(self.assumptions));
        Value::Object(file)
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
