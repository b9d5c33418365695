//! Figs. 3.6 to 3.9: the worked example of section 3.5.

use std::fmt::Write;

use super::super::analysed::{read, steps, steps_csv, steps_markdown};
use super::super::made::{Failure, File, Made};
use super::SECTION_3_5;
use crate::analysis::analyse;
use crate::printed::{Printed, Value};
use crate::time::{Duration, Instant, NS_PER_SECOND};

/// A step as section 3.5 prints it, times in s: the kernel from 0, f if it finishes, h, `t_a` and `g_f` after it.
type PrintedStep = (usize, Option<u64>, &'static [(u64, u32)], u64, u32);

/// All that section 3.5 prints; of the fourth kernel it has only f = 11.
const PRINTED: [PrintedStep; 5] = [
    (0, Some(4), &[(4, 2)], 0, 6),
    (1, None, &[(6, 6)], 4, 2),
    (1, Some(10), &[(6, 6), (10, 1)], 4, 1),
    (2, None, &[(10, 2)], 6, 6),
    (2, Some(12), &[(10, 2), (12, 1)], 6, 5),
];
const PRINTED_FINISHES: [u64; 4] = [4, 10, 12, 11];

const fn seconds(seconds: u64) -> Duration {
    Duration::from_ns(seconds * NS_PER_SECOND)
}

/// h as section 3.5 writes it, with times in s.
fn braced(pairs: impl Iterator<Item = (f64, u32)>) -> String {
    let pairs: Vec<String> = pairs.map(|(t, g)| format!("({t}, {g})")).collect();
    format!("{{{}}}", pairs.join(", "))
}

fn in_seconds(instant: Instant) -> Value {
    Value::Number(instant.as_ns() as f64 / 1e9, "")
}

/// A number of the example, which has none with a unit.
fn printed(number: u64) -> Value {
    Value::Number(number as f64, "")
}

/// Each step and each finish time of the example.
pub(super) fn values() -> Result<Vec<Printed>, Failure> {
    let scenario = read(SECTION_3_5)?;
    let analysis = analyse(&scenario)?;
    let steps = steps(&analysis)?.ok_or("the blocks of this example are all alike")?;
    let g_max = analysis.g_max.ok_or("the blocks of this example are all alike")?;
    let mut values = vec![Printed::new("Sec. 3.5, first paragraph", "g_max", 8_u32, g_max)];
    let steps = steps.get(..PRINTED.len()).ok_or("the example takes more steps")?;
    for (step, (kernel, finish, h, next_t_a, next_g_f)) in steps.iter().zip(PRINTED) {
        let number = kernel + 1;
        let place = format!("Sec. 3.5, Fig. 3.{} (c)", 6 + kernel);
        let turn = if finish.is_some() { "done" } else { "not done" };
        let of_step = |what: &str| format!("{what} after the step of kernel {number} that leaves it {turn}");
        let seen = braced(step.h.iter().map(|(t, g)| (t.as_ns() as f64 / 1e9, *g)));
        values.extend([
            Printed::new(&*place, of_step("kernel"), printed(number as u64), printed(step.kernel as u64 + 1)),
            Printed::new(&*place, of_step("h"), braced(h.iter().map(|&(t, g)| (t as f64, g))), seen),
            Printed::new(&*place, of_step("t_a"), printed(next_t_a), in_seconds(step.next_t_a)),
            Printed::new(&*place, of_step("g_f"), next_g_f, step.next_g_f),
        ]);
        if let Some(finish) = finish {
            let here = step.finish.map(in_seconds);
            values.push(Printed::or_nothing(place, format!("f_{number}"), printed(finish), here));
        }
    }
    for (number, (kernel, finish)) in (1..).zip(analysis.kernels.iter().zip(PRINTED_FINISHES)) {
        let here = kernel.finish_ns.map(in_seconds);
        let place = "Sec. 3.5, last paragraph";
        values.push(Printed::or_nothing(place, format!("f_{number} of f"), printed(finish), here));
        let in_time = kernel.finish_ns.is_some_and(|finish| finish <= Instant::ZERO + seconds(15));
        values.push(Printed::new(place, format!("R_{number} <= T"), true, in_time));
    }
    Ok(values)
}

pub(super) fn make(name: &'static str) -> Result<Made, Failure> {
    let scenario = read(SECTION_3_5)?;
    let analysis = analyse(&scenario)?;
    let steps = steps(&analysis)?.ok_or("the blocks of this example are all alike")?;
    let end = seconds(12);
    let mut files = Vec::new();
    for (figure, kernels) in (6..).zip(1..=scenario.threads.len()) {
        let mut placed = scenario.clone();
        placed.threads.truncate(kernels);
        let title = format!("Thesis 2019, figure 3.{figure} (c)");
        let text = super::super::analysed::merged_picture(&placed, &analyse(&placed)?, title, end)?.to_svg();
        files.push(File { name: format!("thesis2019-figure-3-{figure}.svg"), text });
    }
    files.push(File { name: format!("{name}.csv"), text: steps_csv(&analysis, &steps) });

    let values = values()?;
    let same = values.iter().filter(|value| value.agrees()).count();
    let mut finding = if same == values.len() {
        format!("All {} printed steps, and f = {{4, 10, 12, 11}}, are as printed.", PRINTED.len())
    } else {
        format!("{same} of {} printed values are as printed.", values.len())
    };
    let _ = write!(finding, "\n\n{}", steps_markdown(&analysis, &steps));
    Ok(Made { files, finding })
}
