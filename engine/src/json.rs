//! Reading JSON so that every error can say where it is.
//!
//! `Document` checks the syntax of a whole text once; `Node` is a cursor on one value of it. A reader asks a
//! node for what it expects (`node.object()?.required("name")?.string()?`), and whatever does not fit becomes a
//! [`JsonError`] with line, column and field path, what was found and what is allowed. Nothing is copied: a node is
//! a place in the text, and line, column and path are worked out from that once something is wrong. Of objects of which
//! a file has many, all fields are asked for at once (`Node::fields` with `Keys`).
//!
//! Any key that starts with `comment` is free text, may repeat, and is passed over. So is `$schema` at the root, by
//! which editors find the schema of a file.

mod document;
mod error;
mod keys;
mod node;
mod object;
mod scan;

pub use document::has_comments;
#[doc(hidden)]
pub use document::{Document, Edited, with_field, without_byte_order_mark, without_path};
pub use error::{JsonError, ShownPlace};
#[doc(hidden)]
pub use error::{Problem, place, write_excerpt};
#[doc(hidden)]
pub use keys::Keys;
#[doc(hidden)]
pub use node::Node;
#[doc(hidden)]
pub use object::Object;
#[doc(hidden)]
pub use scan::is_comment;

#[cfg(test)]
mod tests;
