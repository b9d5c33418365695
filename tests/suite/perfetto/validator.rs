//! The rules of the Trace Event Format, and what Perfetto's importer makes of a file beyond them: read from the text
//! alone, without the code that wrote it.
//!
//! Sources: "Trace Event Format", the document of the Chromium project; the JSON importer of Perfetto's trace
//! processor (events in order of `ts`, equal ones in order of the file; arrows bind to the slice read last on the
//! lane).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A complete event (`X`), in nanoseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Slice {
    pub(crate) process: String,
    pub(crate) lane: String,
    pub(crate) category: String,
    pub(crate) name: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) args: Value,
}

/// A pair of `b` and `e`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Asynchronous {
    pub(crate) category: String,
    pub(crate) name: String,
    pub(crate) start: u64,
    pub(crate) end: u64,
}

/// What a sound file shows.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// Names of processes, in order of their places.
    pub(crate) processes: Vec<String>,
    pub(crate) slices: Vec<Slice>,
    pub(crate) asynchronous: Vec<Asynchronous>,
    /// From and to which slice an arrow leads.
    pub(crate) arrows: Vec<(Slice, Slice)>,
    /// Values over time, by process and counter.
    pub(crate) counters: BTreeMap<(String, String), Vec<(u64, u64)>>,
}

/// Reads a file as the viewers do.
///
/// # Errors
/// The first rule that it breaks, and where.
pub(crate) fn validate(text: &str) -> Result<Shown, String> {
    let document: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if !matches!(document["displayTimeUnit"].as_str(), Some("ns" | "ms")) {
        return Err("displayTimeUnit is neither ns nor ms".to_owned());
    }
    let events = document["traceEvents"].as_array().ok_or("no list of events")?;
    let mut validator = Validator::default();
    for event in events {
        let phase = event["ph"].as_str().unwrap_or_default();
        keys(event, phase).and_then(|()| validator.name(event, phase)).map_err(|error| format!("{error}: {event}"))?;
    }
    let mut timed: Vec<(u64, &Value)> =
        events.iter().filter(|event| event["ph"] != "M").map(|event| (nanoseconds(&event["ts"]), event)).collect();
    timed.sort_by_key(|(at, _)| *at);
    for (at, event) in timed {
        validator.event(at, event).map_err(|error| format!("{error}: {event}"))?;
    }
    validator.finish()
}

/// The keys that the format asks of each kind of event.
fn keys(event: &Value, phase: &str) -> Result<(), String> {
    let required: &[&str] = match phase {
        "X" => &["name", "cat", "pid", "tid", "ts", "dur"],
        "b" | "e" | "s" => &["name", "cat", "pid", "tid", "ts", "id"],
        "f" => &["name", "cat", "pid", "tid", "ts", "id", "bp"],
        "C" => &["name", "pid", "ts", "args"],
        "M" => &["name", "pid", "args"],
        _ => return Err(format!("unknown phase {phase:?}")),
    };
    let allowed = ["ph", "args"];
    let object = event.as_object().ok_or("not an object")?;
    for key in required {
        let value = object.get(*key).ok_or_else(|| format!("no {key}"))?;
        let is_sound = match *key {
            "name" | "cat" => value.as_str().is_some_and(|text| !text.is_empty()),
            "pid" | "tid" => value.as_u64().is_some_and(|number| (1..=u64::from(u32::MAX)).contains(&number)),
            "ts" | "dur" => is_time(value),
            // Perfetto reads identifiers of asynchronous events as text, and those of arrows as hexadecimal numbers.
            "id" => value.as_str().and_then(|id| u64::from_str_radix(id.strip_prefix("0x")?, 16).ok()).is_some(),
            "bp" => value == "e",
            _ => value.is_object(),
        };
        if !is_sound {
            return Err(format!("{key} is not what it should be"));
        }
    }
    let unknown = object.keys().find(|key| !required.contains(&key.as_str()) && !allowed.contains(&key.as_str()));
    // Only names of lanes have a lane besides.
    match unknown {
        Some(key) if !(phase == "M" && key == "tid") => Err(format!("{key} does not belong there")),
        _ => Ok(()),
    }
}

/// Whether a time is a whole nanosecond, the same one for readers that cut off and for readers that round.
fn is_time(value: &Value) -> bool {
    let Some(ns) = value.as_f64().map(|us| us * 1e3) else { return false };
    let whole = ns.round();
    ns >= 0.0 && nanoseconds(value) == cut_off(whole) && (ns - whole).abs() <= 1e-9 + whole * f64::EPSILON
}

/// As Perfetto does it.
fn nanoseconds(value: &Value) -> u64 {
    value.as_u64().map_or_else(|| cut_off(value.as_f64().unwrap_or(0.0) * 1e3), |us| us * 1_000)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "as Perfetto does it")]
fn cut_off(ns: f64) -> u64 {
    ns as u64
}

/// A number of a process or lane.
fn number(event: &Value, key: &str) -> u64 {
    event[key].as_u64().expect("checked")
}

fn text(event: &Value, key: &str) -> String {
    event[key].as_str().expect("checked").to_owned()
}

#[derive(Default)]
struct Validator {
    process_names: BTreeMap<u64, String>,
    places: BTreeMap<u64, u64>,
    /// The process and the name of each lane.
    lanes: BTreeMap<u64, (u64, String)>,
    lane_names: BTreeSet<(u64, String)>,
    /// The slice of each lane that was read last.
    last: BTreeMap<u64, Slice>,
    open: BTreeMap<(String, String), Asynchronous>,
    closed: BTreeSet<(String, String)>,
    started: BTreeMap<String, Slice>,
    ended: BTreeSet<String>,
    shown: Shown,
}

impl Validator {
    /// Metadata may stand anywhere.
    fn name(&mut self, event: &Value, phase: &str) -> Result<(), String> {
        if phase != "M" {
            return Ok(());
        }
        let (pid, tid, args) = (number(event, "pid"), event["tid"].as_u64(), &event["args"]);
        let name = || args["name"].as_str().filter(|name| !name.is_empty()).map(str::to_owned).ok_or("no name");
        let index = || args["sort_index"].as_u64().ok_or("no sort_index");
        let is_new = match (event["name"].as_str().unwrap_or_default(), tid) {
            ("process_name", None) => self.process_names.insert(pid, name()?).is_none(),
            ("process_sort_index", None) => self.places.insert(index()?, pid).is_none(),
            ("thread_name", Some(tid)) => {
                let name = name()?;
                // Perfetto names threads by number alone, so a number must not come back in another process.
                self.lanes.insert(tid, (pid, name)).is_none()
            }
            ("thread_sort_index", Some(_)) => index().map(|_| true)?,
            (other, _) => return Err(format!("unknown metadata {other:?}")),
        };
        if is_new { Ok(()) } else { Err("named twice".to_owned()) }
    }

    fn event(&mut self, at: u64, event: &Value) -> Result<(), String> {
        let process = self.process_names.get(&number(event, "pid")).ok_or("a process without a name")?.clone();
        match event["ph"].as_str().unwrap_or_default() {
            "X" => self.slice(at, event, process),
            "b" => self.begin(at, event),
            "e" => self.end(at, event),
            "s" => {
                let slice = self.bound(at, event)?;
                let id = text(event, "id");
                self.started.insert(id, slice).map_or(Ok(()), |_| Err("an arrow that starts twice".to_owned()))
            }
            "f" => {
                let to = self.bound(at, event)?;
                let from = self.started.remove(&text(event, "id")).ok_or("an arrow that ends before it starts")?;
                self.shown.arrows.push((from, to));
                if self.ended.insert(text(event, "id")) { Ok(()) } else { Err("ends twice".to_owned()) }
            }
            _ => self.counter(at, event, &process),
        }
    }

    fn slice(&mut self, at: u64, event: &Value, process: String) -> Result<(), String> {
        let tid = number(event, "tid");
        let (pid, lane) = self.lanes.get(&tid).ok_or("a lane without a name")?.clone();
        if pid != number(event, "pid") {
            return Err("a lane of another process".to_owned());
        }
        let end = at + nanoseconds(&event["dur"]);
        let (category, name) = (text(event, "cat"), text(event, "name"));
        let slice = Slice { process, lane, category, name, start: at, end, args: event["args"].clone() };
        let before = self.last.get(&tid);
        // What a block waits for while it runs lies in its slice.
        if slice.category == "wait" {
            let is_within = before.is_some_and(|block| block.start <= at && end <= block.end);
            self.shown.slices.push(slice);
            return if is_within { Ok(()) } else { Err("not within a slice".to_owned()) };
        }
        if let Some(before) = before.filter(|before| before.end > at) {
            return Err(format!("overlaps {before:?}"));
        }
        self.last.insert(tid, slice.clone());
        self.shown.slices.push(slice);
        Ok(())
    }

    fn begin(&mut self, at: u64, event: &Value) -> Result<(), String> {
        let key = (text(event, "cat"), text(event, "id"));
        let slice = Asynchronous { category: key.0.clone(), name: text(event, "name"), start: at, end: at };
        if self.closed.contains(&key) || self.open.insert(key, slice).is_some() {
            return Err("an identifier that is taken".to_owned());
        }
        Ok(())
    }

    fn end(&mut self, at: u64, event: &Value) -> Result<(), String> {
        let key = (text(event, "cat"), text(event, "id"));
        let slice = self.open.remove(&key).ok_or("an end without a beginning")?;
        if slice.name != text(event, "name") {
            return Err("an end of another name".to_owned());
        }
        self.closed.insert(key);
        self.shown.asynchronous.push(Asynchronous { end: at, ..slice });
        Ok(())
    }

    /// The slice that one end of an arrow binds to.
    fn bound(&self, at: u64, event: &Value) -> Result<Slice, String> {
        let last = self.last.get(&number(event, "tid")).filter(|slice| (slice.start..=slice.end).contains(&at));
        last.cloned().ok_or_else(|| "an arrow without a slice".to_owned())
    }

    fn counter(&mut self, at: u64, event: &Value, process: &str) -> Result<(), String> {
        let args = event["args"].as_object().ok_or("no values")?;
        if args.is_empty() {
            return Err("a counter without a value".to_owned());
        }
        for (key, value) in args {
            let value = value.as_u64().ok_or("a value that is no number")?;
            let values = self.shown.counters.entry((process.to_owned(), format!("{} {key}", text(event, "name"))));
            let values = values.or_default();
            if values.last().is_some_and(|&(before, _)| before == at) {
                return Err("two values at once".to_owned());
            }
            values.push((at, value));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Shown, String> {
        if let Some(open) = self.open.values().next() {
            return Err(format!("{open:?} does not end"));
        }
        if let Some(arrow) = self.started.values().next() {
            return Err(format!("the arrow from {arrow:?} does not end"));
        }
        for (tid, (pid, name)) in &self.lanes {
            if !self.process_names.contains_key(pid) || !self.lane_names.insert((*pid, name.clone())) {
                return Err(format!("lane {tid} has no process, or the name {name} twice"));
            }
        }
        let names = self.places.values().map(|pid| self.process_names.get(pid).cloned().ok_or("a place for nobody"));
        self.shown.processes = names.collect::<Result<_, _>>()?;
        Ok(self.shown)
    }
}
