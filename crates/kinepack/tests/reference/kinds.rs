//! Worlds of several kinds, as sections 5.6 and 5.7 define them.

use std::collections::BTreeSet;

use super::{Bits, Context, Entities, Field, Profile, Reader, Refused, hash_of, hashed_bytes};
use super::{check_coarse, read_set, refuse};

/// The entities of each kind.
pub(crate) type World = Vec<Entities>;

/// A kind's name and fields.
pub(crate) type Kind = (&'static str, Vec<Field>);

/// Computes the schema's hash, as section 5.3 defines it.
pub(crate) fn hash(kinds: &[Kind]) -> u64 {
    let mut bytes = Vec::new();
    for (name, fields) in kinds {
        for number in [u32::MAX, name.len() as u32] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(name.as_bytes());
        bytes.extend((fields.len() as u32).to_le_bytes());
        bytes.extend(hashed_bytes(fields));
    }
    hash_of(&bytes)
}

/// The schema and the profiles that are needed to read a packet of several kinds.
pub(crate) struct WorldReader<'a> {
    pub(crate) kinds: &'a [Kind],
    pub(crate) profile: &'a Profile,
    pub(crate) level: u8,
    pub(crate) max_entities: usize,
}

impl WorldReader<'_> {
    /// Returns the profile of each kind, with the kind's fields.
    fn profiles(&self) -> Vec<Profile> {
        let mut first = 0;
        let of_kind = |(_, fields): &Kind| {
            let mut profile = self.profile.clone();
            profile.fields = self.profile.fields[first..first + fields.len()].to_vec();
            for code in &mut profile.fields {
                if let Context::Field(field) = &mut code.context {
                    *field -= first;
                }
            }
            first += fields.len();
            profile
        };
        self.kinds.iter().map(of_kind).collect()
    }

    /// Reads the world that `packet` holds relative to `baseline`.
    pub(crate) fn decode(&self, baseline: &World, packet: &[u8]) -> Result<World, Refused> {
        let profiles = self.profiles();
        let readers = self.kinds.iter().zip(&profiles).map(|((_, schema), profile)| Reader {
            schema,
            profile,
            level: self.level,
            max_entities: self.max_entities,
            older: None,
        });
        let readers: Vec<Reader<'_>> = readers.collect();

        let bits = &mut Bits::of(packet);
        let mut before = baseline.clone();
        let mut added = vec![BTreeSet::new(); readers.len()];
        if bits.bool()? {
            let changes = read_changes(bits, baseline)?;
            for (kind, reader) in readers.iter().enumerate() {
                if changes[kind] {
                    (before[kind], added[kind]) = reader.read_entities(bits, &baseline[kind])?;
                }
            }
        }
        let count: usize = before.iter().map(Entities::len).sum();
        if count > self.max_entities {
            return refuse("too many entities");
        }
        let ids: BTreeSet<u32> = before.iter().flat_map(Entities::keys).copied().collect();
        if ids.len() < count {
            return refuse("two kinds have an id");
        }

        let mut after = before.clone();
        if self.level <= 6 {
            for (reader, after) in readers.iter().zip(&mut after) {
                reader.read_every_entity(bits, after)?;
            }
        } else {
            let changed = read_set(bits, readers[0].form(), count, &self.profile.entities)?;
            let mut first = 0;
            for (kind, reader) in readers.iter().enumerate() {
                let ids = before[kind].keys().enumerate();
                let changed: Vec<u32> = ids
                    .filter(|(row, _)| changed.contains(&(first + row)))
                    .map(|(_, id)| *id)
                    .collect();
                first += before[kind].len();
                let states = (&before[kind], &mut after[kind]);
                reader.read_fields(bits, &baseline[kind], states, (&changed, &added[kind]))?;
            }
        }
        bits.end()?;
        for ((_, fields), after) in self.kinds.iter().zip(&after) {
            check_coarse(fields, after)?;
        }
        Ok(after)
    }
}

/// Reads the set of kinds that change. Section 6, step 1.
fn read_changes(bits: &mut Bits, baseline: &World) -> Result<Vec<bool>, Refused> {
    if baseline.len() == 1 {
        return Ok(vec![true]);
    }
    let short: Result<Vec<bool>, Refused> =
        baseline.iter().map(|kind| if kind.is_empty() { Ok(false) } else { bits.bool() }).collect();
    let short = short?;
    if short.contains(&true) { Ok(short) } else { baseline.iter().map(|_| bits.bool()).collect() }
}
