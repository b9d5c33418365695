//! Scenario files of the right shape with anything in them: an error or a scenario, never a panic. (The same for logs is
//! beside their reader.)

use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Duration;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Uses every kind of benchmark and every key.
fn examiner_scenario() -> Value {
    json!({
        "name": "all", "max_iterations": 1, "max_time": 10, "cuda_device": 0, "use_processes": false, "pin_cpus": true,
        "do_warmup": true, "sync_every_iteration": false, "base_result_directory": "./results", "comment": "none",
        "benchmarks": [
            {"filename": "./bin/timer_spin.so", "log_name": "a.json", "label": "A", "thread_count": [32, 2], "block_count": 3,
             "data_size": 0, "additional_info": "1000", "release_time": 0.5, "cpu_core": 1, "stream_priority": -1,
             "mps_thread_percentage": 100, "sm_mask": "~0x1", "max_iterations": 2, "max_time": 1},
            {"filename": "timer_spin_default_stream.so", "thread_count": 32, "block_count": 1, "data_size": 0},
            {"filename": "sharedmem_timer_spin.so", "thread_count": 32, "block_count": 1, "data_size": 0,
             "additional_info": {"duration": 1000, "shared_memory_size": 256}},
            {"filename": "counter_spin.so", "thread_count": 32, "block_count": 1, "data_size": 0, "additional_info": 99},
            {"filename": "multikernel.so", "thread_count": 0, "block_count": 0, "data_size": 0, "additional_info": [
                {"kernel_label": "K", "duration": 1000, "block_count": 1, "thread_count": 32, "delay": 0.1,
                 "shared_memory_size": 8, "copy_in_count": 4, "copy_out_count": 4, "sm_mask": "2"}]},
            {"filename": "stream_action.so", "thread_count": 32, "block_count": 1, "data_size": 0, "additional_info": {
                "use_null_stream": false, "actions": [
                    {"type": "malloc", "parameters": {"size": 10, "host": true}}, {"type": "free"},
                    {"type": "kernel", "delay": 0.1, "label": "L", "parameters": {"duration": 5, "type": "timer_spin"}},
                    {"type": "memset", "parameters": {"size": 8, "async": false}},
                    {"type": "memcpy", "parameters": {"size": 8, "direction": "deviceToHost", "async": false}},
                    {"type": "synchronize", "parameters": {"device": true}}]}},
            {"filename": "task_host.so", "thread_count": 0, "block_count": 0, "data_size": 0, "additional_info": {
                "name": "inner", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "benchmarks": [
                    {"filename": "timer_spin.so", "thread_count": 32, "block_count": 1, "data_size": 0}]}}
        ]
    })
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

proptest! {
    #[test]
    fn any_examiner_scenario_is_read_or_refused(
        changes in prop::collection::vec(
            (0..150_usize, prop_oneof![3 => anything().prop_map(Change::Replace), 1 => Just(Change::Remove), 1 => Just(Change::Repeat)]),
            0..4,
        ),
        as_threads in any::<bool>(),
        cut in prop::option::weighted(0.1, any::<prop::sample::Index>()),
    ) {
        let mut document = examiner_scenario();
        for (place, what) in changes {
            change(&mut document, &mut place.clone(), &what);
        }
        let mut text = document.to_string();
        if let Some(cut) = cut {
            let cut = text.floor_char_boundary(cut.index(text.len()));
            text.truncate(cut);
        }
        let options = ReadOptions { as_threads, horizon: Some(Duration::from_ns(1_000)), ..ReadOptions::default() };
        if let Err(error) = Scenario::from_json("any.json", &text, &options) {
            prop_assert!(error.line >= 1 && error.column >= 1);
            prop_assert!(!error.what.is_empty());
        }
    }
}

#[test]
fn the_scenario_that_is_changed_is_sound_by_itself() {
    let read = Scenario::from_json("all.json", &examiner_scenario().to_string(), &ReadOptions::default());
    assert_eq!(read.map(|scenario| scenario.threads.len()).map_err(|error| error.to_string()), Ok(7));
}
