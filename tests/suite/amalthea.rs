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
mod task_chains;
mod tasks;

use gpusched::amalthea::{AmaltheaError, AmaltheaModel, AmaltheaOptions};
use gpusched::formats::write_json;
use gpusched::scenario::{ReadOptions, Scenario};
use gpusched::time::Decimal;
use serde_json::Value;

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

/// What is read of a model, as programs have it.
fn listed(text: &str) -> Value {
    let mut json = Vec::new();
    write_json(&parsed(text), None, &mut json).expect("memory takes all");
    serde_json::from_slice(&json).expect("one document")
}

fn list<'v>(of: &'v Value, key: &str) -> &'v [Value] {
    of[key].as_array().expect("a list")
}

/// Lower bound, value, upper bound in millionths.
type Numbers = (Option<u128>, Option<u128>, Option<u128>);

/// The `"ticks"` or `"needs"` of a runnable: the processing unit for which they hold, and how many.
fn numbers(runnable: &Value, key: &str) -> Vec<(Option<String>, Numbers)> {
    let number = |number: &Value| match number.as_u64() {
        Some(whole) => Some(u128::from(whole) * 1_000_000),
        None => Decimal::parse(&number.as_number()?.to_string()).expect("a decimal").scaled_exactly(6),
    };
    let entry = |one: &Value| {
        (
            one["processing_unit"].as_str().map(str::to_owned),
            (number(&one["lower"]), number(&one["value"]), number(&one["upper"])),
        )
    };
    list(runnable, key).iter().map(entry).collect()
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
    AmaltheaModel::read_scenario("in.amxmi", text, chosen, &ReadOptions::default())
}

/// These runnables with two blocks each.
fn chosen(names: &[&str]) -> AmaltheaOptions {
    AmaltheaOptions {
        runnables: names.iter().map(|&name| name.to_owned()).collect(),
        grid_sizes: names.iter().map(|&name| (name.to_owned(), 2)).collect(),
        ..AmaltheaOptions::default()
    }
}
