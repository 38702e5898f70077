//! Splits the bytes of a file into words, and tracks their lines. Only names may contain non-ASCII
//! bytes, so the file's encoding does not matter for the other words.

use super::ImportError;

/// The bytes that DOS and some exporters write after the last line.
const NUL: u8 = 0;
const CTRL_Z: u8 = 0x1a;

/// The words of a file in order. In BVH, lines matter only for names, which may contain spaces.
pub(super) struct Tokens<'a> {
    file: &'a str,
    /// The bytes after the last word that was taken.
    rest: &'a [u8],
    /// The line of the next word, counted from 1. If there are no more words, it is the line of the
    /// last word.
    line: usize,
    /// Whether NUL or Ctrl-Z characters follow the last word.
    has_end_marks: bool,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(file: &'a str, bytes: &'a [u8]) -> Self {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let is_end = |byte: &u8| matches!(*byte, NUL | CTRL_Z) || byte.is_ascii_whitespace();
        let length = bytes.iter().rposition(|byte| !is_end(byte)).map_or(0, |last| last + 1);
        let (rest, end) = bytes.split_at(length);
        let has_end_marks = end.iter().any(|byte| !byte.is_ascii_whitespace());
        Self { file, rest, line: 1, has_end_marks }
    }

    pub(super) fn file(&self) -> &'a str {
        self.file
    }

    /// Returns whether NUL or Ctrl-Z characters follow the last word.
    pub(super) fn has_end_marks(&self) -> bool {
        self.has_end_marks
    }

    /// Returns the number of words that remain.
    pub(super) fn words(&self) -> usize {
        self.rest.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count()
    }

    pub(super) fn peek(&mut self) -> Option<&'a [u8]> {
        let begin = self.rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
        self.line += self.rest[..begin].iter().filter(|byte| **byte == b'\n').count();
        self.advance(begin);
        Some(&self.rest[..word_bytes(self.rest)])
    }

    /// Skips the next word if it equals `word`, ignoring case. Returns whether the words are equal.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let is_it = self.peek().is_some_and(|next| next.eq_ignore_ascii_case(word.as_bytes()));
        if is_it {
            self.advance(word.len());
        }
        is_it
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<(), ImportError> {
        if self.take(word) { Ok(()) } else { Err(self.unexpected(word)) }
    }

    /// Skips a label with a colon. For `Frames:`, other programs also accept `Frames`, `Frames :`
    /// and `Frames:20`, and so does this function. Returns whether the label has the usual form
    /// `Frames:`.
    pub(super) fn expect_label(&mut self, label: &str) -> Result<bool, ImportError> {
        let next = self.peek().unwrap_or_default();
        let is_it = next.split_at_checked(label.len()).is_some_and(|(word, after)| {
            word.eq_ignore_ascii_case(label.as_bytes()) && matches!(after, [] | [b':', ..])
        });
        if !is_it {
            return Err(self.unexpected(&format!("{label}:")));
        }
        let is_usual = next.len() == label.len() + 1;
        self.advance(label.len());
        if self.peek().is_some_and(|next| next.starts_with(b":")) {
            self.advance(1);
        }
        Ok(is_usual)
    }

    /// Takes the words up to the end of the line or to `{`, joined by single spaces.
    pub(super) fn name(&mut self) -> Vec<u8> {
        let mut name = Vec::with_capacity(self.name_bytes());
        while let Some((word, rest)) = word_of_name(self.rest) {
            if !name.is_empty() {
                name.push(b' ');
            }
            name.extend_from_slice(word);
            self.rest = rest;
        }
        name
    }

    /// Returns an upper bound on the length of the next [`name`](Self::name).
    pub(super) fn name_bytes(&self) -> usize {
        let (mut bytes, mut rest) = (0, self.rest);
        while let Some((word, after)) = word_of_name(rest) {
            bytes += word.len() + 1;
            rest = after;
        }
        bytes
    }

    /// Skips the next [`name`](Self::name).
    pub(super) fn skip_name(&mut self) {
        while let Some((_, rest)) = word_of_name(self.rest) {
            self.rest = rest;
        }
    }

    /// Reads a finite number.
    pub(super) fn number(&mut self, expected: impl FnOnce() -> String) -> Result<f64, ImportError> {
        self.parsed(f64::is_finite).ok_or_else(|| self.unexpected(&expected()))
    }

    /// Reads a whole number from 0 to `most`.
    pub(super) fn count(&mut self, expected: &str, most: u64) -> Result<u64, ImportError> {
        self.parsed(|count: u64| count <= most).ok_or_else(|| self.unexpected(expected))
    }

    /// Takes the next word if it is a number that `is_fit` accepts.
    fn parsed<T: std::str::FromStr + Copy>(&mut self, is_fit: impl Fn(T) -> bool) -> Option<T> {
        let word = self.peek()?;
        let number = std::str::from_utf8(word).ok()?.parse().ok().filter(|found| is_fit(*found));
        if number.is_some() {
            self.advance(word.len());
        }
        number
    }

    /// Returns the error for a next word other than `expected`.
    pub(super) fn unexpected(&mut self, expected: &str) -> ImportError {
        let found = match self.peek() {
            // The message quotes only the start of a long word.
            Some(word) => format!("{:?}", String::from_utf8_lossy(&word[..word.len().min(40)])),
            None => "the end of the file".to_owned(),
        };
        ImportError::Unexpected {
            file: self.file.to_owned(),
            line: self.line,
            expected: expected.to_owned(),
            found,
        }
    }

    fn advance(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }
}

/// Returns the next word of a name, and the bytes after it. The function scans only one word,
/// because a whole file may be a single line.
fn word_of_name(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let begin = bytes.iter().position(|byte| !byte.is_ascii_whitespace())?;
    let (space, rest) = bytes.split_at(begin);
    let (word, rest) = rest.split_at(word_bytes(rest));
    (!space.contains(&b'\n') && word != b"{").then_some((word, rest))
}

/// Returns the length of the word at the beginning of `bytes`.
fn word_bytes(bytes: &[u8]) -> usize {
    bytes.iter().position(u8::is_ascii_whitespace).unwrap_or(bytes.len())
}
