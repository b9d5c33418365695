use super::*;

fn fail(text: &str, read: impl Fn(Node<'_>) -> Result<(), Problem>) -> JsonError {
    let document = Document::parse("in.json", text).expect("the text is JSON");
    document.locate(read(document.root()).expect_err("the reader refuses"))
}

#[test]
fn an_error_names_line_column_and_field_path() {
    let error = fail("{\n  \"a\": [1, {\"b\": \"x\"}]\n}", |root| {
        let list = root.object()?.required("a")?.list()?;
        list[1].object()?.required("b")?.whole_number(1, 9).map(drop)
    });
    assert_eq!((error.line, error.column, error.path.as_str()), (2, 18, "a[1].b"));
    assert_eq!(error.what, "expected a whole number from 1 to 9, found \"x\"");
    assert_eq!(error.to_string().lines().nth(2), Some("  |                  ^"));
}

#[test]
fn unknown_keys_are_named_with_the_known_ones() {
    let error = fail(r#"{"a": 1, "banana": 2}"#, |root| {
        let mut object = root.object()?;
        object.required("a")?;
        object.finish()
    });
    assert_eq!(error.what, "unknown key \"banana\"");
    assert_eq!(error.help.as_deref(), Some("known keys here: a, comment"));
    assert_eq!(error.path, "banana");
}

#[test]
fn comments_may_repeat_and_other_keys_may_not() {
    let text = r#"{"comment": 1, "comment": 2, "comment_on_a": 3, "a": 4}"#;
    let document = Document::parse("in.json", text).expect("the text is JSON");
    let mut object = document.root().object().expect("an object");
    assert_eq!(object.required("a").and_then(|a| a.whole_number(0, 9)), Ok(4));
    assert_eq!(object.finish(), Ok(()));

    let error = fail(r#"{"a": 1, "a": 2}"#, |root| root.object()?.required("a").map(drop));
    assert_eq!(error.what, "the key \"a\" stands twice in one object");
}

#[test]
fn broken_json_is_located() {
    let error = Document::parse("in.json", "{\n \"a\": }").expect_err("broken");
    assert_eq!((error.file.as_str(), error.line, error.column), ("in.json", 2, 7));
    assert!(error.what.starts_with("not valid JSON"), "{}", error.what);
    for text in ["", "{", "[1,]", "nul", "{\"a\":1}x", "\u{0}"] {
        assert!(Document::parse("in.json", text).is_err(), "{text:?} was accepted");
    }
}

#[test]
fn whole_numbers_are_exact() {
    let number = |text: &str| Document::parse("", text).expect("JSON").root().whole_number(0, u64::MAX);
    assert_eq!(number("18446744073709551615"), Ok(u64::MAX));
    assert_eq!(number("1e3"), Ok(1000));
    assert_eq!(number("2.0"), Ok(2));
    for text in
        ["2.5", "-1", "1e300", "18446744073709551616", "true", "\"1\"", "0.9999999999999999999999999999999999999"]
    {
        assert!(number(text).is_err(), "{text} was accepted");
    }
}

#[test]
fn signed_numbers_are_whole_in_any_notation() {
    let number = |text: &str| Document::parse("", text).expect("JSON").root().signed_number(-1000, 1 << 40);
    for (text, value) in [("-1", -1), ("-1.0", -1), ("-1e3", -1000), ("7", 7), ("-0", 0), ("-0.0", 0), ("1.5e1", 15)] {
        assert_eq!(number(text), Ok(value), "{text}");
    }
    for text in ["-1.5", "-1001", "\"-1\"", "true", "[-1]", "1e300", "-1e300", "1e13"] {
        assert!(number(text).is_err(), "{text} was accepted");
    }
}

#[test]
fn absurd_nesting_is_an_error_and_not_a_crash() {
    let deep = "[".repeat(1_000_000);
    assert!(Document::parse("in.json", &deep).is_err());
    let closed = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let error = match Document::parse("in.json", &closed) {
        Ok(document) => document.locate(document.root().object().expect_err("no object")),
        Err(error) => error,
    };
    assert_eq!(error.line, 1);
}

mod against_serde_json {
    //! The same texts are JSON, and hold the same values, as `serde_json` says.

    use std::fmt;

    use proptest::prelude::*;
    use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
    use serde_json::value::RawValue;

    use super::*;

    /// Keys and values in the order of the text, repeated keys included.
    struct Fields<'a>(Vec<(String, &'a RawValue)>);

    impl<'de> Deserialize<'de> for Fields<'de> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            struct Collect;
            impl<'de> Visitor<'de> for Collect {
                type Value = Fields<'de>;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    f.write_str("an object")
                }

                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                    let mut fields = Vec::new();
                    while let Some(field) = map.next_entry()? {
                        fields.push(field);
                    }
                    Ok(Fields(fields))
                }
            }
            deserializer.deserialize_map(Collect)
        }
    }

    /// Asserts that a node is what `raw` holds, at the same place.
    fn assert_same(node: Node<'_>, raw: &str) {
        assert_eq!((node.raw(), node.raw().as_ptr()), (raw, raw.as_ptr()));
        assert_eq!(node.text().ok().map(std::borrow::Cow::into_owned), serde_json::from_str(raw).ok());
        match (node.list(), serde_json::from_str::<Vec<&RawValue>>(raw)) {
            (Ok(list), Ok(expected)) => {
                assert_eq!(list.len(), expected.len());
                list.into_iter().zip(expected).for_each(|(child, raw)| assert_same(child, raw.get()));
            }
            (list, expected) => assert_eq!(list.is_ok(), expected.is_ok(), "{raw}"),
        }
        match (node.object(), serde_json::from_str::<Fields<'_>>(raw)) {
            (Ok(object), Ok(Fields(expected))) => {
                let own: Vec<_> = object.into_entries().into_iter().collect();
                assert_eq!(own.len(), expected.len());
                for ((key, child), (expected_key, raw)) in own.into_iter().zip(expected) {
                    assert_eq!(&*key, expected_key);
                    assert_same(child, raw.get());
                }
            }
            (Err(problem), Err(error)) if node.is_object() => {
                assert_eq!(problem.what, format!("expected an object: {error}"));
            }
            (object, expected) => assert_eq!(object.is_ok(), expected.is_ok(), "{raw}"),
        }
    }

    /// Pieces of JSON, and what looks like some.
    const PIECES: [&str; 40] = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\n",
        "\t\r",
        "\"\"",
        "\"a\"",
        "\"é\"",
        "\"\\n\\\"\"",
        "\"\\u00e9\"",
        "\"\\ud800\"",
        "\"\\ud83d\\ude00\"",
        "\"\\u12\"",
        "\"\\x\"",
        "\"\u{1}\"",
        "\"",
        "\\",
        "0",
        "-0",
        "01",
        "12.5e-3",
        "1.",
        ".5",
        "1e",
        "1E+3",
        "-",
        "1e400",
        "true",
        "false",
        "null",
        "nul",
        "tru e",
        "\u{feff}",
        "\u{0}",
        "[{},[]]",
        "{\"a\":{}}",
    ];

    fn value() -> impl Strategy<Value = String> {
        let scalar = prop::sample::select(vec![
            "null",
            "true",
            "false",
            "0",
            "-1.5e+3",
            "\"\"",
            "\" a,]}\"",
            "\"\\\\\"",
            "\"\\ud800\"",
            "[ ]",
            "{ }",
            "\"ü\"",
        ]);
        scalar.prop_map(str::to_owned).prop_recursive(5, 40, 5, |inner| {
            let space = || prop::sample::select(vec!["", " ", "\n\t"]);
            let key = prop::sample::select(vec!["\"a\"", "\"b\"", "\"\\u0061\"", "\"\\\"{\"", "\"\\udc00\""]);
            let list = prop::collection::vec((space(), inner.clone(), space()), 0..5).prop_map(|entries| {
                let entries: Vec<String> = entries.into_iter().map(|(a, value, b)| format!("{a}{value}{b}")).collect();
                format!("[{}]", entries.join(","))
            });
            let object = prop::collection::vec((space(), key, space(), inner, space()), 0..5).prop_map(|entries| {
                let entries = entries.into_iter().map(|(a, key, b, value, c)| format!("{a}{key}{b}:{c}{value}{b}"));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
            });
            prop_oneof![list, object]
        })
    }

    fn check(text: &str) {
        let document = Document::parse("", text);
        match serde_json::from_str::<&RawValue>(text.strip_prefix('\u{feff}').unwrap_or(text)) {
            Ok(raw) => assert_same(document.expect("serde_json takes it").root(), raw.get()),
            Err(error) => {
                let own = document.err().map(|error| error.what);
                // Said of any comma before an end, whatever serde_json calls it.
                if let Some(end) =
                    own.as_ref().and_then(|own| own.strip_prefix("not valid JSON: trailing comma before "))
                {
                    let end = end.trim_matches('\'');
                    assert!(text.split(',').skip(1).any(|rest| rest.trim_start().starts_with(end)), "{text:?}");
                    return;
                }
                let expected = error.to_string();
                let expected = expected.split(" at line ").next().unwrap_or_default();
                assert_eq!(own, Some(format!("not valid JSON: {expected}")), "{text:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn of_right_texts(text in value()) {
            check(&text);
        }

        #[test]
        fn of_right_texts_that_were_changed(
            text in value(),
            at in any::<prop::sample::Index>(),
            cut in 0_usize..4,
            piece in prop::sample::select(PIECES.to_vec()),
        ) {
            let mut changed: Vec<char> = text.chars().collect();
            let first = at.index(changed.len() + 1);
            let last = (first + cut).min(changed.len());
            changed.splice(first..last, piece.chars());
            check(&changed.into_iter().collect::<String>());
        }

        #[test]
        fn of_any_pieces(pieces in prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..9)) {
            check(&pieces.concat());
        }
    }
}

mod all_fields_at_once {
    //! What is asked for at once is what is asked for one by one, and so is what is wrong.

    use proptest::prelude::*;

    use super::*;
    use crate::json::keys::Values;

    /// The first two have the same length, first and last byte, and so do the next two.
    const KEYS: Keys<3, 3> = Keys::new(["abc", "label", "z"], ["axc", "lapel", ""]);

    fn one_by_one(node: Node<'_>) -> Result<Values<'_, 3, 3>, Problem> {
        let mut object = node.object()?;
        object.know(&["abc", "label", "z", "axc", "lapel", ""]);
        let required = [object.required("abc")?, object.required("label")?, object.required("z")?];
        let optional = [object.optional("axc")?, object.optional("lapel")?, object.optional("")?];
        object.finish()?;
        Ok((required, optional))
    }

    fn places((required, optional): Values<'_, 3, 3>) -> ([usize; 3], [Option<usize>; 3]) {
        (required.map(|node| node.start()), optional.map(|node| node.map(|node| node.start())))
    }

    fn check(text: &str) {
        let document = Document::parse("", text).expect("the text is JSON");
        let at_once = document.root().fields(&KEYS).map(places);
        assert_eq!(at_once, one_by_one(document.root()).map(places), "{text}");
    }

    #[test]
    fn with_every_defect() {
        let right = r#"{"comment": {}, "z": 1, "\u0061bc": [2], "label": "x", "": 5, "comment": 0, "axc": 3}"#;
        assert!(Document::parse("", right).is_ok_and(|document| document.root().fields(&KEYS).is_ok()));
        check(right);
        for (found, put) in [
            (r#""z": 1"#, r#""z": null"#),
            (r#""z": 1, "#, ""),
            (r#""axc": 3"#, r#""axc": 1, "axc": 2"#),
            (r#""axc": 3"#, r#""axc": null"#),
            (r#""label""#, r#""la\u0062el": 7, "label""#),
            (r#""label""#, r#""lavel": 7, "label""#),
            (r#""label""#, r#""\ud800": 7, "label""#),
            (r#""label""#, r#""\u0063omment": 7, "label""#),
        ] {
            assert!(right.contains(found));
            check(&right.replacen(found, put, 1));
        }
        check("[]");
        check("{}");
    }

    #[test]
    fn of_more_fields_than_a_word_has_bits() {
        let fields: Vec<String> = (0..200).map(|number| format!("\"key{number}\": {number}")).collect();
        let text = format!("{{{}}}", fields.join(","));
        let document = Document::parse("", &text).expect("the text is JSON");
        let mut object = document.root().object().expect("an object");
        assert_eq!(object.required("key150").and_then(|node| node.whole_number(0, 999)), Ok(150));
        assert_eq!(object.required("key1").and_then(|node| node.whole_number(0, 999)), Ok(1));
        assert_eq!(object.finish().map_err(|problem| problem.what), Err("unknown key \"key0\"".to_owned()));
    }

    proptest! {
        #[test]
        fn of_any_objects(objects in prop::collection::vec(prop::collection::vec((0..12_usize, 0..4_usize), 0..9), 1..5)) {
            let keys =
                ["abc", "abc", "label", "label", "z", "z", "axc", "lapel", "", "comment", "lawel", "\\u0061bc"];
            let values = ["1", "null", "{\"abc\": [{}], \"label\": 2}", "[[], 3]"];
            // Objects in one list are often alike, and then not.
            let text = |fields: &Vec<(usize, usize)>| {
                let fields: Vec<_> = fields.iter().map(|(key, value)| format!("\"{}\": {}", keys[*key], values[*value])).collect();
                format!("{{{}}}", fields.join(", "))
            };
            let all: Vec<String> = objects.iter().chain(&objects).map(text).collect();
            let list = format!("[{}]", all.join(","));
            let document = Document::parse("", &list).expect("the text is JSON");
            let nodes = document.root().list().expect("a list");
            prop_assert_eq!(nodes.len(), all.len());
            for (node, text) in nodes.into_iter().zip(&all) {
                prop_assert_eq!(node.raw(), text.as_str());
                let at_once = node.fields(&KEYS).map(places);
                prop_assert_eq!(at_once, one_by_one(node).map(places));
            }
        }
    }
}

#[test]
fn the_key_of_editors_is_passed_over_at_the_root_alone() {
    const KEYS: Keys<1, 0> = Keys::new(["a"], []);
    let read = |text: &str| {
        let document = Document::parse("f.json", text)?;
        let one_by_one = || {
            let mut object = document.root().object()?;
            let inner = object.required("a")?.object()?;
            object.finish()?;
            inner.finish()
        };
        let at_once = document.root().fields(&KEYS).map(drop);
        assert_eq!(at_once.is_ok(), one_by_one().is_ok() || text.contains("in it"), "{text}");
        one_by_one().map_err(|problem| document.locate(problem))
    };
    assert_eq!(read(r#"{"$schema": "scenario.schema.json", "a": {}}"#), Ok(()));
    for no_address in ["7", "null"] {
        let error = read(&format!(r#"{{"a": {{}}, "$schema": {no_address}}}"#)).expect_err("it is no address");
        assert!(error.to_string().contains("$schema: expected a string"), "{error}");
    }
    let error = read(r#"{"$schema": "one", "a": {}, "$schema": "two"}"#).expect_err("which of them is it");
    assert!(error.to_string().contains("the key \"$schema\" stands twice"), "{error}");
    let error = read(r#"{"a": {"$schema": "in it"}}"#).expect_err("an editor looks at the root");
    assert_eq!((&*error.path, &*error.what), ("a.$schema", "unknown key \"$schema\""));
}

#[test]
fn an_unknown_key_near_a_known_one_is_said_to_be() {
    let document = Document::parse("f.json", r#"{"durration": 1}"#).expect("valid");
    let mut object = document.root().object().expect("it is one");
    assert!(object.optional("duration").is_ok_and(|value| value.is_none()));
    let problem = object.finish().expect_err("it is unknown");
    assert_eq!(problem.what, "unknown key \"durration\" (did you mean \"duration\"?)");
}
