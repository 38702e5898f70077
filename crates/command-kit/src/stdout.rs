//! Writes to standard output and standard error. A reader that has closed its end (`| head`) is not
//! a failure.
//!
//! This module writes all text of the program. Names of markers, clips, joints, fields and streams
//! come from files and peers, and errors quote them. Control characters are therefore escaped.
//! Otherwise a name could change the text on a terminal, or the terminal's title.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, ErrorKind, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::output::OutputError;

/// Whether a file that the command writes is standard output.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
/// The name that begins the program's messages.
static PROGRAM: OnceLock<String> = OnceLock::new();

/// Sets the name of the program, once and before its first message. The name is not fixed, because
/// several programs have these commands.
pub fn set_program_name(name: &str) {
    PROGRAM.get_or_init(|| name.to_owned());
}

/// Returns the name of the running program.
pub fn program_name() -> &'static str {
    PROGRAM.get().map_or("kinepack", String::as_str)
}

/// Marks standard output as a file of the command. From then on, reports go to standard error.
pub(crate) fn take() {
    IS_TAKEN.store(true, Ordering::Relaxed);
}

/// Writes a report to standard output, or to standard error if standard output holds a file.
/// Control characters are escaped. In a JSON document, an escape stands for the same character.
///
/// # Errors
/// Returns [`OutputError::Stdout`] if the report cannot be written.
pub fn print(
    write: impl FnOnce(&mut Escaping<Box<dyn Write>>) -> io::Result<()>,
) -> Result<(), OutputError> {
    let mut out = Escaping::new(match IS_TAKEN.load(Ordering::Relaxed) {
        true => Box::new(io::stderr().lock()) as Box<dyn Write>,
        false => Box::new(io::stdout().lock()),
    });
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(OutputError::Stdout(error)),
        _ => Ok(()),
    }
}

/// Writes a line to standard error, with control characters escaped. Unlike `eprintln!`, this does
/// not panic if the reader is gone.
///
/// Further lines of the text are indented, because an error may quote a name with a line break.
/// Without the indent, the rest of the name could look like a line of the program.
pub fn say(line: impl Display) {
    // If standard error is closed, there is no other place to report that.
    let _ = writeln!(io::stderr(), "{}", indented(&escaped_lines(&line.to_string())));
}

/// Works like [`say`], but the line begins with the program's name.
pub fn announce(line: impl Display) {
    say(format_args!("{}: {line}", program_name()));
}

/// Indents all lines of a text except the first by a space. Empty lines stay empty.
fn indented(text: &str) -> String {
    let mut lines = text.split('\n');
    let mut out = lines.next().unwrap_or("").to_owned();
    for line in lines {
        let is_plain = line.is_empty() || line.starts_with(' ');
        out.push_str(if is_plain { "\n" } else { "\n  " });
        out.push_str(line);
    }
    out
}

/// Escapes the characters of a text that control a terminal, for use within a line. Control
/// characters (including line breaks) are written as in JSON: `\u001b`. Characters that change the
/// direction or the lines of text are escaped in the same way.
pub fn escaped(text: &str) -> Cow<'_, str> {
    with_escapes(text, controls)
}

/// Works like [`escaped`], but line breaks and tabs are kept.
fn escaped_lines(text: &str) -> Cow<'_, str> {
    with_escapes(text, |letter| controls(letter) && !matches!(letter, '\n' | '\t'))
}

/// Returns whether `letter` is a control character (C0, DEL, C1), a line or paragraph separator, or
/// a mark or embedding of bidirectional text.
fn controls(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        )
}

fn with_escapes(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let one = |letter: char| match is_escaped(letter) {
        true => format!("\\u{:04x}", u32::from(letter)),
        false => letter.to_string(),
    };
    Cow::Owned(text.chars().map(one).collect())
}

/// A writer of text that escapes control characters, except line breaks and tabs.
pub struct Escaping<W> {
    out: W,
    /// The first bytes of a character that is still incomplete.
    rest: Vec<u8>,
}

impl<W: Write> Escaping<W> {
    fn new(out: W) -> Self {
        Self { out, rest: Vec::new() }
    }

    fn write_text(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(escaped_lines(&String::from_utf8_lossy(bytes)).as_bytes())
    }
}

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut text = std::mem::take(&mut self.rest);
        text.extend_from_slice(bytes);
        let whole = match str::from_utf8(&text) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => text.len(),
        };
        self.write_text(&text[..whole])?;
        self.rest = text.split_off(whole);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let rest = std::mem::take(&mut self.rest);
        self.write_text(&rest)?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_controls_a_terminal_is_escaped() {
        for (text, shown) in [
            ("goal", "goal"),
            ("größe 大きさ 🎯", "größe 大きさ 🎯"),
            ("\u{1b}]0;title\u{7}", "\\u001b]0;title\\u0007"),
            ("\u{9b}31m", "\\u009b31m"),
            ("a\u{7f}b\u{0}c\rd", "a\\u007fb\\u0000c\\u000dd"),
            ("\u{202e}txt.exe\u{2066}\u{200f}\u{61c}", "\\u202etxt.exe\\u2066\\u200f\\u061c"),
            ("two\nlines\tand\u{2028}more", "two\\u000alines\\u0009and\\u2028more"),
        ] {
            assert_eq!(escaped(text), shown);
        }
        assert_eq!(escaped_lines("two\nlines\t\u{1b}[2J"), "two\nlines\t\\u001b[2J");
    }

    #[test]
    fn a_line_break_in_an_error_begins_no_line_of_its_own() {
        for (text, shown) in [
            ("one line", "one line"),
            ("clip \"x\nkinepack: all is well\"", "clip \"x\n  kinepack: all is well\""),
            ("2 parts:\n  first\n  second", "2 parts:\n  first\n  second"),
            ("watch with\n\n    kinepack watch\n", "watch with\n\n    kinepack watch\n"),
        ] {
            assert_eq!(indented(text), shown);
        }
    }

    #[test]
    fn text_that_comes_in_parts_is_escaped() {
        let text = "größe \u{9b}2J\u{202e}\n🎯 ".as_bytes();
        for size in 1..text.len() {
            let mut out = Escaping::new(Vec::new());
            text.chunks(size).for_each(|part| out.write_all(part).unwrap());
            // These are the first bytes of a character that is never completed.
            out.write_all(&[0xe2, 0x80]).unwrap();
            out.flush().unwrap();
            let shown = String::from_utf8(out.out).unwrap();
            assert_eq!(shown, "größe \\u009b2J\\u202e\n🎯 \u{fffd}", "{size}");
        }
    }

    #[test]
    fn an_escaped_document_is_the_same_document() {
        let names = ["\u{9b}\u{7f}\u{202e}", "\u{1b}[2J", "größe"];
        let mut out = Escaping::new(Vec::new());
        crate::table::write_json(&names, &mut out).unwrap();
        out.flush().unwrap();
        let text = String::from_utf8(out.out).unwrap();
        assert!(!text.contains(['\u{9b}', '\u{7f}', '\u{202e}', '\u{1b}']));
        assert_eq!(serde_json::from_str::<Vec<String>>(&text).unwrap(), names);
    }
}
