//! What comes out of making a figure.

use crate::draw::Drawing;

/// Whatever goes wrong while a figure is made.
pub(super) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A file of a figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Its name, without a directory; ends in `.svg` or `.csv`.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Pictures and the data behind them, in the order in which to show them.
    pub files: Vec<File>,
    /// What was found, to be read beside [`Figure::published`](super::Figure::published): a few sentences, or a table
    /// of Markdown.
    pub finding: String,
}

impl Made {
    /// A picture and the data behind it, whose files have the name of the figure.
    pub(super) fn of(name: &str, picture: &Drawing, csv: String, finding: String) -> Self {
        let picture = File { name: format!("{name}.svg"), text: picture.to_svg() };
        Self { files: vec![picture, File { name: format!("{name}.csv"), text: csv }], finding }
    }
}
