//! Reads Open Sound Control 1.0, the packets of VMC. A packet is a message, or a bundle of messages
//! and bundles. Source: the specification of OSC 1.0 by Matthew Wright.
//!
//! Nothing is allocated, and nested bundles are followed without recursion.

use std::fmt;

/// The maximum depth of bundles in bundles. Senders of VMC use one level.
const MAX_DEPTH: usize = 8;

/// The first bytes of a bundle.
const BUNDLE: &[u8] = b"#bundle\0";
/// The bytes of a bundle's time, which is ignored: VMC sends its own.
const TIME_BYTES: usize = 8;

/// The reason why a packet is not OSC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OscError {
    /// The packet begins neither with `/` nor with `#bundle`.
    NotOsc,
    /// A string, an argument or an element reaches beyond the end of the packet.
    EndOfData,
    /// A bundle has an element whose size is not a multiple of four.
    BadSize {
        /// The size in bytes.
        bytes: u32,
    },
    /// Bundles are nested too deeply.
    TooDeep,
    /// The address or the types of a message are not ASCII.
    BadText,
    /// An argument has an unknown type, so the arguments after it cannot be found.
    UnknownType {
        /// The character of the type.
        tag: char,
    },
}

impl fmt::Display for OscError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotOsc => write!(f, "not a packet of OSC"),
            Self::EndOfData => write!(f, "the packet is cut off"),
            Self::BadSize { bytes } => {
                write!(f, "an element of {bytes} bytes, which is not a multiple of four")
            }
            Self::TooDeep => write!(f, "bundles are nested more than {MAX_DEPTH} levels deep"),
            Self::BadText => write!(f, "an address or types that are not ASCII"),
            Self::UnknownType { tag } => write!(f, "an argument of the unknown type {tag:?}"),
        }
    }
}

impl std::error::Error for OscError {}

/// An argument of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Argument<'a> {
    /// A number of any type. Some senders write whole numbers as integers.
    Number(f32),
    Text(&'a str),
    /// A value that VMC does not use, or a text that is not UTF-8.
    Other,
}

/// A message, whose arguments are read on demand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a> {
    pub(super) address: &'a str,
    tags: &'a [u8],
    data: &'a [u8],
}

impl<'a> Message<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, OscError> {
        if bytes.first() != Some(&b'/') {
            return Err(OscError::NotOsc);
        }
        let (address, rest) = string(bytes)?;
        let address = ascii(address)?;
        // Old senders write no types if there are no arguments.
        let (tags, data) = if rest.is_empty() { (&b","[..], rest) } else { string(rest)? };
        ascii(tags)?;
        let tags = tags.strip_prefix(b",").ok_or(OscError::NotOsc)?;
        Ok(Self { address, tags, data })
    }

    /// The arguments in order. After an error, there are no more.
    pub(super) fn arguments(&self) -> impl Iterator<Item = Result<Argument<'a>, OscError>> {
        let mut data = self.data;
        let mut is_bad = false;
        let tags = self.tags.iter().filter(|tag| !matches!(tag, b'[' | b']'));
        tags.map_while(move |tag| {
            if is_bad {
                return None;
            }
            let read = argument(*tag, data);
            is_bad = read.is_err();
            Some(read.map(|(argument, rest)| {
                data = rest;
                argument
            }))
        })
    }

    /// Returns the first argument as a text, and the `N` numbers after it. Returns `None` if the
    /// arguments are others. Later ones are ignored, as newer versions of VMC append some.
    pub(super) fn text_and_numbers<const N: usize>(&self) -> Option<(&'a str, [f32; N])> {
        let mut arguments = self.arguments();
        let Some(Ok(Argument::Text(text))) = arguments.next() else { return None };
        let mut numbers = [0.0; N];
        for number in &mut numbers {
            *number = match arguments.next() {
                Some(Ok(Argument::Number(value))) => value,
                _ => return None,
            };
        }
        Some((text, numbers))
    }

    /// Returns the first argument if it is a number.
    pub(super) fn first_number(&self) -> Option<f32> {
        match self.arguments().next() {
            Some(Ok(Argument::Number(value))) => Some(value),
            _ => None,
        }
    }
}

/// The messages of a packet, in order. After an error, there are no more.
pub(super) struct Messages<'a> {
    /// What is left of each open bundle. The packet itself is the outermost one.
    open: [&'a [u8]; MAX_DEPTH],
    depth: usize,
    /// A packet that is a message without a bundle.
    alone: Option<&'a [u8]>,
}

impl<'a> Messages<'a> {
    pub(super) fn new(packet: &'a [u8]) -> Result<Self, OscError> {
        let mut messages = Self { open: [&[]; MAX_DEPTH], depth: 0, alone: None };
        match packet.strip_prefix(BUNDLE) {
            Some(rest) => messages.open(rest)?,
            None => messages.alone = Some(packet),
        }
        Ok(messages)
    }

    /// Checks the whole packet, so that a caller can refuse it before it uses any message.
    pub(super) fn check(packet: &'a [u8]) -> Result<(), OscError> {
        for message in Self::new(packet)? {
            message?.arguments().try_for_each(|argument| argument.map(|_| ()))?;
        }
        Ok(())
    }

    fn open(&mut self, rest: &'a [u8]) -> Result<(), OscError> {
        let elements = rest.get(TIME_BYTES..).ok_or(OscError::EndOfData)?;
        *self.open.get_mut(self.depth).ok_or(OscError::TooDeep)? = elements;
        self.depth += 1;
        Ok(())
    }

    /// Returns the next message, or `None` at the end.
    fn step(&mut self) -> Result<Option<Message<'a>>, OscError> {
        if let Some(message) = self.alone.take() {
            return Message::read(message).map(Some);
        }
        while let Some(innermost) = self.depth.checked_sub(1) {
            let rest = self.open[innermost];
            if rest.is_empty() {
                self.depth = innermost;
                continue;
            }
            let (size, rest) = rest.split_first_chunk().ok_or(OscError::EndOfData)?;
            let bytes = u32::from_be_bytes(*size);
            if !bytes.is_multiple_of(4) {
                return Err(OscError::BadSize { bytes });
            }
            let (element, rest) =
                rest.split_at_checked(bytes as usize).ok_or(OscError::EndOfData)?;
            self.open[innermost] = rest;
            match element.strip_prefix(BUNDLE) {
                Some(rest) => self.open(rest)?,
                None => return Message::read(element).map(Some),
            }
        }
        Ok(None)
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<Message<'a>, OscError>;

    fn next(&mut self) -> Option<Self::Item> {
        let step = self.step();
        if step.is_err() {
            self.depth = 0;
        }
        step.transpose()
    }
}

/// Splits off a string, which ends with a zero and is padded to four bytes.
fn string(bytes: &[u8]) -> Result<(&[u8], &[u8]), OscError> {
    let end = bytes.iter().position(|byte| *byte == 0).ok_or(OscError::EndOfData)?;
    let rest = bytes.get(padded(end + 1)..).ok_or(OscError::EndOfData)?;
    Ok((&bytes[..end], rest))
}

fn padded(bytes: usize) -> usize {
    bytes.next_multiple_of(4)
}

fn ascii(bytes: &[u8]) -> Result<&str, OscError> {
    std::str::from_utf8(bytes).ok().filter(|text| text.is_ascii()).ok_or(OscError::BadText)
}

/// Reads the argument of a type, and returns the data after it.
fn argument(tag: u8, data: &[u8]) -> Result<(Argument<'_>, &[u8]), OscError> {
    let skip = |bytes: usize| data.get(bytes..).ok_or(OscError::EndOfData);
    let word = || data.first_chunk().copied().ok_or(OscError::EndOfData);
    let long = || data.first_chunk().copied().ok_or(OscError::EndOfData);
    Ok(match tag {
        b'f' => (Argument::Number(f32::from_be_bytes(word()?)), skip(4)?),
        b'i' => (Argument::Number(i32::from_be_bytes(word()?) as f32), skip(4)?),
        b'd' => (Argument::Number(f64::from_be_bytes(long()?) as f32), skip(8)?),
        b'h' => (Argument::Number(i64::from_be_bytes(long()?) as f32), skip(8)?),
        b's' | b'S' => {
            let (text, rest) = string(data)?;
            (std::str::from_utf8(text).map_or(Argument::Other, Argument::Text), rest)
        }
        b'b' => {
            let bytes = u32::from_be_bytes(word()?) as usize;
            let after = skip(4)?;
            if bytes > after.len() {
                return Err(OscError::EndOfData);
            }
            (Argument::Other, after.get(padded(bytes)..).ok_or(OscError::EndOfData)?)
        }
        b't' => (Argument::Other, skip(8)?),
        b'r' | b'c' | b'm' => (Argument::Other, skip(4)?),
        b'T' | b'F' | b'N' | b'I' => (Argument::Other, data),
        _ => return Err(OscError::UnknownType { tag: char::from(tag) }),
    })
}
