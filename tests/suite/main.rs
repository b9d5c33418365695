//! Integration tests: one binary, one module per behaviour.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that fails is meant to panic")]

mod all_keys;
mod amalthea;
mod analysis;
mod analysis_commands;
mod analysis_inputs;
mod architecture;
mod audit_oracle;
mod bad_input;
mod channels;
mod command_line;
mod documentation;
mod engine_properties;
mod evr;
mod evr_figures;
mod extreme_devices;
mod figure;
mod figure_command;
mod figure_properties;
mod figures;
mod generate;
mod host_audit;
mod html_browser;
mod html_data;
mod jobs;
mod measured_logs;
mod native;
mod perfetto;
mod picture;
mod placement;
mod published;
mod recount;
mod reference;
mod reproduction;
mod rtss_2017;
mod rules;
mod schema;
mod state;
mod study;
mod tasks;
mod trace_state;
mod warps;
mod warps_command;
mod warps_figures;
mod warps_ilp;
