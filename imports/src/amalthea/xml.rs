//! The XML of a model: its elements as readers want them, references between them, and what is wrong, and where.
//!
//! Limits on the form of a document are checked before it is parsed: the parser's work grows with the square of the
//! attributes of one element and of nested namespace declarations, and whoever walks a document wants its depth
//! bounded. No model comes near these limits.

use std::fmt;

use roxmltree::{Document, Node, ParsingOptions};

use crate::json::{ShownPlace, place, write_excerpt};
use crate::limits::count_turn;

const XSI: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// The namespace of a model's root, up to the version.
const NAMESPACE: &str = "http://app4mc.eclipse.org/amalthea/";

/// Parses a model. Document type definitions, the place of entity bombs, are refused.
pub(super) fn parse(text: &str) -> Result<Document<'_>, Problem> {
    check_form(text)?;
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

/// Elements inside each other.
const MAX_DEPTH: usize = 256;
/// Attributes of one element.
const MAX_ATTRIBUTES: usize = 1_000;
/// Namespace declarations in all.
const MAX_NAMESPACES: usize = 1_000;

/// Refuses a document over one of the limits. What is no XML is left to the parser.
pub(super) fn check_form(text: &str) -> Result<(), Problem> {
    let mut depth = 0_usize;
    let mut namespaces = 0_usize;
    let mut at = 0;
    while let Some(tag) = text.get(at..).and_then(|rest| rest.find('<')).map(|found| at + found) {
        count_turn();
        let rest = &text[tag..];
        let Some(end) = end_of(rest) else { return Ok(()) };
        at = tag + end;
        if rest.starts_with("<!") || rest.starts_with("<?") {
            continue;
        }
        if rest.starts_with("</") {
            depth = depth.saturating_sub(1);
            continue;
        }
        let inside = &rest[..end];
        let attributes = inside.bytes().filter(|&byte| byte == b'=').count();
        // Values may hold an equals sign too, so this counts at least the attributes, and seldom more.
        if attributes > MAX_ATTRIBUTES && attributes_of(inside) > MAX_ATTRIBUTES {
            return Err(Problem::at(tag, format!("this element has more than {MAX_ATTRIBUTES} attributes")));
        }
        if attributes > 0 {
            namespaces += inside.matches("xmlns").count();
            if namespaces > MAX_NAMESPACES {
                return Err(Problem::at(tag, format!("more than {MAX_NAMESPACES} namespaces are declared")));
            }
        }
        if !inside.ends_with("/>") {
            depth += 1;
            if depth > MAX_DEPTH {
                return Err(Problem::at(tag, format!("elements are nested more than {MAX_DEPTH} deep")));
            }
        }
    }
    Ok(())
}

/// The length of the markup at the beginning of `rest`, or `None` if it does not end.
fn end_of(rest: &str) -> Option<usize> {
    for (start, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")] {
        if let Some(inside) = rest.strip_prefix(start) {
            return inside.find(end).map(|found| start.len() + found + end.len());
        }
    }
    let mut quote = None;
    for (index, byte) in rest.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(index + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), close) if open == close => quote = None,
            _ => {}
        }
    }
    None
}

/// Attributes of a start tag: its quoted values.
fn attributes_of(tag: &str) -> usize {
    let mut quote = None;
    let mut closed = 0;
    for byte in tag.bytes() {
        match quote {
            None if byte == b'"' || byte == b'\'' => quote = Some(byte),
            Some(open) if open == byte => {
                quote = None;
                closed += 1;
            }
            _ => {}
        }
    }
    closed
}

/// What a reference such as `Instructions/IPC_1?type=HwFeature` or `amlt:/#Lane+detection?type=Runnable` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reference {
    /// The names on the way to the element, its own last, decoded.
    pub(super) names: Vec<String>,
}

impl Reference {
    /// Reads a reference. Names are form-encoded (a space is `+`), and `/` stands between the names of a path.
    pub(super) fn parse(text: &str) -> Self {
        let text = text.rsplit_once('#').map_or(text, |(_, fragment)| fragment);
        let path = text.split_once('?').map_or(text, |(path, _)| path);
        Self { names: path.split('/').map(form_decoded).collect() }
    }

    /// The name of the element itself.
    pub(super) fn name(&self) -> &str {
        self.names.last().map_or("", String::as_str)
    }

    /// The name of what contains the element, if the reference says so.
    pub(super) fn container(&self) -> Option<&str> {
        self.names.len().checked_sub(2).and_then(|index| self.names.get(index)).map(String::as_str)
    }
}

/// Undoes `application/x-www-form-urlencoded`. What is not encoded properly stands for itself.
fn form_decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        count_turn();
        rest = after;
        let hex = |index: usize| after.get(index).and_then(|&digit| char::from(digit).to_digit(16));
        match first {
            b'+' => bytes.push(b' '),
            b'%' => match hex(0).zip(hex(1)).and_then(|(high, low)| u8::try_from(high * 16 + low).ok()) {
                Some(byte) => {
                    bytes.push(byte);
                    rest = after.get(2..).unwrap_or_default();
                }
                None => bytes.push(first),
            },
            _ => bytes.push(first),
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

/// Something that is not as it should be, at an offset \[bytes\] of the text, if it is in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    pub(super) offset: Option<usize>,
    pub(super) what: String,
    pub(super) help: Option<String>,
}

impl Problem {
    /// Something wrong at `offset`.
    pub(super) fn at(offset: usize, what: impl Into<String>) -> Self {
        Self { offset: Some(offset), what: what.into(), help: None }
    }

    /// Something wrong with the model as a whole, or with what was asked of it.
    pub(super) fn general(what: impl Into<String>) -> Self {
        Self { offset: None, what: what.into(), help: None }
    }

    /// Adds advice.
    pub(super) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// An error in an AMALTHEA model, or in what was asked of it, that its user can act on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AmaltheaError {
    /// The file's name, as the user gave it.
    pub file: String,
    /// Line and column \[characters\], from 1, with that line; `None` if no single place is to blame.
    pub place: Option<ShownPlace>,
    /// What was found and what was expected.
    pub what: String,
    /// How to mend it, where that is known.
    pub help: Option<String>,
}

impl AmaltheaError {
    pub(super) fn new(file: &str, text: &str, problem: Problem) -> Self {
        Self {
            file: file.to_owned(),
            place: problem.offset.map(|offset| place(text, offset)),
            what: problem.what,
            help: problem.help,
        }
    }
}

impl fmt::Display for AmaltheaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(place) = &self.place {
            write!(f, ":{}:{}", place.line, place.column)?;
        }
        write!(f, ": {}", self.what)?;
        if let Some(place) = &self.place {
            write_excerpt(f, &place.excerpt, place.excerpt_column)?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n  help: {help}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AmaltheaError {}
