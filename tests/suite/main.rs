//! Integration tests: one binary, one module per behaviour.

#![allow(clippy::expect_used, reason = "a test that fails is meant to panic")]

mod command_line;
mod rules;
