//! The sending side, which sends one world to many receivers.
//!
//! [`hub`] is the entry point. It routes datagrams to the peers, runs a tick, and takes the
//! caller's settings and events. For each receiver, [`peer`] decides what to send in a tick.
//! [`history`] stores the receiver's acknowledgements, and chooses the baseline and the older
//! views. [`visible`] builds the states that receivers may see, as [`visibility`] describes and
//! [`rings`] decide by distance, and [`spare`] reuses their memory. [`view`] is what a receiver
//! holds. [`plan`] chooses what fits into a datagram, and [`parts`] divides a state among several,
//! which [`in_parts`] sends. [`turns`] sends only what changed since the last datagrams.
//!
//! [`sending`] caches the tick's plans so that receivers can share them, [`baselines`] builds the
//! views that they are coded against, and [`outbox`] holds the datagrams. [`ahead`] chooses the
//! encodings to make on the caller's threads, [`encodings`] makes them, and [`work`] distributes
//! them to threads. [`sharing`] limits how many different encodings a tick makes. [`full_state`]
//! sends states too large for one datagram. [`allowance`] limits how much to send, with a [`bucket`] and the [link's
//! control](crate::congestion), [`uplink`] how much all receivers get, [`freshness`]
//! tracks how long each entity has waited, and [`rates`] decides which kinds are due. [`checks`]
//! decides which snapshots get a state check. [`rewind`] finds what a receiver showed. [`cost`](crate::cost) reports bits to tools.
//!
//! A snapshot meets these types in this order:
//!
//! | type | what it is | file |
//! |---|---|---|
//! | `VisibleState` | what a receiver may see: the world, or a part of it | [`visible`] |
//! | `OfferedCodec` | a codec that receivers may choose, with its planner | [`offered`] |
//! | `Target` | a codec and a visible state: receivers with equal targets share work | [`offered`] |
//! | `ChosenBaseline` | a view, views to merge into it, older views | [`chosen_baseline`] |
//! | `Against` | baseline and target, with the place of the work that receivers share | [`sending`] |
//! | `DueSnapshot` | a snapshot that a receiver should get now: target and baseline | [`peer`] |
//! | `PlanRequest` | a request for a plan, with its size limit | [`sending`] |
//! | `BaselineViews` | baseline and older views in the codec's form, merged | [`crate::baseline`] |
//! | `Coded` | what a planner produced: bytes, learned models, cost | [`plan`] |
//! | `SentView` | the view that a receiver holds once the snapshot arrives | [`view`] |
//! | `Skipped` | how a partial view differs from its visible state | [`view`] |
//! | `Part` | one of the datagrams of a complete state | [`parts`] |
//! | `PartSet` | a complete state in several datagrams | [`view`] |
//! | `Plan` | `Coded` and `SentView`, for all receivers with this baseline and target | [`plan`] |
//! | `Sent` | a datagram in the window, with its content and outcome | [`history`] |
//! | `Reference` | a reference state: the initial state, or that of a full state | [`peer`] |
//!
//! A view is *complete* if it equals its visible state, and *partial* if its snapshot skipped
//! entities.

mod ages;
mod ahead;
mod allowance;
mod audience;
mod baselines;
mod bucket;
mod checks;
mod chosen_baseline;
mod config;
mod emitted;
mod encodings;
mod freshness;
mod full_state;
mod history;
mod hub;
mod in_parts;
mod kind_options;
mod moment;
mod offered;
mod outbox;
mod parts;
mod peer;
mod plan;
mod rates;
mod receiver_id;
mod rewind;
mod rings;
mod sending;
mod sharing;
mod spare;
mod turns;
mod uplink;
mod view;
mod visibility;
mod visible;
mod work;
mod worlds;

pub use audience::Audience;
pub use config::{Budget, HubConfig, Priority, ReceiverOptions};
pub use hub::{Handled, Hub};
pub use kind_options::KindOptions;
pub use peer::PeerStatus;
pub use receiver_id::ReceiverId;
pub use rewind::{Past, RewindConfig, RewindError};
pub use rings::{Ring, Rings};
pub use work::Work;
pub use worlds::Worlds;
