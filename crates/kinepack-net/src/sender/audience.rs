//! Which receivers get an event.

use kinepack::EntityId;

use super::receiver_id::ReceiverId;

/// Which receivers get an event.
///
/// ```
/// use kinepack::EntityId;
/// use kinepack_net::{Audience, ReceiverId};
///
/// let explosion = Audience::Seeing(EntityId(17)); // those who see what explodes
/// let whisper = Audience::Only(&[ReceiverId(3), ReceiverId(8)]);
/// # assert_ne!(explosion, whisper);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience<'a> {
    /// All receivers that have joined.
    All,
    /// Receivers that may see this entity: all except those whose [relevant
    /// set](crate::Hub::set_relevant) lacks it.
    Seeing(EntityId),
    /// Only these receivers.
    Only(&'a [ReceiverId]),
}

/// An owned [`Audience`], kept until the next tick.
#[derive(Debug)]
pub(super) enum OwnedAudience {
    All,
    Seeing(EntityId),
    Only(Box<[ReceiverId]>),
}

impl From<Audience<'_>> for OwnedAudience {
    fn from(audience: Audience<'_>) -> Self {
        match audience {
            Audience::All => Self::All,
            Audience::Seeing(entity) => Self::Seeing(entity),
            Audience::Only(ids) => Self::Only(ids.into()),
        }
    }
}
