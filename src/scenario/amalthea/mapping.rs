//! What the mapping and operating system models say of tasks: time slices on the GPU. All else, allocations,
//! affinities, priorities and schedulers, is counted.

use std::collections::BTreeMap;

use roxmltree::Node;

use super::error::Problem;
use super::xml;
use crate::time::Duration;

/// How keys of time slices begin, in small letters: WATERS 2019 has `TimeSlice_SFM`.
const TIME_SLICE: &str = "timeslice";

/// The time slices of tasks, by name. All else is counted in `skipped`.
pub(super) fn time_slices(
    root: Node<'_, '_>,
    skipped: &mut BTreeMap<String, u64>,
) -> Result<BTreeMap<String, Duration>, Problem> {
    let mut slices = BTreeMap::new();
    let mut skip = |what: &str| *skipped.entry(what.to_owned()).or_default() += 1;
    for scheduler in xml::children_named(root, "osModel")
        .flat_map(|model| xml::children_named(model, "operatingSystems"))
        .flat_map(xml::children)
        .filter(|child| ["taskSchedulers", "interruptControllers"].contains(&child.tag_name().name()))
    {
        skip(scheduler.tag_name().name());
        for node in scheduler.descendants().filter(|node| node.has_tag_name("parameterExtensions")) {
            skip(&format!("{} of a scheduler", node.attribute("key").unwrap_or("parameterExtensions")));
        }
    }
    for allocation in xml::children_named(root, "mappingModel").flat_map(xml::children) {
        let kind = allocation.tag_name().name();
        skip(kind);
        for attribute in ["affinity", "priority"] {
            let parameters = || xml::children_named(allocation, "schedulingParameters");
            let is_there = |node: &Node<'_, '_>| {
                node.has_attribute(attribute) || node.attribute("key").is_some_and(|key| key == attribute)
            };
            if allocation.has_attribute(attribute) || parameters().any(|node| is_there(&node)) {
                skip(&format!("{attribute} of {kind}"));
            }
        }
        let task = xml::reference(allocation, "task").map(|task| task.name().to_owned());
        for extension in xml::children_named(allocation, "parameterExtensions") {
            let key = extension.attribute("key").unwrap_or_default();
            match &task {
                Some(task) if key.to_lowercase().starts_with(TIME_SLICE) => {
                    slices.insert(task.clone(), slice(extension)?);
                }
                _ => skip(&format!("parameterExtensions of {kind}")),
            }
        }
    }
    Ok(slices)
}

fn slice(node: Node<'_, '_>) -> Result<Duration, Problem> {
    let text = node.attribute("value").unwrap_or_default();
    let wrong = |why: String| Problem::at(xml::offset(node, "value"), format!("time slice: {why}"));
    match Duration::parse(text) {
        Ok(Duration::ZERO) => Err(wrong(format!("expected a time above zero, found {text:?}"))),
        Ok(time) => Ok(time),
        Err(error) => Err(wrong(error.to_string())),
    }
}
