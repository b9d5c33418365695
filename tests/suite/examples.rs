//! The programs in `examples/` find what they say.

#[path = "../../examples/own_host.rs"]
mod own_host;
#[path = "../../examples/study.rs"]
mod study;
#[path = "../../examples/verdict_shares.rs"]
mod verdict_shares;
#[path = "../../examples/what_if.rs"]
mod what_if;

#[test]
fn a_host_of_ones_own_has_a_table_and_a_timeline() {
    own_host::main().expect("it runs");
}

#[test]
fn a_study_from_code_has_the_same_statistics_on_any_number_of_threads() {
    study::main().expect("it runs");
}

#[test]
fn a_what_if_from_code_compares_responses() {
    what_if::main().expect("it runs");
}

#[test]
#[ignore = "it takes minutes without optimisation"]
fn verdicts_of_everyday_pipelines_keep_their_bounds() {
    verdict_shares::main().expect("no run is above a bound");
}
