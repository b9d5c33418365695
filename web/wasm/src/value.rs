//! The value of an option, as the page tells it.

use std::path::PathBuf;

use gpusched::input::options::{OptionFile, OptionValue};
use gpusched::time::Duration;
use serde_json::Value;

/// A value of JSON, in which any key is a name: there are no comments.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Told<'a>(pub(crate) &'a Value);

impl Told<'_> {
    fn or_wrong<T>(self, value: Option<T>, expected: &str) -> Result<T, String> {
        value.ok_or_else(|| self.wrong(expected))
    }
}

impl OptionValue for Told<'_> {
    type Error = String;

    fn wrong(&self, expected: &str) -> String {
        format!("expected {expected}, found {}", self.0)
    }

    fn refused(&self, why: String) -> String {
        why
    }

    fn flag(&self) -> Result<bool, String> {
        self.or_wrong(self.0.as_bool(), "true or false")
    }

    fn whole(&self, least: i64, most: u64) -> Result<i128, String> {
        let number = self.0.as_i64().map(i128::from).or_else(|| self.0.as_u64().map(i128::from));
        let number = number.filter(|number| (i128::from(least)..=i128::from(most)).contains(number));
        self.or_wrong(number, &format!("a whole number from {least} to {most}"))
    }

    fn time(&self) -> Result<Duration, String> {
        Duration::parse(&self.text()?).map_err(|error| error.to_string())
    }

    fn text(&self) -> Result<String, String> {
        self.or_wrong(self.0.as_str().map(str::to_owned), "a string")
    }

    fn texts(&self) -> Result<Vec<String>, String> {
        self.or_wrong(self.0.as_array(), "a list")?.iter().map(|value| Told(value).text()).collect()
    }

    fn entries(&self) -> Result<Vec<(String, Self)>, String> {
        let entries = self.or_wrong(self.0.as_object(), "an object")?;
        Ok(entries.iter().map(|(name, value)| (name.clone(), Told(value))).collect())
    }

    fn file(&self) -> Result<OptionFile, String> {
        self.text().map(|name| OptionFile::Path(PathBuf::from(name)))
    }
}
