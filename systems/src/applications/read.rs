//! Reader of application files.

use std::collections::BTreeMap;

use super::model::{
    Application, ApplicationKernel, Class, ExecutionProfile, Injection, Injections, KernelTimes, MAX_INJECTIONS,
};
use super::set::{ApplicationSet, PowerModel};
use crate::device::{BUILTIN_NAMES, BlockShape, Device};
use crate::json::{Document, JsonError, Node, Problem};
use crate::time::{Duration, Instant};
use crate::words::did_you_mean;

const FORMAT: &str = "gpusched-applications/1";
/// The device on which files run that name none: the paper's.
const DEFAULT_DEVICE: &str = "k20m";
/// Most applications, kernels of one, and arrivals of one.
const MAX_ENTRIES: usize = 100_000;
/// Most watts; boards draw under a thousand.
const MAX_MILLIWATTS: u64 = 1_000_000_000;

impl ApplicationSet {
    /// Reads an application file; `file` is its name in errors, `device` replaces the file's GPU.
    ///
    /// Where the file has `injection` rather than arrivals, the set has a generator and no injections yet.
    ///
    /// # Errors
    /// [`JsonError`] with the position of what is wrong.
    pub fn from_json(file: &str, text: &str, device: Option<Device>) -> Result<Self, JsonError> {
        let document = Document::parse(file, text)?;
        read(document.root(), device).map_err(|problem| document.locate(problem))
    }
}

fn read(root: Node<'_>, replaced_by: Option<Device>) -> Result<ApplicationSet, Problem> {
    let mut file = root.object()?;
    let format = file.required("format")?;
    if format.string()? != FORMAT {
        return Err(format.expected(&format!("{FORMAT:?}")));
    }
    let name = file.required("name")?.string()?;
    let synthetic = file.optional("synthetic")?.map_or(Ok(false), |node| node.boolean())?;
    if let Some(node) = file.optional("source")? {
        node.string()?;
    }
    let own = file.optional("device")?.map(read_device).transpose()?;
    let device = match replaced_by.or(own) {
        Some(device) => device,
        None => builtin(root, DEFAULT_DEVICE)?,
    };
    let power = file.optional("power")?.map_or(Ok(PowerModel::default()), read_power)?;
    let generator = file.optional("injection")?.map(read_generator).transpose()?;
    let list_node = file.required("applications")?;
    let list = list_node.filled_list()?;
    if list.len() > MAX_ENTRIES {
        return Err(list_node.problem(format!("expected at most {MAX_ENTRIES} applications, found {}", list.len())));
    }
    let mut set = ApplicationSet {
        name,
        synthetic,
        device,
        power,
        applications: Vec::new(),
        profiles: Vec::new(),
        injections: Vec::new(),
        generator,
        notes: Vec::new(),
    };
    for node in list {
        read_application(node, &mut set)?;
    }
    if set.injections.len() > MAX_INJECTIONS as usize {
        return Err(list_node.problem(format!("expected at most {MAX_INJECTIONS} arrivals in all")));
    }
    file.finish()?;
    crate::sorted::sort_by_key(&mut set.injections, |injection| injection.arrival);
    Ok(set)
}

fn builtin(node: Node<'_>, name: &str) -> Result<Device, Problem> {
    match Device::builtin(name) {
        Ok(Some(device)) => Ok(device),
        _ => Err(node
            .problem(format!("there is no built-in device {name:?}{}", did_you_mean(name, BUILTIN_NAMES)))
            .with_help(format!("built in are {}", BUILTIN_NAMES.join(", ")))),
    }
}

/// A built-in device by name, or the content of a device file.
fn read_device(node: Node<'_>) -> Result<Device, Problem> {
    if node.is_object() { crate::device::read_device(node) } else { builtin(node, &node.string()?) }
}

fn read_power(node: Node<'_>) -> Result<PowerModel, Problem> {
    let mut power = node.object()?;
    let idle_w = watts(power.required("idle_w")?)?;
    let per_busy_sm_w = watts(power.required("per_busy_sm_w")?)?;
    if let Some(node) = power.optional("source")? {
        node.string()?;
    }
    power.finish()?;
    Ok(PowerModel { idle_w, per_busy_sm_w })
}

fn watts(node: Node<'_>) -> Result<f64, Problem> {
    let refuse = |_| node.expected("watts, from 0 to 1000000");
    let milliwatts = node.decimal()?.scaled(3, MAX_MILLIWATTS).map_err(refuse)?;
    Ok(milliwatts as f64 / 1_000.0)
}

fn read_generator(node: Node<'_>) -> Result<Injections, Problem> {
    let mut choice = node.object()?;
    let random = choice.optional("random")?;
    let per_period = choice.optional("per_period")?;
    choice.finish()?;
    match (random, per_period) {
        (Some(node), None) => {
            let mut random = node.object()?;
            let count = random.required("count")?.whole_u32(1, MAX_INJECTIONS)?;
            let gap = random.required("gap")?.time()?;
            random.finish()?;
            Ok(Injections::Random { count, gap })
        }
        (None, Some(node)) => {
            let mut periodic = node.object()?;
            let count = periodic.required("count")?.whole_u32(1, MAX_INJECTIONS)?;
            let period_node = periodic.required("period")?;
            let period = positive_time(period_node)?;
            let periods = periodic.required("periods")?.whole_u32(1, MAX_INJECTIONS)?;
            periodic.finish()?;
            Ok(Injections::PerPeriod { count, period, periods })
        }
        _ => Err(node.problem("expected either \"random\" or \"per_period\"")),
    }
}

fn read_application(node: Node<'_>, set: &mut ApplicationSet) -> Result<(), Problem> {
    let mut fields = node.object()?;
    let name = fields.required("name")?.string()?;
    let class_node = fields.required("class")?;
    let class = class_node.string().ok().as_deref().and_then(Class::from_name).ok_or_else(|| {
        class_node
            .expected("\"high\", \"medium\" or \"low\"")
            .with_help("GPU-EvR knows three classes; map further priorities of yours to these")
    })?;
    let requirement_node = fields.required("requirement")?;
    let requirements = if requirement_node.is_list() {
        requirement_node.filled_list()?.into_iter().map(positive_time).collect::<Result<Vec<_>, _>>()?
    } else {
        vec![positive_time(requirement_node)?]
    };
    let bytes = |node: Option<Node<'_>>| node.map_or(Ok(0), |node| node.whole_number(0, u64::MAX));
    let copy_in_bytes = bytes(fields.optional("copy_in_bytes")?)?;
    let copy_out_bytes = bytes(fields.optional("copy_out_bytes")?)?;
    let kernels_node = fields.required("kernels")?;
    let kernel_nodes = kernels_node.filled_list()?;
    if kernel_nodes.len() > MAX_ENTRIES {
        return Err(kernels_node.problem(format!("expected at most {MAX_ENTRIES} kernels")));
    }
    let kernels = kernel_nodes.into_iter().map(|node| read_kernel(node, &name, set)).collect::<Result<Vec<_>, _>>()?;
    let arrivals = read_arrivals(fields.optional("arrivals")?, set)?;
    if let Some(node) = fields.optional("reasoning")? {
        node.string()?;
    }
    fields.finish()?;

    let application =
        Application { name: name.as_str().into(), class, requirements, copy_in_bytes, copy_out_bytes, kernels };
    let profile = ExecutionProfile::new(&application, &set.device).map_err(|error| node.problem(error.to_string()))?;
    add_notes(&application, &profile, set);
    if let Some((arrivals, node)) = arrivals {
        let &[requirement] = application.requirements.as_slice() else {
            return Err(requirement_node
                .expected("one requirement, because this application has arrivals")
                .with_help("a list of requirements to draw from belongs to generated injections"));
        };
        let application = u32::try_from(set.applications.len()).map_err(|_| node.problem("too many applications"))?;
        set.injections.extend(arrivals.into_iter().map(|arrival| Injection { application, arrival, requirement }));
    }
    set.applications.push(application);
    set.profiles.push(profile);
    Ok(())
}

/// The arrivals of an application and where they stand; a file either states them for all or has a generator.
fn read_arrivals<'a>(
    node: Option<Node<'a>>,
    set: &ApplicationSet,
) -> Result<Option<(Vec<Instant>, Node<'a>)>, Problem> {
    let Some(node) = node else { return Ok(None) };
    if set.generator.is_some() {
        return Err(node.problem("this file generates injections, and so no application states arrivals"));
    }
    let times = node.list()?;
    if times.len() > MAX_INJECTIONS as usize {
        return Err(node.problem(format!("expected at most {MAX_INJECTIONS} arrivals")));
    }
    let arrivals = times.into_iter().map(|node| Ok(Instant::ZERO + node.time()?)).collect::<Result<_, Problem>>()?;
    Ok(Some((arrivals, node)))
}

fn positive_time(node: Node<'_>) -> Result<Duration, Problem> {
    let time = node.time()?;
    if time == Duration::ZERO { Err(node.expected("a time of at least 1 ns")) } else { Ok(time) }
}

fn read_kernel(node: Node<'_>, application: &str, set: &mut ApplicationSet) -> Result<ApplicationKernel, Problem> {
    let mut fields = node.object()?;
    let name = fields.optional("name")?.map_or_else(|| Ok("kernel".to_owned()), |node| node.string())?;
    let blocks = fields.required("blocks")?.whole_u32(1, u32::MAX)?;
    let mut small =
        |key| -> Result<u32, Problem> { fields.optional(key)?.map_or(Ok(0), |node| node.whole_u32(0, u32::MAX)) };
    let registers_per_thread = small("registers_per_thread")?;
    let shared_memory_bytes = small("shared_memory_bytes")?;
    let threads_node = fields.required("threads")?;
    let shape = BlockShape { threads: threads_node.whole_u32(1, u32::MAX)?, registers_per_thread, shared_memory_bytes };
    let launches = fields.optional("launches")?.map_or(Ok(1), |node| node.whole_u32(1, u32::MAX))?;
    let block_time = fields.optional("block_time")?;
    let table = fields.optional("execution_time")?;
    fields.finish()?;
    let times = match (block_time, table) {
        (Some(node), None) => KernelTimes::Fixed(positive_time(node)?),
        (None, Some(node)) => KernelTimes::Table(read_table(node, &format!("{application}/{name}"), set)?),
        _ => return Err(node.problem("expected either \"block_time\" or \"execution_time\"")),
    };
    Ok(ApplicationKernel { name: name.as_str().into(), blocks, shape, times, launches })
}

/// A table of E(K, P). Entries that are missing are interpolated, and the user is told which.
fn read_table(node: Node<'_>, kernel: &str, set: &mut ApplicationSet) -> Result<BTreeMap<u32, Duration>, Problem> {
    let sms = set.device.sms;
    let mut table = BTreeMap::new();
    for (key, time) in node.object()?.into_entries() {
        let entry =
            key.parse::<u32>().ok().filter(|entry| (1..=sms).contains(entry)).ok_or_else(|| {
                time.problem(format!("expected a number of SMs from 1 to {sms} as key, found {key:?}"))
            })?;
        if table.insert(entry, positive_time(time)?).is_some() {
            return Err(time.problem(format!("{entry} SMs stand twice in this table")));
        }
    }
    if table.is_empty() {
        return Err(node.problem("expected an entry for at least one number of SMs, found none"));
    }
    let missing: Vec<String> =
        (1..=sms).filter(|entry| !table.contains_key(entry)).map(|sms| sms.to_string()).collect();
    if !missing.is_empty() {
        set.notes.push(format!("{kernel}: execution_time has no entry for {} SMs: interpolated", missing.join(", ")));
    }
    Ok(table)
}

fn add_notes(application: &Application, profile: &ExecutionProfile, set: &mut ApplicationSet) {
    if let Some(sms) = profile.grows_at() {
        set.notes.push(format!(
            "{}: slower on {sms} SMs than on {}: GPU-EvR gives it more SMs only where that helps",
            application.name,
            sms - 1
        ));
    }
    let shortest = profile.shortest_execution();
    for requirement in application.requirements.iter().filter(|&&requirement| requirement < shortest) {
        set.notes.push(format!(
            "{}: can never meet its requirement of {requirement}: alone on the whole GPU it takes {shortest}",
            application.name
        ));
    }
}
