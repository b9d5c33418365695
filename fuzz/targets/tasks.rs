//! Any text as a task set, on SMs or with segments: a set, or an error with a place.

use gpusched::device::Device;
use gpusched::tasks::TaskSet;
use gpusched::tasks::segments::SegmentTaskSet;

pub(crate) fn run(text: &str) {
    let Ok(Some(device)) = Device::builtin("tx2") else { return };
    for error in
        [TaskSet::from_json("tasks.json", text, &device).err(), SegmentTaskSet::from_json("tasks.json", text).err()]
    {
        if let Some(error) = error {
            assert!(error.line >= 1 && error.column >= 1 && !error.what.is_empty(), "{error:?}");
        }
    }
}
