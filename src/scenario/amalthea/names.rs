//! References between elements of a model.

use crate::limits::count_turn;

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
