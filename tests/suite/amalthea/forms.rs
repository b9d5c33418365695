//! Every form in which models of some schema version state ticks.

use serde_json::json;

use super::*;

/// The ticks of the only runnable, which has this content.
fn ticks(content: &str) -> Vec<(Option<String>, Numbers)> {
    let text = one_runnable(content);
    numbers(&listed(&text)["runnables"][0], "ticks")
}

fn distribution(kind: &str, rest: &str) -> Numbers {
    let found = ticks(&format!(
        r#"<activityGraph><items xsi:type="am:Ticks"><default xsi:type="am:{kind}" {rest}</items></activityGraph>"#
    ));
    let [(None, numbers)] = found[..] else { panic!("one default entry: {found:?}") };
    numbers
}

fn millions(lower: u128, value: u128, upper: u128) -> Numbers {
    (Some(lower * 1_000_000), Some(value * 1_000_000), Some(upper * 1_000_000))
}

#[test]
fn instructions_of_versions_up_to_0_9_0() {
    let item = r#"<runnableItems xsi:type="am:RunnableInstructions">
        <default xsi:type="am:InstructionsConstant" value="1500000"/>
        <extended key="Big+core?type=CoreType"><value xsi:type="am:InstructionsConstant" value="7"/></extended>
    </runnableItems>"#;
    assert_eq!(ticks(item), [(None, same(1_500_000)), (Some("Big core".to_owned()), same(7))]);
}

#[test]
fn deviations_of_versions_up_to_0_9_2() {
    let deviation = |distribution: &str| {
        ticks(&format!(
            r#"<runnableItems xsi:type="am:RunnableInstructions"><default xsi:type="am:InstructionsDeviation"><deviation>
                <lowerBound xsi:type="am:LongObject" value="10"/><upperBound xsi:type="am:LongObject" value="50"/>
                {distribution}
            </deviation></default></runnableItems>"#
        ))[0]
            .1
    };
    let weibull = r#"<distribution xsi:type="am:WeibullEstimators" pRemainPromille="0.5"><mean xsi:type="am:LongObject" value="20"/></distribution>"#;
    assert_eq!(deviation(weibull), millions(10, 20, 50));
    assert_eq!(deviation(r#"<distribution xsi:type="am:GaussDistribution" mean="22.5" sd="1"/>"#).1, Some(22_500_000));
    assert_eq!(deviation(r#"<distribution xsi:type="am:UniformDistribution"/>"#), millions(10, 30, 50));
    assert_eq!(deviation(r#"<distribution xsi:type="am:Boundaries" samplingType="WorstCase"/>"#).1, None);
    assert_eq!(deviation(""), (Some(10_000_000), None, Some(50_000_000)));
}

#[test]
fn execution_needs_of_versions_0_9_0_to_0_9_2() {
    let item = r#"<runnableItems xsi:type="am:ExecutionNeed">
        <default key="Instructions"><value xsi:type="am:NeedConstant" value="42"/></default>
        <default key="FLOP"><value xsi:type="am:NeedConstant" value="9"/></default>
        <extended key="G?type=ProcessingUnitDefinition"><value key="Instructions">
            <value xsi:type="am:NeedDeviation"><deviation><lowerBound xsi:type="am:LongObject" value="1"/>
            <upperBound xsi:type="am:LongObject" value="3"/><distribution xsi:type="am:UniformDistribution"/></deviation></value>
        </value></extended>
    </runnableItems>"#;
    assert_eq!(ticks(item), [(None, same(42)), (Some("G".to_owned()), millions(1, 2, 3))]);
    let text = one_runnable(item);
    let needs = numbers(&listed(&text)["runnables"][0], "needs");
    assert_eq!(needs, [(None, same(9))]);
}

#[test]
fn needs_from_version_0_9_3_on_are_listed_beside_the_ticks() {
    let item = r#"<callGraph>
        <items xsi:type="am:Ticks"><default xsi:type="am:DiscreteValueConstant" value="200"/></items>
        <items xsi:type="am:ExecutionNeed"><needs key="Instructions"><value xsi:type="am:DiscreteValueConstant" value="500"/></needs></items>
    </callGraph>"#;
    assert_eq!(ticks(item), [(None, same(200))]);
    let text = one_runnable(item);
    assert_eq!(numbers(&listed(&text)["runnables"][0], "needs"), [(None, same(500))]);
}

#[test]
fn ticks_stand_in_runnable_items_call_graphs_and_activity_graphs() {
    let inside = r#"xsi:type="am:Ticks"><default xsi:type="am:DiscreteValueConstant" value="5"/>"#;
    for content in [
        format!("<runnableItems {inside}</runnableItems>"),
        format!("<callGraph><items {inside}</items></callGraph>"),
        format!("<activityGraph><items {inside}</items></activityGraph>"),
        // A group of versions up to 0.9.4 wraps its items once more.
        format!(
            r#"<runnableItems xsi:type="am:Group"><items><runnableItem {inside}</runnableItem></items></runnableItems>"#
        ),
    ] {
        assert_eq!(ticks(&content), [(None, same(5))], "{content}");
    }
}

#[test]
fn ticks_nested_in_groups_switches_and_unknown_items_are_found_in_document_order() {
    let content = format!(
        r#"<activityGraph>{}<items xsi:type="am:Group"><items xsi:type="am:ModeSwitch">
            <entries><items xsi:type="am:Group">{}</items></entries><defaultEntry>{}</defaultEntry></items></items>
            <items xsi:type="am:Mystery">{}</items></activityGraph>"#,
        ticks_item("1"),
        ticks_item("2"),
        ticks_item("3"),
        ticks_item("4")
    );
    assert_eq!(ticks(&content), [(None, same(1)), (None, same(2)), (None, same(3)), (None, same(4))]);
    let text = one_runnable(&content);
    assert_eq!(parsed(&text).skipped.get("Mystery"), Some(&1));
}

#[test]
fn a_missing_value_means_zero() {
    assert_eq!(distribution("DiscreteValueConstant", "/>"), same(0));
    let old = r#"<runnableItems xsi:type="am:RunnableInstructions"><default xsi:type="am:InstructionsConstant"/></runnableItems>"#;
    assert_eq!(ticks(old), [(None, same(0))]);
}

#[test]
fn distributions_of_versions_from_0_9_3() {
    let bounds = r#"lowerBound="10" upperBound="50""#;
    let both = (Some(10_000_000), None, Some(50_000_000));
    assert_eq!(distribution("DiscreteValueBoundaries", &format!("{bounds}/>")), both);
    assert_eq!(
        distribution("DiscreteValueStatistics", &format!(r#"{bounds} average="1.8E1"/>"#)),
        millions(10, 18, 50)
    );
    let weibull = format!(r#"{bounds} average="20.25" pRemainPromille="1.0"/>"#);
    assert_eq!(distribution("DiscreteValueWeibullEstimatorsDistribution", &weibull).1, Some(20_250_000));
    assert_eq!(distribution("DiscreteValueUniformDistribution", &format!("{bounds}/>")), millions(10, 30, 50));
    // 10 + 40 * 1 / (1 + 3)
    let beta = format!(r#"{bounds} alpha="1.0" beta="3.0"/>"#);
    assert_eq!(distribution("DiscreteValueBetaDistribution", &beta), millions(10, 20, 50));
    assert_eq!(
        distribution("DiscreteValueGaussDistribution", r#"mean="500.0" sd="2.0"/>"#),
        (None, Some(500_000_000), None)
    );
    // (3 * 15 + 1 * 35) / 4
    let histogram = r#"><entries occurrences="3" lowerBound="10" upperBound="20"/>
        <entries occurrences="1" lowerBound="30" upperBound="40"/></default>"#;
    let histogram = distribution("DiscreteValueHistogram", histogram);
    assert_eq!(histogram, millions(10, 20, 40));
}

#[test]
fn an_unknown_distribution_is_counted_in_the_listing() {
    let text = one_runnable(
        r#"<activityGraph><items xsi:type="am:Ticks"><default xsi:type="am:DiscreteValueOracle"/></items></activityGraph>"#,
    );
    let model = listed(&text);
    assert_eq!(model["runnables"][0]["ticks"], json!([]));
    assert_eq!(model["skipped"]["DiscreteValueOracle"], 1);
}

#[test]
fn custom_properties_may_be_numbers_or_text() {
    for kind in ["IntegerObject", "LongObject", "StringObject"] {
        let property = |key: &str, value: u32| {
            format!(r#"<customProperties key="{key}"><value xsi:type="am:{kind}" value="{value}"/></customProperties>"#)
        };
        let content: String = [("GridSize", 12), ("BlockSize", 256), ("Registers", 32), ("SharedMemory", 4096)]
            .map(|(key, value)| property(key, value))
            .concat();
        let text = one_runnable(&content);
        let model = listed(&text);
        let found =
            ["grid_size", "block_size", "registers", "shared_memory_bytes"].map(|key| &model["runnables"][0][key]);
        assert_eq!(found, [12, 256, 32, 4096], "{kind}");
    }
    let text = one_runnable(&property("priority", 3));
    assert_eq!(listed(&text)["runnables"][0]["grid_size"], Value::Null);
}

#[test]
fn processing_units_have_frequencies_in_the_old_and_the_new_form() {
    let new = json!([{"name": "gpu", "definition": "G", "kind": "GPU", "frequency_hz": 1_000_000_000}]);
    assert_eq!(listed(&one_runnable(""))["processing_units"], new);

    let old = model_text(
        "0.9.0",
        r#"<hwModel><coreTypes name="T" instructionsPerCycle="1"/><system name="S"><ecus name="E"><microcontrollers name="M">
            <cores name="C1" coreType="T?type=CoreType"><prescaler name="p" clockRatio="1.5" quartz="Q+1?type=Quartz"/></cores>
            <cores name="C2"><prescaler name="p" quartz="Q+1?type=Quartz"/></cores></microcontrollers></ecus>
            <quartzes name="Q 1"><frequency unit="MHz" value="100.0"/></quartzes></system></hwModel>"#,
    );
    let model = listed(&old);
    let frequencies: Vec<&Value> = list(&model, "processing_units").iter().map(|unit| &unit["frequency_hz"]).collect();
    assert_eq!(frequencies, [150_000_000, 100_000_000]);
}

#[test]
fn ticks_of_tasks_are_counted_as_skipped() {
    let task =
        format!(r#"<swModel><tasks name="T"><activityGraph>{}</activityGraph></tasks></swModel>"#, ticks_item("1"));
    let text = model_text("0.9.7", &task);
    assert_eq!(parsed(&text).skipped.get("Ticks in a task"), Some(&1));
}

#[test]
fn the_version_is_that_of_the_namespace_and_any_prefix_will_do() {
    let text = model_text("1.2.0", "").replace("am:", "amalthea:").replace("xmlns:am=", "xmlns:amalthea=");
    assert_eq!(parsed(&text).version, "1.2.0");
}
