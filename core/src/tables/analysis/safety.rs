//! A page that fits into a safety case: what was asked of a scenario, under which assumptions, what came of it, on what
//! evidence, and what is not covered.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use super::AnalysisReport;
use super::verdicts::{add_chains, add_many_jobs, add_requirements, add_verdicts};
use crate::analysis::{BlockTimes, Verdict};
use crate::formats::{Page, TableStyle, escaped_html};
use crate::scenario::Scenario;
use crate::spelling::option;
use crate::time::Duration;

/// What no verdict of gpusched covers, whatever the scenario.
const NEVER_COVERED: [&str; 4] = [
    "Whether times are right: blocks, copies and CPU work that take longer than stated, as where kernels slow each \
     other down in caches and memory, or clocks change, are other scenarios.",
    "Whether the GPU keeps the rules: they are inferred from measurements, and gpusched audit sets logs of a board \
     against them.",
    "What the scenario does not state: launches, copies, calls of the driver and threads of the operating system that \
     it leaves out, and faults of hardware.",
    "Results of computations, and memory.",
];

/// What a safety case says of a scenario, of its jobs and chains.
#[derive(Debug)]
pub struct SafetyReport<'a> {
    analysis: &'a AnalysisReport<'a>,
    version: &'a str,
    /// Constraints of a model on chains that are not judged.
    unjudged_chains: u64,
    /// SHA-256 of the file with certificates, and of how many verdicts it has one.
    certificate: Option<(String, usize)>,
}

/// SHA-256 in hexadecimal digits.
fn sha256(bytes: &[u8]) -> String {
    use std::fmt::Write;
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        // A string takes everything.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

impl<'a> SafetyReport<'a> {
    /// Of what this `version` of gpusched found.
    pub const fn new(analysis: &'a AnalysisReport<'a>, version: &'a str) -> Self {
        Self { analysis, version, unjudged_chains: 0, certificate: None }
    }

    /// Of a model that states so much of chains which is not judged.
    #[must_use]
    pub fn with_unjudged_chains(self, unjudged_chains: u64) -> Self {
        Self { unjudged_chains, ..self }
    }

    /// With the file of certificates of so many of its verdicts.
    #[must_use]
    pub fn with_certificate(self, file: &[u8], verdicts: usize) -> Self {
        Self { certificate: Some((sha256(file), verdicts)), ..self }
    }

    /// A page in Markdown, or a whole one in HTML.
    pub fn page(&self, style: TableStyle) -> String {
        let mut page = Page::new(style);
        self.add_to(&mut page);
        let text = page.finish();
        if style != TableStyle::Html {
            return text;
        }
        let title = escaped_html(&self.title());
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n{STYLE}\n{text}</html>\n"
        )
    }

    fn title(&self) -> String {
        format!("Deadlines of {}", self.analysis.scenario.name)
    }

    fn verdicts(&self) -> impl Iterator<Item = Verdict> {
        let AnalysisReport { verdicts, chains, requirements, .. } = self.analysis;
        let of_jobs = verdicts.jobs.iter().filter_map(|job| job.verdict);
        let of_model = requirements.iter().flatten().filter_map(|one| one.verdict);
        of_jobs.chain(chains.rows.iter().filter_map(|row| row.verdict)).chain(of_model)
    }

    /// The question, and the answer in a sentence.
    fn answer(&self) -> String {
        let count = |wanted: Verdict| self.verdicts().filter(|verdict| *verdict == wanted).count();
        let requirements = self.analysis.requirements.iter().flatten();
        let unjudged = self.unjudged_chains + requirements.filter(|one| one.verdict.is_none()).count() as u64;
        let [proven, missed, open] = [Verdict::Proven, Verdict::Missed, Verdict::Open].map(count);
        match (proven, missed, open) {
            (0, 0, 0) => "Nothing is asked: no job has a deadline, and no chain a limit.".to_owned(),
            (all, 0, 0) if unjudged == 0 => format!("Yes: all {all} are proven."),
            (all, 0, 0) => format!(
                "Not shown: all {all} that are judged are proven, and {unjudged} constraints or requirements of the model \
                 are not judged."
            ),
            (_, 0, open) => {
                format!("Not shown: {open} are open, {proven} are proven, and no run that misses one was found.")
            }
            (_, missed, open) => {
                format!("No: {missed} are missed in a run that was found, {proven} are proven, and {open} are open.")
            }
        }
    }

    fn add_to(&self, page: &mut Page) {
        let AnalysisReport { scenario, verdicts, chains, requirements, .. } = self.analysis;
        page.heading(1, &self.title());
        page.heading(2, "Question");
        let threads = scenario.threads.len();
        page.line(&format!(
            "Does every job of {threads} streams and hosts end by its deadline, and does every chain keep its limit, in \
             every run that the scenario allows?"
        ));
        page.blank();
        page.line(&self.answer());
        page.heading(2, "What was judged");
        self.add_subject(page);
        page.heading(2, "Assumptions");
        for assumption in self.assumptions() {
            page.item(&assumption);
        }
        page.heading(2, "Verdicts");
        add_verdicts(page, &verdicts.jobs);
        add_requirements(page, requirements.as_deref());
        add_chains(page, &chains.rows);
        add_many_jobs(page, &verdicts.jobs);
        page.heading(2, "Evidence");
        for evidence in self.evidence() {
            page.item(&evidence);
        }
        page.heading(2, "What is not covered");
        // Each once: notes of a scenario are those of its analysis, too.
        let mut said = BTreeSet::new();
        for note in self.analysis.notes_on_verdicts().filter(|note| said.insert(*note)) {
            page.item(note);
        }
        for what in NEVER_COVERED {
            page.item(what);
        }
    }

    fn add_subject(&self, page: &mut Page) {
        let scenario: &Scenario = self.analysis.scenario;
        let file = scenario.to_native_json().ok().map(|text| sha256(text.as_bytes()));
        let rows = [
            ("scenario", scenario.name.clone()),
            (
                "SHA-256 of what gpusched convert writes of it",
                file.unwrap_or_else(|| "it cannot be written as a file".to_owned()),
            ),
            ("device", scenario.device().name.clone()),
            ("gpusched", self.version.to_owned()),
        ];
        page.cells(&["what", "which"], 2, rows.into_iter().map(|(what, which)| vec![what.to_owned(), which]));
    }

    /// What verdicts hold under.
    fn assumptions(&self) -> Vec<String> {
        let scenario = self.analysis.scenario;
        let options = self.analysis.verdicts.options;
        let is_known = scenario.threads.iter().all(|thread| thread.jitter == Duration::ZERO && thread.unsure.is_none());
        let mut all = vec![
            "The GPU schedules by the rules of docs/model.md: stream queues, EE queues and copy engines in order, blocks \
             wherever there is room (every work-conserving placement is covered)."
                .to_owned(),
            format!("Verdicts hold {}.", options.order.condition()),
            match options.block_times {
                BlockTimes::AsStated => "Blocks take no less than their shortest stated time, and copies just what is \
                                         stated."
                    .to_owned(),
                BlockTimes::UpToStated => {
                    "Blocks, copies and CPU work take any time up to what is stated.".to_owned()
                }
            },
            if self.analysis.verdicts.counts_jitter {
                "Jobs come when the scenario says, each up to its stated jitter later; responses count from when it says."
                    .to_owned()
            } else if is_known {
                "Jobs come when the scenario says, without jitter.".to_owned()
            } else {
                "When jobs come is not known, so that no deadline is proven.".to_owned()
            },
        ];
        let is_triggered = scenario.threads.iter().any(|thread| thread.triggered_by.is_some());
        all.extend(is_triggered.then(|| {
            "Jobs that the ends of others release are released just then: no message takes time, and none is lost."
                .to_owned()
        }));
        all.extend(scenario.assumptions.iter().cloned());
        all
    }

    fn evidence(&self) -> Vec<String> {
        let verdicts = &self.analysis.verdicts;
        let mut all = vec![
            "A job is proven if a bound on all its responses meets its deadline: docs/analysis.md has the theorems with \
             their proofs, of which proofs/ has many in Coq, and docs/testing.md how runs try to break them."
                .to_owned(),
            format!(
                "{} runs were searched for long responses; a miss is such a run, which {} writes as a scenario, and none \
                 was above a bound.",
                verdicts.runs,
                option("witness")
            ),
        ];
        all.push(match &self.certificate {
            Some((hash, number)) => format!(
                "A file of certificates that the proven checker of proofs/ takes, of {number} verdicts; its SHA-256 is \
                 {hash}."
            ),
            None => format!(
                "No certificates: {} writes those there are for the proven checker of proofs/.",
                option("certificate").with("FILE")
            ),
        });
        all
    }
}

/// How a page in HTML looks, on a screen and in print.
const STYLE: &str = "<style>\nbody { font: 11pt/1.45 sans-serif; max-width: 56em; margin: 2em auto; padding: 0 1em; }\n\
                     table { border-collapse: collapse; margin: 0.6em 0; font-size: 10pt; }\nth, td { border-bottom: 1px \
                     solid #bbb; padding: 0.15em 0.7em; text-align: right; overflow-wrap: anywhere; }\nh1 { font-size: \
                     17pt; } h2 { font-size: 13pt; margin-top: 1.6em; }\ndiv { max-height: none !important; }\n@media print { body { margin: 0; max-width: none; \
                     } tr { break-inside: avoid; } }\n</style>";
