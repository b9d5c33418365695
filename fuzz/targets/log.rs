//! Any bytes as a measured log or a table of blocks: what is sound is kept, what is not is told, and what is kept can
//! be audited.

use gpusched::audit::{ObservedRun, Tolerances, audit};
use gpusched::effort::Progress;
use gpusched::logs::{BlockColumns, read_logs_from, recognize_device, sort_into_runs};

pub(crate) fn run(bytes: &[u8]) {
    let columns = BlockColumns::default();
    let Ok(reading) = read_logs_from("log.json", &mut std::io::Cursor::new(bytes), &columns) else {
        unreachable!("memory can be read")
    };
    for dropped in &reading.dropped {
        assert!(!dropped.to_string().is_empty());
    }
    for run in sort_into_runs(reading.logs) {
        if let Some(recognized) = recognize_device(&run.logs) {
            drop(audit(&ObservedRun::of_logs(&run, &recognized.device), &Tolerances::default(), Progress::NONE));
        }
    }
}
