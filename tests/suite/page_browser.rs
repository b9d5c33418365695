//! The page of `web/` in a real browser. Needs chromium, chromedriver and the page, so it runs only when asked for:
//! `cargo run --manifest-path web/Cargo.toml && cargo test --test suite page_browser -- --ignored --test-threads 1`.
//! Pictures of what it looks like are left in `target/tmp/page_browser`.

mod measured;
mod odd;
mod same_as_command;
mod teaching;
mod using;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::{Value, json};

use crate::common::directory;
use crate::html_browser::driver::Browser;

const FIGURE_3: &str = include_str!("../../scenarios/rtss2017/figure-3.json");

fn file() -> PathBuf {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("web/dist/index.html");
    assert!(file.exists(), "first: cargo run --manifest-path web/Cargo.toml");
    file
}

/// The page in a window.
struct Page {
    browser: Browser,
}

impl Page {
    /// Opens it, and waits for the first timeline.
    fn open() -> Self {
        let page = Self { browser: Browser::start() };
        page.browser.look((1400, 900), false);
        page.browser.open(&file());
        page.wait("window.gpusched?.page?.drawn > 0");
        page
    }

    /// Waits until a condition holds.
    #[track_caller]
    fn wait(&self, condition: &str) {
        let begin = Instant::now();
        while self.run(&format!("return Boolean({condition})")) != true {
            let status = "return document.getElementById('status')?.textContent";
            assert!(begin.elapsed() < Duration::from_mins(2), "{condition}: {}", self.run(status));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn run(&self, script: &str) -> Value {
        self.browser.run(script)
    }

    /// Waits until the timeline shows what is set.
    #[track_caller]
    fn wait_until_drawn(&self, drawn: &Value) {
        self.wait(&format!("gpusched.page.drawn > {drawn} && !gpusched.page.isBusy"));
    }

    fn drawn(&self) -> Value {
        self.run("return gpusched.page.drawn")
    }

    /// Puts a text in place of the one in the editor, as typing does.
    fn write(&self, text: &str) {
        let text = serde_json::to_string(text).expect("text");
        self.run(&format!(
            "const area = document.getElementById('text'); area.value = {text}; area.dispatchEvent(new Event('input'))"
        ));
    }

    fn text(&self, id: &str) -> String {
        let text = self.run(&format!("return document.getElementById('{id}').textContent"));
        text.as_str().expect("text").to_owned()
    }

    /// Drops a file onto the page.
    fn drop(&self, name: &str, content: &[u8]) {
        let script = format!(
            "const bytes = Uint8Array.from(atob('{}'), (letter) => letter.charCodeAt(0));
             const data = new DataTransfer();
             data.items.add(new File([bytes], {}));
             document.body.dispatchEvent(new DragEvent('drop', {{dataTransfer: data, bubbles: true, cancelable: true}}))",
            BASE64_STANDARD.encode(content),
            json!(name)
        );
        self.run(&script);
    }

    /// What the module says of a file: `(true, answer)`, or `(false, message)` if it is refused or broken.
    fn ask(&self, name: &str, content: &[u8], settings: &Value, want: &str) -> (bool, String) {
        let mut settings = settings.clone();
        settings["file"] = name.into();
        let script = format!(
            "const {{Engine, module}} = gpusched;
             window.asking ??= new Engine(module);
             const content = Uint8Array.from(atob('{}'), (letter) => letter.charCodeAt(0));
             let told = null;
             window.asking.ask({{content, settings: {settings}, wants: ['{want}']}}, (answer) => told = answer).then(() =>
                 done(told.bytes ? [true, new TextDecoder().decode(told.bytes)] : [false, told.broken ?? told.refused.message]))",
            BASE64_STANDARD.encode(content)
        );
        let told = self.browser.run_until_done(&script);
        (told[0] == true, told[1].as_str().expect("text").to_owned())
    }

    #[track_caller]
    fn is_quiet(&self) {
        assert_eq!(self.browser.console(), Vec::<String>::new());
    }

    fn screenshot(&self, name: &str) {
        self.browser.wait_until_idle();
        self.browser.screenshot(&pictures().join(format!("{name}.png")));
    }
}

fn pictures() -> PathBuf {
    static MADE: std::sync::OnceLock<PathBuf> = std::sync::OnceLock::new();
    MADE.get_or_init(|| directory("page_browser")).clone()
}

/// In the frame of the timeline.
const FRAME: &str = "const frame = document.getElementById('timeline').contentWindow.gpusched;";
