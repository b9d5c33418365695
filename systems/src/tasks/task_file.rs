//! Reading and writing tasks files.

use serde_json::{Value, json};

use super::reservation::{Reservation, Reservations};
use super::segments::FORMAT;
use super::task_set::{Allocation, MAX_TIME, Task, TaskKernel, TaskSet, Timing};
use super::task_time::TaskTime;
use crate::device::{BlockDemand, BlockShape, Device};
use crate::json::{Document, JsonError, Node, Object, Problem};

/// Tasks of one set at most, so that sums fit 64 bits.
const MAX_TASKS: usize = 10_000;
/// SMs at most: an SM mask has 128 bits.
const MAX_SMS: u32 = 128;

impl TaskSet {
    /// Reads a tasks file; `file` is its name in errors. Kernels are measured by what fits an SM of `device`.
    ///
    /// # Errors
    /// [`JsonError`] with the position of what is wrong.
    pub fn from_json(file: &str, text: &str, device: &Device) -> Result<Self, JsonError> {
        let document = Document::parse(file, text)?;
        task_set(document.root(), device).map_err(|problem| document.locate(problem))
    }
}

fn task_set(node: Node<'_>, device: &Device) -> Result<TaskSet, Problem> {
    let mut file = node.object()?;
    let other = || format!("a file of tasks with CPU and GPU segments states \"format\": {FORMAT:?}");
    let sms = file.required("sms").map_err(|problem| problem.with_help(other()))?.whole_u32(1, MAX_SMS)?;
    let tasks_node = file.required("tasks")?;
    let entries = tasks_node.filled_list()?;
    if entries.len() > MAX_TASKS {
        return Err(tasks_node.problem(format!("expected at most {MAX_TASKS} tasks, found {}", entries.len())));
    }
    let mut tasks: Vec<Task> = Vec::with_capacity(entries.len());
    for entry in entries {
        let mut fields = entry.object()?;
        let task = task(&mut fields, tasks.len(), sms, device)?;
        if tasks.iter().any(|other| other.name == task.name) {
            return Err(entry.problem(format!("two tasks are called {:?}", task.name)));
        }
        fields.finish()?;
        tasks.push(task);
    }
    let reservations = file.optional("reservation")?.map(reservations).transpose()?;
    let levels =
        file.optional("priority_levels")?.map_or(Ok(TaskSet::PRIORITY_LEVELS), |levels| levels.whole_u32(1, 64))?;
    file.finish()?;
    Ok(TaskSet { sms, tasks, reservations, priority_levels: levels })
}

fn task(fields: &mut Object<'_>, index: usize, sms: u32, device: &Device) -> Result<Task, Problem> {
    let name = match fields.optional("name")? {
        Some(name) => name.string()?,
        None => format!("tau{}", index + 1),
    };
    let allocation = match fields.required("sm")? {
        sm if sm.is_string() && sm.string()? == "all" => Allocation::All,
        sm => Allocation::Sm(
            sm.whole_u32(0, sms - 1).map_err(|_| sm.expected(&format!("an SM from 0 to {}, or \"all\"", sms - 1)))?,
        ),
    };
    let kernel = fields.optional("kernel")?;
    let kernel = kernel.map(|node| kernel_of(node).map(|kernel| (node, kernel))).transpose()?;
    let used_sms = if allocation == Allocation::All { sms } else { 1 };
    let wcet = match (fields.optional("C")?, &kernel) {
        (Some(wcet), None) => time(wcet, 1, MAX_TIME)?,
        (None, Some((node, kernel))) => execution_time(*node, kernel, used_sms, device)?,
        (Some(wcet), Some(_)) => {
            return Err(wcet.problem("both \"C\" and \"kernel\" are given: C follows from the kernel"));
        }
        (None, None) => return Err(fields.node().problem("the key \"C\" is missing, and there is no \"kernel\"")),
    };
    let period = time(fields.required("T")?, 1, MAX_TIME)?;
    let deadline = match fields.optional("D")? {
        Some(deadline) => time(deadline, 1, period)
            .map_err(|problem| problem.with_help("the tests are for deadlines that do not exceed the period"))?,
        None => period,
    };
    let preemption_cost = match (fields.optional("PC")?, &kernel) {
        (Some(cost), _) => time(cost, 0, MAX_TIME)?,
        (None, Some((_, kernel))) => kernel.block_time,
        (None, None) => TaskTime::ZERO,
    };
    Ok(Task {
        name: name.into(),
        timing: Timing { wcet, period, deadline },
        preemption_cost,
        allocation,
        offset: fields.optional("offset")?.map_or(Ok(TaskTime::ZERO), |offset| time(offset, 0, MAX_TIME))?,
        sporadic: fields.optional("sporadic")?.map_or(Ok(false), |sporadic| sporadic.boolean())?,
        priority: fields
            .optional("priority")?
            .map(|priority| priority.whole_number(0, MAX_TIME.units()))
            .transpose()?,
        kernel: kernel.map(|(_, kernel)| kernel),
    })
}

fn time(node: Node<'_>, least: u64, most: TaskTime) -> Result<TaskTime, Problem> {
    node.whole_number(least, most.units()).map(TaskTime::from_units)
}

fn kernel_of(node: Node<'_>) -> Result<TaskKernel, Problem> {
    let mut fields = node.object()?;
    let mut optional = |key| fields.optional(key)?.map_or(Ok(0), |value: Node<'_>| value.whole_u32(0, u32::MAX));
    let (registers_per_thread, shared_memory_bytes) =
        (optional("registers_per_thread")?, optional("shared_memory_bytes")?);
    let kernel = TaskKernel {
        blocks: fields.required("blocks")?.whole_u32(1, u32::MAX)?,
        shape: BlockShape {
            threads: fields.required("threads")?.whole_u32(1, u32::MAX)?,
            registers_per_thread,
            shared_memory_bytes,
        },
        block_time: time(fields.required("block_time")?, 1, MAX_TIME)?,
    };
    fields.finish()?;
    Ok(kernel)
}

/// C of a kernel alone on `sms` SMs: as many waves as it needs, each as long as a block.
fn execution_time(node: Node<'_>, kernel: &TaskKernel, sms: u32, device: &Device) -> Result<TaskTime, Problem> {
    let demand = BlockDemand::new(&kernel.shape, device).map_err(|error| node.problem(error.to_string()))?;
    let at_once = u64::from(demand.blocks_per_sm(device)) * u64::from(sms);
    let waves = u64::from(kernel.blocks).div_ceil(at_once);
    kernel
        .block_time
        .checked_mul(waves)
        .filter(|&time| time <= MAX_TIME)
        .ok_or_else(|| node.problem(format!("{waves} waves of blocks take longer than {MAX_TIME}")))
}

fn reservations(node: Node<'_>) -> Result<Reservations, Problem> {
    let mut fields = node.object()?;
    let period = time(fields.required("period")?, 1, MAX_TIME)?;
    let mut one = |key| {
        let node = fields.required(key)?;
        let mut fields = node.object()?;
        let offset = time(fields.required("offset")?, 0, period - TaskTime::UNIT)?;
        let budget = time(fields.required("budget")?, 0, period)?;
        fields.finish()?;
        Ok((node, Reservation { offset, budget, period }))
    };
    let (_, single) = one("single")?;
    let (node, all) = one("all")?;
    fields.finish()?;
    if overlap(single, all) || overlap(all, single) {
        return Err(node.problem("the reservations \"single\" and \"all\" overlap").with_help(
            "R_L and R_B share one period and take turns: offset + budget of one is at most the other's offset",
        ));
    }
    Ok(Reservations { single, all })
}

/// Whether `other` begins while `one` is served.
fn overlap(one: Reservation, other: Reservation) -> bool {
    let since = (other.offset + one.period - one.offset) % one.period;
    one.budget > TaskTime::ZERO && other.budget > TaskTime::ZERO && since < one.budget
}

impl TaskSet {
    /// The set as a tasks file. Its tasks have no kernels: none that is drawn has one.
    #[doc(hidden)]
    pub fn to_json(&self) -> String {
        let task = |task: &Task| {
            let sm = match task.allocation {
                Allocation::Sm(sm) => Value::from(sm),
                Allocation::All => Value::from("all"),
            };
            json!({
                "name": &*task.name, "C": task.timing.wcet.units(), "T": task.timing.period.units(),
                "D": task.timing.deadline.units(), "PC": task.preemption_cost.units(), "sm": sm,
                "offset": task.offset.units(), "sporadic": task.sporadic,
            })
        };
        let tasks: Vec<Value> = self.tasks.iter().map(task).collect();
        let mut file = json!({"sms": self.sms, "priority_levels": self.priority_levels, "tasks": tasks});
        if let Some(reservations) = self.reservations {
            let one = |of: Reservation| json!({"offset": of.offset.units(), "budget": of.budget.units()});
            file["reservation"] = json!({
                "period": reservations.single.period.units(), "single": one(reservations.single), "all": one(reservations.all),
            });
        }
        file.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::tasks::{Generator, Periods, ReservationPeriod, TaskTime, Utilizations};

    #[test]
    fn a_drawn_set_is_read_back() {
        let device = Device::builtin("tx2").expect("sound").expect("built in");
        let generator = Generator {
            sms: 2,
            tasks_per_sm: 3,
            gang_tasks: 2,
            single_permille: 300,
            gang_permille: 200,
            utilizations: Utilizations::UUniFast,
            periods: Periods::List([10_000, 20_000].map(TaskTime::from_units).to_vec()),
            reservation: ReservationPeriod::Drawn,
            deadline_percent: 75,
        };
        for sample in 0..20 {
            let set = generator.sample(1, sample).expect("it can be drawn");
            let read = TaskSet::from_json("set.json", &set.to_json(), &device).expect("it is sound");
            assert_eq!(format!("{read:?}"), format!("{set:?}"));
        }
    }
}
