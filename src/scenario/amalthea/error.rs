//! What is wrong with a model, and where.

use std::fmt;

use crate::json::{ShownPlace, place, write_excerpt};

/// Something that is not as it should be, at an offset \[bytes\] of the text, if it is in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) offset: Option<usize>,
    pub(super) what: String,
    pub(super) help: Option<String>,
}

impl Problem {
    /// Something wrong at `offset`.
    pub(super) fn at(offset: usize, what: impl Into<String>) -> Self {
        Self { offset: Some(offset), what: what.into(), help: None }
    }

    /// Something wrong with the model as a whole, or with what was asked of it.
    pub(super) fn general(what: impl Into<String>) -> Self {
        Self { offset: None, what: what.into(), help: None }
    }

    /// Adds advice.
    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// An error in an AMALTHEA model, or in what was asked of it, that its user can act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmaltheaError {
    /// The file's name, as the user gave it.
    pub file: String,
    /// Line and column \[characters\], from 1, with that line; `None` if no single place is to blame.
    pub place: Option<ShownPlace>,
    /// What was found and what was expected.
    pub what: String,
    /// How to mend it, where that is known.
    pub help: Option<String>,
}

impl AmaltheaError {
    pub(super) fn new(file: &str, text: &str, problem: Problem) -> Self {
        Self {
            file: file.to_owned(),
            place: problem.offset.map(|offset| place(text, offset)),
            what: problem.what,
            help: problem.help,
        }
    }
}

impl fmt::Display for AmaltheaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(place) = &self.place {
            write!(f, ":{}:{}", place.line, place.column)?;
        }
        write!(f, ": {}", self.what)?;
        if let Some(place) = &self.place {
            write_excerpt(f, &place.excerpt, place.excerpt_column)?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AmaltheaError {}
