//! Logs of what a GPU did, tables of single blocks among them: their audit, and their replay beside what was measured.

use std::cell::RefCell;
use std::io::Cursor;
use std::path::{Path, PathBuf};

use gpusched::audit::{AuditReport, Tolerances, audit, audit_logs};
use gpusched::draw::FigureFormat;
use gpusched::effort::Progress;
use gpusched::formats::text_of;
use gpusched::input::options::ScenarioOptions;
use gpusched::logs::{BlockColumns, Dropped, LogFiles, LogFilesError, LogFilesReader, LogsReading, read_logs_from};
use gpusched::pictures::timeline::{FinishMark, Lanes, Panels, TimelineOptions};
use gpusched::pictures::{HtmlRun, HtmlTimeline};
use gpusched::replay::{Replay, replay};
use gpusched::run::Summary;
use gpusched::scenario::ReadOptions;
use gpusched::tables::ReplayReport;
use gpusched::trace::Trace;
use serde_json::Value;

use super::answer::{Outline, Refusal, STYLE};
use super::request::Want;
use super::session::{json, outlined};

/// Options that logs take: the GPU on which they were taken, and the placement by which they are replayed.
const OPTIONS: [&str; 2] = ["device", "placement"];

/// What was measured, and what the rules say of it.
#[derive(Debug)]
pub(crate) struct MeasuredRun {
    audit: AuditReport,
    replay: Replay,
    measured: Trace,
    dropped: Vec<Dropped>,
    /// Of the replay.
    notes: Vec<String>,
}

/// The one file that is there, and what there is to say of it.
struct TheFile<'a> {
    content: &'a [u8],
    notes: RefCell<Vec<String>>,
}

impl LogFilesReader for TheFile<'_> {
    fn log(&self, path: &Path, columns: &BlockColumns) -> Result<LogsReading, LogFilesError> {
        Ok(read_logs_from(&path.display().to_string(), &mut Cursor::new(self.content), columns)?)
    }

    fn text(&self, path: &Path) -> Result<(String, String), LogFilesError> {
        Err(format!("there is no file {}", path.display()).into())
    }

    fn note(&self, text: &str) {
        self.notes.borrow_mut().push(text.to_owned());
    }
}

impl MeasuredRun {
    pub(crate) fn new(file: &str, content: &[u8], options: &ScenarioOptions) -> Result<Self, Refusal> {
        if let Some(other) = options.given.iter().find(|key| !OPTIONS.contains(key)) {
            let known = OPTIONS.join(" and ");
            return Err(Refusal::saying(format!("{other}: {file} is a log of a GPU, which takes {known} alone")));
        }
        let ReadOptions { device, placement, .. } = options.read.clone();
        let files =
            LogFiles { paths: vec![PathBuf::from(file)], device, placement, logs_alone: true, ..LogFiles::default() };
        let reader = TheFile { content, notes: RefCell::default() };
        let mut input = files.read(&reader).map_err(|error| Refusal::of(&*error))?;
        let [run] = &mut *input.runs else {
            let names: Vec<String> = input.runs.iter().map(|run| format!("{:?}", run.run.scenario_name)).collect();
            let (runs, names) = (names.len(), names.join(", "));
            return Err(Refusal::saying(format!("these are logs of {runs} runs: {names}; replay one at a time")));
        };
        let of_file = reader.notes.into_inner();
        let mut notes = [of_file.clone(), run.notes.clone()].concat();
        if run.processes() > 1 {
            notes.push("benchmarks ran in several processes; they are replayed as threads of one".to_owned());
        }
        notes.push("no scenario: launches, block times and streams are those of the logs alone".to_owned());
        let tolerances = Tolerances::default();
        let read = ReadOptions { placement, ..ReadOptions::default() };
        let replay = replay(&run.run, &run.device, None, &read, &tolerances, Progress::NONE);
        let replay = replay.map_err(|error| Refusal::of(&error))?;
        notes.extend(replay.scenario.notes.iter().cloned());
        let measured = replay.measured_trace().map_err(|error| Refusal::of(&error))?;
        let dropped = input.dropped.clone();
        let mut audit = audit_logs(input, |observation| audit(observation, &tolerances, Progress::NONE));
        audit.notes.splice(..0, of_file);
        Ok(Self { audit, replay, measured, dropped, notes })
    }

    pub(crate) fn answer(&self, want: Want) -> Result<Vec<u8>, Refusal> {
        let scenario = &self.replay.scenario;
        let marks = self.marks();
        let (upper, lower) =
            (Summary::of_trace(scenario, &self.measured), Summary::of_trace(scenario, &self.replay.trace));
        let timeline = || {
            let upper = HtmlRun { name: "measured", summary: upper, blocks_only: true };
            let lower = HtmlRun { name: "simulated", summary: lower, blocks_only: false };
            let both = HtmlTimeline::comparison(upper, lower, &marks).counted_from(self.replay.first_launch());
            both.sized().map_err(|error| Refusal::of(&error))
        };
        let report = ReplayReport { replay: &self.replay, dropped: &self.dropped, notes: &self.notes };
        let mut bytes = Vec::new();
        match want {
            Want::Choices | Want::Panic => {}
            Want::Outline => {
                let blocks = u64::try_from(self.audit.checked.blocks).unwrap_or(u64::MAX);
                return outlined(&Outline::measured(scenario), "replay-log", blocks);
            }
            Want::Tables => bytes = text_of(&report, STYLE).into_bytes(),
            Want::Data => timeline()?.write_data(&mut bytes).map_err(|error| Refusal::of(&error))?,
            Want::Html => timeline()?.write(&mut bytes).map_err(|error| Refusal::of(&error))?,
            Want::Svg => bytes = self.drawn([upper, lower])?,
            Want::Simulate => return json(&report),
            Want::Analyze => {
                // The tables begin on the second line.
                let document: Value =
                    serde_json::from_slice(&json(&self.audit)?).map_err(|error| Refusal::of(&error))?;
                bytes = document.to_string().into_bytes();
                bytes.push(b'\n');
                bytes.extend(text_of(&self.audit, STYLE).into_bytes());
            }
            Want::Scenario => {
                bytes = scenario.to_native_json().map_err(|error| Refusal::of(&error))?.into_bytes();
            }
        }
        Ok(bytes)
    }

    fn marks(&self) -> Vec<FinishMark> {
        self.replay.finishes().map(|(name, [upper, lower])| FinishMark { name, upper, lower }).collect()
    }

    /// What was measured above what was simulated.
    fn drawn(&self, [upper, lower]: [Summary<'_>; 2]) -> Result<Vec<u8>, Refusal> {
        let marks = self.marks();
        let panels = Panels { upper: &upper, lower: &lower, marks: &marks, notes: Vec::new() };
        let options = TimelineOptions {
            title: true,
            origin: self.replay.first_launch(),
            lanes: Lanes::Sms,
            ..TimelineOptions::default()
        };
        let drawing = panels.draw(&options).map_err(|error| Refusal::of(&error))?;
        drawing.to_file(FigureFormat::Svg, 1.0).map_err(|error| Refusal::of(&error))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Session;

    const TWO_KERNELS: &[u8] = include_bytes!("../../../tests/data/logs/blocks/two-kernels.csv");

    fn ask(want: &str, device: &str, content: &[u8]) -> Result<String, String> {
        let request = json!({"want": want, "file": "blocks.csv", "device": device}).to_string();
        let answer = Session::default().answer(request.as_bytes(), content);
        answer.map(|bytes| String::from_utf8(bytes).expect("it is text")).map_err(|refusal| refusal.message)
    }

    fn parsed(text: &str) -> Value {
        serde_json::from_str(text.lines().next().expect("it has one")).expect("it is JSON")
    }

    #[test]
    fn a_table_of_blocks_is_audited_and_replayed_as_by_the_commands() {
        let outline = parsed(&ask("outline", "tx2", TWO_KERNELS).expect("it is sound"));
        assert_eq!((&outline["command"], &outline["blocks"]), (&json!("replay-log"), &json!(6)));
        assert_eq!((&outline["device"], &outline["kernels"]), (&json!("tx2"), &json!([])));
        let audit = parsed(&ask("analyze", "tx2", TWO_KERNELS).expect("it is sound"));
        assert_eq!((&audit["violations"], &audit["checked"]["blocks"]), (&json!([]), &json!(6)));
        assert!(audit["notes"].to_string().contains("goes in steps of 2000 ns"), "{audit}");
        let replay: Value =
            serde_json::from_str(&ask("simulate", "tx2", TWO_KERNELS).expect("it is sound")).expect("it is JSON");
        assert_eq!(replay["kernels"].as_array().map(Vec::len), Some(2), "{replay}");
        for want in ["tables", "data", "html", "svg", "scenario"] {
            let made = ask(want, "tx2", TWO_KERNELS).expect(want);
            assert!(made.contains("scale"), "{want}");
        }
    }

    #[test]
    fn kernels_of_a_stream_that_overlap_are_pdl_on_a_gpu_that_has_it_and_a_violation_on_another() {
        let table = b"kernel,block,sm,start_us,end_us,threads\na,0,0,0,1000,128\nb,0,1,500,2000,128\n";
        let newer = parsed(&ask("analyze", "h100", table).expect("it is sound"));
        assert!(newer["notes"].to_string().contains("PDL: 1 kernel began"), "{newer}");
        assert!(!newer["violations"].to_string().contains("G4"), "{newer}");
        let older = parsed(&ask("analyze", "tx2", table).expect("it is sound"));
        assert_eq!(older["violations"][0]["rule"], "G4");
    }

    #[test]
    fn what_logs_do_not_take_is_refused() {
        let request = json!({"want": "tables", "file": "blocks.csv", "device": "tx2", "seed": 3}).to_string();
        let refused = Session::default().answer(request.as_bytes(), TWO_KERNELS).expect_err("it has no seed").message;
        assert_eq!(refused, "seed: blocks.csv is a log of a GPU, which takes device and placement alone");
        let two = b"run,sm,start_us,end_us\n1,0,0,10\n2,0,0,10\n";
        let refused = ask("tables", "tx2", two).expect_err("they are two");
        assert!(refused.contains("these are logs of 2 runs"), "{refused}");
    }
}
