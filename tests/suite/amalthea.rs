//! AMALTHEA models: every form of ticks, what is wrong with models, and what becomes of their runnables on a GPU.

mod chains;
mod command;
mod cores;
mod forms;
mod malformed;
mod requirements;
mod scenarios;
mod shipped;
mod stimuli;
mod tasks;

use gpusched::scenario::amalthea::{AmaltheaError, AmaltheaModel, AmaltheaOptions, Runnable, TickEntry, Ticks};
use gpusched::scenario::{ReadOptions, Scenario};

use crate::common::keep_refused;

/// A model of this schema version with this content.
fn model_text(version: &str, content: &str) -> String {
    format!(
        r#"<?xml version="1.0" encoding="UTF-8"?>
<am:Amalthea xmlns:am="http://app4mc.eclipse.org/amalthea/{version}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
{content}
</am:Amalthea>"#
    )
}

/// A model with one runnable of this content and a GPU of 1 GHz, definition `G`.
fn one_runnable(content: &str) -> String {
    model_text("0.9.7", &format!(r#"<swModel><runnables name="R">{content}</runnables></swModel>{GPU}"#))
}

const GPU: &str = r#"<hwModel>
<definitions xsi:type="am:ProcessingUnitDefinition" name="G" puType="GPU" features="Instructions/IPC?type=HwFeature"/>
<featureCategories name="Instructions"><features name="IPC" value="2.0"/></featureCategories>
<structures name="S"><modules xsi:type="am:ProcessingUnit" name="gpu" definition="G?type=ProcessingUnitDefinition" frequencyDomain="F?type=FrequencyDomain"/></structures>
<domains xsi:type="am:FrequencyDomain" name="F"><defaultValue value="1.0" unit="GHz"/></domains>
</hwModel>"#;

fn ticks_item(value: &str) -> String {
    format!(r#"<items xsi:type="am:Ticks"><default xsi:type="am:DiscreteValueConstant" value="{value}"/></items>"#)
}

fn property(key: &str, value: u64) -> String {
    format!(r#"<customProperties key="{key}"><value xsi:type="am:IntegerObject" value="{value}"/></customProperties>"#)
}

fn parsed(text: &str) -> AmaltheaModel<'_> {
    AmaltheaModel::parse("in.amxmi", text).unwrap_or_else(|error| panic!("{error}"))
}

/// Lower bound, value, upper bound in millionths.
type Numbers = (Option<u128>, Option<u128>, Option<u128>);

fn numbers<'a>(entries: impl Iterator<Item = &'a TickEntry>) -> Vec<(Option<String>, Numbers)> {
    let plain = |ticks: Option<Ticks>| ticks.map(Ticks::millionths);
    entries
        .map(|entry| {
            let range = entry.range;
            (entry.processing_unit.clone(), (plain(range.lower), plain(range.value), plain(range.upper)))
        })
        .collect()
}

fn ticks_of(runnable: &Runnable) -> Vec<(Option<String>, Numbers)> {
    numbers(runnable.ticks())
}

const fn same(ticks: u128) -> Numbers {
    let millionths = Some(ticks * 1_000_000);
    (millionths, millionths, millionths)
}

fn refusal(text: &str) -> AmaltheaError {
    keep_refused("amxmi", text);
    match AmaltheaModel::parse("in.amxmi", text) {
        Ok(model) => panic!("accepted: {model:?}"),
        Err(error) => error,
    }
}

fn scenario_with(text: &str, chosen: &AmaltheaOptions) -> Result<Scenario, AmaltheaError> {
    Scenario::from_amalthea("in.amxmi", text, chosen, &ReadOptions::default())
}

/// These runnables with two blocks each.
fn chosen(names: &[&str]) -> AmaltheaOptions {
    AmaltheaOptions {
        runnables: names.iter().map(|&name| name.to_owned()).collect(),
        grid_sizes: names.iter().map(|&name| (name.to_owned(), 2)).collect(),
        ..AmaltheaOptions::default()
    }
}
