//! The words of a text, with the lines on which they stand.

use std::iter::Peekable;
use std::str::{Lines, SplitAsciiWhitespace};

use super::ImportError;

/// Words one after the other. BVH does not care about lines but for names, which may have spaces.
pub(super) struct Tokens<'a> {
    file: &'a str,
    text_bytes: usize,
    lines: Lines<'a>,
    words: Peekable<SplitAsciiWhitespace<'a>>,
    /// Of the next word, from 1; of the last line where there is no more.
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

    /// The next word where it is this one, whatever its case.
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

    /// The words up to the end of the line or to `{`.
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

    /// At least the length of the [`name`](Self::name) that comes next.
    pub(super) fn name_bytes(&self) -> usize {
        self.words.clone().take_while(|word| *word != "{").map(|word| word.len() + 1).sum()
    }

    /// Skips what [`name`](Self::name) would be.
    pub(super) fn skip_name(&mut self) {
        while self.words.next_if(|word| *word != "{").is_some() {}
    }

    /// A number that is finite.
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

    /// A whole number from 0 on.
    pub(super) fn count(&mut self, expected: &str, most: u64) -> Result<u64, ImportError> {
        match self.peek().and_then(|word| word.parse::<u64>().ok()).filter(|count| *count <= most) {
            Some(count) => {
                self.words.next();
                Ok(count)
            }
            None => Err(self.unexpected(expected)),
        }
    }

    /// Says that the next word is not what must stand there.
    pub(super) fn unexpected(&mut self, expected: &str) -> ImportError {
        let found = match self.peek() {
            // The start of a word tells enough.
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
