//! Every change of one place of a JSON document, one after the other.

use serde_json::{Value, json};

/// What stands in for every value in turn.
fn replacements() -> [Value; 10] {
    let (text, empty, time) = (json!("text"), json!(""), json!("0 s"));
    [Value::Null, text, empty, time, json!(-1), json!(0.5), json!(1e300), json!(true), json!([]), json!({})]
}

/// Every text that differs from `value` in one place: a key or element less, a key more, a value of another kind.
pub(crate) fn mutants(value: &Value) -> Vec<Value> {
    let mut mutants: Vec<Value> = replacements().into();
    match value {
        Value::Object(fields) => {
            for key in fields.keys() {
                let mut less = fields.clone();
                less.shift_remove(key);
                mutants.push(Value::Object(less));
            }
            let mut more = fields.clone();
            more.insert("banana".to_owned(), json!(1));
            mutants.push(Value::Object(more));
            for (key, inner) in fields {
                mutants.extend(self::mutants(inner).into_iter().map(|mutant| {
                    let mut changed = fields.clone();
                    changed.insert(key.clone(), mutant);
                    Value::Object(changed)
                }));
            }
        }
        Value::Array(list) => {
            for (index, inner) in list.iter().enumerate() {
                let mut less = list.clone();
                less.remove(index);
                mutants.push(Value::Array(less));
                mutants.extend(self::mutants(inner).into_iter().map(|mutant| {
                    let mut changed = list.clone();
                    changed[index] = mutant;
                    Value::Array(changed)
                }));
            }
        }
        _ => {}
    }
    mutants
}
