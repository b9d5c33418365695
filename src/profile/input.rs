//! Files of any kind from which a scenario can be made.

use std::borrow::Cow;

use thiserror::Error;

use super::error::GpuProfileError;
use super::import_options::ImportOptions;
use super::model::{GpuProfile, ProfileFormat};
use super::read::uncompressed;
use crate::json::JsonError;
use crate::scenario::amalthea::{AmaltheaError, AmaltheaModel, AmaltheaOptions, ModelDemands};
use crate::scenario::{ReadOptions, Scenario, WhatIf, WhatIfError};

/// What a scenario is made of, told by its content.
#[derive(Debug)]
pub enum Input {
    /// A profile of a real application.
    Profile(GpuProfile),
    /// Anything else: a scenario file or an AMALTHEA model.
    Text {
        /// The name by which errors mention it.
        file: String,
        /// What it holds.
        text: String,
    },
}

/// Why no scenario can be made of a file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// The profile is damaged, or does not fit.
    #[error(transparent)]
    Profile(#[from] GpuProfileError),
    /// The AMALTHEA model is wrong.
    #[error(transparent)]
    Model(#[from] AmaltheaError),
    /// The scenario file is wrong.
    #[error(transparent)]
    Scenario(#[from] JsonError),
    /// What its user wants changed cannot be.
    #[error(transparent)]
    WhatIf(#[from] WhatIfError),
    /// An option means nothing to such an input.
    #[error("{option} is for {kind}, and {file} is none")]
    OnlyFor {
        /// The option, as its user calls it.
        option: &'static str,
        /// The inputs that it is for.
        kind: &'static str,
        /// The file.
        file: String,
    },
    /// It is neither a profile nor text.
    #[error("cannot read {file}: it is no text")]
    NoText {
        /// The file.
        file: String,
        /// Where it stops being text.
        source: std::string::FromUtf8Error,
    },
}

impl Input {
    /// Of the content of a file, which may be compressed with gzip; `file` is its name in errors.
    ///
    /// # Errors
    /// [`InputError`] for damaged profiles and what is no text. Scenario files and models are not looked into.
    pub fn of(file: &str, bytes: Vec<u8>) -> Result<Self, InputError> {
        let content = uncompressed(file, Cow::Owned(bytes))?;
        if ProfileFormat::of(&content).is_some() {
            return Ok(Self::Profile(GpuProfile::read(file, &content)?));
        }
        let text = String::from_utf8(content.into_owned())
            .map_err(|source| InputError::NoText { file: file.to_owned(), source })?;
        Ok(Self::Text { file: file.to_owned(), text })
    }

    /// Makes a scenario of it; `import` is for profiles, and models are taken as they are.
    ///
    /// # Errors
    /// [`InputError`] with what is wrong.
    pub fn scenario(&self, options: &ReadOptions, import: &ImportOptions) -> Result<Scenario, InputError> {
        let chosen = InputOptions { read: options.clone(), import: *import, ..InputOptions::default() };
        Ok(self.scenario_with_demands(&chosen)?.0)
    }

    /// Makes a scenario of it with all that its user says; of an AMALTHEA model also what is asked of it.
    ///
    /// # Errors
    /// [`InputError`] with what is wrong, or with an option that means nothing to such an input.
    pub fn scenario_with_demands(&self, chosen: &InputOptions) -> Result<(Scenario, Option<ModelDemands>), InputError> {
        let only_for = |kind, option: Option<&'static str>, file: &str| match option {
            Some(option) => Err(InputError::OnlyFor { option, kind, file: file.to_owned() }),
            None => Ok(()),
        };
        let (file, text) = match self {
            Self::Text { file, text } => (file, text),
            Self::Profile(profile) => {
                only_for("AMALTHEA models", chosen.given_for_models, &profile.file)?;
                let import = profile.import(&chosen.import, &chosen.read)?;
                return Ok((chosen.changed(import.scenario)?, None));
            }
        };
        only_for("profiles", chosen.given_for_profiles, file)?;
        if AmaltheaModel::is_likely(text) {
            let model = AmaltheaModel::parse(file, text)?;
            let scenario = chosen.changed(model.scenario(&chosen.model, &chosen.read)?)?;
            let demands = model.demands(&chosen.model, &scenario)?;
            return Ok((scenario, Some(demands)));
        }
        only_for("AMALTHEA models", chosen.given_for_models, file)?;
        Ok((chosen.changed(Scenario::from_json(file, text, &chosen.read)?)?, None))
    }

    /// Whether it is an AMALTHEA model.
    #[must_use]
    pub fn is_model(&self) -> bool {
        matches!(self, Self::Text { text, .. } if AmaltheaModel::is_likely(text))
    }

    /// The name by which errors mention it.
    #[must_use]
    pub fn file(&self) -> &str {
        match self {
            Self::Profile(profile) => &profile.file,
            Self::Text { file, .. } => file,
        }
    }
}

/// What the user of an input says beside it.
#[derive(Debug, Clone, Default)]
pub struct InputOptions {
    /// Of any scenario.
    pub read: ReadOptions,
    /// Of profiles.
    pub import: ImportOptions,
    /// An option of profiles that was given, as its user calls it: other inputs are refused with it.
    pub given_for_profiles: Option<&'static str>,
    /// Of AMALTHEA models.
    pub model: AmaltheaOptions,
    /// An option of models that was given, as its user calls it: other inputs are refused with it.
    pub given_for_models: Option<&'static str>,
    /// What is changed once the scenario is made.
    pub what_if: WhatIf,
}

impl InputOptions {
    /// A scenario with the changes.
    ///
    /// # Errors
    /// [`WhatIfError`] for changes that cannot be made.
    pub fn changed(&self, scenario: Scenario) -> Result<Scenario, WhatIfError> {
        if self.what_if == WhatIf::default() { Ok(scenario) } else { scenario.what_if(&self.what_if) }
    }
}
