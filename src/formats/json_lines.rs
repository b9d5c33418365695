//! A report as JSON lines: one object a line, so that a program takes rows as they come.
//!
//! They follow from the JSON document, whatever it is of: each entry of each of its lists of objects is a line, and
//! `row` says of which list; everything else of the document is in the first line, whose `row` is `document`. A list
//! without entries has no line. Of a row no more is held than the row.

use std::fmt::Display;
use std::io::{self, Write};

use serde::ser::{self, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeTuple, Serializer};

/// Writes a document, which is an object, line by line; with the `file` that it is about, if there are several.
///
/// # Errors
/// Whatever `out` or the document refuses.
pub fn write_json_lines<T: Serialize + ?Sized>(document: &T, file: Option<&str>, out: impl Write) -> io::Result<()> {
    let mut lines = Lines { out, file, line: Vec::new(), lists: Vec::new() };
    lines.line.extend_from_slice(br#"{"row":"document""#);
    if let Some(file) = file {
        lines.line.extend_from_slice(br#","file":"#);
        serde_json::to_writer(&mut lines.line, file)?;
    }
    Object { object: document }.serialize(Walk { lines: &mut lines, at: At::Rest })?;
    lines.line.extend_from_slice(b"}\n");
    lines.out.write_all(&lines.line)?;
    Object { object: document }.serialize(Walk { lines: &mut lines, at: At::Lists })?;
    Ok(())
}

struct Lines<'f, W> {
    out: W,
    file: Option<&'f str>,
    /// The line that is being made.
    line: Vec<u8>,
    /// Keys of the document's lists of objects, as JSON.
    lists: Vec<String>,
}

#[derive(serde::Serialize)]
struct Listed<'r, T: ?Sized> {
    row: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'r str>,
    #[serde(flatten)]
    entry: &'r T,
}

/// Whatever is written as an object, structs too, as a map.
#[derive(serde::Serialize)]
struct Object<'d, T: ?Sized> {
    #[serde(flatten)]
    object: &'d T,
}

/// What a list holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    Nothing,
    /// Objects.
    Rows,
    /// Other values; or it is no list.
    Other,
}

/// Tells by the beginning of what is written whether it is a list of objects, and refuses the rest.
#[derive(Default)]
struct Beginning(Vec<u8>);

impl Beginning {
    fn of<T: Serialize + ?Sized>(value: &T) -> Holds {
        let mut beginning = Self::default();
        // It is refused as soon as enough is known; what cannot be written is found when it is.
        let _ = serde_json::to_writer(&mut beginning, value);
        match &beginning.0[..] {
            [b'[', b'{', ..] => Holds::Rows,
            [b'[', b']', ..] => Holds::Nothing,
            _ => Holds::Other,
        }
    }
}

impl Write for Beginning {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() >= 2 || self.0.first().is_some_and(|first| *first != b'[') {
            return Err(io::ErrorKind::Other.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Where in a document.
enum At {
    /// In its entries other than lists of objects.
    Rest,
    /// In its lists of objects.
    Lists,
    /// In one of them, by name.
    List(String),
}

/// Goes through a document.
struct Walk<'w, 'f, W> {
    lines: &'w mut Lines<'f, W>,
    at: At,
}

/// The entries of the document.
struct Entries<'w, 'f, W> {
    lines: &'w mut Lines<'f, W>,
    lists: bool,
    key: String,
}

impl<W: Write> SerializeMap for Entries<'_, '_, W> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.key = serde_json::to_string(key)?;
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        if self.lists {
            return if self.lines.lists.contains(&self.key) {
                let kind = serde_json::from_str(&self.key)?;
                value.serialize(Walk { lines: self.lines, at: At::List(kind) })
            } else {
                Ok(())
            };
        }
        let Lines { line, lists, .. } = &mut *self.lines;
        match Beginning::of(value) {
            Holds::Nothing => {}
            Holds::Rows => lists.push(self.key.clone()),
            Holds::Other => {
                line.push(b',');
                line.extend_from_slice(self.key.as_bytes());
                line.push(b':');
                serde_json::to_writer(line, value)?;
            }
        }
        Ok(())
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

/// The entries of a list.
struct Elements<'w, 'f, W> {
    lines: &'w mut Lines<'f, W>,
    kind: String,
}

impl<W: Write> Elements<'_, '_, W> {
    fn element<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), Error> {
        let Lines { out, file, line, .. } = &mut *self.lines;
        line.clear();
        serde_json::to_writer(&mut *line, &Listed { row: &self.kind, file: *file, entry: element })?;
        line.push(b'\n');
        Ok(out.write_all(line)?)
    }
}

impl<W: Write> SerializeSeq for Elements<'_, '_, W> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), Error> {
        self.element(element)
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

impl<W: Write> SerializeTuple for Elements<'_, '_, W> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, element: &T) -> Result<(), Error> {
        self.element(element)
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}

/// Why a document cannot be written.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("{0}")]
    Told(String),
}

impl ser::Error for Error {
    fn custom<T: Display>(text: T) -> Self {
        Self::Told(text.to_string())
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Io(error) => error,
            Error::Json(error) => error.into(),
            Error::Told(text) => Self::other(text),
        }
    }
}

/// What is neither a document nor one of its lists.
fn refused<T>() -> Result<T, Error> {
    Err(ser::Error::custom("expected a document, which is an object"))
}

macro_rules! refuse {
    ($($method:ident: $value:ty,)*) => {
        $(fn $method(self, _value: $value) -> Result<(), Error> {
            refused()
        })*
    };
}

impl<'w, 'f, W: Write> Serializer for Walk<'w, 'f, W> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Elements<'w, 'f, W>;
    type SerializeTuple = Elements<'w, 'f, W>;
    type SerializeTupleStruct = Impossible<(), Error>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Entries<'w, 'f, W>;
    type SerializeStruct = Impossible<(), Error>;
    type SerializeStructVariant = Impossible<(), Error>;

    fn serialize_map(self, _length: Option<usize>) -> Result<Self::SerializeMap, Error> {
        match self.at {
            At::Rest => Ok(Entries { lines: self.lines, lists: false, key: String::new() }),
            At::Lists => Ok(Entries { lines: self.lines, lists: true, key: String::new() }),
            At::List(_) => refused(),
        }
    }

    fn serialize_seq(self, _length: Option<usize>) -> Result<Self::SerializeSeq, Error> {
        match self.at {
            At::List(kind) => Ok(Elements { lines: self.lines, kind }),
            At::Rest | At::Lists => refused(),
        }
    }

    fn serialize_tuple(self, length: usize) -> Result<Self::SerializeTuple, Error> {
        self.serialize_seq(Some(length))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    refuse! {
        serialize_bool: bool,
        serialize_i8: i8,
        serialize_i16: i16,
        serialize_i32: i32,
        serialize_i64: i64,
        serialize_u8: u8,
        serialize_u16: u16,
        serialize_u32: u32,
        serialize_u64: u64,
        serialize_f32: f32,
        serialize_f64: f64,
        serialize_char: char,
        serialize_str: &str,
        serialize_bytes: &[u8],
        serialize_unit_struct: &'static str,
    }

    fn serialize_none(self) -> Result<(), Error> {
        refused()
    }

    fn serialize_unit(self) -> Result<(), Error> {
        refused()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, _variant: &'static str) -> Result<(), Error> {
        refused()
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _value: &T,
    ) -> Result<(), Error> {
        refused()
    }

    fn serialize_tuple_struct(self, _name: &'static str, _length: usize) -> Result<Impossible<(), Error>, Error> {
        refused()
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Impossible<(), Error>, Error> {
        refused()
    }

    fn serialize_struct(self, _name: &'static str, _length: usize) -> Result<Impossible<(), Error>, Error> {
        refused()
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        _variant: &'static str,
        _length: usize,
    ) -> Result<Impossible<(), Error>, Error> {
        refused()
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;

    use super::write_json_lines;

    #[derive(Serialize)]
    struct Document {
        name: &'static str,
        kernels: Vec<Kernel>,
        copies: Vec<Kernel>,
        makespan_ns: Option<u64>,
        notes: Vec<&'static str>,
        shares: [f64; 2],
        last: (Kernel,),
    }

    #[derive(Serialize)]
    struct Kernel {
        name: &'static str,
        placements: Vec<u32>,
    }

    #[test]
    fn lists_of_objects_are_lines_and_the_rest_of_a_document_is_the_first() {
        let document = Document {
            name: "a\"b",
            kernels: vec![Kernel { name: "K1", placements: vec![] }, Kernel { name: "K2", placements: vec![1, 2] }],
            copies: vec![],
            makespan_ns: None,
            notes: vec!["one"],
            shares: [0.5, 1.0],
            last: (Kernel { name: "K3", placements: vec![] },),
        };
        let lines = |file| {
            let mut out = Vec::new();
            write_json_lines(&document, file, &mut out).expect("memory takes all");
            String::from_utf8(out).expect("JSON is text")
        };
        let first = r#"{"row":"document","name":"a\"b","makespan_ns":null,"notes":["one"],"shares":[0.5,1.0]}"#;
        let kernels = [
            r#"{"row":"kernels","name":"K1","placements":[]}"#,
            r#"{"row":"kernels","name":"K2","placements":[1,2]}"#,
            r#"{"row":"last","name":"K3","placements":[]}"#,
        ];
        assert_eq!(lines(None), format!("{first}\n{}\n", kernels.join("\n")));
        let begun = r#"{"row":"document","file":"x.json","name":"#;
        assert!(lines(Some("x.json")).starts_with(begun));
        assert!(lines(Some("x.json")).contains(r#"{"row":"kernels","file":"x.json","name":"K1""#));
    }

    #[test]
    fn what_is_no_object_is_refused() {
        assert!(write_json_lines(&[1], None, Vec::new()).is_err());
        assert!(write_json_lines("text", None, Vec::new()).is_err());
    }
}
