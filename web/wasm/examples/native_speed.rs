//! What the page's worker does, without a browser: `cargo run --release --manifest-path web/Cargo.toml --example
//! native_speed FILE` times reading a scenario, simulating it and writing its JSON, as the test in the browser does.

use std::io::Write;
use std::time::Instant;

use gpusched_page::Session;

const REPEATS: usize = 9;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args().nth(1).ok_or("expected a scenario file")?;
    let content = std::fs::read(file)?;
    let mut times = Vec::new();
    for _ in 0..REPEATS {
        let mut session = Session::default();
        let begin = Instant::now();
        let answer = session.answer(br#"{"want": "simulate", "file": "x.json"}"#, &content);
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        answer.map_err(|refusal| refusal.message)?;
    }
    times.sort_by(f64::total_cmp);
    writeln!(std::io::stdout(), "{:.0} ms (median; least {:.0} ms)", times[REPEATS / 2], times[0])?;
    Ok(())
}
