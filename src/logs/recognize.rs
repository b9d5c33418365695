//! Which GPU wrote a log.

use super::log::Log;
use crate::device::{BUILTIN_NAMES, Device, SmOrder};
use crate::spelling::option;

/// A device found from logs.
#[derive(Debug, Clone, PartialEq)]
pub struct Recognized {
    /// The device.
    pub device: Device,
    /// What its user should know: others that fit as well, or that it was made up.
    pub notes: Vec<String>,
}

/// The examiner writes this many resident threads per SM on every device.
const THREADS_PER_SM: u32 = 2048;

/// Recognizes the device from `max_resident_threads` (2048 for each SM), and among devices of one size by the order in
/// which an idle GPU served its SMs. `None` without any log, or if the built-in devices cannot be read.
pub fn recognize_device(logs: &[Log]) -> Option<Recognized> {
    let stated = stated_threads(logs);
    let sms = stated.map(|threads| threads / THREADS_PER_SM);
    let used = logs.iter().flat_map(|log| &log.kernels).flat_map(|kernel| kernel.blocks.sms.iter()).max();
    let order = order_of_idle_gpu(logs);
    let builtin = || BUILTIN_NAMES.iter().filter_map(|name| Device::builtin(name).ok().flatten());
    let least = used.map_or(1, |&highest| highest.saturating_add(1));
    let fits = |device: &Device| sms.map_or(device.sms >= least, |sms| device.sms == sms);
    let mut candidates: Vec<Device> = builtin().filter(fits).collect();
    if sms.is_none() {
        let smallest = candidates.iter().map(|device| device.sms).min();
        candidates.retain(|device| Some(device.sms) == smallest);
    }
    if let Some(order) = &order
        && candidates.iter().any(|device| device.sm_order == *order)
    {
        candidates.retain(|device| device.sm_order == *order);
    }
    let mut notes = Vec::new();
    if candidates.is_empty() {
        let sms = sms.unwrap_or(least).clamp(1, 4096);
        let device = unknown_device(sms, order)?;
        notes.push(format!(
            "no built-in device has {sms} SMs: per-SM limits are taken from {}; {} states them",
            device.title,
            option("device").with("FILE")
        ));
        return Some(Recognized { device, notes });
    }
    let device = candidates.remove(0);
    let source = if stated.is_some() { "max_resident_threads" } else { "the SM ids used" };
    let others: Vec<&str> = candidates.iter().map(|device| device.name.as_str()).collect();
    let also = if others.is_empty() { String::new() } else { format!(" ({} would fit too)", others.join(", ")) };
    let otherwise = option("device");
    notes.push(format!("device {}, recognized from {source}{also}; {otherwise} says otherwise", device.name));
    Some(Recognized { device, notes })
}

/// The resident threads of all SMs together, if a log says how many.
fn stated_threads(logs: &[Log]) -> Option<u32> {
    logs.iter().filter_map(|log| log.max_resident_threads).find(|&threads| threads >= THREADS_PER_SM)
}

/// Whether logs say how many SMs the GPU has.
pub(super) fn states_size(logs: &[Log]) -> bool {
    stated_threads(logs).is_some()
}

/// How the first kernel to start was spread, if that tells.
fn order_of_idle_gpu(logs: &[Log]) -> Option<SmOrder> {
    let first = logs.iter().flat_map(|log| &log.kernels).min_by_key(|kernel| kernel.blocks.first_start_ns())?;
    match first.blocks.sms[..] {
        [first, second, ..] if second < first => Some(SmOrder::Descending),
        [0, 1, ..] => Some(SmOrder::Ascending),
        [0, 2, ..] => Some(SmOrder::EvenThenOdd),
        _ => None,
    }
}

/// A device of a size that none of the built-in ones has, with the limits that compute capabilities 6 and 7 share.
fn unknown_device(sms: u32, order: Option<SmOrder>) -> Option<Device> {
    let model = Device::builtin("gtx1070").ok().flatten()?;
    let changed = model.with(|spec| {
        spec.name = format!("unknown-{sms}-sm");
        spec.sms = sms;
        spec.sm_order = order.unwrap_or(SmOrder::Ascending);
    });
    changed.ok()
}
