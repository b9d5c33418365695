//! Files of the examiner, as text.

use std::fmt::Write;

const TOP: &str = "{\"name\": \"n\", \"max_iterations\": 1, \"max_time\": 0, \"cuda_device\": 0, \"benchmarks\": [\n";
const COUNTS: [u32; 4] = [128, 256, 512, 1024];

/// `kernels` kernels of `blocks` blocks in a few streams: long lists of short objects.
pub(crate) fn chains(kernels: u32, streams: u32, blocks: u32) -> String {
    let mut text = TOP.to_owned();
    for stream in 0..streams {
        let comma = if stream > 0 { "]},\n" } else { "" };
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{comma}{{\"filename\": \"./bin/multikernel.so\", \"label\": \"S{stream}\", \"log_name\": \"s{stream}.json\", \
             \"thread_count\": 0, \"block_count\": 0, \"data_size\": 0, \"additional_info\": [",
        );
        for kernel in 0..kernels / streams {
            let comma = if kernel > 0 { "," } else { "" };
            let (threads, ns) = (COUNTS[kernel as usize % 4], 1_000 + 7 * kernel);
            let _ = write!(
                text,
                "{comma}\n{{\"kernel_label\": \"K{kernel}\", \"duration\": {ns}, \"block_count\": {blocks}, \
                 \"thread_count\": {threads}}}",
            );
        }
    }
    text.push_str("]}]}\n");
    text
}

/// `count` benchmarks of one kernel each: a long list of longer objects.
pub(crate) fn benchmarks(count: u32) -> String {
    let mut text = TOP.to_owned();
    for benchmark in 0..count {
        let comma = if benchmark > 0 { ",\n" } else { "" };
        let (threads, ns) = (COUNTS[benchmark as usize % 4], 1_000 + 7 * benchmark);
        // Writing to a string cannot fail.
        let _ = write!(
            text,
            "{comma}{{\"filename\": \"./bin/timer_spin.so\", \"label\": \"B{benchmark}\", \
             \"log_name\": \"b{benchmark}.json\", \"thread_count\": {threads}, \"block_count\": 2, \"data_size\": 0, \
             \"additional_info\": {ns}, \"release_time\": 0.25}}",
        );
    }
    text.push_str("]}\n");
    text
}
