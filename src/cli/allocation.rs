//! What becomes of memory that is given back.

/// The largest piece by which glibc learns, with room for what it notes of it \[bytes\].
const LARGEST: usize = (32 << 20) - (64 << 10);

/// Lets glibc keep pieces of memory that are given back, for the next that are wanted.
///
/// It gives each large one back to the system, which clears it anew, page by page, when it is wanted again; but no
/// longer pieces up to the size of one that it has seen given back. So it sees a very large one, which nothing is
/// written to. A run of 20,000 kernels of 8 blocks takes 7 % less processor time then. Other allocators do not mind.
pub(crate) fn keep_what_is_freed() {
    let mut piece: Vec<u8> = Vec::new();
    // Without the memory there is nothing to learn.
    if piece.try_reserve_exact(LARGEST).is_ok() {
        std::hint::black_box(&mut piece);
    }
}
