//! Scenario files of the right shape with anything in them: an error with a place or a scenario, never a panic. (The
//! same for logs is beside their reader, for AMALTHEA models in `amalthea::mutated`; the readers are fuzzed with
//! coverage too, see docs/testing.md.)

use std::collections::BTreeMap;

use gpusched::device::Device;
use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::all_keys::{EXAMINER, NATIVE};

/// Both formats, and the native one with a device of its own.
fn documents() -> Vec<Value> {
    let parse = |text: &str| serde_json::from_str::<Value>(text).expect("it is JSON");
    let mut own_device = parse(NATIVE);
    own_device["device"] = parse(Device::builtin_json("tx2").expect("it is built in"));
    vec![parse(EXAMINER), parse(NATIVE), own_device]
}

/// What a key may hold instead of what it should.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        (-5..70_i32).prop_map(Value::from),
        "[a-z0-9~./-]{0,12}".prop_map(Value::from),
        ".{0,6}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z_]{0,12}", inner, 0..4).prop_map(Value::from_iter),
        ]
    })
}

/// What is done to one place of a document.
#[derive(Debug, Clone)]
enum Change {
    Replace(Value),
    Remove,
    Repeat,
}

/// Changes the place that is number `place` of all places below `value`, counted in depth-first order.
fn change(value: &mut Value, place: &mut usize, what: &Change) {
    let here = |place: &mut usize| {
        *place = place.wrapping_sub(1);
        *place == usize::MAX
    };
    match value {
        Value::Array(list) => {
            for index in 0..list.len() {
                if here(place) {
                    match what {
                        Change::Replace(new) => list[index] = new.clone(),
                        Change::Remove => drop(list.remove(index)),
                        Change::Repeat => list.push(list[index].clone()),
                    }
                    return;
                }
                change(&mut list[index], place, what);
            }
        }
        Value::Object(map) => {
            for key in map.keys().cloned().collect::<Vec<_>>() {
                if here(place) {
                    match what {
                        Change::Replace(new) => drop(map.insert(key, new.clone())),
                        Change::Remove => drop(map.remove(&key)),
                        Change::Repeat => drop(map.insert(format!("{key}2"), Value::Null)),
                    }
                    return;
                }
                if let Some(inner) = map.get_mut(&key) {
                    change(inner, place, what);
                }
            }
        }
        _ => {}
    }
}

/// How many places `change` knows below `value`.
fn places(value: &Value) -> usize {
    match value {
        Value::Array(list) => list.iter().map(|inner| 1 + places(inner)).sum(),
        Value::Object(map) => map.values().map(|inner| 1 + places(inner)).sum(),
        _ => 0,
    }
}

fn any_change() -> impl Strategy<Value = Change> {
    prop_oneof![3 => anything().prop_map(Change::Replace), 1 => Just(Change::Remove), 1 => Just(Change::Repeat)]
}

/// The block times that a file leaves open; one that none lacks would be an error too.
fn block_durations(text: &str) -> BTreeMap<String, Duration> {
    let missing = ["mandelbrot"].into_iter().filter(|name| text.contains(name));
    missing.map(|name| (name.to_owned(), Duration::from_ns(5))).collect()
}

proptest! {
    #[test]
    fn a_changed_scenario_is_read_or_refused_with_a_place(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any_change()), 0..4),
        as_threads in any::<bool>(),
        cut in prop::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        let documents = documents();
        let mut document = which.get(&documents).clone();
        for (place, what) in changes {
            let places = places(&document).max(1);
            change(&mut document, &mut place.index(places), &what);
        }
        let mut text = document.to_string();
        if let Some(cut) = cut {
            text.truncate(text.floor_char_boundary(cut.index(text.len())));
        }
        let horizon = Some(Duration::from_ns(1_000));
        let options = ReadOptions { as_threads, horizon, block_durations: block_durations(&text), ..ReadOptions::default() };
        if let Err(error) = Scenario::from_json("any.json", &text, &options) {
            prop_assert!(error.line >= 1 && error.column >= 1, "{error}");
            prop_assert!(error.line <= text.lines().count().max(1) && error.file == "any.json", "{error}");
            prop_assert!(!error.what.is_empty());
        }
    }
}

#[test]
fn the_documents_that_are_changed_are_sound_by_themselves() {
    for document in documents() {
        let text = document.to_string();
        let options = ReadOptions { block_durations: block_durations(&text), ..ReadOptions::default() };
        if let Err(error) = Scenario::from_json("sound.json", &text, &options) {
            panic!("{error}");
        }
    }
}
