//! A headless Chromium, driven by the W3C `WebDriver` protocol through `chromedriver`.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};

/// A browser with one window; it ends when it is dropped.
pub(crate) struct Browser {
    driver: Child,
    /// Kept open: the driver must be able to write.
    _output: BufReader<ChildStdout>,
    agent: ureq::Agent,
    /// Address of the session.
    session: String,
}

impl Browser {
    pub(crate) fn start() -> Self {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver is installed (Debian: chromium, chromium-driver)");
        let mut output = BufReader::new(driver.stdout.take().expect("it is piped"));
        let port = port(&mut output);
        let config = ureq::Agent::config_builder().timeout_global(Some(Duration::from_mins(2)));
        let agent: ureq::Agent = config.http_status_as_error(false).build().into();
        let mut browser = Self { driver, _output: output, agent, session: format!("http://127.0.0.1:{port}") };
        // No sandbox: it cannot be set up for root or inside most containers.
        let arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
        let capabilities = json!({
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"},
        });
        let made = browser.post("/session", &json!({"capabilities": {"alwaysMatch": capabilities}}));
        let id = made["sessionId"].as_str().expect("a session");
        browser.session = format!("{}/session/{id}", browser.session);
        browser.post("/timeouts", &json!({"script": 110_000}));
        browser
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let answer = self.agent.post(format!("{}{path}", self.session)).send_json(body);
        let mut answer: Value = answer.expect("the driver answers").body_mut().read_json().expect("it answers in JSON");
        assert!(answer["value"].get("error").is_none(), "{path}: {}", answer["value"]["message"]);
        answer["value"].take()
    }

    /// A command of Chromium's own protocol.
    fn chromium(&self, command: &str, parameters: &Value) -> Value {
        self.post("/goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    /// Width and height \[pixels\], and whether the user prefers dark pages.
    pub(crate) fn look(&self, (width, height): (u32, u32), dark: bool) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.chromium("Emulation.setDeviceMetricsOverride", &size);
        let scheme = if dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.chromium("Emulation.setEmulatedMedia", &media);
    }

    /// Whether the page looks as it does on paper.
    pub(crate) fn paper(&self, is_paper: bool) {
        self.chromium("Emulation.setEmulatedMedia", &json!({"media": if is_paper { "print" } else { "" }}));
    }

    /// Opens a file and waits until it is loaded.
    pub(crate) fn open(&self, path: &Path) {
        self.go(&format!("file://{}", path.display()));
    }

    /// Opens an address and waits until it is loaded.
    pub(crate) fn go(&self, address: &str) {
        self.post("/url", &json!({"url": address}));
    }

    /// What a script calls `done` with, sooner or later.
    pub(crate) fn run_until_done(&self, script: &str) -> Value {
        let script = format!("const done = arguments[0]; {script}");
        self.post("/execute/async", &json!({"script": script, "args": []}))
    }

    /// The folder into which the page's downloads go.
    pub(crate) fn downloads(&self, folder: &Path) {
        self.chromium("Browser.setDownloadBehavior", &json!({"behavior": "allow", "downloadPath": folder}));
    }

    /// What a script returns; it is the body of a function.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({"script": script, "args": []}))
    }

    /// Waits until what was asked for is drawn.
    pub(crate) fn wait_until_idle(&self) {
        let script = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));";
        self.post("/execute/async", &json!({"script": script, "args": []}));
    }

    /// Moves the pointer to a place in the window, and clicks there if asked to.
    pub(crate) fn point(&self, x: f64, y: f64, click: bool) {
        let mut actions = vec![json!({"type": "pointerMove", "duration": 0, "x": pixel(x), "y": pixel(y)})];
        if click {
            actions.extend(["pointerDown", "pointerUp"].map(|kind| json!({"type": kind, "button": 0})));
        }
        let mouse =
            json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions});
        self.post("/actions", &json!({"actions": [mouse]}));
        self.wait_until_idle();
    }

    /// Presses at a place, moves to another and lets go, with a `mouse` or by `touch`.
    pub(crate) fn drag(&self, kind: &str, from: (f64, f64), to: (f64, f64)) {
        let go = |(x, y): (f64, f64)| json!({"type": "pointerMove", "duration": 50, "x": pixel(x), "y": pixel(y)});
        let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
        let button = |kind: &str| json!({"type": kind, "button": 0});
        let actions = json!([go(from), button("pointerDown"), go(middle), go(to), button("pointerUp")]);
        let pointer = json!({"type": "pointer", "id": kind, "parameters": {"pointerType": kind}, "actions": actions});
        self.post("/actions", &json!({"actions": [pointer]}));
        self.wait_until_idle();
    }

    /// Turns the wheel at a place; a negative `by` turns it away from the user.
    pub(crate) fn wheel(&self, x: f64, y: f64, by: i32) {
        let scroll = json!({
            "type": "scroll", "duration": 0, "x": pixel(x), "y": pixel(y), "deltaX": 0, "deltaY": by,
        });
        self.post("/actions", &json!({"actions": [{"type": "wheel", "id": "wheel", "actions": [scroll]}]}));
        self.wait_until_idle();
    }

    /// Presses keys one after another.
    pub(crate) fn keys(&self, keys: &str) {
        let press = |key: char| ["keyDown", "keyUp"].map(|kind| json!({"type": kind, "value": key}));
        let actions: Vec<Value> = keys.chars().flat_map(press).collect();
        self.post("/actions", &json!({"actions": [{"type": "key", "id": "keyboard", "actions": actions}]}));
        self.wait_until_idle();
    }

    /// What the page has written to its console, errors of the browser's own included.
    pub(crate) fn console(&self) -> Vec<String> {
        let entries = self.post("/se/log", &json!({"type": "browser"}));
        entries.as_array().expect("a list").iter().map(|entry| entry["message"].to_string()).collect()
    }

    /// Saves what is seen as a PNG.
    pub(crate) fn screenshot(&self, path: &Path) {
        let data = self.chromium("Page.captureScreenshot", &json!({}));
        let text = data["data"].as_str().expect("base64");
        let picture = BASE64_STANDARD.decode(text).expect("base64");
        std::fs::write(path, picture).expect("the picture can be written");
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.agent.delete(&self.session).call();
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The pixel at a place.
#[expect(clippy::cast_possible_truncation, reason = "windows are smaller than that")]
fn pixel(place: f64) -> i64 {
    place.round() as i64
}

/// The port that a driver has chosen.
fn port(output: &mut impl BufRead) -> u16 {
    let mut line = String::new();
    while output.read_line(&mut line).expect("the driver says where it is") > 0 {
        let port = line.trim().strip_suffix('.').and_then(|line| line.rsplit(' ').next()?.parse().ok());
        if let Some(port) = port.filter(|_| line.contains("on port")) {
            return port;
        }
        line.clear();
    }
    panic!("chromedriver did not start");
}
