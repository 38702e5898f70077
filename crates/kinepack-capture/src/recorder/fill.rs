//! Copies the words of entities into the memory of a frame.

use kinepack::{EncodeError, EntityId, Tick};

use super::RecordError;

/// The reason why entities are not recorded.
pub(super) enum Refusal {
    Id(EntityId),
    TooMany,
    State(EntityId, EncodeError),
}

impl Refusal {
    pub(super) fn into_error(self, stream: &str, tick: Tick, most: usize) -> RecordError {
        let (stream, tick) = (stream.to_owned(), tick.0);
        match self {
            Self::Id(id) => RecordError::IdsNotIncreasing { stream, tick, id: id.0 },
            Self::TooMany => RecordError::TooManyEntities { stream, tick, most },
            Self::State(id, source) => RecordError::BadState { stream, tick, id: id.0, source },
        }
    }
}

/// Copies the words of entities to the front of `words`, which never shrinks. Returns the number of
/// entities.
#[inline]
pub(super) fn fill<S>(
    words: &mut Vec<u64>,
    columns: usize,
    most: usize,
    entities: impl IntoIterator<Item = (EntityId, S)>,
    store: impl Fn(S, &mut [u64]) -> Result<(), EncodeError>,
) -> Result<usize, Refusal> {
    let (mut count, mut last) = (0, None);
    for (id, state) in entities {
        if last.is_some_and(|last| last >= id) {
            return Err(Refusal::Id(id));
        }
        if count == most {
            return Err(Refusal::TooMany);
        }
        let used = count * columns;
        if words.len() < used + columns {
            words.resize(2 * (used + columns), 0);
        }
        let row = &mut words[used..used + columns];
        row[0] = id.0.into();
        store(state, &mut row[1..]).map_err(|source| Refusal::State(id, source))?;
        (count, last) = (count + 1, Some(id));
    }
    Ok(count)
}
