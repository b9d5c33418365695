//! What the page asks.

use std::collections::BTreeMap;
use std::path::Path;

use gpusched::input::options::{ScenarioOption, ScenarioOptions};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::answer::Refusal;
use super::value::Told;

/// One question about a file.
#[derive(Debug, Deserialize)]
pub(crate) struct Request {
    pub(crate) want: Want,
    #[serde(flatten)]
    pub(crate) settings: Settings,
}

/// What is wanted.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Want {
    /// What there is to choose from: devices, placements, the schema of scenarios. Not about a file.
    Choices,
    /// What there is to change in the scenario.
    Outline,
    /// The data of the timeline.
    Data,
    /// The tables of `gpusched simulate`, in parts.
    Tables,
    /// The timeline as a file of its own.
    Html,
    /// The timeline as a picture.
    Svg,
    /// What `gpusched simulate --format json` prints.
    Simulate,
    /// What `gpusched analyze --format json` prints, and the tables of `gpusched analyze`.
    Analyze,
    /// The scenario in gpusched's own format, changes included.
    Scenario,
    /// A panic, with which a test sees what the page makes of one.
    Panic,
}

/// What the user has set beside the file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Settings {
    /// The name by which messages mention the file.
    pub(crate) file: String,
    /// The content of files that options name.
    files: BTreeMap<String, String>,
    /// Options of scenarios, by their keys.
    #[serde(flatten)]
    options: Map<String, Value>,
}

impl Settings {
    /// The options, with files read.
    pub(crate) fn options(&self) -> Result<ScenarioOptions, Refusal> {
        let mut options = ScenarioOptions::default();
        for (key, value) in self.options.iter().filter(|(_, value)| !value.is_null()) {
            let refused = |why: String| Refusal::saying(format!("{key}: {why}"));
            let option = ScenarioOption::of(key).ok_or_else(|| refused("there is no such option".to_owned()))?;
            option.read(&Told(value)).map_err(refused)?.apply(&mut options);
        }
        let content = |path: &Path| self.files.get(path.to_str()?).map(|text| text.clone().into_bytes());
        let read = |path: &Path| {
            let name = path.display().to_string();
            let missing = || Refusal::saying(format!("there is no file {name}"));
            content(path).ok_or_else(missing).map(|bytes| (name.clone(), bytes))
        };
        options.open(|path| content(path).is_some(), read)?;
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use gpusched::input::options::OPTIONS;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_takes_every_option_and_nothing_else() {
        let options =
            |request: Value| serde_json::from_value::<Request>(request).expect("it is one").settings.options();
        let profile = include_str!("../../../scenarios/profiles/synthetic.json");
        for option in OPTIONS {
            let (key, value) = (option.key, option.example_in_json());
            let request = json!({"want": "tables", "file": "x", "files": {"alone.json": profile}, key: value});
            let told = options(request).unwrap_or_else(|refused| panic!("{key}: {}", refused.message));
            assert_eq!(told.given.into_iter().collect::<Vec<_>>(), [key]);
        }
        let refused = options(json!({"want": "tables", "kernel-gap": "1 ms"})).expect_err("it is none");
        assert_eq!(refused.message, "kernel-gap: there is no such option");
    }
}
