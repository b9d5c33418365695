//! What is said of figures and of scenes of the tour, in files of text beside the code: parts, each with a heading and a
//! list of entries.

/// A part.
pub(super) struct Part {
    /// Its heading.
    pub(super) title: String,
    /// Keys, each with its text on one line.
    entries: Vec<(String, String)>,
}

impl Part {
    /// Those of a text, in their order.
    pub(super) fn all(text: &str) -> Vec<Self> {
        let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let entry = |entry: &str| entry.split_once(": ").map(|(key, text)| (key.to_owned(), on_one_line(text)));
        let part = |part: &str| {
            let (title, list) = part.split_once('\n')?;
            Some(Self { title: title.to_owned(), entries: list.split("\n- ").filter_map(entry).collect() })
        };
        text.split("\n## ").skip(1).filter_map(part).collect()
    }

    /// The text of a key, if it has one.
    pub(super) fn entry(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|(known, _)| known == key).map(|(_, text)| &**text)
    }
}
