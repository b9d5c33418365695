//! Writing sets of tasks with segments as files that the reader takes.

use serde_json::{Value, json};

use super::read::FORMAT;
use super::segment_task_set::{SegmentTask, SegmentTaskSet, TaskSegment};
use crate::time::Duration;

impl SegmentTaskSet {
    /// The set as a file.
    pub(crate) fn to_json(&self) -> String {
        let gpu = json!({
            "time_slice": time(self.gpu.time_slice), "switch_cost": time(self.gpu.switch_cost),
            "update_cost": time(self.gpu.update_cost), "channel_reset": time(self.gpu.channel_reset),
        });
        let tasks: Vec<Value> = self.tasks.iter().map(task).collect();
        json!({"format": FORMAT, "cpus": self.cpus, "gpu": gpu, "tasks": tasks}).to_string()
    }
}

fn task(task: &SegmentTask) -> Value {
    let segment = |segment: &TaskSegment| match segment {
        TaskSegment::Cpu(length) => json!({"cpu": time(*length)}),
        TaskSegment::Gpu(gpu) => json!({"misc": time(gpu.misc), "gpu": time(gpu.exec)}),
    };
    let segments: Vec<Value> = task.segments.iter().map(segment).collect();
    let mut written = json!({
        "name": &*task.name, "cpu": task.cpu, "T": time(task.period), "D": time(task.deadline), "segments": segments,
        "offset": time(task.offset), "sporadic": task.sporadic,
        "level": if task.has_high_level { "high" } else { "low" },
    });
    match task.priority {
        Some(priority) => written["priority"] = priority.into(),
        None => written["best_effort"] = true.into(),
    }
    written
}

fn time(time: Duration) -> String {
    format!("{} ns", time.as_ns())
}

#[cfg(test)]
mod tests {
    use super::super::SegmentPreset;
    use super::*;

    #[test]
    fn a_drawn_set_is_read_back() {
        for preset in SegmentPreset::ALL {
            let mut generator = preset.generator();
            generator.best_effort_permille = 200;
            for sample in 0..20 {
                let set = generator.sample(1, sample);
                assert_eq!(SegmentTaskSet::from_json("set.json", &set.to_json()), Ok(set));
            }
        }
    }
}
