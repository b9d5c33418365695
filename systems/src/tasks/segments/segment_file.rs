//! Reading and writing files of tasks with segments, `"format": "gpusched-segments/1"`.

use serde_json::{Value, json};

use super::segment_task_set::{GpuSegment, GpuSharing, SegmentTask, SegmentTaskSet, TaskSegment};
use crate::json::{Document, JsonError, Node, Object, Problem};
use crate::time::Duration;

pub(in crate::tasks) const FORMAT: &str = "gpusched-segments/1";
/// The longest time that a file may state: 2^48 ns, more than three days. Sums over all tasks of a set fit 128 bits.
const MAX_TIME: Duration = Duration::from_ns(1 << 48);
const MAX_TASKS: usize = 1_000;
const MAX_SEGMENTS: usize = 1_000;
const MAX_CPUS: u32 = 1_024;
/// Priorities at most: the largest number that every JSON program reads exactly.
const MAX_PRIORITY: u64 = 1 << 53;

impl SegmentTaskSet {
    /// Whether a text says that it is such a file: its key `format` does.
    pub fn is_claimed_by(text: &str) -> bool {
        let format = Document::parse("", text).ok().and_then(|document| {
            let format = document.root().object().ok()?.optional("format").ok()??;
            format.string().ok()
        });
        format.is_some_and(|format| format.starts_with("gpusched-segments/"))
    }

    /// Reads a file; `file` is its name in errors.
    ///
    /// # Errors
    /// [`JsonError`] with the position of what is wrong.
    pub fn from_json(file: &str, text: &str) -> Result<Self, JsonError> {
        let document = Document::parse(file, text)?;
        task_set(document.root()).map_err(|problem| document.locate(problem))
    }
}

fn task_set(node: Node<'_>) -> Result<SegmentTaskSet, Problem> {
    let mut file = node.object()?;
    let format = file.required("format")?;
    if format.string()? != FORMAT {
        return Err(format.expected(&format!("{FORMAT:?}")));
    }
    let cpus = file.required("cpus")?.whole_u32(1, MAX_CPUS)?;
    let gpu = sharing(file.required("gpu")?)?;
    let tasks_node = file.required("tasks")?;
    let entries = tasks_node.filled_list()?;
    if entries.len() > MAX_TASKS {
        return Err(tasks_node.problem(format!("expected at most {MAX_TASKS} tasks, found {}", entries.len())));
    }
    let mut tasks: Vec<SegmentTask> = Vec::with_capacity(entries.len());
    for entry in entries {
        let task = task(entry, tasks.len(), cpus)?;
        if tasks.iter().any(|other| other.name == task.name) {
            return Err(entry.problem(format!("two tasks are called {:?}", task.name)));
        }
        if let Some(rank) = task.priority
            && let Some(other) = tasks.iter().find(|other| other.priority == Some(rank))
        {
            return Err(entry
                .problem(format!("the task {:?} has the priority {rank} too", other.name))
                .with_help("the analyses need an order of all tasks: give each its own priority"));
        }
        tasks.push(task);
    }
    file.finish()?;
    if !tasks.iter().any(SegmentTask::uses_gpu) {
        return Err(tasks_node
            .problem("no task has a GPU segment")
            .with_help("a GPU segment is {\"misc\": TIME, \"gpu\": TIME} in a task's \"segments\""));
    }
    Ok(SegmentTaskSet { cpus, gpu, tasks })
}

fn sharing(node: Node<'_>) -> Result<GpuSharing, Problem> {
    let mut fields = node.object()?;
    let slice_node = fields.required("time_slice")?;
    let time_slice = positive(slice_node)?;
    let switch_cost = match fields.optional("switch_cost")? {
        None => Duration::ZERO,
        Some(node) => match time(node)? {
            cost if cost > time_slice => {
                return Err(node
                    .expected(&format!("at most the time slice, {time_slice}"))
                    .with_help("a GPU that switches for longer than it works is none that was ever measured"));
            }
            cost => cost,
        },
    };
    let mut optional = |key| fields.optional(key)?.map_or(Ok(Duration::ZERO), time);
    let (update_cost, channel_reset) = (optional("update_cost")?, optional("channel_reset")?);
    fields.finish()?;
    Ok(GpuSharing { time_slice, switch_cost, update_cost, channel_reset })
}

fn task(entry: Node<'_>, index: usize, cpus: u32) -> Result<SegmentTask, Problem> {
    let mut fields = entry.object()?;
    let name = match fields.optional("name")? {
        Some(name) => name.string()?,
        None => format!("tau{}", index + 1),
    };
    let cpu = fields.required("cpu")?.whole_u32(0, cpus - 1)?;
    let period = positive(fields.required("T")?)?;
    let deadline = match fields.optional("D")? {
        None => period,
        Some(node) => match positive(node)? {
            deadline if deadline > period => {
                return Err(node
                    .expected(&format!("at most the period, {period}"))
                    .with_help("the analyses are for deadlines that do not exceed the period"));
            }
            deadline => deadline,
        },
    };
    let best_effort = fields.optional("best_effort")?.map_or(Ok(false), |node| node.boolean())?;
    let priority = match (fields.optional("priority")?, best_effort) {
        (None, true) => None,
        (Some(node), false) => Some(node.whole_number(0, MAX_PRIORITY)?),
        (Some(node), true) => {
            return Err(node.problem("a task of best effort has no priority: it is below all others"));
        }
        (None, false) => {
            return Err(entry
                .problem("the key \"priority\" is missing")
                .with_help("a smaller number is more urgent; a task without priority has \"best_effort\": true"));
        }
    };
    let has_high_level = match fields.optional("level")? {
        None => false,
        Some(level) => match &*level.text()? {
            "high" => true,
            "low" => false,
            _ => return Err(level.expected("\"high\" or \"low\"")),
        },
    };
    let offset = fields.optional("offset")?.map_or(Ok(Duration::ZERO), time)?;
    let sporadic = fields.optional("sporadic")?.map_or(Ok(false), |node| node.boolean())?;
    let segments = segments(&mut fields)?;
    fields.finish()?;
    let task =
        SegmentTask { name: name.into(), cpu, period, deadline, priority, segments, offset, sporadic, has_high_level };
    if task.alone_ns() == 0 {
        return Err(entry.problem("the task does nothing: all its segments take no time"));
    }
    Ok(task)
}

fn segments(fields: &mut Object<'_>) -> Result<Vec<TaskSegment>, Problem> {
    let list_node = fields.required("segments")?;
    let entries = list_node.filled_list()?;
    if entries.len() > MAX_SEGMENTS {
        return Err(list_node.problem(format!("expected at most {MAX_SEGMENTS} segments, found {}", entries.len())));
    }
    let segment = |entry: Node<'_>| {
        let mut fields = entry.object()?;
        let segment = match (fields.optional("cpu")?, fields.optional("gpu")?) {
            (Some(cpu), None) => TaskSegment::Cpu(time(cpu)?),
            (None, Some(gpu)) => {
                let misc = fields.optional("misc")?.map_or(Ok(Duration::ZERO), time)?;
                TaskSegment::Gpu(GpuSegment { misc, exec: positive(gpu)? })
            }
            _ => {
                return Err(entry
                    .problem("expected a segment of the CPU, {\"cpu\": TIME}, or of the GPU, {\"misc\": TIME, \"gpu\": TIME}")
                    .with_help("one of the keys \"cpu\" and \"gpu\"; \"misc\" is the CPU's part of a GPU segment"));
            }
        };
        fields.finish()?;
        Ok(segment)
    };
    entries.into_iter().map(segment).collect()
}

fn time(node: Node<'_>) -> Result<Duration, Problem> {
    match node.time()? {
        time if time > MAX_TIME => Err(node.expected("at most 2^48 ns, about 78 hours")),
        time => Ok(time),
    }
}

fn positive(node: Node<'_>) -> Result<Duration, Problem> {
    match time(node)? {
        Duration::ZERO => Err(node.expected("a time above 0")),
        time => Ok(time),
    }
}

impl SegmentTaskSet {
    /// The set as a file.
    #[doc(hidden)]
    pub fn to_json(&self) -> String {
        let gpu = json!({
            "time_slice": text(self.gpu.time_slice), "switch_cost": text(self.gpu.switch_cost),
            "update_cost": text(self.gpu.update_cost), "channel_reset": text(self.gpu.channel_reset),
        });
        let tasks: Vec<Value> = self.tasks.iter().map(written).collect();
        json!({"format": FORMAT, "cpus": self.cpus, "gpu": gpu, "tasks": tasks}).to_string()
    }
}

fn written(task: &SegmentTask) -> Value {
    let segment = |segment: &TaskSegment| match segment {
        TaskSegment::Cpu(length) => json!({"cpu": text(*length)}),
        TaskSegment::Gpu(gpu) => json!({"misc": text(gpu.misc), "gpu": text(gpu.exec)}),
    };
    let segments: Vec<Value> = task.segments.iter().map(segment).collect();
    let mut written = json!({
        "name": &*task.name, "cpu": task.cpu, "T": text(task.period), "D": text(task.deadline), "segments": segments,
        "offset": text(task.offset), "sporadic": task.sporadic,
        "level": if task.has_high_level { "high" } else { "low" },
    });
    match task.priority {
        Some(priority) => written["priority"] = priority.into(),
        None => written["best_effort"] = true.into(),
    }
    written
}

fn text(time: Duration) -> String {
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
