//! A hundred thousand blocks, and a million.

use std::fs;
use std::sync::Arc;

use gpusched::device::{BlockShape, Device};
use gpusched::hosts::simulate;
use gpusched::pictures::HtmlTimeline;
use gpusched::run::Summary;
use gpusched::scenario::{HostThread, ReadOptions, Scenario, ScenarioBuilder, Step};
use gpusched::time::Duration;
use gpusched::workload::{BlockClock, BlockTime, Kernel, StreamSpec};

use super::driver::Browser;
use super::{SIZES, directory, is_quiet, number, page_of, written};

/// Returns how many blocks the page knows.
const BLOCKS: &str = "return gpusched.app.runs[0].sms.reduce((sum, sm) => sum + sm.count, 0)";

/// On `device`, `streams` streams, each with `launches` kernels of `blocks` blocks that take different times.
fn scenario(device: &str, streams: u32, launches: usize, blocks: u32) -> Scenario {
    let device = Device::builtin(device).expect("it is sound").expect("it is built in");
    let options = ReadOptions::default();
    let mut builder = ScenarioBuilder::new("100 000 blocks".to_owned(), device, &options);
    for index in 0..streams {
        let stream = builder.add_stream(StreamSpec::new(format!("S{index}"))).expect("there is room");
        let shape = BlockShape { threads: 64 << (index % 5), registers_per_thread: 0, shared_memory_bytes: 0 };
        let worst = Duration::from_ns(200_000 + 7_001 * u64::from(index));
        let duration = BlockTime { best: Duration::from_ns(worst.as_ns() / 2), worst };
        let name: Arc<str> = format!("K{index}").into();
        let kernel = Kernel {
            name: Arc::clone(&name),
            title: Arc::clone(&name),
            blocks,
            shape,
            duration,
            clock: BlockClock::RunTime,
            sm_mask: None,
        };
        let kernel = builder.add_kernel(kernel).expect("it fits");
        let release = Duration::from_ns(u64::from(index) * 10_000);
        builder.add_thread(HostThread::once(name, release, vec![Step::Launch(kernel, stream); launches]));
    }
    builder.build()
}

/// How long a frame takes on average at ten zooms \[ms\], if asked for with the state at the cursor.
fn frame(browser: &Browser, state: bool) -> f64 {
    let script = format!(
        "const {{app}} = gpusched; app.view.fit(); const from = performance.now();
         for (let step = 0; step < 10; step += 1) {{
           app.painter.draw(); app.view.zoom(0.7, 300);
           if ({state}) gpusched.stateText(app.view.start);
         }}
         const copy = new OffscreenCanvas(1, 1).getContext('2d', {{willReadFrequently: true}});
         copy.drawImage(app.canvas, 0, 0);
         copy.getImageData(0, 0, 1, 1);
         const time = (performance.now() - from) / 10; app.view.fit(); app.invalidate(); return time;"
    );
    number(browser, &script)
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_hundred_thousand_blocks_are_small_and_soon_painted_and_move_smoothly() {
    let scenario = scenario("titan-v", 40, 25, 100);
    let run = simulate(&scenario).expect("it runs");
    let page = page_of("many-blocks", &run);
    let bytes = fs::metadata(&page).expect("it is there").len();
    assert!(bytes < 20_000_000, "{bytes} bytes");
    let browser = Browser::start();
    let mut told = vec![format!("{bytes} bytes")];
    for (size, dark) in SIZES.into_iter().flat_map(|size| [(size, false), (size, true)]) {
        browser.look(size, dark);
        browser.open(&page);
        assert_eq!(browser.run(BLOCKS), 100_000);
        let paint = number(&browser, "return performance.getEntriesByName('first-contentful-paint')[0].startTime");
        let drawn = number(&browser, "return performance.getEntriesByName('drawn')[0].startTime");
        assert!(paint < 2_000.0, "first paint after {paint} ms");
        let (plain, with_state) = (frame(&browser, false), frame(&browser, true));
        told.push(format!(
            "{size:?}: first paint {paint:.0} ms, figure {drawn:.0} ms, frame {plain:.1} ms, {with_state:.1} ms"
        ));
        let theme = if dark { "dark" } else { "light" };
        browser.point(f64::from(size.0) / 3.0, f64::from(size.1) / 2.0, true);
        browser.screenshot(&directory().join(format!("many-blocks-{}x{}-{theme}.png", size.0, size.1)));
        is_quiet(&browser);
    }
    browser.look(SIZES[0], false);
    let height = || number(&browser, "return gpusched.app.layout.rows.find((row) => row.kind === 'sm').height");
    let before = height();
    browser.run("gpusched.app.view.zoom(0.02, 500)");
    browser.keys("]]]");
    assert!((height() / before - 8.0).abs() < 0.01, "{} from {before}", height());
    browser.screenshot(&directory().join("many-blocks-near.png"));
    browser.keys("[[[[");
    assert!((height() / before - 1.0).abs() < 0.01);
    is_quiet(&browser);
    fs::write(directory().join("many-blocks.txt"), told.join("\n")).expect("the build directory can be written");
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_million_blocks_are_shown_if_forced() {
    let scenario = r#"{"name": "a million", "max_iterations": 1, "max_time": 0, "cuda_device": 0, "benchmarks": [
        {"filename": "timer_spin.so", "label": "K", "thread_count": 32, "block_count": 1000001, "data_size": 0,
         "additional_info": 1000}]}"#;
    let path = directory().join("million.json");
    fs::write(&path, scenario).expect("the build directory can be written");
    let page = written("million", &["simulate", path.to_str().expect("a plain path"), "--force"]);
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&page);
    assert_eq!(browser.run(BLOCKS), 1_000_001);
    browser.screenshot(&directory().join("million.png"));
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_million_blocks_of_5000_kernels_on_132_sms_are_soon_seen_and_move_smoothly() {
    let scenario = scenario("h100", 50, 100, 200);
    let run = simulate(&scenario).expect("it runs");
    let path = directory().join("million-on-132-sms.html");
    let mut page = Vec::new();
    HtmlTimeline::new(Summary::of(&run)).merged().write(&mut page).expect("memory holds it");
    fs::write(&path, &page).expect("the build directory can be written");
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&path);
    let paint = number(&browser, "return performance.getEntriesByName('first-contentful-paint')[0].startTime");
    let drawn = number(&browser, "return performance.getEntriesByName('drawn')[0].startTime");
    let top = frame(&browser, false);
    browser.screenshot(&directory().join("million-on-132-sms.png"));
    browser.run("gpusched.app.scroller.scrollTop = 1e6");
    browser.wait_until_idle();
    let bottom = frame(&browser, false);
    browser.screenshot(&directory().join("million-on-132-sms-bottom.png"));
    let entries = number(&browser, BLOCKS);
    let told = format!(
        "{} bytes, {entries} entries: first paint {paint:.0} ms, figure {drawn:.0} ms, frame {top:.1} ms at the top, {bottom:.1} ms \
         at the bottom",
        page.len()
    );
    fs::write(directory().join("million-on-132-sms.txt"), &told).expect("the build directory can be written");
    // Machines differ; figures for one of them are in docs/testing.md.
    assert!(paint < 1_000.0 && drawn < 8_000.0 && top.max(bottom) < 250.0, "{told}");
    is_quiet(&browser);
}

#[test]
#[ignore = "needs chromium and chromedriver"]
fn a_hundred_thousand_launches_take_no_more_time_than_as_many_blocks() {
    let scenario = scenario("titan-v", 10, 10_000, 1);
    let run = simulate(&scenario).expect("it runs");
    let browser = Browser::start();
    browser.look(SIZES[0], false);
    browser.open(&page_of("many-launches", &run));
    let (plain, with_state) = (frame(&browser, false), frame(&browser, true));
    let from = "const from = performance.now(); gpusched.app.search('k7'); return performance.now() - from";
    let search = number(&browser, from);
    let told = format!("frame {plain:.1} ms, with state {with_state:.1} ms, search {search:.1} ms");
    fs::write(directory().join("many-launches.txt"), &told).expect("the build directory can be written");
    assert!(plain.max(with_state).max(search) < 1_000.0, "{told}");
    browser.screenshot(&directory().join("many-launches.png"));
    is_quiet(&browser);
}
