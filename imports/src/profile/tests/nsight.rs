//! Exports of Nsight Systems, made here.

use rusqlite::{Connection, MAIN_DB};

use super::*;

/// A kernel of 100 us in stream 7, whose end event is recorded; a kernel in stream 8 that waits for it, of priority -2;
/// and a host that waits for the same event and launches again 90 us later. The event's handle, 5, is used twice, its
/// record, 70, is not.
const TABLES: &str = "
    CREATE TABLE StringIds (id INTEGER, value TEXT);
    INSERT INTO StringIds VALUES (1, 'f(int)'), (2, 'cudaLaunchKernel_v7000'), (3, 'cudaEventRecord_v3020'),
        (4, 'cudaStreamWaitEvent_v3020'), (5, 'cudaEventSynchronize_v3020');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
        streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, registersPerThread INTEGER,
        gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
        staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
        (10000, 110000, 0, 1, 7, 1, 16777216, 1, 32, 108, 1, 1, 1024, 1, 1, 0, 0),
        (112000, 162000, 0, 1, 8, 4, 16777216, 1, 32, 216, 1, 1, 1024, 1, 1, 0, 0),
        (210000, 220000, 0, 1, 8, 6, 16777216, 1, 32, 216, 1, 1, 1024, 1, 1, 0, 0);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, nameId INTEGER, globalTid INTEGER,
        correlationId INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 3000, 2, 16777217, 1), (4000, 5000, 3, 16777217, 2),
        (6000, 7000, 4, 16777217, 3), (8000, 9000, 2, 16777217, 4), (9500, 112000, 5, 16777217, 5),
        (200000, 201000, 2, 16777217, 6);
    CREATE TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT (deviceId INTEGER, contextId INTEGER, streamId INTEGER,
        eventId INTEGER, eventSyncId INTEGER, correlationId INTEGER, globalPid INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_CUDA_EVENT VALUES (0, 1, 8, 5, 69, 99, 16777216), (0, 1, 7, 5, 70, 2, 16777216);
    CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
        streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER, eventSyncId INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES (6000, 7000, 0, 1, 8, 3, 16777216, 2, 70),
        (9500, 112000, 0, 1, 4294967295, 5, 16777216, 1, 70);
    CREATE TABLE TARGET_INFO_CUDA_STREAM (streamId INTEGER, processId INTEGER, contextId INTEGER, priority INTEGER,
        flag INTEGER);
    INSERT INTO TARGET_INFO_CUDA_STREAM VALUES (7, 1, 1, 0, 2), (8, 1, 1, 4294967294, 2);
";

/// The export with these tables and `more`.
fn export(more: &str) -> GpuProfile {
    let mut database = Connection::open_in_memory().expect("memory takes it");
    database.execute_batch(TABLES).expect("it is SQL");
    database.execute_batch(more).expect("it is SQL");
    let bytes = database.serialize(MAIN_DB).expect("it can be written");
    GpuProfile::read("test.sqlite", &bytes).expect("it can be read")
}

fn import(profile: &GpuProfile) -> Import {
    let device = crate::device::Device::builtin("a100-40gb").expect("it is sound").expect("it is built in");
    let options = ReadOptions { device: Some(device), ..ReadOptions::default() };
    profile.import(&ImportOptions::default(), &options).expect("sound")
}

#[test]
fn streams_and_hosts_wait_for_the_record_that_the_export_names() {
    let import = import(&export(""));
    assert_eq!(import.streams.iter().map(|stream| stream.priority).collect::<Vec<_>>(), [0, -2]);
    assert_eq!(import.scenario.events().len(), 1, "both wait for the same record");
    assert_eq!(starts(&import.scenario), [10_000, 110_000, 210_000]);
    let steps = &import.scenario.threads[0].steps;
    assert!(steps.iter().any(|step| matches!(step, Step::SynchronizeEvent(_))), "{steps:?}");
}

#[test]
fn kernels_larger_than_any_gpu_takes_are_left_out() {
    let profile = export("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridY = 70000, gridX = 1 WHERE correlationId = 6");
    assert_eq!(profile.operations.len(), 2);
    assert_eq!(profile.left_out.get("kernels whose grid or block is larger than any CUDA GPU takes"), Some(&1));
}

#[test]
fn without_records_of_events_order_and_times_tell() {
    let import = import(&export("DROP TABLE CUPTI_ACTIVITY_KIND_CUDA_EVENT"));
    assert_eq!(starts(&import.scenario), [10_000, 110_000, 210_000]);
    let notes = import.scenario.notes.join("; ");
    assert!(notes.contains("1 wait of one stream for an event of another, and the file does not say"), "{notes}");
    assert!(notes.contains("1 wait of the host for an event that the file does not name"), "{notes}");
}

#[test]
fn launches_are_cooperative_by_the_name_that_the_export_gives_their_type() {
    // CUPTI's own number for a cooperative launch is that of a regular one here.
    let typed = "ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL ADD COLUMN launchType INTEGER;
        UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET launchType = CASE correlationId WHEN 1 THEN 2 WHEN 4 THEN 1 ELSE 9 END;";
    let names = "CREATE TABLE ENUM_CUDA_KERNEL_LAUNCH_TYPE (id INTEGER, name TEXT, label TEXT);
        INSERT INTO ENUM_CUDA_KERNEL_LAUNCH_TYPE VALUES (0, 'CUPTI_LAUNCH_TYPE_UNKNOWN', ''),
            (1, 'CUPTI_LAUNCH_TYPE_REGULAR', ''), (2, 'CUPTI_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE', '');";
    let of = |profile: &GpuProfile| {
        let import = import(profile);
        let kernels = import.scenario.kernels().iter();
        let together: Vec<bool> = kernels.map(|kernel| kernel.synchronization().is_some()).collect();
        (together, import.scenario.notes.join("; "))
    };
    let (together, notes) = of(&export(&(typed.to_owned() + names)));
    assert_eq!(together[..2], [true, false]);
    assert!(notes.contains("launched cooperatively: all blocks begin together: 1 of f"), "{notes}");
    assert!(notes.contains("that the file only has a number for: as others here: 1 of f"), "{notes}");
    let (together, notes) = of(&export(typed));
    assert!(!together.contains(&true));
    assert!(notes.contains("that the file only has a number for: as others here: 3 of f"), "{notes}");
    let (_, notes) = of(&export(""));
    assert!(!notes.contains("launched"), "{notes}");
    // An A100 with 108 SMs holds 216 of these blocks.
    let larger = "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 217 WHERE correlationId = 1;";
    let (together, notes) = of(&export(&(typed.to_owned() + names + larger)));
    assert!(!together.contains(&true));
    assert!(notes.contains("with more blocks than this device holds: they begin one by one here: 1 of f"), "{notes}");
}
