//! Integration tests: one binary, one module per behaviour.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that fails is meant to panic")]

mod bad_input;
mod channels;
mod command_line;
mod documentation;
mod engine_properties;
mod evr;
mod evr_figures;
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
