//! `--jobs`: how many threads share the work.

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

    /// A pool of that many threads.
    pub(crate) fn pool(self) -> anyhow::Result<rayon::ThreadPool> {
        // 0 is rayon's word for one per core.
        let threads = self.jobs.map_or(0, usize::from);
        Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?)
    }
}
