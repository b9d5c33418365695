//! What a timeline shows and how large it is, and why one is refused.

use std::ops::{Range, RangeInclusive};

use thiserror::Error;

use crate::device::Device;
use crate::draw::{COLUMN_WIDTH, Length, MM, PAGE_HEIGHT};
use crate::pictures::timeline_model::HeightBy;
use crate::scenario::Scenario;
use crate::time::{Duration, Instant};
use crate::words::did_you_mean;

const LEAST_WIDTH: Length = 50 * MM;
const MOST_WIDTH: Length = 2_000 * MM;
/// Up to so many SMs are always drawn one by one.
const ALWAYS_UNFOLDED: usize = 8;

/// What the lanes are in which boxes stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lanes {
    /// SMs with their blocks, and copy engines with their copies.
    #[default]
    Sms,
    /// Streams with their kernels and copies: all that is known of a run whose blocks nobody recorded.
    Streams,
}

/// What a timeline shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimelineOptions {
    /// Width of the paper.
    pub width: Length,
    /// What the height of blocks stands for.
    pub height_by: HeightBy,
    /// Height of the paper at most: SMs are folded and lists are cut, with counts, until the figure fits. What misses a
    /// deadline is never among what is cut.
    pub height_limit: Length,
    /// What the lanes are.
    pub lanes: Lanes,
    /// The SMs to show, in this order, each on its own; `None`: all, those that look alike together if they are many.
    pub sms: Option<Vec<RangeInclusive<u32>>>,
    /// The instant from which the axis counts, and `from` and `to` with it.
    pub origin: Instant,
    /// Beginning of the time window; `None`: t = 0, or the origin if nothing happens before it.
    pub from: Option<Duration>,
    /// End of the time window; `None`: the end of the run.
    pub to: Option<Duration>,
    /// The time window, whatever the two before it say.
    pub window: Option<Range<Instant>>,
    /// Titles of the kernels to show in colour, the others being pale and without labels; `None`: all.
    pub only: Option<Vec<String>>,
    /// Whether EE queues and CE queues are shown over time.
    pub queues: bool,
    /// Whether the waits of operations in their streams are shown, each from its launch to its start.
    pub waits: bool,
    /// How many times enlarged the bands of SMs may be where no more than a quarter of any SM is ever in use: 4, 8 and
    /// so on; 1: they are always as high as all that an SM has.
    pub most_zoom: u32,
    /// Whether the share of resources in use is shown over time.
    pub occupancy: bool,
    /// Whether the scenario's name stands above the figure.
    pub title: bool,
    /// Where the plot begins from the left, at least; so that two timelines can share an axis.
    pub least_left: Length,
    /// Entries and titles of kernels that the legend leaves out, because another one above has or counts them.
    pub known_entries: Vec<String>,
    /// Boxes of blocks above which they are merged into one shape for each kernel and SM.
    pub most_boxes: u64,
}

impl Default for TimelineOptions {
    fn default() -> Self {
        Self {
            width: COLUMN_WIDTH,
            height_by: HeightBy::Threads,
            height_limit: PAGE_HEIGHT,
            lanes: Lanes::Sms,
            sms: None,
            origin: Instant::ZERO,
            from: None,
            to: None,
            window: None,
            only: None,
            queues: false,
            waits: false,
            most_zoom: u32::MAX,
            occupancy: false,
            title: true,
            least_left: 0,
            known_entries: Vec::new(),
            most_boxes: 20_000,
        }
    }
}

impl TimelineOptions {
    /// Checks what can be checked before the scenario is simulated.
    ///
    /// # Errors
    /// [`TimelineError::Width`], [`TimelineError::NoSuchSm`], [`TimelineError::NoSuchKernel`] or
    /// [`TimelineError::Window`].
    pub fn check(&self, scenario: &Scenario) -> Result<(), TimelineError> {
        if !(LEAST_WIDTH..=MOST_WIDTH).contains(&self.width) {
            return Err(TimelineError::Width {
                asked_mm: format!("{}.{:02}", self.width / MM, self.width.rem_euclid(MM)),
                least_mm: LEAST_WIDTH / MM,
                most_mm: MOST_WIDTH / MM,
            });
        }
        let sms = scenario.device().sms;
        let last = self.sms.iter().flatten().map(|range| *range.end()).max();
        if let Some(sm) = last.filter(|&last| last >= sms) {
            return Err(TimelineError::NoSuchSm { sm, sms });
        }
        for title in self.only.iter().flatten() {
            if !scenario.kernels().iter().any(|kernel| *kernel.title == **title) {
                let mut known: Vec<&str> = scenario.kernels().iter().map(|kernel| &*kernel.title).collect();
                known.dedup();
                let near = did_you_mean(title, known.iter().copied());
                known.truncate(20);
                return Err(TimelineError::NoSuchKernel { title: title.clone(), near, known: known.join(", ") });
            }
        }
        match (self.from.unwrap_or_default(), self.to) {
            (from, Some(to)) if to <= from => Err(TimelineError::Window { from, to }),
            _ => Ok(()),
        }
    }

    /// Whether SMs that look alike are drawn as one.
    pub(super) fn folds(&self, device: &Device) -> bool {
        self.sms.is_none() && device.sms as usize > ALWAYS_UNFOLDED
    }

    pub(super) fn shown_sms(&self, device: &Device) -> Vec<u32> {
        let Some(ranges) = &self.sms else { return (0..device.sms).collect() };
        let mut sms = Vec::new();
        for sm in ranges.iter().cloned().flatten().filter(|&sm| sm < device.sms) {
            if !sms.contains(&sm) {
                sms.push(sm);
            }
        }
        sms
    }
}

/// A timeline that cannot be laid out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TimelineError {
    /// An end before the beginning, or no time in between.
    #[error("the figure's time window ends at {to}, which is not after its beginning, {from}")]
    Window {
        /// Where it begins.
        from: Duration,
        /// Where it ends.
        to: Duration,
    },
    /// An SM that the device lacks.
    #[error("the figure shows SM {sm}, and this device has SMs 0 to {}", sms - 1)]
    NoSuchSm {
        /// The SM.
        sm: u32,
        /// How many there are.
        sms: u32,
    },
    /// A kernel that the scenario lacks.
    #[error("the figure shows only some kernels, and no kernel is called {title:?}{near}; there are {known}")]
    NoSuchKernel {
        /// What was asked for.
        title: String,
        /// Which of those that there are may be meant.
        near: String,
        /// Those that there are.
        known: String,
    },
    /// Too low for what must be in it, when everything else is left out.
    #[error("the figure may be {asked_mm} mm high; with all that can be left out it needs {least_mm} mm")]
    HeightLimit {
        /// What was asked for.
        asked_mm: String,
        /// What is needed.
        least_mm: i64,
    },
    /// Too narrow for anything but margins.
    #[error("the figure is {asked_mm} mm wide; it needs from {least_mm} to {most_mm} mm")]
    Width {
        /// What was asked for.
        asked_mm: String,
        /// What is needed.
        least_mm: i64,
        /// What is allowed.
        most_mm: i64,
    },
}

impl TimelineError {
    /// What is refused if `height` is more than the limit.
    pub(super) fn check_height(height: Length, limit: Length) -> Result<(), Self> {
        if height <= limit {
            return Ok(());
        }
        let asked_mm = format!("{}.{:02}", limit / MM, limit.rem_euclid(MM));
        Err(Self::HeightLimit { asked_mm, least_mm: (height + MM - 1) / MM })
    }
}
