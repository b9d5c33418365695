//! What a command may use: memory, time and work (`--max-memory`, `--max-time`, `--limits`), and threads (`--jobs`).

use std::sync::{Mutex, PoisonError};

use clap::{Args, ValueEnum};
use gpusched::effort;
use gpusched::limits::Memory;
use gpusched::time::Duration;

use super::ending;

/// How far a command may go.
#[derive(Debug, Args)]
pub(crate) struct Limits {
    /// Stop the command once it holds more memory than this, for example 500M or 8G [default: three quarters of what
    /// this machine has free when the command begins]
    #[arg(long, global = true, help_heading = "Limits", value_name = "SIZE", value_parser = parse_size)]
    max_memory: Option<u64>,
    /// Stop the command after this time, for example 60s, and tell what is complete by then; exit status 3
    #[arg(long, global = true, help_heading = "Limits", value_name = "TIME", value_parser = Duration::parse)]
    max_time: Option<Duration>,
    /// How much work each input may ask for
    #[arg(
        id = "limits",
        long = "limits",
        global = true,
        help_heading = "Limits",
        value_name = "HOW",
        default_value_t,
        value_enum
    )]
    work: Work,
}

/// Processor time of each input at which a command ends within strict limits, whatever was counted.
const STRICT_TIME: Duration = Duration::from_ns(10_000_000_000);
/// The same of memory \[bytes\].
const STRICT_MEMORY: u64 = 1_000_000_000;

/// How much work each input may ask for.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
enum Work {
    /// As much as it likes
    #[default]
    None,
    /// For files of others: what takes at most 10 s and 1 GB on a slow machine, counted in operations, blocks, states
    /// and bytes, so that the same is refused everywhere; exit status 3
    Strict,
}

fn parse_size(text: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let units = [("K", 10), ("M", 20), ("G", 30)];
    let unit = units.iter().find_map(|(unit, shift)| Some((trimmed.strip_suffix(unit)?, *shift)));
    let (number, shift) = unit.unwrap_or((trimmed, 0));
    let bytes = number.trim_end().parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
    bytes
        .filter(|&bytes| bytes > 0)
        .ok_or_else(|| "expected bytes, or a whole number with K, M or G, for example 500M".to_owned())
}

impl Limits {
    /// Watches over the command from now on.
    pub(crate) fn watch(&self) -> anyhow::Result<()> {
        let memory = self.max_memory.or_else(|| Memory::now().map(|memory| memory.free.min(memory.addresses) / 4 * 3));
        match self.work {
            Work::None => ending::watch(self.max_time, memory, (effort::Limits::NONE, None)),
            Work::Strict => {
                let memory = Some(memory.map_or(STRICT_MEMORY, |memory| memory.min(STRICT_MEMORY)));
                ending::watch(self.max_time, memory, (effort::Limits::STRICT, Some(STRICT_TIME)))
            }
        }
    }
}

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

/// The largest piece by which glibc learns, with room for what it notes of it \[bytes\].
const LARGEST: usize = (32 << 20) - (64 << 10);

/// Lets glibc keep pieces of memory that are given back, for the next that are wanted.
///
/// It gives each large one back to the system, which clears it anew, page by page, when it is wanted again; but no
/// longer pieces up to the size of one that it has seen given back. So it sees a very large one, which nothing is
/// written to. A run of 20,000 kernels of 8 blocks takes 7 % less processor time then. Other allocators do not mind.
pub(crate) fn keep_what_is_freed() {
    let mut piece: Vec<u8> = Vec::new();
    // Without the memory there is nothing to learn.
    if piece.try_reserve_exact(LARGEST).is_ok() {
        std::hint::black_box(&mut piece);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_and_the_page_on_security_promise_what_strict_limits_end_at() {
        let seconds = format!("at most {} s", STRICT_TIME.as_ns() / 1_000_000_000);
        let strict = Work::Strict.to_possible_value().expect("it is not skipped");
        let help = strict.get_help().expect("it has one").to_string();
        assert!(help.contains(&format!("{seconds} and {} GB", STRICT_MEMORY / 1_000_000_000)), "{help}");
        let page = include_str!("../../SECURITY.md");
        let promise = format!("{seconds} of processor time and {} GB of memory", STRICT_MEMORY / 1_000_000_000);
        assert!(page.contains(&promise), "{promise}");
    }

    #[test]
    fn sizes_are_bytes_or_have_a_unit() {
        let sizes = ["1", "4K", "500M", "8G", " 2 G "].map(parse_size);
        assert_eq!(sizes, [1, 4 << 10, 500 << 20, 8 << 30, 2 << 30].map(Ok));
        for wrong in ["", "0", "G", "1.5G", "-1", "1T", "17179869184G"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
