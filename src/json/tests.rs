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
