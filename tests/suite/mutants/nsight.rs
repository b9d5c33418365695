//! An export of Nsight Systems, and changes of its fields.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rusqlite::{Connection, MAIN_DB};

/// Two kernels in two streams and the calls that launched them.
const TABLES: &str = "
    CREATE TABLE StringIds (id INTEGER, value TEXT);
    INSERT INTO StringIds VALUES (1, 'f(int)'), (2, 'cudaLaunchKernel_v7000'), (3, 'cudaStreamSynchronize_v3020');
    CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER,
        streamId INTEGER, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER, registersPerThread INTEGER,
        gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
        staticSharedMemory INTEGER, dynamicSharedMemory INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
        (10000, 110000, 0, 1, 7, 1, 16777216, 1, 32, 108, 1, 1, 1024, 1, 1, 0, 0),
        (112000, 162000, 0, 1, 8, 4, 16777216, 1, 32, 216, 1, 1, 1024, 1, 1, 0, 0);
    CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, nameId INTEGER, globalTid INTEGER,
        correlationId INTEGER);
    INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0, 3000, 2, 16777217, 1), (8000, 9000, 2, 16777217, 4),
        (9000, 170000, 3, 16777217, 5);
    CREATE TABLE TARGET_INFO_GPU (id INTEGER, cuDevice INTEGER, name TEXT, smCount INTEGER, computeMajor INTEGER, computeMinor INTEGER);
    INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'NVIDIA A100-PCIE-40GB', 108, 8, 0);
";

/// What is put into fields, as SQL.
const VALUES: &[&str] = &[
    "NULL",
    "0",
    "-1",
    "1",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "0.5",
    "'text'",
    "''",
    "x'ff00'",
    "char(0)",
];

/// A sound export.
pub(super) fn export() -> Vec<u8> {
    of(&[])
}

/// The export after these statements; what is wrong about them changes nothing.
fn of(statements: &[String]) -> Vec<u8> {
    let mut database = Connection::open_in_memory().expect("memory takes it");
    database.execute_batch(TABLES).expect("it is SQL");
    for statement in statements {
        database.execute_batch(statement).expect("it is SQL");
    }
    database.serialize(MAIN_DB).expect("it can be written").to_vec()
}

/// An export with some fields changed, columns or tables left out.
pub(super) fn changed(random: &mut ChaCha8Rng) -> (Vec<u8>, &'static str) {
    let tables: Vec<(&str, Vec<&str>)> = TABLES
        .split("CREATE TABLE ")
        .skip(1)
        .map(|table| {
            let (name, columns) = table.split_once(" (").expect("it has columns");
            let columns = columns.split_once(')').expect("they end").0;
            (name, columns.split(',').filter_map(|column| column.split_whitespace().next()).collect())
        })
        .collect();
    let (table, columns) = &tables[random.random_range(0..tables.len())];
    let column = columns[random.random_range(0..columns.len())];
    let value = VALUES[random.random_range(0..VALUES.len())];
    let row = random.random_range(0..3);
    match random.random_range(0..12) {
        0 => (of(&[format!("DROP TABLE {table}")]), "no table"),
        1 => (of(&[format!("ALTER TABLE {table} DROP COLUMN {column}")]), "no column"),
        2 => (of(&[format!("INSERT INTO {table} SELECT * FROM {table}")]), "rows twice"),
        3 => (of(&[format!("DELETE FROM {table}")]), "no rows"),
        4 => (of(&[format!("UPDATE {table} SET {column} = {value}")]), "another field of all rows"),
        _ => (of(&[format!("UPDATE {table} SET {column} = {value} WHERE rowid = {row}")]), "another field"),
    }
}
