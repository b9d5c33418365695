//! The audit as the engine's oracle, and the engine as the audit's: random scenarios run clean through both, and a
//! trace in which one thing was changed is found guilty whenever a third, slow and plain reading of the rules says so.
//!
//! The long campaign: `GPUSCHED_ORACLE_SAMPLES=1000000 cargo test --release --test suite audit_oracle -- --ignored`

pub(crate) mod mutate;
pub(crate) mod plain;
pub(crate) mod sample;

use gpusched::audit::{Audit, AuditRule, ObservedRun, Tolerances, audit};
use gpusched::effort::Progress;
use gpusched::hosts::simulate;
use gpusched::scenario::Scenario;
use proptest::prelude::*;

use crate::generate::{Limits, scenario};

fn observe(scenario: &Scenario) -> ObservedRun {
    let run = simulate(scenario).expect("a generated scenario runs");
    ObservedRun::of_run(&run).expect("it ends within the clock of logs")
}

fn judge(observation: &ObservedRun) -> Audit {
    audit(observation, &Tolerances::EXACT, Progress::NONE)
}

/// What became of the mutants of a campaign.
#[derive(Debug, Default)]
struct Tally {
    mutants: u64,
    /// Mutants that break a rule by the plain reading, and those of them that the audit found.
    guilty: u64,
    caught: u64,
    /// Mutants that break no published rule but the placement policy, the order within one instant, ….
    found_beyond: u64,
}

fn campaign(samples: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for sample in samples {
        let scenario = sample::scenario(sample);
        let observation = observe(&scenario);
        let clean = judge(&observation);
        assert!(clean.findings.is_empty(), "sample {sample}: {:#?}\n{scenario:#?}", clean.findings);
        assert_eq!(clean.placement.decidable, clean.placement.followed, "sample {sample}");
        let wrong = plain::broken_rule(&observation);
        assert_eq!(wrong, None, "sample {sample}: the plain reading accuses the engine\n{scenario:#?}");
        for kind in 0..mutate::KINDS {
            let Some((mutant, what)) = mutate::mutant(&observation, sample, kind) else { continue };
            tally.mutants += 1;
            let found = judge(&mutant).findings;
            match plain::broken_rule(&mutant) {
                Some(rule) => {
                    tally.guilty += 1;
                    assert!(!found.is_empty(), "sample {sample}: {what} breaks {rule} unseen\n{mutant:#?}");
                    tally.caught += 1;
                }
                None => tally.found_beyond += u64::from(!found.is_empty()),
            }
        }
    }
    tally
}

#[test]
fn random_scenarios_are_clean_and_mutants_that_break_a_rule_are_caught() {
    let tally = campaign(0..400);
    println!("{tally:?}");
    assert!(tally.guilty > tally.mutants / 3, "{tally:?}");
    assert_eq!(tally.caught, tally.guilty);
}

#[test]
#[ignore = "the long campaign: minutes to hours"]
fn long_campaign() {
    let samples = std::env::var("GPUSCHED_ORACLE_SAMPLES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000_000);
    println!("{:?}", campaign(0..samples));
}

#[test]
fn every_rule_is_broken_by_some_mutant() {
    let mut rules: Vec<AuditRule> = Vec::new();
    // From 256 on they have events and launch latencies too.
    for sample in 212..512 {
        let observation = observe(&sample::scenario(sample));
        for kind in 0..mutate::KINDS {
            let mutant = mutate::mutant(&observation, sample, kind);
            let found = mutant.map(|(mutant, _)| judge(&mutant).findings).unwrap_or_default();
            rules.extend(found.iter().map(|finding| finding.rule));
        }
    }
    rules.sort_unstable();
    rules.dedup();
    for rule in [
        AuditRule::Sm,
        AuditRule::Mask,
        AuditRule::R2,
        AuditRule::R3,
        AuditRule::Registers,
        AuditRule::Time,
        AuditRule::Duration,
        AuditRule::G1,
        AuditRule::G4,
        AuditRule::N1,
        AuditRule::N2,
        AuditRule::E2,
        AuditRule::L1,
        AuditRule::L2,
        AuditRule::X1,
        AuditRule::A2,
        AuditRule::C2,
        AuditRule::WorkConservation,
        AuditRule::Placement,
    ] {
        assert!(rules.contains(&rule), "no mutant breaks {}", rule.name());
    }
}

proptest! {
    /// These also have operations without length, channels, horizons, other policies and devices with odd limits.
    #[test]
    fn scenarios_of_every_family_pass_the_audit(case in scenario(Limits { varying: true, ..Limits::ALL })) {
        let run = simulate(&case.0);
        prop_assume!(run.is_ok());
        let run = run.expect("it was checked");
        // Some have times near 2^63 ns, the end of the clock of logs.
        let observation = ObservedRun::of_run(&run);
        prop_assume!(observation.is_ok());
        let findings = judge(&observation.expect("it was checked")).findings;
        prop_assert!(findings.is_empty(), "{:#?}", findings);
    }
}
