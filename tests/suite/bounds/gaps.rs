//! The search finds what a nanosecond does: where all blocks of a kernel but one end a little early, lower priorities
//! get its room before the next kernel of its stream is there.

use gpusched::analysis::SearchOptions;
use gpusched::device::Device;

use super::{MS, judged, scenario};

#[test]
fn blocks_of_a_lower_priority_begin_between_two_kernels_of_many_blocks() {
    // 256 blocks of 64 threads fill Xavier's 8 SMs. As stated, A1 ends as a whole, A2 follows at once, and B runs then:
    // 2 ms. If one block of A1 ends 1 ns after the others, B has the room of these just before A2 may ask for it: A2
    // has one place of its own for 10 ms, and the others for its 246th to 255th block only after them.
    let xavier = Device::builtin("xavier").expect("it can be read").expect("it is built in");
    let kernels = r#""A1": {"blocks": 256, "threads": 64, "duration": "1 ms"},
        "A2": {"blocks": 256, "threads": 64, "duration": "1 ms"},
        "B": {"blocks": 256, "threads": 64, "duration": "10 ms"}"#;
    let streams = r#"{"name": "high", "priority": -1, "period": "100 ms", "jobs": 1, "operations": [{"kernel": "A1"}, {"kernel": "A2"}]},
        {"name": "low", "release": "500 us", "period": "100 ms", "jobs": 1, "operations": [{"kernel": "B"}]}"#;
    let verdicts = judged(&scenario(kernels, streams, &xavier), &SearchOptions::default());
    let high = &verdicts.jobs[0];
    assert_eq!(high.stream.as_ref(), "high");
    // Both kernels, and a block of B that began 1 ns before the first ended; the second's last block has 1 ns of that
    // left.
    let found = high.worst_found_ns.expect("it ends").as_ns();
    assert!((12 * MS - 1..=12 * MS).contains(&found), "{found} ns");
}
