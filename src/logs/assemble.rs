//! From what stands in the file to a log: defects are kept out.

use std::sync::Arc;

use super::clock::LogTime;
use super::defect::{Defect, Dropped};
use super::log::{BlockList, Iteration, Log, LoggedKernel};
use super::number::{NO_SM, NO_TIME};
use super::visit::{Draft, Entry};
use crate::proven::OrMost;

/// What a file held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogReading {
    /// The log; `None` if the file is none: it has no list `times`.
    pub log: Option<Log>,
    /// What was left out.
    pub dropped: Vec<Dropped>,
}

/// Makes a log of a draft.
pub(super) fn assemble(file: &str, draft: Draft) -> LogReading {
    let Some(entries) = draft.entries else { return LogReading { log: None, dropped: Vec::new() } };
    let text = |text: Option<String>| text.map_or_else(|| Arc::from(""), Arc::from);
    let mut log = Log {
        file: file.into(),
        scenario_name: text(draft.scenario_name),
        benchmark_name: text(draft.benchmark_name),
        label: draft.label.map(Arc::from),
        max_resident_threads: draft.max_resident_threads.and_then(|threads| u32::try_from(threads).ok()),
        pid: draft.pid,
        tid: draft.tid,
        mps_sms: draft.mps_sms.and_then(|sms| u32::try_from(sms).ok()),
        ..Log::default()
    };
    let mut dropped = Vec::new();
    if entries.first().is_some_and(|first| first.filled) {
        dropped.push(Dropped { file: file.to_owned(), kernel: None, defect: Defect::NoEmptyFirstObject });
    }
    if let Some(operations) = draft.left_out_at_horizon.filter(|&operations| operations > 0) {
        log.incomplete = true;
        dropped.push(Dropped { file: file.to_owned(), kernel: None, defect: Defect::LeftOutAtHorizon { operations } });
    }
    let mut position = 0;
    for entry in entries {
        if let Some([start_ns, end_ns]) = entry.execute_ns.filter(|_| !entry.is_kernel) {
            log.iterations.push(Iteration { start_ns, end_ns });
        }
        if !entry.is_kernel {
            continue;
        }
        let title = format!("kernel {position} ({})", entry.name.as_deref().unwrap_or("without a name"));
        position += 1;
        let mut drop = |defect| dropped.push(Dropped { file: file.to_owned(), kernel: Some(title.clone()), defect });
        let iteration = u32::try_from(log.iterations.len().saturating_sub(1)).or_most();
        let (kernel, sound) = kernel(entry, iteration, &mut drop);
        log.incomplete |= !sound;
        log.kernels.extend(kernel);
    }
    if position == 0 && log.iterations.is_empty() {
        log.incomplete = true;
        dropped.push(Dropped { file: file.to_owned(), kernel: None, defect: Defect::NothingLogged });
    }
    LogReading { log: Some(log), dropped }
}

/// A kernel, if it can be used, and whether nothing of it is missing.
fn kernel(mut entry: Entry, iteration: u32, drop: &mut impl FnMut(Defect)) -> (Option<LoggedKernel>, bool) {
    let blocks = entry.times.len();
    let launch = (entry.launch_ns.first().copied(), entry.launch_ns.get(1).copied());
    let usable = |time: Option<LogTime>| time.filter(|&time| time != NO_TIME);
    let (Some(threads), Some(launch_start_ns), Some(launch_return_ns)) =
        (entry.threads.and_then(|threads| u32::try_from(threads).ok()), usable(launch.0), usable(launch.1))
    else {
        let key = if entry.threads.is_none() { "thread_count" } else { "cuda_launch_times" };
        drop(Defect::MissingKey { key, blocks });
        return (None, false);
    };
    if entry.times.is_empty() || entry.sms.is_empty() {
        let key = if entry.times.is_empty() { "block_times" } else { "block_smids" };
        drop(Defect::MissingKey { key, blocks: entry.times.len().max(entry.sms.len()) });
        return (None, false);
    }
    let mut sound = true;
    if entry.time_count != 2 * entry.sms.len() {
        sound = false;
        drop(Defect::UnequalLists { times: entry.time_count, sms: entry.sms.len() });
        let both = (entry.time_count / 2).min(entry.sms.len());
        entry.times.truncate(both);
        entry.sms.truncate(both);
    }
    let listed = entry.times.len();
    let stated = entry.block_count.unwrap_or(listed as u64);
    if entry.block_count.is_none() {
        drop(Defect::MissingKey { key: "block_count", blocks: 0 });
    } else if stated != listed as u64 && sound {
        drop(Defect::BlockCount { stated, listed });
    }
    sound &= stated == listed as u64;
    let blocks = without_defects(entry.times, entry.sms);
    if blocks.len() < listed {
        sound = false;
        drop(Defect::NotANumber { blocks: listed - blocks.len() });
    }
    if blocks.is_empty() {
        return (None, false);
    }
    let kernel = LoggedKernel {
        name: entry.name.map_or_else(|| Arc::from("kernel"), Arc::from),
        iteration,
        // Blocks are counted with 32 bits; that more are stated than listed has been said.
        block_count: u32::try_from(stated).or_most(),
        threads,
        shared_memory_bytes: entry.shared_memory_bytes.and_then(|bytes| u32::try_from(bytes).ok()).unwrap_or(0),
        registers_per_thread: 0,
        launch_start_ns,
        launch_return_ns,
        synchronized_ns: usable(entry.launch_ns.get(2).copied()).filter(|&time| time != LogTime::from_ns(0)),
        blocks: Arc::new(blocks),
    };
    (Some(kernel), sound)
}

fn without_defects(mut times: Vec<[LogTime; 2]>, mut sms: Vec<u32>) -> BlockList {
    let usable = |time: &[LogTime; 2], sm: u32| !time.contains(&NO_TIME) && sm != NO_SM;
    if !times.iter().zip(&sms).all(|(time, &sm)| usable(time, sm)) {
        (times, sms) = times.into_iter().zip(sms).filter(|(time, sm)| usable(time, *sm)).unzip();
    }
    times.shrink_to_fit();
    sms.shrink_to_fit();
    BlockList { times, sms }
}
