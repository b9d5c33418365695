//! What the words of reports mean: rules, verdicts, findings, terms and messages, each with what to read of it. Terms
//! and messages are the sections of a page of the documentation, `docs/explain.md`; the others have their words where
//! they are defined.

mod report;

use std::sync::LazyLock;

use crate::analysis::Verdict;
use crate::audit::AuditRule;
use crate::limits::count_turn;
use crate::named::named;
use crate::trace::{RULES, RuleText};
use crate::words::did_you_mean;

pub use report::{ExplainReport, OfPaper, PrintedDocument};

/// The page with the terms and messages.
const PAGE: &str = include_str!("../docs/explain.md");

const VERDICTS: &str = "docs/analysis.md#5-jobs-and-their-verdicts";
/// What its reader can do.
const OPEN: &str = "docs/analysis.md#my-verdict-is-open-what-now";
const CAMERA: Option<&str> = Some("gpusched analyze scenarios/deadlines/camera-and-lidar.json --verdicts");

/// What the page says, section by section.
static SECTIONS: LazyLock<Vec<Section>> = LazyLock::new(|| Section::all(PAGE));

named! {
    /// What something that is explained is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TopicKind: Serialize {
        /// A rule by which the GPU schedules.
        Rule = "rule",
        /// A verdict on a deadline.
        Verdict = "verdict",
        /// A finding of an audit that bears the name of no rule.
        Finding = "finding",
        /// A term of reports.
        Term = "term",
        /// A note or an error.
        Message = "message",
    }
}

/// Something that is explained.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    /// Its name; of a message, the part of it that is always the same.
    pub name: &'static str,
    /// What else is explained with it: words and columns of tables.
    pub also: &'static [&'static str],
    /// What it is.
    pub kind: TopicKind,
    /// What it means.
    pub says: &'static str,
    /// Of a rule: why something waits under it.
    pub waits: Option<&'static str>,
    /// What `gpusched audit` finds that bears its name.
    pub finding: Option<&'static str>,
    /// Of a rule: where it is from.
    pub source: Option<&'static str>,
    /// A command that shows it, in a scenario that is shipped.
    pub example: Option<&'static str>,
    /// The page that says more, and the place on it.
    pub more: String,
}

impl Topic {
    /// All that has an explanation: rules, verdicts and terms, findings, messages.
    pub fn all() -> Vec<Self> {
        let is_rule = |finding: &AuditRule| RULES.iter().any(|text| text.name == finding.name());
        let findings = AuditRule::ALL.into_iter().filter(|finding| !is_rule(finding));
        RULES
            .iter()
            .map(Self::of_rule)
            .chain(Verdict::ALL.map(Self::of_verdict))
            .chain(Section::of_kind(TopicKind::Term).map(Self::of_section))
            .chain(findings.map(Self::of_finding))
            .chain(Section::of_kind(TopicKind::Message).map(Self::of_section))
            .collect()
    }

    /// What is asked for in some words: all topics that all of them together are the name of, or else each name among
    /// them; in capitals or not, or messages of which they are a part, or that are a part of them. Each topic is told
    /// once.
    ///
    /// # Errors
    /// What to tell the user: that nothing is called so, and what may be meant.
    pub fn find(words: &[String]) -> Result<Vec<Self>, String> {
        let together = explain(&words.join(" "));
        if together.is_ok() || words.len() < 2 {
            return together;
        }
        let (all, mut found, mut rest) = (Self::all(), Vec::new(), words);
        while let [first, ..] = rest {
            count_turn();
            let named = (1..=rest.len()).rev().find_map(|length| {
                let name = rest[..length].join(" ").to_lowercase();
                let topics: Vec<&Self> = all.iter().filter(|topic| topic.is_called(&name)).collect();
                (!topics.is_empty()).then_some((length, topics))
            });
            let Some((length, topics)) = named else { return explain(first).and(together) };
            for topic in topics {
                if !found.contains(topic) {
                    found.push(topic.clone());
                }
            }
            rest = &rest[length..];
        }
        Ok(found)
    }

    fn of(name: &'static str, kind: TopicKind, says: &'static str, more: &str) -> Self {
        let (waits, finding, source, example) = (None, None, None, None);
        Self { name, also: &[], kind, says, waits, finding, source, example, more: more.to_owned() }
    }

    fn of_rule(text: &RuleText) -> Self {
        let finding = AuditRule::ALL.into_iter().find(|finding| finding.name() == text.name);
        Self {
            waits: text.wait().map(crate::trace::Rule::meaning),
            finding: finding.map(AuditRule::words),
            source: Some(text.source),
            example: Some(text.example),
            ..Self::of(text.name, TopicKind::Rule, text.says, &format!("docs/model.md#{}", text.section))
        }
    }

    fn of_finding(finding: AuditRule) -> Self {
        Self::of(finding.name(), TopicKind::Finding, finding.words(), "docs/measured-logs.md#audit")
    }

    fn of_verdict(verdict: Verdict) -> Self {
        let more = if verdict == Verdict::Open { OPEN } else { VERDICTS };
        Self { example: CAMERA, ..Self::of(verdict.name(), TopicKind::Verdict, verdict.words(), more) }
    }

    fn of_section(section: &'static Section) -> Self {
        let Section { name, kind, also, says, example, more } = section;
        Self { also, example: *example, ..Self::of(name, *kind, says, &format!("docs/{more}")) }
    }

    /// Whether it is called so, in capitals or not.
    fn is_called(&self, lower: &str) -> bool {
        self.names().any(|name| name.to_lowercase() == lower)
    }

    /// Its name, and what else it explains.
    fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.also.iter().copied())
    }
}

/// A section of the page: a term or a message, which is the section's title, and what is said of it.
struct Section {
    name: &'static str,
    kind: TopicKind,
    /// What else it explains.
    also: Vec<&'static str>,
    says: String,
    /// A command that shows it.
    example: Option<&'static str>,
    /// The page that says more, beside this one, and the place on it.
    more: &'static str,
}

impl Section {
    /// The sections of `page`. Terms come before the part on notes and errors. In a section there are lines of text,
    /// and a list of what else it explains, of a command that shows it, and of a link to more.
    fn all(page: &'static str) -> Vec<Self> {
        let (mut kind, mut sections) = (TopicKind::Term, Vec::new());
        for line in page.lines() {
            if line == "## Notes and errors" {
                kind = TopicKind::Message;
            } else if let Some(name) = line.strip_prefix("### ") {
                sections.push(Self { name, kind, also: Vec::new(), says: String::new(), example: None, more: "" });
            } else if let Some(section) = sections.last_mut().filter(|_| !line.is_empty() && !line.starts_with("## ")) {
                section.read(line);
            }
        }
        sections
    }

    /// Takes in one line that is not empty.
    fn read(&mut self, line: &'static str) {
        if let Some(also) = line.strip_prefix("- also: ") {
            self.also = also.split("; ").collect();
        } else if let Some(example) = line.strip_prefix("- shown by: ") {
            self.example = Some(example.trim_matches('`'));
        } else if let Some((_, link)) = line.strip_prefix("- more: ").and_then(|link| link.split_once("](")) {
            self.more = link.trim_end_matches(')');
        } else {
            let space = if self.says.is_empty() { "" } else { " " };
            self.says.extend([space, line]);
        }
    }

    fn of_kind(kind: TopicKind) -> impl Iterator<Item = &'static Self> {
        SECTIONS.iter().filter(move |section| section.kind == kind)
    }
}

/// Letters of a message that tell it from others.
const DISTINCTIVE: usize = 5;

/// What is asked for: the topic of that name, or that explains it with others, in capitals or not, or the messages that
/// `asked` is a part of, or that are a part of it.
///
/// # Errors
/// What to tell the user: that nothing is called so, and what may be meant.
fn explain(asked: &str) -> Result<Vec<Topic>, String> {
    let all = Topic::all();
    let asked = asked.trim();
    let lower = asked.to_lowercase();
    let named: Vec<Topic> = all.iter().filter(|topic| topic.is_called(&lower)).cloned().collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let is_meant = |topic: &&Topic| {
        let part = topic.name.to_lowercase();
        topic.kind == TopicKind::Message
            && (lower.contains(&part) || lower.chars().count() >= DISTINCTIVE && part.contains(&lower))
    };
    let meant: Vec<Topic> = all.iter().filter(is_meant).cloned().collect();
    if !meant.is_empty() {
        return Ok(meant);
    }
    let near = did_you_mean(asked, all.iter().flat_map(Topic::names));
    Err(format!("nothing that is explained is called {asked:?}{near}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_has_words_source_wait_finding_and_a_run_that_shows_it() {
        let [rule]: [Topic; 1] = explain("R3").expect("it is a rule").try_into().expect("one has the name");
        assert!(rule.says.contains("shared memory") && rule.source.is_some_and(|source| source.contains("RTSS 2017")));
        assert!(rule.waits.is_some_and(|waits| waits.contains("no SM")));
        assert_eq!(rule.finding, Some("More shared memory on one SM than it has."));
        assert!(rule.example.is_some_and(|example| example.contains("scenarios/rtss2017/")));
    }

    #[test]
    fn every_section_of_the_page_says_something_and_where_there_is_more() {
        assert!(SECTIONS.len() > 100, "only {} sections", SECTIONS.len());
        for section in SECTIONS.iter() {
            assert!(section.says.ends_with('.') && section.more.contains(".md"), "{}", section.name);
        }
    }

    #[test]
    fn messages_are_found_by_a_part_and_in_a_whole_line() {
        let whole = "note: not exact: blocks differ in their threads: one merged SM pools what is free on several SMs";
        for asked in [whole, "blocks differ in their threads", "differ in their threads"] {
            let found = explain(asked).expect("it is a message");
            assert!(found.iter().any(|topic| topic.name == "blocks differ in their threads"), "{asked}");
        }
    }
}
