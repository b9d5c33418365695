//! Device files: reading and writing.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

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
        each: None,
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
        placement: named(file.optional("placement")?, &Placement::ALL.map(Placement::name), Placement::from_name)?,
        copy: {
            let node = file.required("copy")?;
            let names = CopySharing::ALL.map(CopySharing::name);
            copy(node, copy_engines, either(file.optional("copies")?, names, CopySharing::from_name)?)?
        },
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
        synchronous_memset: {
            let names = SynchronousMemset::ALL.map(SynchronousMemset::name);
            named(file.optional("synchronous_memset")?, &names, SynchronousMemset::from_name)?
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
        dealing: {
            let names = RegisterDealing::ALL.map(RegisterDealing::name);
            named(group.optional("dealing")?, &names, RegisterDealing::from_name)?
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

/// What is stated by one of a few names; nothing: as it is if nobody says so.
fn named<T: Default>(node: Option<Node<'_>>, names: &[&str], find: fn(&str) -> Option<T>) -> Result<T, Problem> {
    node.map_or_else(|| Ok(T::default()), |node| node.named(names, find))
}

/// The same, of two names.
fn either<T: Default>(node: Option<Node<'_>>, names: [&str; 2], find: fn(&str) -> Option<T>) -> Result<T, Problem> {
    let expected = || format!("{:?} or {:?}", names[0], names[1]);
    node.map_or_else(|| Ok(T::default()), |node| find(&node.string()?).ok_or_else(|| node.expected(&expected())))
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
    let runlists = either(file.optional("runlists")?, Runlists::ALL.map(Runlists::name), Runlists::from_name)?;
    let preemption =
        either(file.optional("preemption")?, Preemption::ALL.map(Preemption::name), Preemption::from_name)?;
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
        numbering: named(
            group.optional("numbering")?,
            &SmNumbering::ALL.map(SmNumbering::name),
            SmNumbering::from_name,
        )?,
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
        let mut copy = json!({
            "latency_ns": self.copy.latency,
            "host_to_device_bytes_per_s": self.copy.host_to_device_bytes_per_s,
            "device_to_host_bytes_per_s": self.copy.device_to_host_bytes_per_s,
            "device_to_device_bytes_per_s": self.copy.device_to_device_bytes_per_s,
        });
        if self.copy.device_to_device_engine > 0 {
            copy["device_to_device_engine"] = json!(self.copy.device_to_device_engine);
        }
        let TimeSlicing { time_slice, switch_cost, copy_time_slice, runlists, preemption } = self.time_slicing;
        let entries = [
            ("name", Some(json!(self.name))),
            ("title", Some(json!(self.title))),
            ("compute_capability", Some(json!(self.compute_capability))),
            ("sms", Some(json!(self.sms))),
            ("sms_per_tpc", Some(json!(self.sms_per_tpc))),
            ("warp_size", Some(json!(self.warp_size))),
            ("per_sm", Some(json!(self.per_sm))),
            ("per_block", Some(json!(self.per_block))),
            ("register_allocation", Some(json!(self.register_allocation))),
            ("shared_memory_allocation", Some(json!(self.shared_memory_allocation))),
            ("priority_levels", Some(json!(self.priority_levels))),
            ("sm_order", Some(order)),
            ("gpcs", stated(&self.gpcs)),
            ("placement", stated(&self.placement)),
            ("copy_engines", Some(json!(self.copy.engines))),
            ("copy", Some(copy)),
            ("copies", stated(&self.copy.sharing)),
            ("channels", stated(&self.channels)),
            ("channel_order", stated(&self.channel_order)),
            ("launch_latency_ns", stated(&self.launch_latency)),
            ("kernel_gap_ns", stated(&self.kernel_gap)),
            ("block_gap_ns", stated(&self.block_gap)),
            ("pdl_trigger_latency_ns", stated(&self.pdl_trigger_latency)),
            ("pdl_wait_latency_ns", stated(&self.pdl_wait_latency)),
            ("synchronous_memset", stated(&self.synchronous_memset)),
            ("time_slice_ns", Some(json!(time_slice))),
            ("switch_cost_ns", Some(json!(switch_cost))),
            ("copy_time_slice_ns", Some(json!(copy_time_slice))),
            ("runlists", Some(json!(runlists))),
            ("preemption", Some(json!(preemption))),
            ("boost_clock_mhz", stated(&self.boost_clock_mhz)),
            ("memory_bytes_per_s", stated(&self.memory_bytes_per_s)),
            ("ns_per_spin_iteration", Some(json!(self.spin_iteration_atto as f64 / 1e9))),
            ("sources", Some(json!(self.sources))),
            ("assumptions", Some(json!(self.assumptions))),
        ];
        entries.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }
}

/// What differs from what is so if nobody says so.
fn stated<T: Default + PartialEq + Serialize>(value: &T) -> Option<Value> {
    (*value != T::default()).then(|| json!(value))
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
