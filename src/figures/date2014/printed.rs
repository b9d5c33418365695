//! What DATE 2014 prints of Fig. 1 and of the classes of applications.

use super::super::made::Failure;
use super::built_in;
use crate::applications::{Class, Outcome};
use crate::hosts::Scheduler;
use crate::hosts::gpu_evr::EvrRules;
use crate::printed::{Printed, Value};

/// Which of the numbers of SMs that an application has one after the other.
#[derive(Debug, Clone, Copy)]
enum Which {
    First,
    Most,
    Last,
}

/// On how many SMs applications A and B of Fig. 1 are, one number after the other.
pub(super) fn figure_1() -> Result<Vec<Printed>, Failure> {
    let set = built_in("gpu-evr-figure-1")?;
    let trace = Scheduler::GpuEvr.run(&set, EvrRules::default())?;
    let outcome = Outcome::new(&set, Scheduler::GpuEvr.name(), &trace);
    let place = "Sec. III-A, Fig. 1";
    let mut values = vec![Printed::new(place, "SMs", 4_u32, set.device.sms)];
    let known = [
        ("A", "at t", Which::First, 3_u32),
        ("B", "at t + tau, when one SM is available", Which::First, 1),
        ("B", "after the first three blocks of A", Which::Most, 3),
        ("A", "after B is done: the entire GPU", Which::Last, 4),
    ];
    for (name, when, which, printed) in known {
        let number = outcome.outcomes.iter().find(|one| one.name == name).map(|one| one.injection);
        let counts: Vec<u32> =
            number.map_or(&[][..], |number| outcome.sms_over_time(number)).iter().map(|one| one.sms).collect();
        let counts: Vec<u32> = counts.into_iter().filter(|&sms| sms > 0).collect();
        let here = match which {
            Which::First => counts.first(),
            Which::Most => counts.iter().max(),
            Which::Last => counts.last(),
        };
        values.push(Printed::or_nothing(
            place,
            format!("SMs of {name} {when}"),
            printed,
            here.copied().map(Value::from),
        ));
    }
    Ok(values)
}

/// Section V's list of applications by class, by their names in the built-in sets.
const CLASSES: [(Class, &[&str]); 3] = [
    (Class::High, &["leukocyte", "heartwall", "hotspot", "srad"]),
    (Class::Medium, &["backprop", "pathfinder", "kmeans", "streamcluster"]),
    (Class::Low, &["bfs", "b+tree", "gaussian", "lud", "cfd"]),
];

pub(super) fn classes() -> Result<Vec<Printed>, Failure> {
    let set = built_in(super::RODINIA_LIKE)?;
    let mut values = Vec::new();
    for (class, names) in CLASSES {
        for name in names {
            let found = set.applications.iter().find(|application| *application.name == **name);
            let here = found.map(|found| Value::from(found.class.name()));
            values.push(Printed::or_nothing("Sec. V, list of classes", format!("class of {name}"), class.name(), here));
        }
    }
    Ok(values)
}
