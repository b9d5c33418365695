//! gpusched in a page: what a worker asks as JSON, about a file of any readable format, is answered in bytes.
//!
//! The exports are plain functions over three buffers that this side owns. The worker asks for room
//! ([`request_room`], [`content_room`]), writes into it, calls [`run`] and reads the answer. No pointer is followed on
//! this side, so the only unsafe part is the promise of `#[unsafe(no_mangle)]` that each name is exported once.
//!
//! A panic ends the instance with a trap; its text is kept for whoever asks ([`panic_text`]), and the page goes on with
//! a new instance.

mod answer;
mod measured;
mod request;
mod session;
mod value;

use std::cell::RefCell;

pub use answer::Refusal;
pub use session::Session;

thread_local! {
    static REQUEST: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static CONTENT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static ANSWER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static PANIC: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static SESSION: RefCell<Session> = RefCell::new(Session::default());
}

/// Buffers of the module, as addresses and lengths \[bytes\].
#[expect(unsafe_code, reason = "exports have the names that the worker calls them by; each is defined once, here")]
mod exports {
    use super::{ANSWER, CONTENT, PANIC, REQUEST, SESSION};

    /// Room for a request of so many bytes.
    #[unsafe(no_mangle)]
    pub extern "C" fn request_room(length: usize) -> *mut u8 {
        super::room(&REQUEST, length)
    }

    /// Room for the bytes of a file, which stays the one that requests are about.
    #[unsafe(no_mangle)]
    pub extern "C" fn content_room(length: usize) -> *mut u8 {
        SESSION.with_borrow_mut(super::Session::forget);
        super::room(&CONTENT, length)
    }

    /// Answers the request; 1 if it is refused, in which case the answer says why, as JSON.
    #[unsafe(no_mangle)]
    pub extern "C" fn run() -> u32 {
        super::answer_request()
    }

    /// Where the answer is.
    #[unsafe(no_mangle)]
    pub extern "C" fn answer() -> *const u8 {
        ANSWER.with_borrow(Vec::as_ptr)
    }

    /// How long the answer is.
    #[unsafe(no_mangle)]
    pub extern "C" fn answer_length() -> usize {
        ANSWER.with_borrow(Vec::len)
    }

    /// Where the text of the panic is that ended this instance.
    #[unsafe(no_mangle)]
    pub extern "C" fn panic_text() -> *const u8 {
        PANIC.with_borrow(Vec::as_ptr)
    }

    /// How long that text is; 0 without a panic.
    #[unsafe(no_mangle)]
    pub extern "C" fn panic_length() -> usize {
        PANIC.with_borrow(Vec::len)
    }
}

pub use exports::{answer, answer_length, content_room, panic_length, panic_text, request_room, run};

fn room(buffer: &'static std::thread::LocalKey<RefCell<Vec<u8>>>, length: usize) -> *mut u8 {
    buffer.with_borrow_mut(|bytes| {
        bytes.clear();
        bytes.resize(length, 0);
        bytes.as_mut_ptr()
    })
}

fn answer_request() -> u32 {
    std::panic::set_hook(Box::new(|panic| PANIC.replace(panic.to_string().into_bytes()).clear()));
    let answered = REQUEST.with_borrow(|request| {
        CONTENT.with_borrow(|content| SESSION.with_borrow_mut(|session| session.answer(request, content)))
    });
    let (status, bytes) = match answered {
        Ok(bytes) => (0, bytes),
        Err(refusal) => (1, refusal.to_json()),
    };
    ANSWER.replace(bytes);
    status
}
