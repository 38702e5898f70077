//! The hello of a receiver, and the hub's refusal of it. See `spec/NET.md`, section 2.

use core::fmt;

use kinepack::Schema;

use super::kinds::{HELLO, REFUSAL};

/// The version and the hashes that both sides must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) version: u8,
    pub(crate) schema_hash: u64,
    pub(crate) codec_hash: u64,
    pub(crate) initial_hash: u64,
    /// The hash of the events' codec; 0 without events.
    pub(crate) events_hash: u64,
}

/// How the two sides of a connection differ. Each variant holds the hub's hash or version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mismatch {
    /// The versions of the protocol differ.
    Version {
        /// The hub's version.
        version: u8,
    },
    /// The schemas differ: in kinds, fields, ranges, precisions or their order.
    Schema {
        /// The hub's [`Schema::hash`](kinepack::Schema::hash).
        hash: u64,
        /// The first part of the [outline](kinepack::Schema::outline) in which the schemas differ.
        /// `None` if the first 256 parts are equal.
        part: Option<u16>,
    },
    /// The codecs differ in their levels or in their profiles.
    Codec {
        /// The hub's [`Codec::hash`](kinepack::Codec::hash).
        hash: u64,
    },
    /// The initial states differ. Both sides must begin with the same state.
    Initial {
        /// The [`state_hash`](kinepack::Snapshot::state_hash) of the hub's initial state.
        hash: u64,
    },
    /// The codec of events ([`EventKinds`](crate::EventKinds)) differs, or only one side has
    /// events.
    Events {
        /// The hub's [`Codec::hash`](kinepack::Codec::hash); 0 if it has no events.
        hash: u64,
    },
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, hash) = match self {
            Self::Version { version } => {
                return write!(
                    f,
                    "the two sides speak different versions of the protocol; the hub's is \
                     {version}"
                );
            }
            Self::Schema { hash, .. } => ("schema", hash),
            Self::Codec { hash } => ("codec (level or profile)", hash),
            Self::Initial { hash } => ("initial state", hash),
            Self::Events { hash: 0 } => {
                return write!(f, "this side has events, but the hub has none");
            }
            Self::Events { hash } => ("codec of events", hash),
        };
        write!(f, "the two sides have a different {what}; the hub's hash is {hash:016x}")
    }
}

impl Hello {
    /// How the hello `theirs` differs from this one; `None` if they agree.
    pub(crate) fn mismatch(&self, theirs: &Self) -> Option<Mismatch> {
        let Self { version, schema_hash, codec_hash, initial_hash, events_hash } = *self;
        if version != theirs.version {
            return Some(Mismatch::Version { version });
        }
        if schema_hash != theirs.schema_hash {
            return Some(Mismatch::Schema { hash: schema_hash, part: None });
        }
        if codec_hash != theirs.codec_hash {
            return Some(Mismatch::Codec { hash: codec_hash });
        }
        if initial_hash != theirs.initial_hash {
            return Some(Mismatch::Initial { hash: initial_hash });
        }
        (events_hash != theirs.events_hash).then_some(Mismatch::Events { hash: events_hash })
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend([HELLO, self.version]);
        for hash in [self.schema_hash, self.codec_hash, self.initial_hash, self.events_hash] {
            out.extend(hash.to_le_bytes());
        }
    }
}

/// The maximum number of parts in a schema's outline in a hello.
pub(super) const MAX_PARTS: usize = 256;

/// The parts of a schema's outline that fit into a hello.
pub(crate) fn outline(schema: &Schema) -> Vec<u32> {
    schema.outline().take(MAX_PARTS).collect()
}

/// The first part in which two outlines differ. `theirs` is from a hello.
pub(crate) fn first_difference(ours: &[u32], theirs: &[u8]) -> Option<u16> {
    let theirs = theirs.as_chunks().0.iter().map(|part| u32::from_le_bytes(*part));
    let count = theirs.len();
    let equal = ours.iter().zip(theirs).take_while(|(ours, theirs)| *ours == theirs).count();
    // A part that only one side has is a difference. If both lists are equal, the schemas differ
    // only after the last part.
    let differs = equal < ours.len().max(count);
    (differs && count > 0).then_some(equal as u16)
}

impl Mismatch {
    /// Describes the mismatch in words. Names the first part in which the schemas differ, if that
    /// part is known. `schema` is this side's schema.
    ///
    /// ```
    /// use kinepack::Schema;
    /// use kinepack::schema::{Field, FieldKind};
    /// use kinepack_net::Mismatch;
    ///
    /// let fields = vec![Field::new("lit", FieldKind::Bool)];
    /// let schema = Schema::builder().kind_of_fields("lamp", fields).build()?;
    /// let of_part = |part| Mismatch::Schema { hash: 7, part: Some(part) }.describe(&schema);
    /// assert_eq!(of_part(1), "the two sides have different schemas; they differ first in lamp.lit");
    /// assert!(of_part(2).ends_with("has all parts of this side's, and more"));
    /// # Ok::<(), kinepack::SetupError>(())
    /// ```
    pub fn describe(&self, schema: &Schema) -> String {
        let Self::Schema { part: Some(part), .. } = *self else { return self.to_string() };
        match schema.part_name(part.into()) {
            Some(name) => {
                format!("the two sides have different schemas; they differ first in {name}")
            }
            None => String::from(
                "the two sides have different schemas; the other side's has all parts of this \
                 side's, and more",
            ),
        }
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let (reason, value) = match *self {
            Self::Version { version } => (0, u64::from(version)),
            Self::Schema { hash, .. } => (1, hash),
            Self::Codec { hash } => (2, hash),
            Self::Initial { hash } => (3, hash),
            Self::Events { hash } => (4, hash),
        };
        out.extend([REFUSAL, reason]);
        out.extend(value.to_le_bytes());
        if let Self::Schema { part: Some(part), .. } = self {
            out.extend(part.to_le_bytes());
        }
    }
}
