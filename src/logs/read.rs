//! Reading one log.

use serde::de::DeserializeSeed;
use serde_json::error::Category;

use super::assemble::{LogReading, assemble};
use super::defect::{Defect, Dropped};
use super::repair::replace_non_numbers;
use super::visit::{Draft, FileSeed};
use crate::json::without_byte_order_mark;

/// Reads a log; `file` is its name in reports. Takes the text, so that it need not be held twice.
///
/// Never fails: what is sound is kept, and what is not is told. A text that is no JSON at all gives no log and a
/// [`Defect::Broken`] with the position.
pub fn read_log(file: &str, mut text: Vec<u8>) -> LogReading {
    let mut draft = Draft::default();
    let mut result = parse(&text, &mut draft);
    if result.as_ref().is_err_and(|error| error.classify() == Category::Syntax) && replace_non_numbers(&mut text) {
        draft = Draft::default();
        result = parse(&text, &mut draft);
    }
    drop(text);
    let mut reading = assemble(file, draft);
    if let Err(error) = result {
        let kept_kernels = reading.log.as_ref().map_or(0, |log| log.kernels.len());
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let what = message.split(" at line ").next().unwrap_or(&message).to_owned();
        let defect = if error.classify() == Category::Eof {
            Defect::Truncated { line, column, kept_kernels }
        } else {
            Defect::Broken { line, column, what, kept_kernels }
        };
        reading.dropped.insert(0, Dropped { file: file.to_owned(), kernel: None, defect });
        if let Some(log) = &mut reading.log {
            log.incomplete = true;
        }
    }
    reading
}

fn parse(text: &[u8], draft: &mut Draft) -> serde_json::Result<()> {
    let mut json = serde_json::Deserializer::from_slice(without_byte_order_mark(text));
    FileSeed { draft }.deserialize(&mut json)?;
    json.end()
}
