//! Any bytes as a measured log: what is sound is kept, what is not is told, and what is kept can be audited.

use gpusched::audit::{Observation, Tolerances, audit};
use gpusched::effort::Progress;
use gpusched::logs::{read_log, recognize_device, sort_into_runs};

pub(crate) fn run(bytes: &[u8]) {
    let reading = read_log("log.json", bytes.to_vec());
    for dropped in &reading.dropped {
        assert!(!dropped.to_string().is_empty());
    }
    let Some(log) = reading.log else { return };
    for run in sort_into_runs(vec![log]) {
        if let Some(recognized) = recognize_device(&run.logs) {
            drop(audit(&Observation::of_logs(&run, &recognized.device), &Tolerances::default(), Progress::NONE));
        }
    }
}
