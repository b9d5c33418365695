//! Campaigns against bounds: how many scenarios, and how the bounds compare with the worst that was found.
//!
//! `cargo test --release --test suite -- --ignored long_campaign_ --nocapture` runs all of them; `GPUSCHED_CASES` sets
//! the number of scenarios of each.

use std::cell::RefCell;

use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};

/// As many cases as `PROPTEST_CASES` says, or else a part of `cases`.
pub(crate) fn config(cases: u32) -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig { cases: asked.unwrap_or_else(|| part_of(cases)), ..ProptestConfig::default() }
}

/// A quarter of so many cases, so that `cargo test`, which is not optimised, ends soon; all of them with
/// `GPUSCHED_ALL_CASES`, as in the optimised part of `.ci/run`.
pub(crate) fn part_of(cases: u32) -> u32 {
    if std::env::var_os("GPUSCHED_ALL_CASES").is_some() { cases } else { cases.div_ceil(4) }
}

/// Runs `test` on `GPUSCHED_CASES` values, by default `cases`; it gives bound / worst found of whatever it bounds. Says
/// how these are distributed.
pub(crate) fn campaign<S: Strategy>(
    name: &str,
    cases: u32,
    strategy: &S,
    test: impl Fn(S::Value) -> Result<Vec<f64>, TestCaseError>,
) -> String {
    let cases = std::env::var("GPUSCHED_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases);
    let ratios = RefCell::new(Vec::new());
    let mut runner = TestRunner::new(ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() });
    let result = runner.run(strategy, |value| -> TestCaseResult {
        ratios.borrow_mut().extend(test(value)?);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{name}: {error}");
    }
    let mut ratios = ratios.into_inner();
    ratios.sort_by(f64::total_cmp);
    let at = |percent: usize| ratios[(ratios.len() - 1) * percent / 100];
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    format!(
        "{name}: {} bounds in {cases} scenarios; bound / worst found: mean {mean:.2}, least {:.3}, median {:.2}, \
         75 % {:.2}, 90 % {:.2}, 99 % {:.2}, most {:.2}",
        ratios.len(),
        at(0),
        at(50),
        at(75),
        at(90),
        at(99),
        at(100)
    )
}
