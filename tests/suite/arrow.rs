//! `--format arrow`: every command's table with types, read back as other programs do.

use crate::common::{gpusched, stderr};

#[cfg(not(feature = "arrow"))]
#[test]
fn builds_without_arrow_name_the_feature_before_anything_is_done() {
    for arguments in [vec!["simulate", "no-such-file.json"], vec!["tasks", "run", "no-such-file.json"]] {
        let output = gpusched(&[&arguments[..], &["--format", "arrow"]].concat());
        assert_eq!(output.status.code(), Some(2));
        let said = stderr(&output);
        assert!(output.stdout.is_empty() && said.contains("--features arrow"), "{said}");
    }
}

#[cfg(feature = "arrow")]
mod built {
    use std::collections::HashMap;
    use std::fs;

    use arrow_array::cast::AsArray;
    use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
    use arrow_array::{Array, RecordBatch};
    use arrow_ipc::reader::StreamReader;
    use arrow_schema::{DataType, SchemaRef};

    use super::{gpusched, stderr};
    use crate::common::directory;
    use crate::json_lines::tables;

    /// What a command prints, which has to succeed.
    fn printed(arguments: &[String], format: &str) -> Vec<u8> {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).chain(["--format", format]).collect();
        let output = gpusched(&arguments);
        assert!(output.status.code() < Some(2), "{arguments:?}: {}", stderr(&output));
        output.stdout
    }

    fn read(stream: &[u8]) -> (SchemaRef, Vec<RecordBatch>) {
        let mut rest = stream;
        let reader = StreamReader::try_new(&mut rest, None).expect("a stream begins with its schema");
        let schema = reader.schema();
        let batches = reader.map(|batch| batch.expect("it is whole")).collect();
        assert!(stream.ends_with(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]), "the stream says where it ends");
        assert!(rest.is_empty(), "{} bytes stand behind the end", rest.len());
        (schema, batches)
    }

    /// The cells of a column as they are in comma-separated values, or as they would be with four decimals.
    fn column(array: &dyn Array) -> Vec<[String; 2]> {
        let both = |text: String| [text.clone(), text];
        let cell = |row: usize| match array.data_type() {
            _ if array.is_null(row) => both(String::new()),
            DataType::Utf8 => both(array.as_string::<i32>().value(row).to_owned()),
            DataType::UInt64 => both(array.as_primitive::<UInt64Type>().value(row).to_string()),
            DataType::Int64 => both(array.as_primitive::<Int64Type>().value(row).to_string()),
            DataType::Boolean => both(array.as_boolean().value(row).to_string()),
            DataType::Float64 => {
                let number = array.as_primitive::<Float64Type>().value(row);
                [number.to_string(), format!("{number:.4}")]
            }
            other => panic!("{other} is no type of a column"),
        };
        (0..array.len()).map(cell).collect()
    }

    /// Compares a command's stream with its comma-separated values, cell by cell; the batches.
    fn compared(arguments: &[String]) -> (SchemaRef, Vec<RecordBatch>) {
        let (schema, batches) = read(&printed(arguments, "arrow"));
        let csv = printed(arguments, "csv");
        let mut csv = csv::Reader::from_reader(&csv[..]);
        let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        assert_eq!(csv.headers().expect("a line of names"), names, "{arguments:?}");
        let mut records = csv.into_records();
        for batch in &batches {
            let columns: Vec<_> = batch.columns().iter().map(|array| column(array)).collect();
            for row in 0..batch.num_rows() {
                let record = records.next().expect("both have as many rows").expect("it is sound");
                for ((cell, stated), name) in columns.iter().zip(&record).zip(&names) {
                    assert!(cell[row].iter().any(|cell| cell == stated), "{arguments:?}, {name}: {cell:?}, {stated}");
                }
            }
        }
        assert!(records.next().is_none(), "{arguments:?}: the stream lacks rows");
        (schema, batches)
    }

    fn owned(arguments: &[&str]) -> Vec<String> {
        arguments.iter().map(|&argument| argument.to_owned()).collect()
    }

    /// The type of a column and its unit.
    fn stated(schema: &SchemaRef, name: &str) -> (DataType, HashMap<String, String>) {
        let field = schema.field_with_name(name).expect("there is such a column");
        (field.data_type().clone(), field.metadata().clone().into())
    }

    fn ns() -> HashMap<String, String> {
        HashMap::from([("unit".to_owned(), "ns".to_owned())])
    }

    #[test]
    fn every_command_has_the_cells_of_its_comma_separated_values() {
        for (arguments, _) in tables("arrow") {
            compared(&arguments);
        }
        compared(&owned(&["analyze", "scenarios/deadlines/camera-and-lidar.json", "--verdicts"]));
    }

    #[test]
    fn a_study_whose_columns_its_grid_decides_has_them_too() {
        let directory = directory("arrow_study");
        let file = directory.join("study.json").display().to_string();
        let text = r#"{"format": "gpusched-study/1", "name": "small", "command": "merged-sm", "seed": 7, "samples": 20,
            "samples_per_row": 10, "grid": {"family": ["unequal", "priorities"]}}"#;
        fs::write(&file, text).expect("it can be written");
        assert_eq!(gpusched(&["study", "run", &file]).status.code(), Some(0));
        compared(&owned(&["study", "status", &file]));
        let (schema, _) = compared(&owned(&["study", "plot", &file]));
        assert_eq!(stated(&schema, "family"), (DataType::Utf8, HashMap::new()));
        assert_eq!(stated(&schema, "samples").0, DataType::UInt64);
        assert_eq!(stated(&schema, "equal_low").0, DataType::Float64);
    }

    #[test]
    fn integers_stay_integers_and_times_say_that_they_are_nanoseconds() {
        let (schema, _) = compared(&owned(&["simulate", "scenarios/rtss2017/figure-8.json"]));
        for time in ["launched_ns", "finish_ns", "longest_wait_ns", "deadline_ns"] {
            assert_eq!(stated(&schema, time), (DataType::UInt64, ns()), "{time}");
        }
        assert_eq!(stated(&schema, "stream"), (DataType::Int64, HashMap::new()));
        assert_eq!(stated(&schema, "threads"), (DataType::UInt64, HashMap::new()));
        assert_eq!(stated(&schema, "job_met"), (DataType::Boolean, HashMap::new()));
        let (schema, _) = compared(&owned(&["compare", "scenarios/rtss2017/figure-8.json"]));
        assert_eq!(stated(&schema, "difference_ns"), (DataType::Int64, ns()));
    }

    #[test]
    fn a_table_without_rows_has_the_types_of_one_with_rows() {
        let file = directory("arrow_no_rows").join("copy.json");
        let text = r#"{"format": "gpusched-scenario/1", "name": "copy", "streams": [{"name": "S", "operations": [
            {"copy": "host-to-device", "duration": "2 ms"}]}]}"#;
        fs::write(&file, text).expect("it can be written");
        let (none, batches) = compared(&owned(&["simulate", &file.display().to_string()]));
        assert!(batches.is_empty());
        let (some, batches) = compared(&owned(&["simulate", "scenarios/rtss2017/figure-8.json"]));
        assert!(!batches.is_empty());
        assert_eq!(none, some);
    }

    #[test]
    fn rows_come_in_batches_of_bounded_size() {
        let file = directory("arrow_batches").join("many.json");
        let text = r#"{"format": "gpusched-scenario/1", "name": "many", "kernels": {"K": {"blocks": 9000, "threads": 32,
            "duration": "1 us"}}, "streams": [{"name": "S", "operations": [{"kernel": "K"}, {"kernel": "K"}]}]}"#;
        fs::write(&file, text).expect("it can be written");
        let (_, batches) = compared(&owned(&["simulate", &file.display().to_string(), "--blocks"]));
        let rows: Vec<usize> = batches.iter().map(RecordBatch::num_rows).collect();
        assert_eq!(rows.iter().sum::<usize>(), 18_000);
        assert!(rows.len() > 1 && rows.iter().all(|&rows| rows <= 8192), "{rows:?}");
    }

    #[test]
    fn several_scenarios_are_one_stream_whose_rows_say_their_file() {
        for command in ["simulate", "analyze", "compare"] {
            let (schema, batches) = compared(&owned(&[command, "scenarios/thesis2019", "scenarios/rtss2017"]));
            assert_eq!(stated(&schema, "file"), (DataType::Utf8, HashMap::new()), "{command}");
            assert!(batches.len() > 10, "{command}: each scenario has rows of its own");
        }
    }

    #[test]
    fn a_scenario_that_fails_ends_the_stream_after_those_before_it() {
        let directory = directory("arrow_failing");
        let write = |name: &str, more: &str| {
            let text = format!(
                r#"{{"format": "gpusched-scenario/1", "name": "{name}", "kernels": {{"K": {{"blocks": 1, "threads": 32,
                "duration": "1 ns"}}}}, "streams": [{{"name": "S", "operations": [{{"kernel": "K"}}]}}]{more}}}"#
            );
            fs::write(directory.join(name), text).expect("it can be written");
        };
        write("a.json", "");
        write("b.json", r#", "hosts": [{"name": "H", "time_limit": "9e9 s", "steps": [{"sleep": "1 ns"}]}]"#);
        let output = gpusched(&["simulate", &directory.display().to_string(), "--format", "arrow"]);
        assert_eq!(output.status.code(), Some(2));
        let (_, batches) = read(&output.stdout);
        assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 1);
    }

    #[test]
    fn a_stream_that_is_cut_by_a_stop_is_whole_and_the_exit_status_says_so() {
        let samples = ["evr", "narrow-k20m", "--inject", "5", "--samples", "1000000", "--max-time", "2s"];
        let output = gpusched(&[&samples[..], &["--format", "arrow"]].concat());
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("stopped by --max-time 2 s: what is told is what was complete by then"), "{said}");
        let (_, batches) = read(&output.stdout);
        assert!(batches.iter().map(RecordBatch::num_rows).sum::<usize>() > 1, "one for each scheduler");
    }
}
