//! Integration tests: one binary, one module per behaviour.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that fails is meant to panic")]

mod bad_input;
mod channels;
mod command_line;
mod documentation;
mod engine_properties;
mod generate;
mod native;
mod placement;
mod published;
mod recount;
mod reference;
mod rtss_2017;
mod rules;
mod schema;
mod state;
mod warps;
mod warps_command;
mod warps_figures;
mod warps_ilp;
