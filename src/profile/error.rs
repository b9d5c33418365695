//! Why a profile cannot be used.

use thiserror::Error;

/// Why a profile cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}: {what}{}", help.as_ref().map_or_else(String::new, |help| format!(" ({help})")))]
pub struct GpuProfileError {
    /// The file's name.
    pub file: String,
    /// What is wrong, with the position where there is one.
    pub what: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl GpuProfileError {
    pub(crate) fn new(file: &str, what: impl Into<String>) -> Self {
        Self { file: file.to_owned(), what: what.into(), help: None }
    }

    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}
