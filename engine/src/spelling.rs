//! How messages call options and formats: by their keys, as studies, Python and the page take them, or as flags of the
//! command, which asks for that when it begins.

use std::cell::Cell;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// By what messages call an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// Its key: `"kernel_gap"`.
    Key,
    /// Its flag: `--kernel-gap`.
    Flag,
}

/// Whether the program's messages call options by their flags.
static ARE_FLAGS: AtomicBool = AtomicBool::new(false);

thread_local! {
    /// How options of what is worked at on this thread are called, if otherwise than in the rest of the program.
    static OF_WORK: Cell<Option<Spelling>> = const { Cell::new(None) };
}

/// From now on, messages of this program call options by the flags of the command.
pub fn use_flags() {
    ARE_FLAGS.store(true, Ordering::Relaxed);
}

/// Lets messages of `work` call options in a way of their own, as where they stand in a file.
pub fn within<T>(spelling: Spelling, work: impl FnOnce() -> T) -> T {
    struct Before(Option<Spelling>);
    impl Drop for Before {
        fn drop(&mut self) {
            OF_WORK.set(self.0);
        }
    }
    // Put back also where the work is unwound.
    let _before = Before(OF_WORK.replace(Some(spelling)));
    work()
}

fn are_flags() -> bool {
    OF_WORK.get().map_or_else(|| ARE_FLAGS.load(Ordering::Relaxed), |spelling| spelling == Spelling::Flag)
}

/// An option, as whoever reads a message calls it: `--horizon 10s`, or `"horizon": "10s"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct CalledOption<'a> {
    key: &'a str,
    name: Option<&'a str>,
    value: Option<&'a str>,
}

/// The option of a key.
pub const fn option(key: &str) -> CalledOption<'_> {
    CalledOption { key, name: None, value: None }
}

impl<'a> CalledOption<'a> {
    /// With a value.
    pub const fn with(self, value: &'a str) -> Self {
        Self { value: Some(value), ..self }
    }

    /// With the value of a stream, kernel or runnable.
    pub const fn of(self, name: &'a str, value: &'a str) -> Self {
        Self { name: Some(name), value: Some(value), ..self }
    }
}

impl fmt::Display for CalledOption<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, name, value } = self;
        if are_flags() {
            write!(f, "--{}", key.replace('_', "-"))?;
            return match (name, value) {
                (Some(name), Some(value)) => write!(f, " {name}={value}"),
                (None, Some(value)) => write!(f, " {value}"),
                _ => Ok(()),
            };
        }
        match (name, value) {
            (Some(name), Some(value)) => write!(f, "{key:?}: {{{name:?}: {value:?}}}"),
            (None, Some(value)) => write!(f, "{key:?}: {value:?}"),
            _ => write!(f, "{key:?}"),
        }
    }
}

const FORMAT: &str = "format";

/// Formats in which everything is told, as whoever reads a message calls them: `--format json or --format csv`, or
/// `JSON or CSV`.
pub fn formats(names: &[&str]) -> String {
    let called = |name: &&str| {
        if are_flags() { option(FORMAT).with(name).to_string() } else { name.to_uppercase() }
    };
    names.iter().map(called).collect::<Vec<_>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_called_by_their_keys_unless_there_are_flags() {
        assert_eq!(option("kernel_gap").to_string(), "\"kernel_gap\"");
        assert_eq!(option("horizon").with("10s").to_string(), "\"horizon\": \"10s\"");
        assert_eq!(option("period").of("a \"b\"", "1ms").to_string(), "\"period\": {\"a \\\"b\\\"\": \"1ms\"}");
        assert_eq!(formats(&["json", "csv"]), "JSON or CSV");
        let told =
            || [option("kernel_gap").to_string(), option("period").of("a", "1ms").to_string(), formats(&["json"])];
        let (flags, keys) = within(Spelling::Flag, || (told(), within(Spelling::Key, told)));
        assert_eq!(flags, ["--kernel-gap", "--period a=1ms", "--format json"]);
        assert_eq!(keys, told());
        assert_eq!(option("kernel_gap").to_string(), "\"kernel_gap\"");
    }
}
