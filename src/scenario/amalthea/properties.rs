//! Custom properties.

use roxmltree::Node;

use super::error::Problem;
use super::{numbers, xml};
use crate::device::CopyDirection;

/// The value of the custom property `key`, if the element has it.
fn value<'a, 'i: 'a>(node: Node<'a, 'i>, key: &str) -> Result<Option<Node<'a, 'i>>, Problem> {
    let mut found =
        xml::children_named(node, "customProperties").filter(|property| property.attribute("key") == Some(key));
    let Some(property) = found.next() else { return Ok(None) };
    if let Some(second) = found.next() {
        return Err(Problem::at(second.range().start, format!("the custom property {key} is given twice")));
    }
    let value = xml::child(property, "value");
    value
        .map(Some)
        .ok_or_else(|| Problem::at(property.range().start, format!("the custom property {key} has no value")))
}

/// A custom property that is a whole number.
pub(super) fn number(node: Node<'_, '_>, key: &str) -> Result<Option<u64>, Problem> {
    let Some(value) = value(node, key)? else { return Ok(None) };
    match xml::type_of(value) {
        Some("IntegerObject" | "LongObject" | "StringObject") => {
            let number = numbers::whole(value, "value")
                .map_err(|problem| Problem { what: format!("custom property {key}: {}", problem.what), ..problem })?;
            Ok(Some(number.unwrap_or(0)))
        }
        other => Err(Problem::at(
            value.range().start,
            format!(
                "custom property {key}: expected an IntegerObject, LongObject or StringObject, found {}",
                other.unwrap_or("no xsi:type")
            ),
        )),
    }
}

/// A custom property that is a whole number of 32 bits.
pub(super) fn number_u32(node: Node<'_, '_>, key: &str) -> Result<Option<u32>, Problem> {
    let Some(number) = number(node, key)? else { return Ok(None) };
    u32::try_from(number).map(Some).map_err(|_| {
        let offset = value(node, key).ok().flatten().unwrap_or(node).range().start;
        Problem::at(offset, format!("custom property {key}: expected at most 2^32 - 1, found {number}"))
    })
}

/// The custom property `Copy`: the direction of a copy.
pub(super) fn copy_direction(node: Node<'_, '_>) -> Result<Option<CopyDirection>, Problem> {
    let Some(value) = value(node, "Copy")? else { return Ok(None) };
    let text = value.attribute("value").unwrap_or_default();
    [CopyDirection::HostToDevice, CopyDirection::DeviceToHost]
        .into_iter()
        .find(|direction| direction.name() == text)
        .map(Some)
        .ok_or_else(|| {
            Problem::at(
                xml::offset(value, "value"),
                format!("custom property Copy: expected \"host-to-device\" or \"device-to-host\", found {text:?}"),
            )
        })
}
