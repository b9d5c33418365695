//! Models that are wrong: every error has a place and says what is wrong; nothing panics, hangs or fills the memory.

use std::fmt::Write;
use std::time::Instant;

use super::*;

/// Asserts that `text` is refused with these words at the line and column at which `at` stands in it.
#[track_caller]
fn refused_at(text: &str, at: &str, words: &str) {
    let error = refusal(text);
    let offset = text.find(at).expect("the place is in the text");
    let line = text[..offset].matches('\n').count() + 1;
    let column = text[..offset].rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
    let place = error.place.as_ref().expect("it has a place");
    assert_eq!((place.line, place.column), (line, column), "{error}");
    assert!(error.what.contains(words), "{words:?} is not in: {error}");
    assert!(error.to_string().starts_with(&format!("in.amxmi:{line}:{column}: ")), "{error}");
}

#[test]
fn what_is_no_xml_is_refused_at_its_place() {
    for (text, line) in [
        ("", 1),
        ("<a>\n<b></a>", 2),
        ("<a>\n\n&nothing;</a>", 3),
        ("<a/><b/>", 1),
        ("text", 1),
        ("<a b='1' b='2'/>", 1),
    ] {
        let error = refusal(text);
        assert!(error.what.contains("not valid XML"), "{error}");
        assert_eq!(error.place.map(|place| place.line), Some(line), "{text:?}");
    }
}

#[test]
fn document_type_definitions_are_refused_and_with_them_entity_bombs() {
    let bomb = r#"<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY lol "lol"><!ENTITY lol1 "&lol;&lol;&lol;&lol;">]>
<am:Amalthea xmlns:am="http://app4mc.eclipse.org/amalthea/0.9.7">&lol1;</am:Amalthea>"#;
    refused_at(bomb, "<!DOCTYPE", "document type definition");
}

#[test]
fn a_root_without_the_namespace_is_refused() {
    refused_at("<Amalthea/>", "<Amalthea", "found Amalthea without a namespace");
    refused_at("<am:Amalthea/>", "am:", "the namespace prefix \"am\" is not declared");
    let foreign = r#"<am:Amalthea xmlns:am="http://example.org/"/>"#;
    refused_at(foreign, "<am", "found Amalthea in http://example.org/");
    let other = r#"<am:Other xmlns:am="http://app4mc.eclipse.org/amalthea/0.9.7"/>"#;
    refused_at(other, "<am", "found Other in");
    let versionless = r#"<am:Amalthea xmlns:am="http://app4mc.eclipse.org/amalthea/"/>"#;
    refused_at(versionless, "<am", "expected the root element Amalthea");
    let undeclared =
        r#"<am:Amalthea xmlns:am="http://app4mc.eclipse.org/amalthea/0.9.7"><swModel xsi:type="am:X"/></am:Amalthea>"#;
    let error = refusal(undeclared);
    assert!(error.what.contains("the namespace prefix \"xsi\" is not declared"), "{error}");
}

#[test]
fn ticks_that_are_negative_not_whole_or_no_number_are_refused() {
    for (value, words) in [
        ("-5", "negative"),
        ("1.5", "expected a whole number"),
        ("many", "no number"),
        ("", "no number"),
        ("9223372036854775808", "expected a whole number"),
        ("1e400", "expected a whole number"),
        ("NaN", "no number"),
    ] {
        let text = one_runnable(&format!("<activityGraph>{}</activityGraph>", ticks_item(value)));
        refused_at(&text, &format!("value=\"{value}\"/></items>"), words);
    }
    let most = one_runnable(&format!("<activityGraph>{}</activityGraph>", ticks_item("9223372036854775807")));
    assert_eq!(numbers(&listed(&most)["runnables"][0], "ticks")[0].1, same(9_223_372_036_854_775_807));
}

#[test]
fn bounds_the_wrong_way_round_are_refused() {
    let item = r#"<activityGraph><items xsi:type="am:Ticks"><default xsi:type="am:DiscreteValueBoundaries" lowerBound="9" upperBound="8"/></items></activityGraph>"#;
    refused_at(&one_runnable(item), "<default", "the lower bound, 9, is above the upper bound, 8");
}

#[test]
fn averages_that_are_no_numbers_are_refused() {
    for average in ["-1.0", "Infinity", "1e40"] {
        let item = format!(
            r#"<activityGraph><items xsi:type="am:Ticks"><default xsi:type="am:DiscreteValueStatistics" average="{average}"/></items></activityGraph>"#
        );
        refused_at(&one_runnable(&item), "average=", "expected a number from 0");
    }
}

#[test]
fn custom_properties_that_cannot_be_are_refused() {
    let property = |value: &str| format!(r#"<customProperties key="GridSize">{value}</customProperties>"#);
    let typed =
        |kind: &str, value: &str| one_runnable(&property(&format!(r#"<value xsi:type="am:{kind}" value="{value}"/>"#)));
    refused_at(&typed("IntegerObject", "-3"), "value=\"-3\"", "custom property GridSize: expected a whole number");
    refused_at(&typed("StringObject", "a lot"), "value=\"a lot\"", "custom property GridSize");
    refused_at(&typed("BooleanObject", "true"), "<value", "found BooleanObject");
    refused_at(&typed("LongObject", "4294967296"), "<value", "at most 2^32 - 1");
    refused_at(&one_runnable(&property("")), "<customProperties", "has no value");
    let twice = property(r#"<value xsi:type="am:IntegerObject" value="1"/>"#)
        + "\n"
        + &property(r#"<value xsi:type="am:IntegerObject" value="2"/>"#);
    let error = refusal(&one_runnable(&twice));
    assert!(error.what.contains("given twice"), "{error}");
    let copy =
        r#"<customProperties key="Copy"><value xsi:type="am:StringObject" value="sideways"/></customProperties>"#;
    refused_at(&one_runnable(copy), "value=\"sideways\"", "host-to-device");
}

#[test]
fn frequencies_and_label_sizes_that_cannot_be_are_refused() {
    let text = one_runnable("").replace("value=\"1.0\" unit=\"GHz\"", "value=\"-1.0\" unit=\"GHz\"");
    refused_at(&text, "value=\"-1.0\"", "expected a frequency from 0");
    let label =
        |size: &str| model_text("0.9.7", &format!("<swModel><labels name=\"L\"><size {size}/></labels></swModel>"));
    refused_at(&label("value=\"4\" unit=\"parsec\""), "unit=", "unit of data size");
    refused_at(&label("value=\"9223372036854775807\" unit=\"TB\""), "value=", "more than 2^64 bytes");
}

#[test]
fn a_processing_unit_without_a_frequency_is_worth_a_note() {
    for clock in ["value=\"0.0\" unit=\"GHz\"", "value=\"1.0\"", ""] {
        let text = one_runnable("").replace("value=\"1.0\" unit=\"GHz\"", clock);
        let model = parsed(&text);
        assert_eq!(listed(&text)["processing_units"][0]["frequency_hz"], Value::Null);
        assert_eq!(model.notes, ["the model states no frequency above 0 for processing unit \"gpu\""]);
    }
}

#[test]
fn two_runnables_of_one_name_are_listed_with_a_note() {
    let text =
        model_text("0.9.7", r#"<swModel><runnables name="R"/><runnables name="R"/><runnables name="R"/></swModel>"#);
    let model = parsed(&text);
    assert_eq!(list(&listed(&text), "runnables").len(), 3);
    assert_eq!(model.notes, ["more than one runnable is called \"R\""]);
}

#[test]
fn documents_of_hostile_form_are_refused_quickly() {
    let started = Instant::now();
    let deep = "<a>".repeat(1_000_000);
    assert!(refusal(&deep).what.contains("nested more than 256 deep"));
    let mut wide = String::from("<a");
    let mut names = String::from("<a");
    for index in 0..100_000 {
        let _ = write!(wide, " a{index}='='");
        let _ = write!(names, "><a xmlns:n{index}='u'/");
    }
    assert!(refusal(&(wide + "/>")).what.contains("more than 1000 attributes"));
    assert!(refusal(&(names + "></a>")).what.contains("more than 1000 namespaces"));
    assert!(started.elapsed().as_secs() < 20);
}

#[test]
fn comments_cdata_and_quoted_markup_do_not_count_as_nesting() {
    let noise = "<!-- <a><a> --><![CDATA[<a><a>]]><?pi <a> ?><x y='&lt;' z=\">\"/>";
    let text = model_text("0.9.7", &noise.repeat(300));
    assert_eq!(list(&listed(&text), "runnables").len(), 0);
}

#[test]
fn a_large_model_is_read() {
    let mut content = String::from("<swModel>");
    for index in 0..20_000 {
        let _ = write!(
            content,
            "<runnables name=\"R{index}\"><activityGraph>{}</activityGraph></runnables>",
            ticks_item("7")
        );
    }
    let text = model_text("0.9.7", &(content + "</swModel>"));
    let model = listed(&text);
    assert_eq!(list(&model, "runnables").iter().flat_map(|runnable| list(runnable, "ticks")).count(), 20_000);
}
