//! Measurements of others that docs/validation.md speaks of, beside what is simulated.

use gpusched::device::SmMask;
use gpusched::hosts::simulate;
use gpusched::run::Summary;
use gpusched::scenario::{Scenario, WhatIf};

use super::published::figure;

/// When the last kernel ends \[ns\].
fn end_ns(scenario: &Scenario) -> u64 {
    let run = simulate(scenario).expect("it runs");
    let ends = Summary::of(&run).launches().filter_map(|launch| launch.record.finish()).max();
    ends.expect("a kernel ends").as_ns()
}

/// Microseconds of the second column of AmirFB/SGPRS, `results copy/speedup_waves32.csv`, on 2, 4, ... 68 SMs.
const LAYER_US: [f64; 34] = [
    21451.732, 10806.201, 8159.560, 5522.161, 5507.596, 4200.694, 4189.615, 2842.279, 2833.678, 2826.860, 2828.598,
    2824.277, 2846.512, 2844.610, 2833.734, 1555.776, 1547.008, 1553.768, 1547.775, 1554.344, 1547.125, 1554.400,
    1546.041, 1553.287, 1544.193, 1551.980, 1546.523, 1545.767, 1541.766, 1543.160, 1538.710, 1536.345, 1535.674,
    1535.480,
];

#[test]
fn a_layer_takes_as_long_on_32_numbers_of_sms_as_two_others_tell() {
    let layer = figure("validation/layer-on-sms");
    let mut errors = Vec::new();
    for (tpcs, measured_us) in (1_u32..).zip(LAYER_US) {
        let mask = SmMask::parse(&format!("~{:x}", (1_u64 << tpcs) - 1)).expect("a mask");
        let changes = WhatIf { sm_masks: vec![("network".to_owned(), mask)], ..WhatIf::default() };
        let simulated_us = end_ns(&layer.clone().what_if(&changes).expect("it can be made")) as f64 / 1e3;
        errors.push((simulated_us / measured_us - 1.0).abs());
    }
    assert!(errors[0] < 1e-5 && errors[33] < 1e-5, "those that were taken: {errors:?}");
    let mut told = errors[1..33].to_vec();
    told.sort_by(f64::total_cmp);
    let median = f64::midpoint(told[15], told[16]);
    assert!((0.0069..0.0071).contains(&median) && (0.0137..0.0139).contains(&told[31]), "{told:?}");
}
