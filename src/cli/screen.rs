//! What is shown on a terminal, without whatever the terminal would take for a command.

use std::io::{self, IsTerminal, Write};

/// A stream of the process. If it is a terminal, control characters are shown by their codes: names come out of files
/// that others wrote, and an escape sequence in one could colour, move or hide what is shown. What goes into files and
/// pipes is left as it is.
#[derive(Debug)]
pub(crate) struct Screen<W> {
    out: W,
    is_terminal: bool,
    /// The byte before the next.
    before: u8,
}

impl<W: IsTerminal> Screen<W> {
    pub(crate) fn new(out: W) -> Self {
        let is_terminal = out.is_terminal();
        Self { out, is_terminal, before: 0 }
    }
}

impl<W: Write> Write for Screen<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.out.write(bytes);
        }
        let mut before = self.before;
        let commands = |&byte: &u8| is_command(std::mem::replace(&mut before, byte), byte);
        let written = match bytes.iter().position(commands).unwrap_or(bytes.len()) {
            0 if bytes.is_empty() => 0,
            0 => write!(self.out, "\\x{:02x}", bytes[0]).map(|()| 1)?,
            plain => self.out.write(&bytes[..plain])?,
        };
        if let Some(&last) = written.checked_sub(1).and_then(|last| bytes.get(last)) {
            self.before = last;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Control characters: those of ASCII but for ends of lines and tabs, and those that UTF-8 writes as 0xc2 and this.
fn is_command(before: u8, byte: u8) -> bool {
    let is_of_ascii = byte.is_ascii_control() && byte != b'\n' && byte != b'\t';
    is_of_ascii || before == 0xc2 && (0x80..0xa0).contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_escape_sequences_and_a_file_gets_everything() {
        let text = "one\u{1b}[31mred\u{7}\r\ntwo\tπ\u{9b}2Jé";
        let shown = |is_terminal, at_once: usize| {
            let mut screen = Screen { out: Vec::new(), is_terminal, before: 0 };
            for part in text.as_bytes().chunks(at_once) {
                screen.write_all(part).expect("there is room");
            }
            String::from_utf8_lossy(&screen.out).into_owned()
        };
        for at_once in [1, 2, 3, 100] {
            assert_eq!(shown(true, at_once), "one\\x1b[31mred\\x07\\x0d\ntwo\tπ\u{fffd}\\x9b2Jé");
            assert_eq!(shown(false, at_once), text);
        }
    }
}
