//! The elements of a model as the readers want them.

use roxmltree::{Document, Node, ParsingOptions};

use super::error::Problem;
use super::guard;
use super::names::Reference;

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// The namespace of a model's root, up to the version.
const NAMESPACE: &str = "http://app4mc.eclipse.org/amalthea/";

/// Parses a model. Document type definitions, the place of entity bombs, are refused.
pub(super) fn parse(text: &str) -> Result<Document<'_>, Problem> {
    guard::check(text)?;
    Document::parse_with_options(text, ParsingOptions::default()).map_err(|error| {
        let place = error.pos();
        let offset = offset_of(text, place.row, place.col);
        match error {
            roxmltree::Error::DtdDetected => Problem::at(
                text.find("<!DOCTYPE").unwrap_or(0),
                "a document type definition (DOCTYPE) is not allowed in a model",
            ),
            roxmltree::Error::UnknownNamespace(prefix, _) => {
                Problem::at(offset, format!("the namespace prefix {prefix:?} is not declared"))
                    .with_help(format!("declare xmlns:{prefix} at the root, as APP4MC does"))
            }
            roxmltree::Error::UnclosedRootNode => {
                Problem::at(text.len(), "this is not valid XML: it ends before its root element is closed")
            }
            other => Problem::at(offset, format!("this is not valid XML: {}", without_position(&other.to_string()))),
        }
    })
}

/// The parser's message without the position, which goes elsewhere.
fn without_position(message: &str) -> &str {
    message.rsplit_once(" at ").map_or(message, |(what, _)| what)
}

/// Offset \[bytes\] of a line and column \[characters\], both from 1.
fn offset_of(text: &str, row: u32, column: u32) -> usize {
    let mut start = 0;
    for _ in 1..row {
        match text[start..].find('\n') {
            Some(end) => start += end + 1,
            None => break,
        }
    }
    let ahead = (column as usize).saturating_sub(1);
    text[start..].char_indices().nth(ahead).map_or(text.len(), |(offset, _)| start + offset)
}

/// The root element and the schema version that its namespace states.
pub(super) fn root<'a, 'i>(document: &'a Document<'i>) -> Result<(Node<'a, 'i>, &'a str), Problem> {
    let root = document.root_element();
    let namespace = root.tag_name().namespace();
    let expected = || format!("expected the root element Amalthea in a namespace {NAMESPACE}VERSION");
    let found = match namespace {
        Some(namespace) => format!("found {} in {namespace}", root.tag_name().name()),
        None => format!("found {} without a namespace", root.tag_name().name()),
    };
    let version = namespace.and_then(|namespace| namespace.strip_prefix(NAMESPACE));
    match version.map(|version| version.trim_matches('/')) {
        Some(version) if root.tag_name().name() == "Amalthea" && !version.is_empty() => Ok((root, version)),
        _ => Err(Problem::at(root.range().start, format!("{}, {found}", expected()))
            .with_help("gpusched reads models of Eclipse APP4MC; APP4MC migrates models of older schemas")),
    }
}

/// The child elements.
pub(super) fn children<'a, 'i: 'a>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(Node::is_element)
}

/// The child elements of one name.
pub(super) fn children_named<'a, 'i: 'a>(node: Node<'a, 'i>, name: &'a str) -> impl Iterator<Item = Node<'a, 'i>> {
    children(node).filter(move |child| child.tag_name().name() == name)
}

/// The first child element of one name.
pub(super) fn child<'a, 'i: 'a>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    children(node).find(|child| child.tag_name().name() == name)
}

/// The local part of `xsi:type`.
pub(super) fn type_of<'a>(node: Node<'a, '_>) -> Option<&'a str> {
    let name = node.attribute((XSI, "type"))?;
    Some(name.rsplit_once(':').map_or(name, |(_, local)| local))
}

/// The attribute `name`, or what an element without one is called.
pub(super) fn name_of<'a>(node: Node<'a, '_>) -> &'a str {
    node.attribute("name").unwrap_or_default()
}

/// What the attribute `key` refers to, or, across files, the child element `key` with its `href`.
pub(super) fn reference(node: Node<'_, '_>, key: &str) -> Option<Reference> {
    let across_files = || child(node, key).and_then(|child| child.attribute("href"));
    node.attribute(key).or_else(across_files).map(Reference::parse)
}

/// All that the attribute `key` refers to, and, across files, the child elements `key` with their `href`.
pub(super) fn references(node: Node<'_, '_>, key: &str) -> Vec<Reference> {
    let here = node.attribute(key).unwrap_or_default().split_ascii_whitespace();
    let across_files = children(node).filter(|child| child.tag_name().name() == key);
    here.chain(across_files.filter_map(|child| child.attribute("href"))).map(Reference::parse).collect()
}

/// Where an attribute stands, or its element if it is absent.
pub(super) fn offset(node: Node<'_, '_>, attribute: &str) -> usize {
    node.attribute_node(attribute).map_or(node.range().start, |attribute| attribute.range().start)
}
