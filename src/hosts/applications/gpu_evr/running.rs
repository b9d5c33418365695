//! What the managers know of one application.

use super::sm_set::SmSet;
use crate::applications::{Class, ExecutionProfile};
use crate::time::Instant;

/// How far an application has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nothing has been done for it yet.
    Submitted,
    /// Its input is being copied.
    CopyIn,
    /// A kernel runs, or is about to.
    Kernel {
        /// Which, from 0.
        kernel: usize,
        /// Which of its launches, from 0.
        launch: u32,
        /// Blocks of this launch that were given to the hardware.
        submitted: u32,
        /// Blocks of this launch that have completed, N'.
        completed: u32,
    },
    /// All kernels have completed.
    KernelsDone,
}

/// An application that waits for the GPU or has SMs.
#[derive(Debug, Clone)]
pub(crate) struct RunningApp<'a> {
    /// Number of its injection.
    pub number: u32,
    /// Its class.
    pub class: Class,
    /// `T_resp` (Equation 3).
    pub due: Instant,
    /// Its profile.
    pub profile: &'a ExecutionProfile,
    /// How far it has come.
    pub progress: Stage,
    /// SMs that the GPU manager has allotted to it, `P_i`.
    pub allotted: u32,
    /// SMs lent to it beyond those.
    pub lent: u32,
    /// SMs that belong to it now. More than it should have until its blocks there complete, or fewer until another
    /// application's do.
    pub owned: SmSet,
    /// Those of `owned` on which nothing runs.
    pub idle: SmSet,
}

impl<'a> RunningApp<'a> {
    /// An application that has just arrived.
    pub(crate) fn new(number: u32, class: Class, due: Instant, profile: &'a ExecutionProfile) -> Self {
        Self {
            number,
            class,
            due,
            profile,
            progress: Stage::Submitted,
            allotted: 0,
            lent: 0,
            owned: SmSet::EMPTY,
            idle: SmSet::EMPTY,
        }
    }

    /// SMs that it should have.
    pub(crate) fn target(&self) -> u32 {
        self.allotted + self.lent
    }

    /// Whether any of its blocks was given to the hardware, after which it may not be suspended.
    pub(crate) fn has_started(&self) -> bool {
        match self.progress {
            Stage::Submitted | Stage::CopyIn => false,
            Stage::Kernel { kernel, launch, submitted, .. } => (kernel, launch, submitted) != (0, 0, 0),
            Stage::KernelsDone => true,
        }
    }

    /// Its first kernel may start.
    pub(super) fn begin_kernels(&mut self) {
        self.progress = Stage::Kernel { kernel: 0, launch: 0, submitted: 0, completed: 0 };
    }

    /// `blocks` more blocks were given to the hardware.
    pub(super) fn count_submitted(&mut self, blocks: u32) {
        if let Stage::Kernel { submitted, .. } = &mut self.progress {
            *submitted += blocks;
        }
    }

    /// `blocks` more blocks have completed; when they are the last of a launch, the next launch or kernel may start.
    pub(super) fn count_completed(&mut self, blocks: u32) {
        let Stage::Kernel { kernel, launch, completed, .. } = &mut self.progress else { return };
        *completed += blocks;
        if *completed < self.profile.blocks(*kernel) {
            return;
        }
        let next = if launch.saturating_add(1) < self.profile.launches(*kernel) {
            (*kernel, *launch + 1)
        } else {
            (*kernel + 1, 0)
        };
        self.progress = if next.0 < self.profile.kernels() {
            Stage::Kernel { kernel: next.0, launch: next.1, submitted: 0, completed: 0 }
        } else {
            Stage::KernelsDone
        };
    }
}
