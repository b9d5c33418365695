//! Writing task sets as files that the reader takes.

use serde_json::{Value, json};

use super::reservation::Reservation;
use super::task_set::{Allocation, Task, TaskSet};

impl TaskSet {
    /// The set as a tasks file. Its tasks have no kernels: none that is drawn has one.
    pub(crate) fn to_json(&self) -> String {
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
