//! The audience of an event: the receivers that get it.

use kinepack::EntityId;

use super::receiver_id::ReceiverId;

/// The receivers that get an event.
///
/// ```
/// use kinepack::EntityId;
/// use kinepack_net::{Audience, ReceiverId};
///
/// let explosion = Audience::Seeing(EntityId(17)); // receivers that may see entity 17
/// let whisper = Audience::Only(&[ReceiverId(3), ReceiverId(8)]);
/// # assert_ne!(explosion, whisper);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience<'a> {
    /// All receivers that have joined get the event.
    All,
    /// The receivers that may see this entity get the event: all except those whose [relevant
    /// set](crate::Hub::set_relevant) lacks the entity, and those from whom
    /// [rings](crate::Hub::set_rings) hide it now and hid it in the last tick.
    Seeing(EntityId),
    /// Only these receivers get the event.
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
