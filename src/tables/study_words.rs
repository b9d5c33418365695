//! Keys of grids and names of quantities, as people read them.

/// Endings of keys that state a unit.
const UNITS: [(&str, &str); 9] = [
    ("_permille", "‰"),
    ("_percent", "%"),
    ("_bytes", "bytes"),
    ("_ns", "ns"),
    ("_us", "µs"),
    ("_ms", "ms"),
    ("_s", "s"),
    ("_w", "W"),
    ("_j", "J"),
];

/// Keys that are not their words.
const WORDS: [(&str, &str); 11] = [
    ("met", "timing requirements met"),
    ("violation", "total violation"),
    ("mean_power", "mean board power"),
    ("application_power", "mean power per application"),
    ("per_period", "applications per period"),
    ("inject", "applications injected"),
    ("saturation_sms", "SMs that fill an application"),
    ("tightness", "requirement in parts of the execution time"),
    ("sms", "SMs"),
    ("tasks_per_sm", "tasks of each SM"),
    ("gang_tasks", "tasks of all SMs"),
];

/// The ending of shares that are weighted by utilization.
pub(crate) const WEIGHTED: &str = "_weighted";

/// Endings of what stands beside the share of a test, and what it is.
const BESIDE: [(&str, &str); 3] = [
    ("_no_miss", "no miss in any run"),
    (WEIGHTED, "weighted by utilization"),
    ("_found_over_bound", "longest found in parts of the bound"),
];

/// The test beside which a quantity stands, and what it is of it.
fn beside(key: &str) -> Option<(&str, &'static str)> {
    BESIDE.iter().find_map(|(ending, words)| Some((key.strip_suffix(ending)?, *words)))
}

/// Whether a quantity stands beside others that say the most.
pub(crate) fn is_beside(key: &str) -> bool {
    beside(key).is_some() || key.starts_with("jobs_") || key.starts_with("necessary-")
}

/// A key without its unit, and the unit.
pub(super) fn parts(key: &str) -> (&str, Option<&'static str>) {
    let with_unit = UNITS.iter().find_map(|(ending, unit)| Some((key.strip_suffix(ending)?, *unit)));
    with_unit.filter(|(name, _)| !name.is_empty()).map_or((key, None), |(name, unit)| (name, Some(unit)))
}

/// The words of a key, without its unit.
pub(crate) fn name_of(key: &str) -> String {
    if let Some((test, words)) = beside(key) {
        return format!("{test}, {words}");
    }
    let name = parts(key).0;
    let known = WORDS.iter().find(|(key, _)| *key == name);
    known.map_or_else(|| name.replace('_', " "), |(_, words)| (*words).to_owned())
}

/// The title of an axis: words and unit.
pub(crate) fn axis_title(key: &str) -> String {
    match parts(key).1 {
        Some(unit) => format!("{} [{unit}]", name_of(key)),
        None => name_of(key),
    }
}

pub(crate) fn with_value(key: &str, value: &str) -> String {
    match parts(key).1 {
        Some(unit) => format!("{} {value} {unit}", name_of(key)),
        None => format!("{} {value}", name_of(key)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_have_words_and_units_instead_of_keys() {
        let titles =
            ["utilization_permille", "violation_s", "energy_per_application_j", "period", "_s"].map(axis_title);
        let expected = ["utilization [‰]", "total violation [s]", "energy per application [J]", "period", " s"];
        assert_eq!(titles, expected);
        assert_eq!(name_of("mpcp-busy_no_miss"), "mpcp-busy, no miss in any run");
        assert_eq!(with_value("tightness_percent", "150"), "requirement in parts of the execution time 150 %");
        assert_eq!(
            (name_of("met"), name_of("gang_utilization_permille")),
            ("timing requirements met".to_owned(), "gang utilization".to_owned())
        );
    }
}
