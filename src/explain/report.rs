//! Topics that are explained, and what print says beside what comes out here, each value with its place in print.

use crate::explain::{Topic, TopicKind};
use crate::formats::{Column, DocumentWriter, Page, Report, Rows};
use crate::printed::Printed;

fn columns<'t>() -> [Column<&'t Topic>; 9] {
    [
        Column::data("name", |topic: &&Topic| topic.name.into()),
        Column::data("also", |topic: &&Topic| (!topic.also.is_empty()).then(|| topic.also.join(", ")).into()),
        Column::data("kind", |topic: &&Topic| topic.kind.name().into()),
        Column::data("says", |topic: &&Topic| topic.says.into()),
        Column::data("waits", |topic: &&Topic| topic.waits.into()),
        Column::data("finding", |topic: &&Topic| topic.finding.into()),
        Column::data("source", |topic: &&Topic| topic.source.into()),
        Column::data("example", |topic: &&Topic| topic.example.into()),
        Column::data("more", |topic: &&Topic| topic.more.as_str().into()),
    ]
}

/// Topics as they are listed, or each explained in full.
#[derive(Debug)]
pub struct ExplainReport {
    /// What is explained.
    pub topics: Vec<Topic>,
    /// Whether people are told no more than what there is.
    pub is_list: bool,
}

/// What comes before more is said.
fn beginning(says: &str) -> &str {
    let first = says.split_once("; ").or_else(|| says.split_once(". ")).map_or(says, |(first, _)| first);
    first.trim_end_matches('.')
}

fn add_topic(page: &mut Page, topic: &Topic) {
    page.line(&format!("{} ({})", topic.name, topic.kind.name()));
    page.item(topic.says);
    let also = topic.also.join(", ");
    let lines = [
        ("also", (!topic.also.is_empty()).then_some(&*also)),
        ("waits", topic.waits),
        ("finding", topic.finding),
        ("source", topic.source),
        ("see it", topic.example),
        ("more", Some(&*topic.more)),
    ];
    for (what, text) in lines {
        if let Some(text) = text {
            page.item(&format!("{what}: {text}"));
        }
    }
}

fn add_list(page: &mut Page, topics: &[Topic]) {
    let columns = |title| {
        [
            Column::table(title, |topic: &&Topic| topic.name.into()).left(),
            Column::table("", |topic: &&Topic| beginning(topic.says).into()).left(),
        ]
    };
    let of = |kinds: &'static [TopicKind]| topics.iter().filter(|topic| kinds.contains(&topic.kind));
    let tables: [(&str, &[TopicKind]); 3] = [
        ("rule", &[TopicKind::Rule]),
        ("word", &[TopicKind::Verdict, TopicKind::Term]),
        ("finding of an audit", &[TopicKind::Finding]),
    ];
    for (title, kinds) in tables {
        page.trimmed_table(&columns(title), of(kinds));
        page.blank();
    }
    page.line("notes and errors, by a part of their text:");
    for topic in of(&[TopicKind::Message]) {
        page.item(topic.name);
    }
}

impl Report for ExplainReport {
    const TABLE: &'static str = "topics";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.rows("topics", &columns(), &self.topics)
    }

    fn text(&self, page: &mut Page) {
        if self.is_list {
            return add_list(page, &self.topics);
        }
        for (number, topic) in self.topics.iter().enumerate() {
            if number > 0 {
                page.blank();
            }
            add_topic(page, topic);
        }
    }
}

/// A value of print with the paper that it is of.
pub type OfPaper<'p> = (&'static str, &'p Printed);

fn value_columns<'p>() -> [Column<OfPaper<'p>>; 7] {
    [
        Column::new("paper", "paper", |(paper, _): &OfPaper<'_>| (*paper).into()).left(),
        Column::new("place", "place", |(_, one): &OfPaper<'_>| one.place.as_str().into()).left(),
        Column::new("what", "what", |(_, one): &OfPaper<'_>| one.what.as_str().into()).left(),
        Column::new("printed", "printed", |(_, one): &OfPaper<'_>| one.printed.to_string().into()),
        Column::data("tolerance", |(_, one)| one.tolerance.into()),
        Column::new("here", "here", |(_, one): &OfPaper<'_>| {
            one.here.as_ref().map_or_else(|| "-".to_owned(), ToString::to_string).into()
        }),
        Column::new("agrees", "agrees", |(_, one): &OfPaper<'_>| one.agrees().into()).left(),
    ]
}

/// Values of print beside what comes out here.
#[derive(Debug)]
pub struct PrintedDocument<'p>(pub &'p [OfPaper<'p>]);

impl Report for PrintedDocument<'_> {
    const TABLE: &'static str = "values";

    fn document<D: DocumentWriter>(&self, to: &mut D) -> Result<(), D::Error> {
        to.entry("agree", &self.0.iter().all(|(_, one)| one.agrees()))?;
        to.rows("values", &value_columns(), self.0.iter().copied())
    }

    fn text(&self, page: &mut Page) {
        page.trimmed_table(&value_columns(), self.0.iter().copied());
        let agree = self.0.iter().filter(|(_, one)| one.agrees()).count();
        page.line(&format!("{agree} of {} printed values agree", self.0.len()));
    }
}
