//! What the report of 2012 prints of its Figs. 1 and 2.

use super::super::made::Failure;
use super::{idle_cycles, schedule_of_figure_2, string};
use crate::printed::{Printed, Value};
use crate::warps::{Instance, verify};

/// Fig. 1 and its units, from the instance that is shipped.
pub(super) fn figure_1() -> Result<Vec<Printed>, Failure> {
    let path = "witnesses/cister2012/llc-of-four-warps.json";
    let text = include_str!("../../../witnesses/cister2012/llc-of-four-warps.json");
    let string = Instance::from_json(path, text)?.string;
    // Sigma = 1/n writes each letter n times, and the string has each letter once.
    let sigma = |unit: usize| match string.steps_on(unit) {
        1 => "1".to_owned(),
        times => format!("1/{times}"),
    };
    let capacity = |unit: usize| string.units().get(unit).map(|unit| Value::from(unit.capacity));
    Ok(vec![
        Printed::new("Sec. 3, Eq. 1", "sigma_L of 16 units and warps of 32", "1/2", sigma(0)),
        Printed::new("Sec. 3, Eq. 2", "sigma_C of 32 cores and warps of 32", "1", sigma(1)),
        Printed::new("Fig. 1", "LC becomes", "LLC", string.to_string()),
        Printed::or_nothing("Fig. 1", "sigma_L then", 1_u32, capacity(0)),
    ])
}

pub(super) fn figure_2() -> Result<Vec<Printed>, Failure> {
    let (string, schedule) = (string("LLC", "1")?, schedule_of_figure_2());
    let makespan = verify(&string, &schedule);
    let cycles = makespan.as_ref().ok().map(|cycles| Value::Number(*cycles as f64, "cycles"));
    Ok(vec![
        Printed::new("Sec. 4, third paragraph", "the schedule is work-conserving", true, makespan.is_ok()),
        Printed::or_nothing("Fig. 2", "clock cycles", Value::Number(9.0, "cycles"), cycles),
        Printed::new(
            "Sec. 4, third paragraph",
            "first cycles in which the CUDA cores are idle",
            Value::Number(5.0, "cycles"),
            Value::Number(idle_cycles(&string, &schedule) as f64, "cycles"),
        ),
    ])
}
