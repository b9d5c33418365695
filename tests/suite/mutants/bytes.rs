//! Changes of the bytes of any file.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Bytes that are no text, or end one.
const PIECES: [&[u8]; 10] = [
    b"\0",
    b"\xff",
    b"\xc0\x80",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\x1a",
    b"\x1b[31m",
    b"\r",
    b"\\",
    b"\xe2\x80\xa8",
];

/// A file with one change, and what it is.
pub(super) fn changed(content: &[u8], random: &mut ChaCha8Rng) -> (Vec<u8>, &'static str) {
    let mut changed = content.to_vec();
    let at = random.random_range(0..=content.len());
    match random.random_range(0..16) {
        0..5 if at < content.len() => {
            changed[at] ^= 1 << random.random_range(0..8);
            (changed, "one bit")
        }
        5..7 => {
            changed.truncate(at);
            (changed, "cut off")
        }
        7 | 8 => {
            let end = (at + random.random_range(1..40)).min(content.len());
            changed.drain(at..end);
            (changed, "bytes left out")
        }
        9 | 10 => {
            let piece = PIECES[random.random_range(0..PIECES.len())];
            changed.splice(at..at, piece.iter().copied());
            (changed, "bytes more")
        }
        11 => ([b"\xef\xbb\xbf", content].concat(), "a byte order mark"),
        12 => {
            let ends = content.iter().flat_map(|&byte| if byte == b'\n' { vec![b'\r', b'\n'] } else { vec![byte] });
            (ends.collect(), "lines end with CR LF")
        }
        13 => {
            let text = String::from_utf8_lossy(content);
            (text.encode_utf16().flat_map(u16::to_le_bytes).collect(), "UTF-16")
        }
        14 => {
            let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
            packed.write_all(content).expect("memory takes it");
            let mut packed = packed.finish().expect("memory takes it");
            if random.random() {
                packed.truncate(random.random_range(0..=packed.len()));
            }
            (packed, "gzip")
        }
        _ => {
            changed.extend_from_slice([&b"x"[..], b"{}", b"\0", b" \n", b"]"][random.random_range(0..5)]);
            (changed, "bytes behind its end")
        }
    }
}
