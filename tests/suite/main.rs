//! Integration tests: one binary, one module per behaviour.

#![allow(clippy::expect_used, clippy::panic, reason = "a test that fails is meant to panic")]

mod advice;
mod agreement;
mod all_keys;
mod amalthea;
mod analysis;
mod analysis_commands;
mod analysis_inputs;
mod architecture;
mod arrow;
mod audit_oracle;
mod bad_input;
mod blame;
mod blocks;
mod bounds;
mod campaign;
mod channels;
mod chosen;
mod command_line;
mod common;
mod cut_tables;
mod deadlines;
mod documentation;
#[cfg(target_os = "linux")]
mod ending;
#[cfg(target_os = "linux")]
mod ending_signals;
#[cfg(target_os = "linux")]
mod ending_writes;
mod engine_properties;
mod events;
mod evr;
mod evr_figures;
mod examples;
mod extreme_devices;
mod figure;
mod figure_command;
mod figure_found;
mod figure_kinds;
mod figure_properties;
mod figure_sizes;
mod figure_tex;
mod figures;
#[cfg(target_os = "linux")]
mod file_systems;
mod generate;
mod generate_processes;
mod help;
mod host_audit;
mod html_browser;
mod html_data;
mod jobs;
mod json_lines;
mod markdown;
mod measured_logs;
mod mutants;
mod native;
mod odd_inputs;
mod odd_names;
mod option_sets;
mod outputs;
mod own_hosts;
mod own_logs;
mod page_browser;
mod perfetto;
mod picture;
mod placement;
mod process_commands;
mod process_logs;
mod process_pauses;
mod process_pictures;
mod process_properties;
mod process_referees;
mod processes;
mod profiles;
#[cfg(target_os = "linux")]
mod progress;
mod promises;
mod published;
mod recount;
mod reference;
mod reproduction;
mod rtss_2017;
mod rules;
mod runnable;
mod schema;
mod segments;
mod several_scenarios;
mod shared_link;
#[cfg(target_os = "linux")]
mod small_files;
mod sporadic;
mod state;
mod study;
mod svg_checks;
mod tasks;
mod tour;
mod trace_state;
mod turn_mutants;
mod turn_rules;
mod warps;
mod warps_command;
mod warps_figures;
mod warps_ilp;
mod what_if;
