//! Options as arguments of a command: those of scenarios, made of the library's list of them, and values that are one
//! of a few by name.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use anyhow::bail;
use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use gpusched::input::options::{
    OPTIONS, OptionFile, OptionGroup, OptionKind, OptionValue, ScenarioOption, ScenarioOptions, Setting,
};
use gpusched::spelling::option;
use gpusched::time::Duration;

use super::input;

/// Which options a command has.
pub(crate) trait Offer {
    fn has(option: &ScenarioOption) -> bool;
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum All {}

/// Those that count where a profile is replayed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OfReplays {}

/// Other priorities, which are also of use where nothing is simulated.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Priorities {}

impl Offer for All {
    fn has(_: &ScenarioOption) -> bool {
        true
    }
}

impl Offer for OfReplays {
    fn has(option: &ScenarioOption) -> bool {
        matches!(option.group, OptionGroup::Profiles | OptionGroup::WhatIf)
    }
}

impl Offer for Priorities {
    fn has(option: &ScenarioOption) -> bool {
        option.key == "set_priority"
    }
}

/// What was said of a scenario, one option after the other.
#[derive(Debug, Clone)]
pub(crate) struct OptionArguments<O> {
    said: Vec<Said>,
    offer: PhantomData<O>,
}

#[derive(Debug, Clone)]
struct Said {
    setting: Setting,
    /// Of what, if the option is by name.
    name: Option<String>,
}

impl Said {
    fn of(option: &'static ScenarioOption, word: &OsStr) -> Result<Self, String> {
        let setting = option.read(&Word { option, word })?;
        let name = word.to_str().and_then(|text| text.rsplit_once('=')).map(|(name, _)| name.to_owned());
        Ok(Self { setting, name: name.filter(|_| option.kind.is_by_name()) })
    }
}

/// The flags, without the dashes before them.
static FLAGS: LazyLock<Vec<String>> =
    LazyLock::new(|| OPTIONS.iter().map(|option| option.key.replace('_', "-")).collect());

fn argument(option: &'static ScenarioOption, flag: &'static str) -> Arg {
    let said = move |text: String| Said::of(option, OsStr::new(&text));
    let arg = Arg::new(option.key).long(flag).help_heading(match option.group {
        OptionGroup::Run => None,
        group => Some(group.name()),
    });
    let arg = match option.kind {
        OptionKind::Flag(_) => return arg.help(option.help).action(ArgAction::SetTrue),
        OptionKind::OneOf(names, _) => arg.value_parser(PossibleValuesParser::new(names()).try_map(said)),
        OptionKind::File(_) => {
            arg.value_parser(OsStringValueParser::new().try_map(move |word| Said::of(option, &word)))
        }
        _ => arg.value_parser(StringValueParser::new().try_map(said)),
    };
    let (action, repeated) = match option.kind {
        OptionKind::Names(_) => (ArgAction::Append, ""),
        kind if kind.is_by_name() || matches!(kind, OptionKind::Lists(_)) => (ArgAction::Append, "; may be repeated"),
        _ => (ArgAction::Set, ""),
    };
    arg.value_name(option.value_name).help(format!("{}{repeated}", option.help)).action(action)
}

impl<O: Offer> Args for OptionArguments<O> {
    fn augment_args(command: Command) -> Command {
        let offered = OPTIONS.iter().zip(FLAGS.iter()).filter(|(option, _)| O::has(option));
        let arguments = offered.map(|(option, flag)| match (option.key, argument(option, flag)) {
            // What is replayed as threads of one process has no clients.
            ("mps", arg) => arg.conflicts_with("as_threads"),
            ("set_priority", arg) => arg.alias("priority"),
            (_, arg) => arg,
        });
        command.args(arguments)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<O: Offer> FromArgMatches for OptionArguments<O> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut said = Vec::new();
        for option in OPTIONS.iter().filter(|option| O::has(option)) {
            if !matches!(option.kind, OptionKind::Flag(_)) {
                said.extend(matches.get_many::<Said>(option.key).into_iter().flatten().cloned());
            } else if matches.get_flag(option.key) {
                said.extend(Said::of(option, OsStr::new("")));
            }
        }
        Ok(Self { said, offer: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<O> OptionArguments<O> {
    /// What was said, with files read.
    pub(crate) fn options(&self) -> anyhow::Result<ScenarioOptions> {
        let mut options = self.said()?;
        options.open(Path::exists, input::read_whole)?;
        Ok(options)
    }

    /// What was said; files are only named.
    pub(crate) fn said(&self) -> anyhow::Result<ScenarioOptions> {
        let (mut options, mut known) = (ScenarioOptions::default(), BTreeSet::new());
        for Said { setting, name } in &self.said {
            if let Some(name) = name.as_deref().filter(|name| !known.insert((setting.key(), *name))) {
                bail!("{} is given twice for {name:?}", option(setting.key()));
            }
            setting.apply(&mut options);
        }
        Ok(options)
    }

    /// The same but for one option.
    pub(crate) fn without_option(&self, key: &str) -> Self {
        let said = self.said.iter().filter(|said| said.setting.key() != key).cloned().collect();
        Self { said, offer: PhantomData }
    }

    /// What was said but for one option.
    pub(crate) fn without(&self, key: &str) -> anyhow::Result<ScenarioOptions> {
        self.without_option(key).said()
    }

    /// The same, and `word` of another option, which was not said and takes it.
    pub(crate) fn and(mut self, key: &str, word: &str) -> Self {
        let option = OPTIONS.iter().find(|option| option.key == key);
        self.said.extend(option.and_then(|option| Said::of(option, OsStr::new(word)).ok()));
        self
    }
}

/// A word of the command line.
struct Word<'a> {
    option: &'static ScenarioOption,
    word: &'a OsStr,
}

impl<'a> Word<'a> {
    fn as_text(&self) -> Result<&'a str, String> {
        self.word.to_str().ok_or_else(|| self.wrong("text"))
    }
}

impl OptionValue for Word<'_> {
    type Error = String;

    fn wrong(&self, expected: &str) -> String {
        format!("expected {expected}")
    }

    fn refused(&self, why: String) -> String {
        why
    }

    /// A flag that is there is set.
    fn flag(&self) -> Result<bool, String> {
        Ok(true)
    }

    fn whole(&self, least: i64, most: u64) -> Result<i128, String> {
        let number = self.as_text()?.trim().parse().ok();
        let number = number.filter(|number| (i128::from(least)..=i128::from(most)).contains(number));
        number.ok_or_else(|| self.wrong(&format!("a whole number from {least} to {most}")))
    }

    fn time(&self) -> Result<Duration, String> {
        Duration::parse(self.as_text()?).map_err(|error| error.to_string())
    }

    fn text(&self) -> Result<String, String> {
        self.as_text().map(str::to_owned)
    }

    fn texts(&self) -> Result<Vec<String>, String> {
        Ok(self.as_text()?.split(',').map(str::to_owned).collect())
    }

    fn lists(&self) -> Result<Vec<String>, String> {
        Ok(vec![self.text()?])
    }

    fn entries(&self) -> Result<Vec<(String, Self)>, String> {
        let ScenarioOption { value_name, example, .. } = self.option;
        let (name, value) = self
            .as_text()?
            .rsplit_once('=')
            .ok_or_else(|| self.wrong(&format!("{value_name}, for example {example:?}")))?;
        Ok(vec![(name.to_owned(), Self { option: self.option, word: OsStr::new(value) })])
    }

    fn file(&self) -> Result<OptionFile, String> {
        Ok(OptionFile::Path(PathBuf::from(self.word)))
    }
}

/// Takes the name of one of these values.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [T; N],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    taking(all.map(|value| (PossibleValue::new(name(value)), value)))
}

/// The same, with what help says of each.
pub(crate) fn explained<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [(&'static str, T, &'static str); N],
) -> impl TypedValueParser<Value = T> {
    taking(all.map(|(name, value, help)| (PossibleValue::new(name).help(help), value)))
}

fn taking<T: Copy + Send + Sync + 'static, const N: usize>(
    all: [(PossibleValue, T); N],
) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(all.clone().map(|(name, _)| name));
    names.try_map(move |text| {
        let found = all.iter().find(|(name, _)| name.get_name() == text);
        found.map(|(_, value)| *value).ok_or("it is none of these values")
    })
}
