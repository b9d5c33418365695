//! The second half of a recording, as told by the first: simulated, and by medians.

use std::iter;
use std::ops::Range;

use serde::Serialize;

use super::{difference, recorded_device, run, signed, spans};
use crate::effort::Progress;
use crate::hosts::ProgramError;
use crate::profile::{GpuProfile, GpuProfileError, Import, ImportOptions, Learned, ProfiledKernel, Rescale, ToldBy};
use crate::scenario::ReadOptions;
use crate::statistics::{correlation, upper_median};
use crate::time::Duration;

/// How kernels that overlap others are told, and how good that is: what is learned of the first half of a recording is
/// checked on the second. Halves have as many overlapped kernels. Counted are those that ran alone and overlapped in
/// the half that is learned, without collectives, which wait for other GPUs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HeldOut {
    /// What told their durations best within the first half: learned on its first half, checked on its second. Where
    /// fewer than 4 kernels of it tell, the better of sharing and the median alone for all overlapped kernels of the
    /// recording, as neither knows how long these took. Sharing is chosen only where it is better than the others.
    pub chosen: ToldBy,
    /// How many kernels that was decided on.
    pub decided_on: usize,
    /// Whether those are of the whole recording, as the first half has too few.
    pub decided_by_all: bool,
    /// How many kernels of the second half are counted.
    pub kernels: usize,
    /// Sum of their recorded durations.
    pub recorded_ns: u64,
    /// Median of their recorded durations over what the same kernel takes alone; `None` if no kernel is counted.
    pub slow_down: Option<f64>,
    /// What each way says of them; nothing if no kernel is counted.
    pub(crate) errors: Vec<HeldOutErrors>,
}

/// What one way of telling says of the second half.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct HeldOutErrors {
    /// The way.
    pub kernel_times: ToldBy,
    /// Sum of the errors of durations.
    pub duration_error_ns: u64,
    /// Median error of starts.
    pub median_start_error_ns: u64,
    /// How much later the last of all kernels ends than recorded.
    pub makespan_error_ns: i64,
    /// Correlation of the recorded slow-downs with those that are told; `None` where all of one side are the same.
    pub slow_down_correlation: Option<f64>,
}

/// Kernels of the first half with which it is decided at least: fewer say nothing of the next.
const LEAST_KERNELS: usize = 4;

impl HeldOut {
    /// Puts before the notes of an imported profile what [`held_out`] comes to; `profile` has the block times that were
    /// taken.
    ///
    /// # Errors
    /// As [`held_out`].
    pub fn tell_first<E: From<GpuProfileError> + From<ProgramError>>(
        profile: &GpuProfile,
        import: &mut Import,
        options: &ReadOptions,
    ) -> Result<(), E> {
        if let Some(held_out) = held_out::<E>(profile, &import.options, options)? {
            import.scenario.notes.insert(0, held_out.verdict(ToldBy::Sharing));
        }
        Ok(())
    }

    /// Whether sharing explains how long kernels take that overlap others, and what is used.
    pub fn verdict(&self, used: ToldBy) -> String {
        let by = match (self.decided_on, self.decided_by_all) {
            (decided_on, false) => format!("{decided_on} kernels of the first half"),
            (1, true) => "the only one whose time alone is known".to_owned(),
            (all, true) => format!("all {all} whose time alone is known, as the first half has too few"),
        };
        let medians = if self.decided_by_all { "the median of the same kernel alone" } else { "a median" };
        let verdict = if self.chosen == ToldBy::Sharing {
            format!("sharing of SMs tells durations of overlapped kernels better than {medians}, decided by {by}")
        } else {
            format!(
                "sharing of SMs explains nothing here: {medians} tells durations of overlapped kernels no worse, decided by \
                 {by}"
            )
        };
        let asked = if used == self.chosen { "" } else { ", as asked," };
        let fixed = if used == ToldBy::Sharing {
            ""
        } else {
            ", and priorities, SM masks and what runs beside a kernel change no duration"
        };
        let worse = self.worse_than_others(used);
        let worse = if worse.is_empty() {
            String::new()
        } else {
            format!("; in the second half another way would have been closer in {}", worse.join(" and "))
        };
        format!("{verdict}; taken is{asked} {}{fixed}{worse}", used.words())
    }

    /// In what another way tells the second half better than this one: durations, starts, the makespan.
    pub fn worse_than_others(&self, used: ToldBy) -> Vec<&'static str> {
        let Some(used) = self.errors.iter().find(|errors| errors.kernel_times == used) else { return Vec::new() };
        let worse = |error: fn(&HeldOutErrors) -> u64| self.errors.iter().any(|other| error(other) < error(used));
        let compared = [
            ("durations", worse(|errors| errors.duration_error_ns)),
            ("starts", worse(|errors| errors.median_start_error_ns)),
            ("makespan", worse(|errors| errors.makespan_error_ns.unsigned_abs())),
        ];
        compared.into_iter().filter(|(_, is_worse)| *is_worse).map(|(what, _)| what).collect()
    }
}

/// Decides on the first half of a profile, or, where that has too few kernels, on all of it how kernels are told that
/// overlap others, and checks it on the second half; `None` where launches alone tell no kernel that overlapped.
/// Another profile's medians stand for what is learned.
///
/// # Errors
/// As of [`GpuProfile::import`] and [`simulate`](crate::hosts::simulate).
pub fn held_out<E: From<GpuProfileError> + From<ProgramError>>(
    profile: &GpuProfile,
    chosen: &ImportOptions,
    options: &ReadOptions,
) -> Result<Option<HeldOut>, E> {
    let (gpu, _) = profile.choose_gpu(chosen.gpu)?;
    let ran_alone = profile.ran_alone(gpu);
    let taken = profile.taken(gpu, chosen)?;
    let overlapped = taken.iter().filter(|&&index| !ran_alone[index as usize]).filter_map(|&index| {
        let operation = &profile.operations[index as usize];
        let kernel = operation.kernel().filter(|kernel| !profile.is_collective(kernel))?;
        Some((index, operation.start_ns, *kernel))
    });
    let overlapped: Vec<(u32, u64, ProfiledKernel)> = overlapped.collect();
    let start = |place: usize| overlapped.get(place).map(|&(_, start, _)| start);
    let Some((quarter, middle)) = start(overlapped.len() / 4).zip(start(overlapped.len() / 2)) else { return Ok(None) };
    // What else was asked for is about the whole, and another device was not recorded.
    let options = &ReadOptions {
        device: options.device.clone().filter(|_| profile.device(gpu).is_err()),
        placement: options.placement,
        launch_latency: options.launch_latency,
        kernel_gap: options.kernel_gap,
        block_gap: options.block_gap,
        ..ReadOptions::default()
    };
    let chosen = ImportOptions { gpu: Some(gpu), rescale: Rescale::None, ..*chosen };
    let part = |takes: Range<u64>| {
        let learned = profile.learned(gpu, takes);
        Part { profile, options, chosen, overlapped: &overlapped, learned }
    };
    let first = part(quarter..middle);
    // What medians say of durations needs no simulation.
    let sharing = first.simulated::<E>(ToldBy::Sharing)?.kernels;
    let by_median = ToldBy::ALL.into_iter().filter(|times| *times != ToldBy::Sharing);
    let by_median = by_median.map(|times| (duration_error_ns(&first.by_median(times)), times));
    // Of equals the first: sharing must be better than all medians.
    let decided = by_median.chain(iter::once((duration_error_ns(&sharing), ToldBy::Sharing)));
    let best = decided.min_by_key(|(error, _)| *error).map(|(_, best)| best).unwrap_or_default();
    let decided_by_all = sharing.len() < LEAST_KERNELS;
    let (best, decided_on) = if decided_by_all {
        match first.decided_by_all::<E>()? {
            (_, 0) => return Ok(None),
            decided => decided,
        }
    } else {
        (best, sharing.len())
    };
    let second = part(middle..u64::MAX);
    let mut told = Vec::new();
    for times in ToldBy::ALL {
        told.push((times, second.simulated::<E>(times)?));
    }
    let counted = told.first().map_or(&[][..], |(_, told)| &told.kernels);
    let slow_downs: Vec<f64> = counted.iter().map(|kernel| kernel.slow_down(kernel.recorded_ns)).collect();
    let slow_down = {
        let mut sorted = slow_downs.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        upper_median(&sorted)
    };
    let (kernels, recorded_ns) = (counted.len(), counted.iter().map(|kernel| kernel.recorded_ns).sum());
    told.retain(|(_, told)| !told.kernels.is_empty());
    let errors = told.iter().map(|(times, told)| {
        let mut starts: Vec<u64> = told.kernels.iter().map(|kernel| kernel.start_error.as_ns()).collect();
        starts.sort_unstable();
        let told_slow_downs: Vec<f64> = told.kernels.iter().map(|kernel| kernel.slow_down(kernel.told_ns)).collect();
        HeldOutErrors {
            kernel_times: *times,
            duration_error_ns: duration_error_ns(&told.kernels),
            median_start_error_ns: upper_median(&starts).unwrap_or(0),
            makespan_error_ns: told.makespan_error_ns,
            slow_down_correlation: correlation(&slow_downs, &told_slow_downs),
        }
    });
    Ok(Some(HeldOut {
        chosen: best,
        decided_on,
        decided_by_all,
        kernels,
        recorded_ns,
        slow_down,
        errors: errors.collect(),
    }))
}

/// A part of a profile, and what was learned of an earlier one.
struct Part<'a> {
    profile: &'a GpuProfile,
    options: &'a ReadOptions,
    chosen: ImportOptions,
    /// All kernels that overlap others and are no collectives, with their starts.
    overlapped: &'a [(u32, u64, ProfiledKernel)],
    learned: Learned,
}

/// What a way says of a part.
struct Told {
    kernels: Vec<ToldKernel>,
    makespan_error_ns: i64,
}

#[derive(Debug, Clone, Copy)]
struct ToldKernel {
    recorded_ns: u64,
    told_ns: u64,
    /// What it takes alone, as learned.
    alone_ns: u64,
    start_error: Duration,
}

impl ToldKernel {
    fn slow_down(&self, duration_ns: u64) -> f64 {
        duration_ns as f64 / self.alone_ns.max(1) as f64
    }
}

fn duration_error_ns(kernels: &[ToldKernel]) -> u64 {
    kernels.iter().map(|kernel| kernel.told_ns.abs_diff(kernel.recorded_ns)).sum()
}

impl Part<'_> {
    /// The kernels that count, with what they take alone.
    fn counted(&self) -> impl Iterator<Item = (u32, &ProfiledKernel, u64)> {
        let inside = self.overlapped.iter().filter(|(_, start, _)| self.learned.takes.contains(start));
        inside.filter_map(|(index, _, kernel)| {
            self.learned.medians.overlapped_ns(&kernel.key())?;
            Some((*index, kernel, self.learned.medians.alone_ns(&kernel.key())?))
        })
    }

    /// Durations by medians alone.
    fn by_median(&self, times: ToldBy) -> Vec<ToldKernel> {
        let told = self.counted().filter_map(|(index, kernel, alone_ns)| {
            let told_ns = self.learned.medians.duration_ns(&kernel.key(), false, times)?;
            let recorded_ns = self.profile.operations[index as usize].duration_ns;
            Some(ToldKernel { recorded_ns, told_ns, alone_ns, start_error: Duration::ZERO })
        });
        told.collect()
    }

    /// Whether sharing tells all overlapped kernels of the recording better than the median alone, and how many that is
    /// decided on: those of which launches tell that ran alone.
    fn decided_by_all<E: From<GpuProfileError> + From<ProgramError>>(&self) -> Result<(ToldBy, usize), E> {
        let gpu = self.chosen.gpu.unwrap_or_default();
        let simulated = |times: ToldBy| -> Result<Vec<ToldKernel>, E> {
            let chosen = ImportOptions { kernel_times: times, ..self.chosen };
            let import = self.profile.import_learned(&chosen, self.options, None)?;
            let device = recorded_device(self.profile, &import);
            let known = self.profile.block_times(gpu, &device, &import.options);
            let predicted = self.overlapped.iter().filter(|(index, ..)| {
                known.get(*index as usize).copied().flatten().is_some_and(|time| time.source.is_of_other_launches())
            });
            let mut predicted = predicted.peekable();
            if predicted.peek().is_none() {
                return Ok(Vec::new());
            }
            let spans = spans(&import, &run(&import.scenario, times, Progress::NONE)?.trace);
            let told = predicted.filter_map(|(index, ..)| {
                let &(_, told_ns) = spans.get(index)?;
                let recorded_ns = self.profile.operations[*index as usize].duration_ns;
                Some(ToldKernel { recorded_ns, told_ns, alone_ns: 0, start_error: Duration::ZERO })
            });
            Ok(told.collect())
        };
        let (sharing, alone) = (simulated(ToldBy::Sharing)?, simulated(ToldBy::AloneMedian)?);
        let is_better = duration_error_ns(&sharing) < duration_error_ns(&alone);
        Ok((if is_better { ToldBy::Sharing } else { ToldBy::AloneMedian }, sharing.len()))
    }

    fn simulated<E: From<GpuProfileError> + From<ProgramError>>(&self, times: ToldBy) -> Result<Told, E> {
        let chosen = ImportOptions { kernel_times: times, ..self.chosen };
        let import = self.profile.import_learned(&chosen, self.options, Some(&self.learned))?;
        let spans = spans(&import, &run(&import.scenario, times, Progress::NONE)?.trace);
        let recorded_end =
            |index: &u32| self.profile.operations[*index as usize].end_ns().saturating_sub(import.base_ns);
        let recorded = spans.keys().map(recorded_end).max().unwrap_or(0);
        let simulated = spans.values().map(|(start, duration)| start + duration).max().unwrap_or(0);
        let kernels = self.counted().filter_map(|(index, _, alone_ns)| {
            let &(start_ns, told_ns) = spans.get(&index)?;
            let operation = &self.profile.operations[index as usize];
            let recorded_start = signed(operation.start_ns).saturating_sub(signed(import.base_ns));
            let start_error = Duration::from_ns(difference(start_ns, recorded_start).unsigned_abs());
            Some(ToldKernel { recorded_ns: operation.duration_ns, told_ns, alone_ns, start_error })
        });
        Ok(Told { kernels: kernels.collect(), makespan_error_ns: difference(simulated, signed(recorded)) })
    }
}
