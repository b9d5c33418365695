//! `--jobs`: how many threads share the work.

use std::sync::{Mutex, PoisonError};

use clap::Args;

/// How many threads share the work.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct Jobs {
    /// Threads to use; the result is the same for any number [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

impl Jobs {
    /// How many threads that is.
    pub(crate) fn threads(self) -> usize {
        let one_per_core = || std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or_else(one_per_core, usize::from)
    }

    /// Lets that many threads share what is shared from now on. Whoever shares it waits for them, and goes on by itself
    /// where nothing is shared: other threads would take memory of their own for that.
    pub(crate) fn share(self) -> anyhow::Result<()> {
        static SHARED: Mutex<bool> = Mutex::new(false);
        let mut is_shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if !*is_shared {
            // 0 is rayon's word for one per core.
            let threads = self.jobs.map_or(0, usize::from);
            rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
            *is_shared = true;
        }
        Ok(())
    }
}
