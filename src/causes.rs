//! Errors as they are told.

use std::error::Error;

/// An error and what caused it, as the command prints both behind `error: `.
pub fn with_causes(error: &dyn Error) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        text += ": ";
        text += &error.to_string();
        cause = error.source();
    }
    text
}
