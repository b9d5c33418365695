//! What tables of the documentation say of devices, and whether the built-in ones have it.

use gpusched::device::{BUILTIN_NAMES, CopySharing, Device, Placement, Preemption, Runlists, SmOrder};
use gpusched::time::Duration;

use crate::generate::builtin;

/// Boards by the names that pages have for them, the longest first where one is part of another; those without a device
/// are not built in.
const BOARDS: [(&str, &[&str]); 24] = [
    ("a board of 80 SMs", &["titan-v", "v100"]),
    ("the same board", &["titan-v", "v100"]),
    ("boards of that paper", &[]),
    ("a Blackwell GPU", &[]),
    ("H100 PCIe", &["h100-pcie"]),
    ("H100 NVL", &[]),
    ("Xavier NX", &["xavier-nx"]),
    ("Orin Nano", &["orin-nano"]),
    ("RTX PRO 6000", &["rtx-pro-6000"]),
    ("RTX 3060", &[]),
    ("GTX 1060", &[]),
    ("RTX 5090", &["rtx5090"]),
    ("GTX 950", &["gtx950"]),
    ("Xavier", &["xavier"]),
    ("K5000", &["k5000"]),
    ("Orin", &["orin"]),
    ("A100", &["a100-40gb", "a100-80gb", "a100-80gb-pcie"]),
    ("H100", &["h100"]),
    ("B200", &["b200"]),
    ("B300", &["b300"]),
    ("Thor", &["thor"]),
    ("GB10", &["gb10"]),
    ("H20", &["h20"]),
    ("TX2", &["tx2"]),
];

/// All built-in devices.
pub(super) fn devices() -> Vec<Device> {
    BUILTIN_NAMES.into_iter().map(builtin).collect()
}

/// The boards that a text names: what it calls each, and the devices that it is.
pub(super) fn boards(text: &str) -> Vec<(&'static str, &'static [&'static str])> {
    let mut rest = text.to_owned();
    let mut found = Vec::new();
    for (name, devices) in BOARDS {
        if rest.contains(name) {
            found.push((name, devices));
            rest = rest.replace(name, "");
        }
    }
    found
}

/// The built-in devices whose names stand in backticks.
pub(super) fn named(text: &str) -> Vec<Device> {
    let codes = text.split('`').skip(1).step_by(2);
    codes.filter(|code| BUILTIN_NAMES.contains(code)).map(builtin).collect()
}

/// The cells of the rows of all tables that have columns of these names, each row with the heading above it.
pub(super) fn rows<'p>(page: &'p str, columns: &[&str]) -> Vec<(&'p str, Vec<&'p str>)> {
    let (mut heading, mut within, mut rows) = ("", false, Vec::new());
    for line in page.lines() {
        if let Some(text) = line.strip_prefix("## ") {
            heading = text;
        }
        let cells = line.strip_prefix('|').and_then(|line| line.trim_end().strip_suffix('|'));
        let Some(cells) = cells else {
            within = false;
            continue;
        };
        let cells: Vec<&str> = cells.split('|').map(str::trim).collect();
        if within && !cells[0].starts_with("---") {
            rows.push((heading, cells));
        } else if cells == columns {
            within = true;
        }
    }
    rows
}

/// The time at the beginning of a text, and how far off it may be: by half of its last digit, of "about" by 2 %.
pub(super) fn time(text: &str) -> Option<(Duration, Duration)> {
    let text = text.trim_start();
    let (is_about, text) = match text.strip_prefix("about ").or_else(|| text.strip_prefix("above ")) {
        Some(rest) => (text.starts_with("about"), rest),
        None => (false, text),
    };
    let (number, rest) = text.split_once(' ')?;
    let unit = ["us", "ms"].into_iter().find(|unit| rest.starts_with(unit))?;
    let value = Duration::parse(&format!("{number} {unit}")).ok()?;
    let decimals = number.split_once('.').map_or(0, |(_, decimals)| u32::try_from(decimals.len()).expect("few"));
    let digit = if unit == "us" { 1_000 } else { 1_000_000 } / 10_u64.pow(decimals);
    let off = if is_about {
        value.as_ns() / 50
    } else if decimals > 0 {
        digit / 2
    } else {
        0
    };
    Some((value, Duration::from_ns(off)))
}

/// Whether a time is what a text begins with.
fn is_time(text: &str, has: Duration) -> bool {
    let (value, off) = time(text).unwrap_or_else(|| panic!("{text:?} begins with no time"));
    has.as_ns().abs_diff(value.as_ns()) <= off.as_ns()
}

/// A thing that rows say of devices: the words by which it begins, the key of device files that it is about, and
/// whether a device has it, given what comes behind these words.
pub(super) type Claim = (&'static str, &'static str, fn(&str, &Device) -> bool);

fn number(text: &str) -> u64 {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("{text:?} begins with no number"))
}

/// From one time to another, both in microseconds: `0.61 to 0.77 us`.
fn is_within(range: &str, has: Duration) -> bool {
    let (from, to) = range.trim().split_once(" to ").expect("a range");
    let limit = |text: &str| Duration::parse(&format!("{text} us")).expect("a time");
    (limit(from)..=limit(to.trim_end_matches(" us"))).contains(&has)
}

pub(super) const CLAIMS: [Claim; 16] = [
    ("slice of ", "time_slice_ns", |text, device| is_time(text, device.time_slicing.time_slice)),
    ("switch of ", "switch_cost_ns", |text, device| is_time(text, device.time_slicing.switch_cost)),
    ("kernel gap of ", "kernel_gap_ns", |text, device| is_time(text, device.kernel_gap)),
    ("channels: ", "channels", |text, device| device.channels.is_none_or(|has| u64::from(has) == number(text))),
    ("SMs ascending", "sm_order", |_, device| device.sm_order == SmOrder::Ascending),
    ("SMs descending", "sm_order", |_, device| device.sm_order == SmOrder::Descending),
    ("even SMs, then odd", "sm_order", |_, device| device.sm_order == SmOrder::EvenThenOdd),
    ("placement `most-room`", "placement", |_, device| device.placement == Placement::MostRoom),
    ("placement `gpc`", "placement", |_, device| device.placement == Placement::Gpc),
    ("share their link", "copy", |_, device| device.copy.sharing == CopySharing::SharedLink),
    ("share one runlist", "runlists", |_, device| device.time_slicing.runlists == Runlists::Shared),
    ("turns end when resident blocks end", "preemption", |_, device| {
        device.time_slicing.preemption == Preemption::BlockEnd
    }),
    ("blocks are suspended in their midst", "preemption", |_, device| {
        device.time_slicing.preemption == Preemption::MidBlock
    }),
    ("no priorities below 3.5", "priority_levels", |_, device| {
        (device.priority_levels == 1) == (device.compute_capability == "3.0")
    }),
    ("GPCs of ", "gpcs", |text, device| {
        let (one, other) = text.split_once(" and ").expect("two sizes");
        let sizes = [number(one), number(other)];
        device.gpcs.as_ref().is_some_and(|gpcs| {
            let of = |tpcs: &u32| u64::from(tpcs * device.sms_per_tpc);
            sizes.iter().all(|size| gpcs.tpcs.iter().any(|tpcs| of(tpcs) == *size))
                && gpcs.tpcs.iter().all(|tpcs| sizes.contains(&of(tpcs)))
        })
    }),
    ("latencies of PDL: ", "pdl_trigger_latency_ns", |text, device| {
        let (trigger, wait) = text.split_once(", ").expect("two ranges");
        is_within(trigger, device.pdl_trigger_latency) && is_within(wait, device.pdl_wait_latency)
    }),
];
