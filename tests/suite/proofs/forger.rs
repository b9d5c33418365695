//! A forger of certificates: pairs of a scenario and its certificate with anything in them changed. The proven checker
//! refuses each, or what it accepts is true: no run of the reference simulator, in which an adversary chooses what is
//! open, is above a bound that it says follows from the rules.

#![allow(clippy::print_stdout, reason = "what came of a campaign is to be read")]

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{TestCaseError, TestRunner};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::certified::with_hosts;
use super::chains::{CAMERA_TO_BRAKE, WITHIN_A_JOB, chains_hold, launching};
use super::clients::CLIENTS;
use super::forged::{places, published_keys};
use super::hosts::{IN_TURN, SLEEPING, WAITING};
use super::masks::{MASKED, masked_beside};
use super::random::judged;
use super::{
    Checker, PRIORITIES, SIDE_BY_SIDE, beside_a_full_gpu, beside_higher_priorities, certified, proved, queueing,
};
use crate::campaign::part_of;
use crate::hostile::{Known, Tally, given_runs, phased_run};
use crate::reference::Open;

/// How many pairs the checker reads at once.
const AT_ONCE: u64 = 2_000;
/// Runs that are set against each accepted pair.
const RUNS: u64 = 3;

/// What is given to the checker.
#[derive(Debug, Clone)]
struct Pair {
    device: Value,
    scenario: Value,
    certificate: Value,
}

/// Pairs that are accepted: those of the tests of certificates, and random ones with small kernels.
fn genuine(checker: &Checker, drawn: usize) -> Vec<Pair> {
    let shared = [PRIORITIES.to_owned(), SIDE_BY_SIDE.to_owned(), beside_higher_priorities(), queueing()];
    let known = shared.into_iter().chain([beside_a_full_gpu(), SIDE_BY_SIDE.replace("20 ms", "40 ms")]);
    let known = known.chain([SLEEPING.to_owned(), WAITING.to_owned(), IN_TURN.to_owned()]);
    let known = known.chain([CAMERA_TO_BRAKE.to_owned(), WITHIN_A_JOB.to_owned(), launching()]);
    let known = known.chain([MASKED.to_owned(), masked_beside(), CLIENTS.to_owned()]);
    let mut runner = TestRunner::deterministic();
    let mut random = |has_jitter: bool| {
        let tree = certified::scenario(has_jitter).new_tree(&mut runner).expect("no scenario is refused");
        (tree.current(), has_jitter)
    };
    let mut all: Vec<(String, bool)> = known.flat_map(|text| [(text.clone(), false), (text, true)]).collect();
    all.extend((0..drawn).map(|number| {
        let (drawn, has_jitter) = random(number % 2 == 1);
        let seed = u32::try_from(number).expect("they are few");
        let drawn =
            if number % 4 == 2 { with_hosts(drawn, [1, 22, 53, 84, 119, 127].map(|n| n + seed)) } else { drawn };
        (drawn.to_string(), has_jitter)
    }));
    let pair = |(text, is_sporadic): (String, bool)| {
        let file = checker.0.join("genuine.json");
        fs::write(&file, text).expect("it can be written");
        let file = file.to_str().expect("text");
        let options: &[&str] = if is_sporadic { &["--sporadic"] } else { &[] };
        let certificate = checker.certificate(file, options);
        checker.about(file);
        let mut device = checker.written("device.json");
        for text in ["sources", "assumptions"] {
            device.as_object_mut().expect("it is one").remove(text);
        }
        Pair { device, scenario: checker.written("scenario.json"), certificate }
    };
    all.into_iter().map(pair).filter(|pair| !proved(&pair.certificate).is_empty()).collect()
}

fn one_of<'a, T>(numbers: &mut impl Rng, list: &'a [T]) -> &'a T {
    &list[numbers.random_range(0..list.len())]
}

/// A number beside it, or often of use to who wants a bound that is too low.
fn other_number(numbers: &mut impl Rng, number: u64) -> u64 {
    let near = [number.saturating_sub(1), number + 1, number / 2, number.saturating_mul(2), number / 10, 0, 1, 2, 7];
    match numbers.random_range(0..12) {
        0 => number.saturating_mul(1_000_000),
        1 => number.saturating_add(1_000_000),
        2 => number.saturating_sub(1_000_000),
        _ => *one_of::<u64>(numbers, &near),
    }
}

const TIMES: [&str; 10] = ["0 ns", "1 ns", "100 us", "499999 ns", "1 ms", "1.5 ms", "3 ms", "10 ms", "40 ms", "9 s"];

/// Changes what stands at one place of a document. `all` are keys of the published schemas.
fn change(document: &mut Value, all: &[String], numbers: &mut impl Rng) {
    let mut found = Vec::new();
    places(document, "", &mut found);
    let place = one_of::<String>(numbers, &found).clone();
    let other = document.pointer(one_of::<String>(numbers, &found)).expect("it is there").clone();
    let target = document.pointer_mut(&place).expect("it is there");
    match target {
        Value::Number(number) => *target = json!(other_number(numbers, number.as_u64().unwrap_or(1))),
        Value::String(_) if numbers.random_range(0..4) == 0 => *target = other,
        Value::String(text) if text.ends_with('s') && text.contains(' ') => {
            *target = json!(one_of::<&str>(numbers, &TIMES));
        }
        Value::Array(items) if !items.is_empty() => {
            let [from, to] = [0; 2].map(|_| numbers.random_range(0..items.len()));
            match numbers.random_range(0..4) {
                0 => drop(items.remove(from)),
                1 => items.insert(to, items[from].clone()),
                2 => items.swap(from, to),
                _ => items[to] = other,
            }
        }
        Value::Object(entries) => {
            let names: Vec<String> = entries.keys().cloned().collect();
            if numbers.random_range(0..3) == 0 && !names.is_empty() {
                entries.remove(one_of::<String>(numbers, &names));
            } else {
                let values = [json!(2), json!("1 ms"), json!(true), json!(null), json!([]), json!({}), other];
                let key = if numbers.random_range(0..4) == 0 {
                    one_of::<String>(numbers, &found)
                } else {
                    one_of(numbers, all)
                };
                let key = key.rsplit('/').next().unwrap_or(key);
                entries.insert(key.to_owned(), one_of::<Value>(numbers, &values).clone());
            }
        }
        _ => *target = other,
    }
}

/// Puts another number in place of each that equals one of those there.
fn change_everywhere(certificate: &mut Value, numbers: &mut impl Rng) {
    let mut found = Vec::new();
    places(certificate, "", &mut found);
    found.retain(|place| certificate.pointer(place).is_some_and(Value::is_u64));
    if found.is_empty() {
        return;
    }
    let before = certificate.pointer(one_of::<String>(numbers, &found)).cloned().expect("it is there");
    let after = json!(other_number(numbers, before.as_u64().expect("it is one")));
    for place in found {
        if let Some(number) = certificate.pointer_mut(&place).filter(|number| **number == before) {
            *number = after.clone();
        }
    }
}

fn forged(genuine: &[Pair], all: &[String], numbers: &mut ChaCha8Rng) -> Pair {
    let mut pair = one_of(numbers, genuine).clone();
    for _ in 0..numbers.random_range(1..4) {
        match numbers.random_range(0..10) {
            0..3 => change(&mut pair.scenario, all, numbers),
            3..5 => change(&mut pair.device, all, numbers),
            5..8 => change(&mut pair.certificate, all, numbers),
            8 => change_everywhere(&mut pair.certificate, numbers),
            _ => {
                // What one certificate says of another scenario.
                let other = one_of(numbers, genuine);
                for key in ["parts", "shared", "hosts", "windows", "responses", "phased", "pauses", "chains"] {
                    if let Some(list) = other.certificate.get(key).filter(|_| numbers.random_range(0..2) == 0) {
                        pair.certificate[key] = list.clone();
                    }
                }
            }
        }
    }
    pair
}

/// What became of forged pairs.
#[derive(Debug, Default)]
struct Ends {
    /// Refused, as something does not follow or is not as the scenario says.
    refused: u64,
    /// Refused, as the rules know nothing of it.
    not_known: u64,
    /// Accepted, and nothing is claimed.
    empty: u64,
    /// Accepted, but of a file that no command reads, so that it never runs; by the field that they refuse.
    unread: BTreeMap<String, u64>,
    /// Accepted, and set against runs.
    run: u64,
}

/// Sets what is accepted against runs; gives the field for which a scenario is none that runs.
fn holds(pair: &Pair, numbers: &mut ChaCha8Rng, tally: &Tally) -> Result<Option<String>, TestCaseError> {
    let mut whole = pair.scenario.clone();
    whole["device"] = pair.device.clone();
    let mut scenario = match Scenario::from_json("forged", &whole.to_string(), &ReadOptions::default()) {
        Ok(scenario) => scenario,
        Err(error) => return Ok(Some(error.to_string().split(": ").nth(1).unwrap_or_default().to_owned())),
    };
    let of = |keys: &[&str]| {
        let mut only = json!({"parts": [], "shared": [], "hosts": [], "windows": [], "responses": [], "phased": []});
        for key in keys {
            only[*key] = pair.certificate.get(*key).cloned().unwrap_or(json!([]));
        }
        let mut least: BTreeMap<(String, u64), u64> = BTreeMap::new();
        for (stream, job, _, _, bound) in proved(&only) {
            least.entry((stream, job)).and_modify(|known| *known = bound.min(*known)).or_insert(bound);
        }
        least
    };
    let labels: Vec<String> = scenario.threads.iter().map(|thread| thread.label.to_string()).collect();
    let given = of(&["parts", "shared", "hosts"]);
    if !given.is_empty() {
        let known = |thread: usize, job| -> Known { (given.get(&(labels[thread].clone(), job)).copied(), None, None) };
        given_runs(&scenario, Open { shorter: true, order: true }, &known, (numbers.random(), RUNS), tally)?;
    }
    chains_hold(&scenario, &pair.certificate, numbers.random(), 2 * RUNS)?;
    let phased = of(&["windows", "responses", "phased", "pauses"]);
    if !phased.is_empty() {
        // Jobs may be as late as all terms of their stream say, which is as late as the scenario says or later.
        let mut jitters: BTreeMap<usize, u64> = BTreeMap::new();
        for key in ["windows", "responses", "phased"] {
            let parts = pair.certificate[key].as_array().into_iter().flatten();
            for term in parts.flat_map(|part| part["terms"].as_array().into_iter().flatten()) {
                let thread = labels.iter().position(|label| term["stream"].as_str() == Some(label));
                if let Some((thread, jitter)) = thread.zip(term["jitter_ns"].as_u64()) {
                    jitters.entry(thread).and_modify(|least| *least = jitter.min(*least)).or_insert(jitter);
                }
            }
        }
        for (thread, jitter) in jitters {
            scenario.threads[thread].jitter = Duration::from_ns(jitter);
        }
        let known = |thread: usize| -> Known { (phased.get(&(labels[thread].clone(), 0)).copied(), None, None) };
        for _ in 0..RUNS {
            phased_run(&scenario, &known, numbers, tally)?;
        }
    }
    Ok(None)
}

/// Forges so many pairs and lets the checker read them.
fn campaign(checker: &Checker, genuine: &[Pair], cases: u64, seed: u64) -> (Ends, Tally) {
    let all: Vec<String> = published_keys().into_iter().collect();
    let mut numbers = ChaCha8Rng::seed_from_u64(seed);
    let (mut ends, tally) = (Ends::default(), Tally::default());
    let mut left = cases;
    while left > 0 {
        let some: Vec<Pair> = (0..left.min(AT_ONCE)).map(|_| forged(genuine, &all, &mut numbers)).collect();
        left -= some.len() as u64;
        let mut lines = String::new();
        for Pair { device, scenario, certificate } in &some {
            let line = json!({"device": device, "scenario": scenario, "certificate": certificate});
            writeln!(lines, "{line}").expect("text takes it");
        }
        let answers = judged(checker, &lines);
        assert_eq!(answers.lines().count(), some.len(), "{answers}");
        for (answer, pair) in answers.lines().zip(&some) {
            match answer.split([' ', ':']).next() {
                Some("refused") => ends.refused += 1,
                Some("not") => ends.not_known += 1,
                _ if answer.starts_with("accepted: 0 ") => ends.empty += 1,
                _ => match holds(pair, &mut numbers, &tally) {
                    Ok(None) => ends.run += 1,
                    Ok(Some(why)) => *ends.unread.entry(why).or_default() += 1,
                    Err(error) => panic!("{answer}, and {error}: {pair:?}"),
                },
            }
        }
    }
    let refused = ends.refused + ends.not_known;
    assert!(ends.run > cases / 20 && refused > cases / 2 && tally.bounded.get() > cases, "{ends:?}");
    (ends, tally)
}

#[test]
fn no_forged_certificate_is_accepted_that_a_run_refutes() {
    let Some(checker) = Checker::new() else {
        println!("skipped: there is no coqc here, or no OCaml with yojson");
        return;
    };
    let genuine = genuine(&checker, 4);
    let (ends, tally) = campaign(&checker, &genuine, u64::from(part_of(800)), 1);
    println!("{ends:?}, {tally:?}");
}

#[test]
#[ignore = "long work without optimisation; .ci/run long has it optimised"]
fn long_work_of_a_hundred_thousand_forged_certificates_none_is_accepted_that_a_run_refutes() {
    let Some(checker) = Checker::new() else {
        println!("skipped: there is no coqc here, or no OCaml with yojson");
        return;
    };
    let genuine = genuine(&checker, 60);
    let seed = std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(2);
    let (ends, tally) = campaign(&checker, &genuine, 100_000, seed);
    println!("{} genuine, {ends:#?}, {tally:?}", genuine.len());
}
