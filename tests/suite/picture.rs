//! Whether two SVG pictures are the same in structure: fonts and versions of libraries may move a text by a hair, and
//! write a number in another way, but not change what is drawn.

use gpusched::figures::File;
use roxmltree::{Document, Node};

/// How far numbers may be apart, in units of 1/100 mm.
const TOLERANCE: f64 = 1.0;

/// Panics, naming the first difference, unless a figure's file is as committed: a picture in structure, data in every
/// byte.
pub(crate) fn assert_as_committed(file: &File, committed: &str) {
    if !file.text.starts_with("<svg") {
        assert!(file.text == committed, "{} is not as committed", file.name);
    } else if let Err(difference) = same_picture(&file.text, committed) {
        panic!("{} is not as committed: {difference}", file.name);
    }
}

/// The first difference of two pictures, if there is one.
pub(crate) fn same_picture(one: &str, other: &str) -> Result<(), String> {
    let [one, other] = [one, other].map(Document::parse);
    let (one, other) = (one.map_err(|error| error.to_string())?, other.map_err(|error| error.to_string())?);
    same(one.root(), other.root())
}

fn same(one: Node<'_, '_>, other: Node<'_, '_>) -> Result<(), String> {
    let path = || {
        let names = one.ancestors().filter(Node::is_element).map(|node| node.tag_name().name());
        names.collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("/")
    };
    if one.node_type() != other.node_type() || one.tag_name() != other.tag_name() {
        return Err(format!("at {}: {:?} is {:?}", path(), one.tag_name(), other.tag_name()));
    }
    if one.is_text() && one.text() != other.text() {
        return Err(format!("at {}: {:?} is {:?}", path(), one.text(), other.text()));
    }
    let names = |node: Node<'_, '_>| node.attributes().map(|attribute| attribute.name().to_owned()).collect::<Vec<_>>();
    if names(one) != names(other) {
        return Err(format!("at {}: {:?} are {:?}", path(), names(one), names(other)));
    }
    for (one, other) in one.attributes().zip(other.attributes()) {
        if !same_value(one.value(), other.value()) {
            return Err(format!("at {}: {}={:?} is {:?}", path(), one.name(), one.value(), other.value()));
        }
    }
    let children = |node: Node<'_, '_>| node.children().count();
    if children(one) != children(other) {
        return Err(format!("at {}: {} parts are {}", path(), children(one), children(other)));
    }
    one.children().zip(other.children()).try_for_each(|(one, other)| same(one, other))
}

/// The same words, and numbers within the tolerance; colours are words.
fn same_value(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (one, other) = (parts(one), parts(other));
    one.len() == other.len()
        && one.iter().zip(&other).all(|(one, other)| match (one.parse::<f64>(), other.parse::<f64>()) {
            (Ok(one), Ok(other)) => (one - other).abs() <= TOLERANCE,
            _ => one == other,
        })
}

/// Numbers, and what is between them.
fn parts(value: &str) -> Vec<String> {
    if value.starts_with(['#', 'u']) {
        return vec![value.to_owned()];
    }
    let mut parts: Vec<String> = Vec::new();
    let mut in_number = None;
    for character in value.chars() {
        let belongs = character.is_ascii_digit() || character == '.' || character == '-';
        if in_number != Some(belongs) {
            parts.push(String::new());
            in_number = Some(belongs);
        }
        parts.last_mut().expect("one was pushed").push(character);
    }
    parts
}

#[test]
fn a_hair_is_no_difference_and_anything_else_is() {
    let picture = |x: &str, colour: &str, text: &str| {
        format!("<svg><rect x=\"{x}\" width=\"88.90mm\" fill=\"{colour}\"/><text>{text}</text></svg>")
    };
    let committed = picture("100", "#56b4e9", "K1");
    assert_eq!(same_picture(&picture("101", "#56b4e9", "K1"), &committed), Ok(()));
    assert_eq!(same_picture(&picture("100.4", "#56b4e9", "K1"), &committed), Ok(()));
    for other in [
        picture("102", "#56b4e9", "K1"),
        picture("100", "#56b4ea", "K1"),
        picture("100", "#56b4e9", "K2"),
        picture("100 3", "#56b4e9", "K1"),
        committed.replace("<text>K1</text>", ""),
        committed.replace("rect", "circle"),
        committed.replace("x=", "y="),
    ] {
        assert!(same_picture(&other, &committed).is_err(), "{other}");
    }
}
