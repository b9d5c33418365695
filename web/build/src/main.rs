//! `cargo run --manifest-path web/Cargo.toml`: makes `web/dist/index.html`, one file that loads nothing from elsewhere.
//!
//! The library is compiled to WebAssembly by the same cargo, compressed, and written into the page as text, beside the
//! scripts, the style sheet and the shipped scenarios.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};
use base64::prelude::{BASE64_STANDARD, Engine};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;

/// What may be sent over a network with compression \[bytes\].
const MOST_COMPRESSED: usize = 3_000_000;

/// Scripts of the page, in the order in which they need one another. How times are written, the timeline's own says.
const SCRIPTS: [&str; 21] = [
    "../../core/src/pictures/html/script/time",
    "elements",
    "tabs",
    "splitter",
    "json",
    "complete",
    "editor",
    "engine",
    "address",
    "drafts",
    "sliders",
    "options",
    "settings",
    "opened",
    "command",
    "rules",
    "results",
    "downloads",
    "present",
    "keys",
    "page",
];

/// Files that are scenarios.
const EXTENSIONS: [&str; 3] = ["json", "amxmi", "csv"];

fn main() -> anyhow::Result<()> {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the builder is in web/build")?;
    let module = module(web)?;
    let scenarios = scenarios(&web.join("../scenarios"))?;
    let page = page(&web.join("page"), &module, &scenarios)?;
    let file = web.join("dist/index.html");
    fs::create_dir_all(web.join("dist"))?;
    fs::write(&file, &page).with_context(|| format!("cannot write {}", file.display()))?;
    let compressed = gzip(page.as_bytes())?.len();
    let message = format!(
        "{}: {} bytes, {compressed} with gzip; the module is {} bytes\n",
        file.display(),
        page.len(),
        module.len()
    );
    std::io::stdout().write_all(message.as_bytes())?;
    if compressed > MOST_COMPRESSED {
        bail!("the page is to be under {MOST_COMPRESSED} bytes with gzip");
    }
    Ok(())
}

/// The library as WebAssembly.
fn module(web: &Path) -> anyhow::Result<Vec<u8>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["build", "--locked", "--release", "--package", "gpusched-page"])
        .args(["--target", "wasm32-unknown-unknown", "--manifest-path"])
        .arg(web.join("Cargo.toml"))
        .status()?;
    if !status.success() {
        bail!("the module cannot be built; if the target is missing: rustup target add wasm32-unknown-unknown");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| web.join("target"), PathBuf::from);
    let file = target.join("wasm32-unknown-unknown/release/gpusched_page.wasm");
    fs::read(&file).with_context(|| format!("cannot read {}", file.display()))
}

/// Names and texts of the shipped scenarios, by name.
fn scenarios(root: &Path) -> anyhow::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for folder in fs::read_dir(root).with_context(|| format!("cannot read {}", root.display()))? {
        let folder = folder?.path();
        if !folder.is_dir() {
            continue;
        }
        for file in fs::read_dir(&folder)? {
            let file = file?.path();
            let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
            if EXTENSIONS.contains(&extension) {
                let name = file.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
                found.push((name, fs::read_to_string(&file)?));
            }
        }
    }
    found.sort();
    Ok(found)
}

fn gzip(bytes: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

fn page(folder: &Path, module: &[u8], scenarios: &[(String, String)]) -> anyhow::Result<String> {
    let read = |name: &str| {
        let file = folder.join(name);
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
    };
    let mut script = String::new();
    for name in SCRIPTS {
        script += &read(&format!("{name}.js"))?;
    }
    // No text of a scenario ends the element that it stands in.
    let scenarios = json!(scenarios).to_string().replace('<', "\\u003c");
    let parts = [
        ("{{style}}", read("style.css")?),
        ("{{module}}", BASE64_STANDARD.encode(gzip(module)?)),
        ("{{scenarios}}", scenarios),
        ("{{worker}}", read("worker.js")?),
        ("{{script}}", script),
    ];
    let template = read("index.html")?;
    let (mut page, mut rest) = (String::new(), &*template);
    // The template names them in this order.
    for (place, text) in &parts {
        let (before, after) = rest.split_once(place).with_context(|| format!("index.html lacks {place}"))?;
        page.push_str(before);
        page.push_str(text);
        rest = after;
    }
    page.push_str(rest);
    Ok(page)
}
