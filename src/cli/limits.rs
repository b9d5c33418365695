//! How far a command may go: the options.

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
