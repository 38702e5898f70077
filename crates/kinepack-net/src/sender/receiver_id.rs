//! The id of a receiver.

/// Identifies a receiver. The caller chooses the number, for example that of the transport's
/// connection.
///
/// ```
/// use std::time::Duration;
/// use kinepack_net::{ReceiverId, ReceiverOptions};
/// # use kinepack::schema::{Field, FieldKind};
/// # use kinepack::{Codec, Level, Profile, Schema};
/// # use kinepack_net::{Hub, HubConfig};
/// # let schema = Schema::new(vec![Field::new("health", FieldKind::Raw { lanes: 1 })]);
/// # let codec = Codec::new(schema.clone(), Level::PACKED, Profile::untrained(&schema))?;
/// # let mut hub = Hub::new(&codec, HubConfig::default())?;
///
/// for connection in [3, 8] {
///     hub.add(ReceiverId(connection), &ReceiverOptions::default(), Duration::ZERO)?;
/// }
/// assert!(hub.remove(ReceiverId(3)), "connection 3 was closed");
/// assert_eq!(hub.receivers().collect::<Vec<_>>(), [ReceiverId(8)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReceiverId(pub u64);
