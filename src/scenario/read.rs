//! Telling formats apart.

use super::model::Scenario;
use super::options::ReadOptions;
use super::{examiner, native};
use crate::json::{Document, JsonError, Node, Problem};

impl Scenario {
    /// Reads a scenario file in the native format (it has the key `format`) or the examiner's; `file` is its name in
    /// errors.
    ///
    /// # Errors
    /// [`JsonError`] with the position of what is wrong.
    pub fn from_json(file: &str, text: &str, options: &ReadOptions) -> Result<Self, JsonError> {
        let document = Document::parse(file, text)?;
        read(document.root(), options).map_err(|problem| document.locate(problem))
    }
}

fn read(root: Node<'_>, options: &ReadOptions) -> Result<Scenario, Problem> {
    let object = root.object()?;
    if object.has("format") { native::read(object, options) } else { examiner::read(object, options) }
}
