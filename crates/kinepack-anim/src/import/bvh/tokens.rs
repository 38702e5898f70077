//! Splits a text into words, and tracks their lines.

use std::iter::Peekable;
use std::str::{Lines, SplitAsciiWhitespace};

use super::ImportError;

/// The words of a text in order. Lines matter in BVH only for names, which may have spaces.
pub(super) struct Tokens<'a> {
    file: &'a str,
    text_bytes: usize,
    lines: Lines<'a>,
    words: Peekable<SplitAsciiWhitespace<'a>>,
    /// The line of the next word, from 1; the last line if there are no more words.
    line: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(file: &'a str, text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self {
            file,
            text_bytes: text.len(),
            lines: text.lines(),
            words: "".split_ascii_whitespace().peekable(),
            line: 0,
        }
    }

    pub(super) fn file(&self) -> &'a str {
        self.file
    }

    /// Length of the whole text.
    pub(super) fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    pub(super) fn peek(&mut self) -> Option<&'a str> {
        while self.words.peek().is_none() {
            self.words = self.lines.next()?.split_ascii_whitespace().peekable();
            self.line += 1;
        }
        self.words.peek().copied()
    }

    /// Skips the next word if it is this one, ignoring case. Returns whether it was.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let is_it = self.peek().is_some_and(|next| next.eq_ignore_ascii_case(word));
        if is_it {
            self.words.next();
        }
        is_it
    }

    pub(super) fn expect(&mut self, word: &str) -> Result<(), ImportError> {
        if self.take(word) { Ok(()) } else { Err(self.unexpected(word)) }
    }

    /// Reads the words up to the end of the line or to `{`.
    pub(super) fn name(&mut self) -> String {
        let mut name = String::with_capacity(self.name_bytes());
        while let Some(word) = self.words.next_if(|word| *word != "{") {
            if !name.is_empty() {
                name.push(' ');
            }
            name.push_str(word);
        }
        name
    }

    /// An upper bound on the length of the next [`name`](Self::name).
    pub(super) fn name_bytes(&self) -> usize {
        self.words.clone().take_while(|word| *word != "{").map(|word| word.len() + 1).sum()
    }

    /// Skips the next [`name`](Self::name).
    pub(super) fn skip_name(&mut self) {
        while self.words.next_if(|word| *word != "{").is_some() {}
    }

    /// Reads a finite number.
    pub(super) fn number(&mut self, expected: impl FnOnce() -> String) -> Result<f64, ImportError> {
        match self
            .peek()
            .and_then(|word| word.parse::<f64>().ok())
            .filter(|number| number.is_finite())
        {
            Some(number) => {
                self.words.next();
                Ok(number)
            }
            None => Err(self.unexpected(&expected())),
        }
    }

    /// Reads a whole number from 0 to `most`.
    pub(super) fn count(&mut self, expected: &str, most: u64) -> Result<u64, ImportError> {
        match self.peek().and_then(|word| word.parse::<u64>().ok()).filter(|count| *count <= most) {
            Some(count) => {
                self.words.next();
                Ok(count)
            }
            None => Err(self.unexpected(expected)),
        }
    }

    /// The error for a next word that is not the expected one.
    pub(super) fn unexpected(&mut self, expected: &str) -> ImportError {
        let found = match self.peek() {
            // The start of a word is enough.
            Some(word) => format!("{:?}", word.chars().take(40).collect::<String>()),
            None => "the end of the file".to_owned(),
        };
        ImportError::Unexpected {
            file: self.file.to_owned(),
            line: self.line.max(1),
            expected: expected.to_owned(),
            found,
        }
    }
}
