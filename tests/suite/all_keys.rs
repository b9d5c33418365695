//! Files in which every key stands that there is, for tests that change them.

/// A native scenario with every key there is, but those of the next.
pub(crate) const NATIVE: &str = r#"{
    "$schema": "any.schema.json", "format": "gpusched-scenario/1",
    "name": "all keys", "source": "made up", "comment": 1, "placement": "most-room",
    "seed": 1, "horizon": "9 s", "ready_order": [0, 3], "assumptions": ["a", "b"], "mps": false, "switch_cost": "1 us",
    "processes": {"P": {"time_slice": "1 ms", "level": "high", "mps_percentage": 50.5, "comment": 1},
        "Q": {"time_slice": "by level", "sms": 4}},
    "kernels": {
        "K1": {"blocks": 6, "threads": [16, 16, 2], "duration": "1 s", "shared_memory_bytes": 1024,
               "registers_per_thread": 16, "sm_mask": "0x2"},
        "K2": {"blocks": [3], "threads": 32, "duration": {"best": "0.5 s", "worst": "1e3 ms"}}},
    "streams": [
        {"name": "S1", "process": "P", "priority": -1, "blocking": true, "sm_mask": "~0x1", "release": "1 ms", "period": "2 s", "jitter": "1 ms",
         "jobs": 2, "deadline": "1 s", "operations": [
            {"kernel": "K1"}, {"copy": "host-to-device", "bytes": 8, "duration": "1 us"},
            {"copy": "device-to-device", "duration": "1 us"}, {"memset": 9}, {"record": "E"}, {"wait": "E"}]},
        {"name": "S2", "process": "P"}, {"name": "NULL", "process": "P", "operations": [{"kernel": "K2"}]}],
    "hosts": [
        {"name": "H1", "process": "P", "release": "5 ns", "iterations": 2, "time_limit": "4 s", "period": "1 s", "jitter": "2 ms",
         "deadline": "1 s", "barrier": "B", "core": 3, "cpu_priority": -2, "spin": true, "steps": [
            {"launch": "K2", "stream": "S2"}, {"copy": "device-to-host", "bytes": 7, "stream": "NULL"},
            {"memset": 3, "stream": "S2"}, {"wait": "E", "stream": "S2"}, {"record": "F", "stream": "S2"},
            {"synchronize_event": "F"}, {"synchronize": "S2"}, {"synchronize": "device"}, {"synchronize": "last"},
            {"memset": 3, "synchronous": true}, {"free": "device"}, {"malloc": "host"},
            {"sleep": "0 s"}, {"work": "1 ns"}, {"barrier": "C"}, {"repeat": 2, "steps": [{"launch": "K2", "stream": "S2"}]}]},
        {"name": "H2", "process": "Q", "barrier": "B", "steps": [{"barrier": "C"}]}],
    "expected": {"source": "nobody", "tolerance": "1 ms", "kernels": [
        {"name": "K1", "iteration": 0, "first_start": "1 ms", "finish": "2 s", "blocks_per_sm": [0, 6],
         "place": "Fig. 1", "sm_of_block": [1, null, 1, 1, 1, 1]}]}
}"#;

/// A native scenario with the keys that do not go with those of the other one.
pub(crate) const OTHER_NATIVE: &str = r#"{
    "format": "gpusched-scenario/1", "name": "other keys", "device": "b200", "mps": true, "release_order": "declared",
    "green_contexts": [{"sms": 16, "names": ["A"], "remaining": "B"}, {"sms": 8, "of": "B", "names": ["C"], "work_queues": 2}],
    "kernels": {
        "K1": {"blocks": 8, "threads": 32, "duration": "1 ms", "trigger": 0.5, "wait": 0.25, "cluster": 4, "cluster_fallback": 2},
        "K2": {"blocks": 2, "threads": 32, "block_times": ["1 ms", "2 ms"], "clock": "wall"},
        "K3": {"blocks": 2, "threads": 32, "duration": "1 ms", "items": 4}},
    "graphs": {"G": {"nodes": {"a": {"kernel": "K2"}, "b": {"memset": 4, "after": ["a"]},
        "d": {"kernel": "K2", "after": ["a"]},
        "c": {"copy": "host-to-device", "bytes": 8, "duration": "1 us", "after": [{"node": "a", "edge": "full"}]}}}},
    "streams": [
        {"name": "S1", "green_context": "A", "operations": [{"kernel": "K1"}, {"kernel": "K1", "programmatic": true},
            {"record": "E", "programmatic": true}, {"wait": "E", "programmatic": true}]},
        {"name": "S2", "operations": [{"graph": "G"}, {"kernel": "K3"}]}, {"name": "S3"}],
    "hosts": [
        {"name": "H", "triggered_by": "S1", "steps": [{"graph": "G", "stream": "S3"}, {"launch": "K1", "stream": "S3"},
            {"launch": "K1", "programmatic": true, "stream": "S3"}, {"record": "F", "programmatic": true, "stream": "S3"},
            {"wait": "F", "programmatic": true, "stream": "NULL"},
            {"copy": "device-to-host", "duration": "1 us", "stream": "S3"}]}],
    "chains": [{"name": "X", "path": ["S1", {"job": "H", "reads": {"kernel": "K1"}, "writes": {"copy": "device-to-host"}}],
        "reaction_time": "1 s", "data_age": "2 s"}]
}"#;

/// A native scenario with the keys of blocks that wait for others, and of several GPUs.
pub(crate) const WAITING_NATIVE: &str = r#"{
    "format": "gpusched-scenario/1", "name": "keys of counters", "device": "h100", "devices": ["G0", "G1"],
    "kernels": {
        "K1": {"blocks": 2, "threads": 32, "duration": "1 ms", "cooperative": true, "grid_sync": [0.25, 1],
            "signal": [{"at": "start", "counter": "A"}, {"at": 0.5, "counter": "B"}, {"at": "end", "counter": "A"}],
            "wait": [{"at": "start", "counter": "A", "value": 1}, {"at": 0.75, "counter": "B", "value": 2}]},
        "K2": {"blocks": 1, "threads": 32, "until": "A"},
        "K3": {"blocks": 1, "threads": 32, "until": {"counter": "B", "value": 2}}},
    "streams": [
        {"name": "S1", "device": "G0", "operations": [{"kernel": "K1"}, {"record": "E", "at": "launch_completion"},
            {"wait_value": "A", "value": 1}, {"write_value": "B", "value": 3}]},
        {"name": "S2", "device": "G1", "operations": [{"wait": "E"}, {"kernel": "K2"}, {"kernel": "K3"}]}],
    "hosts": [
        {"name": "H", "device": "G0", "steps": [{"launch": "K3", "stream": "S1"}, {"record": "F", "at": "launch_completion", "stream": "S1"},
            {"wait_value": "A", "value": 1, "stream": "S1"}, {"write_value": "B", "value": 3, "stream": "S1"},
            {"write_value": "A", "value": 0}, {"wait_value": "B", "value": 1}]}]
}"#;

/// An examiner scenario with every key and every kind of benchmark there is.
pub(crate) const EXAMINER: &str = r#"{
    "$schema": "any.schema.json", "name": "all keys", "max_iterations": 2, "max_time": 9,
    "cuda_device": 0, "use_processes": false, "pin_cpus": true,
    "do_warmup": true, "sync_every_iteration": false, "base_result_directory": "./results", "comment": "c",
    "benchmarks": [
        {"filename": "./bin/timer_spin.so", "thread_count": [32, 2], "block_count": 4, "data_size": 0,
         "log_name": "a.json", "label": "A", "additional_info": "1000000", "max_iterations": 1, "max_time": 0.5,
         "release_time": 0.25, "cpu_core": 1, "stream_priority": -1, "mps_thread_percentage": 100, "sm_mask": "0x1"},
        {"filename": "timer_spin_default_stream.so", "thread_count": 1, "block_count": 1, "data_size": 0},
        {"filename": "sharedmem_timer_spin.so", "thread_count": 1, "block_count": 1, "data_size": 0,
         "additional_info": {"duration": 1000, "shared_memory_size": 1024}},
        {"filename": "counter_spin.so", "thread_count": 1, "block_count": 1, "data_size": 0, "additional_info": 1000},
        {"filename": "multikernel.so", "thread_count": 0, "block_count": 0, "data_size": 0, "additional_info": [
            {"kernel_label": "K", "duration": 1000, "block_count": 1, "thread_count": [1], "shared_memory_size": 1,
             "delay": 0.1, "copy_in_count": 1, "copy_out_count": 1, "sm_mask": "0x2"}]},
        {"filename": "stream_action.so", "thread_count": 1, "block_count": 1, "data_size": 0, "additional_info": {
            "use_null_stream": true, "actions": [
            {"type": "kernel", "label": "L", "delay": 0.1, "parameters": {"type": "timer_spin", "duration": 1000,
             "block_count": 1, "thread_count": 1, "shared_memory_size": 1, "sm_mask": "x"}},
            {"type": "kernel", "parameters": {"type": "counter_spin", "duration": 1000}},
            {"type": "malloc", "label": "L", "delay": 0.1, "parameters": {"host": true, "size": 1}}, {"type": "free"},
            {"type": "memset", "label": "L", "delay": 0.1, "parameters": {"async": true, "size": 1}},
            {"type": "memcpy", "label": "L", "delay": 0.1,
             "parameters": {"async": false, "size": 1, "direction": "deviceToHost"}},
            {"type": "synchronize", "label": "L", "delay": 0.1, "parameters": {"device": true}}]}},
        {"filename": "task_host.so", "thread_count": 0, "block_count": 0, "data_size": 0, "additional_info": {
            "name": "nested", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "sync_every_iteration": true,
            "benchmarks": [{"filename": "timer_spin.so", "thread_count": 1, "block_count": 1, "data_size": 0}]}},
        {"filename": "cpu_inorder_walk.so", "thread_count": 0, "block_count": 0, "data_size": 0},
        {"filename": "mandelbrot.so", "thread_count": 64, "block_count": 0, "data_size": 100, "additional_info": "50000"},
        {"filename": "matrix_multiply.so", "thread_count": [16, 16], "block_count": 1, "data_size": 0,
         "additional_info": {"matrix_width": 100, "skip_copy": true, "comment": 1}},
        {"filename": "random_walk.so", "thread_count": 32, "block_count": 2, "data_size": 8, "additional_info": 5},
        {"filename": "inorder_walk.so", "thread_count": 32, "block_count": 2, "data_size": 80},
        {"filename": "sharedmem_timer_spin.so", "thread_count": 1, "block_count": 1, "data_size": 0,
         "additional_info": "1000,4096"},
        {"filename": "multikernel.so", "log_name": "/dev/null", "thread_count": 0, "block_count": 0, "data_size": 0,
         "additional_info": "K1,500000000,7,512,K2,500000000,7,500"}]
}"#;

/// An examiner scenario with the keys of older and newer versions.
pub(crate) const OTHER_EXAMINER: &str = r#"{"max_iterations": 0, "max_time": 0, "cuda_device": 0, "cycle_cpus": true,
    "resync_iterations": true, "benchmarks": [
        {"filename": "counter_spin.so", "thread_count": 1, "block_count": 1, "data_size": 0, "log_name": "/dev/null"},
        {"filename": "timer_spin.so", "thread_count": 1, "block_count": 1, "data_size": 0, "max_time": 1,
         "terminator": true, "log_name": "/dev/null"}]
}"#;

/// A tasks file with every key there is.
pub(crate) const TASKS: &str = r#"{
    "$schema": "any.schema.json", "sms": 2, "priority_levels": 2, "comment": 1,
    "tasks": [
        {"name": "tau1", "C": 3, "T": 10, "D": 9, "PC": 1, "sm": 0, "offset": 2, "sporadic": true, "priority": 3},
        {"T": 100, "sm": "all", "kernel": {"blocks": 9, "threads": 256, "registers_per_thread": 16,
            "shared_memory_bytes": 1024, "block_time": 10, "comment": 1}}],
    "reservation": {"period": 12, "single": {"offset": 0, "budget": 8}, "all": {"offset": 8, "budget": 4}}
}"#;

/// A file of tasks with segments with every key there is.
pub(crate) const SEGMENTS: &str = r#"{
    "$schema": "any.schema.json", "format": "gpusched-segments/1", "cpus": 2, "comment": 1,
    "gpu": {"time_slice": "1 ms", "switch_cost": "200 us", "update_cost": "1 ms", "channel_reset": "5 ms", "comment": 1},
    "tasks": [
        {"name": "a", "cpu": 0, "T": "100 ms", "D": "90 ms", "priority": 1, "level": "high", "comment": 1,
         "best_effort": false, "offset": "1 ms", "sporadic": true,
         "segments": [{"cpu": "1 ms", "comment": 1}, {"misc": "1 ms", "gpu": "10 ms", "comment": 1}]},
        {"cpu": 1, "T": "100 ms", "best_effort": true, "segments": [{"gpu": "10 ms"}]}]
}"#;

/// An instance of the warps' makespan with every key there is.
pub(crate) const WARPS: &str = r#"{
    "$schema": "any.schema.json", "format": "gpusched-warps/1",
    "string": "LC2S", "warps": 4, "warp_size": 32, "uninterrupted": true, "estimate_from": 2,
    "comment": 1, "units": [{"letter": "L", "count": 16, "comment": 1}, {"letter": "S", "sigma": "1/8", "cycles": 2}, {"letter": "C", "sigma": 2}]
}"#;

/// Application files with every key there is, with arrivals and with each generator.
pub(crate) const APPLICATIONS: [&str; 3] = [
    r#"{"$schema": "any.schema.json", "format": "gpusched-applications/1",
        "name": "all keys", "synthetic": true, "source": "made up", "comment": 1,
        "device": "k20m", "power": {"idle_w": 50, "per_busy_sm_w": 13.5, "source": "assumed"}, "applications": [
        {"name": "A", "class": "high", "requirement": "2 s", "copy_in_bytes": 1, "copy_out_bytes": 2,
         "arrivals": ["0 s", "1 s"], "reasoning": "none", "kernels": [
            {"name": "K", "blocks": 2, "threads": 32, "registers_per_thread": 16, "shared_memory_bytes": 1024,
             "launches": 2, "block_time": "1 ms"},
            {"blocks": 1, "threads": 64, "execution_time": {"1": "2 ms", "13": "1 ms", "comment": "c"}}]}]}"#,
    r#"{"format": "gpusched-applications/1", "name": "drawn", "injection": {"per_period": {"count": 2, "period": "1 s",
        "periods": 3}}, "applications": [{"name": "A", "class": "low", "requirement": ["2 s", "3 s"],
        "kernels": [{"blocks": 2, "threads": 32, "block_time": "1 ms"}]}]}"#,
    r#"{"format": "gpusched-applications/1", "name": "drawn", "injection": {"random": {"count": 2, "gap": "1 s"}},
        "applications": [{"name": "A", "class": "low", "requirement": "2 s",
        "kernels": [{"blocks": 2, "threads": 32, "block_time": "1 ms"}]}]}"#,
];

/// Study files with every key there is.
pub(crate) const STUDIES: [&str; 7] = [
    r#"{"$schema": "any.schema.json", "format": "gpusched-study/1", "name": "all keys",
        "command": "merged-sm", "seed": 1, "samples": 20,
        "samples_per_row": 7, "comment": 1, "parameters": {"device": "tx2", "comment": 2},
        "grid": {"family": ["chains", "unequal"], "placement": ["random", "most-room"], "comment": 3}}"#,
    r#"{"format": "gpusched-study/1", "name": "all keys", "command": "tasks curve", "samples": 20, "samples_per_row": 7,
        "parameters": {"tasks_per_sm": 1, "gang_tasks": 2, "sms": 2, "periods": [10, 20], "periods_are": "log-uniform",
            "utilizations": "uunifast", "deadlines_from_percent": 75, "reservation_period": "shortest",
            "tests": ["sbf", "exact"]},
        "grid": {"seed": [1, 2], "utilization_permille": [200, 300], "gang_utilization_permille": [100]}}"#,
    r#"{"format": "gpusched-study/1", "name": "all keys", "command": "evr", "seed": 1, "samples": 20,
        "samples_per_row": 1, "parameters": {"applications": "rodinia-like-k20m", "device": "k20m",
            "period": "1 s", "periods": 2, "rules": {"full-gpu": "wait", "urgent": "due", "urgent-within": "5 ms", "comment": 1},
            "saturation_sms": 4, "execution": "100 ms"},
        "grid": {"scheduler": ["gpu-evr", "timegraph"], "tightness_percent": [110, 200], "per_period": [1, 2]}}"#,
    r#"{"format": "gpusched-study/1", "name": "of gaps", "command": "evr", "seed": 1, "samples": 2,
        "parameters": {"applications": "rodinia-like-k20m", "inject": 2}, "grid": {"gap": ["1 ms", "2 ms"]}}"#,
    r#"{"format": "gpusched-study/1", "name": "all keys but those of profiles", "command": "simulate", "seed": 1, "samples": 2,
        "parameters": {"scenario": "../scenarios/processes/perception-and-control.json", "device": "orin",
            "placement": "most-room", "responses_of": "steering", "vary": "80..100", "horizon": "1 s",
            "kernel_gap": "0 s", "block_gap": "0 s", "register_dealing": "worst", "launch_latency": "1 us", "channel_order": "fifo", "connections": 8,
            "block_duration": {}, "deadline": {"steering": "4 ms"}, "period": {"steering": "10 ms"},
            "set_priority": {"steering": -1}, "set_block_time": {"steer": "600 us"}, "set_stream": {"steer": "steering"}},
        "grid": {"time_slice": ["1 ms", "2 ms"], "switch_cost": ["0 s", "1 us"], "mps": [false, true],
            "kernels.steer.threads": [32, 64], "set": [{}, {"release_order": "declared"}]}}"#,
    r#"{"format": "gpusched-study/1", "name": "all keys but tasks", "command": "tasks segments", "seed": 1, "samples": 2,
        "parameters": {"preset": "ecrts2024-artefact", "sets": "printed", "cpus": 2, "tasks_per_cpu": [1, 2],
            "gpu_tasks_permille": 500, "gpu_segments": [1, 3], "gpu_to_cpu_permille": [200, 2000], "misc_permille": [100, 300],
            "best_effort_permille": 100, "period_ms": [30, 50], "periods_are": "harmonic", "time_slice": "1 ms", "switch_cost": "200 us",
            "update_cost": "1 ms", "channel_reset": "0 s", "tests": ["gcaps-suspend", "gcaps-busy-as-printed"],
            "simulated_runs": 1},
        "grid": {"utilization_permille": [100, [200, 300]]}}"#,
    r#"{"format": "gpusched-study/1", "name": "drawn", "command": "analyze", "seed": 1, "samples": 2,
        "parameters": {"streams": 2, "periods": ["10 ms", "20 ms"], "periods_are": "drawn", "loads_are": "uunifast",
            "kernels_per_job": [1, 3], "waves_percent": 50, "threads_per_block": [32, 128], "priorities": "equal",
            "deadline_percent": 90, "releases_until": "40 ms", "tests": ["sporadic", "run"], "search_runs": 4},
        "grid": {"load_percent": [20, 40], "streams[S1].jitter": ["0 s", "1 ms"]}}"#,
];
