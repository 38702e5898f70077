//! The sending side: one world, many receivers.
//!
//! [`hub`] is the entry point: it routes datagrams to the peers, and [`tick`] runs a tick. For each
//! receiver, [`peer`] decides what to send in a tick, based on the acknowledgements in [`history`].
//! [`older`] chooses the older views of a snapshot. [`visible`] holds what receivers may see, and
//! [`view`] describes what each receiver holds. [`plan`] chooses what fits into a datagram.
//! [`sending`] caches the tick's plans so that receivers can share them, [`baselines`] builds what
//! they are coded against, and [`outbox`] holds the datagrams. [`encodings`] makes encodings on the
//! caller's threads, with the help of [`work`]. [`full_state`] carries states too large for one
//! datagram. [`budget`] limits how much to send, [`freshness`] tracks how long each entity has
//! waited, and [`rates`] decides which kinds are due. [`checks`] decides which snapshots get a
//! state check. [`sharing`] limits how many different encodings a tick makes. [`cost`](crate::cost)
//! reports bits to tools.
//!
//! A snapshot meets these types in this order:
//!
//! | type | what it is | file |
//! |---|---|---|
//! | `VisibleState` | what a receiver may see: the world, or a part of it | [`visible`] |
//! | `OfferedCodec` | a codec that receivers may choose, with its planner | [`sending`] |
//! | `Target` | a codec and a visible state: receivers with equal targets share work | [`sending`] |
//! | `ChosenBaseline` | what to code against: a view, views to merge, older views | [`history`] |
//! | `Against` | baseline and target, with the place of the work that receivers share | [`sending`] |
//! | `DueSnapshot` | a snapshot that a receiver should get now: target and baseline | [`peer`] |
//! | `PlanRequest` | a request for a plan, with its size limit | [`sending`] |
//! | `BaselineViews` | baseline and older views in the codec's form, merged | [`crate::baseline`] |
//! | `Coded` | what a planner produced: bytes, learned models, cost | [`plan`] |
//! | `SentView` | the view that a receiver holds once the snapshot arrives | [`view`] |
//! | `Skipped` | how a partial view differs from its visible state | [`view`] |
//! | `PartSet` | a complete state in several datagrams | [`view`] |
//! | `Plan` | `Coded` and `SentView`, shared by all with this baseline and target | [`plan`] |
//! | `Sent` | a datagram in the window, with its content and outcome | [`history`] |
//! | `Reference` | a reference state: the initial state, or that of a full state | [`peer`] |
//!
//! A view is *complete* if it equals its visible state, and *partial* if its snapshot skipped
//! entities.

mod baselines;
mod budget;
mod checks;
mod config;
mod emit;
mod encodings;
mod freshness;
mod full_state;
mod history;
mod hub;
mod older;
mod outbox;
mod peer;
mod plan;
mod rates;
mod sending;
mod sharing;
mod tick;
mod view;
mod visibility;
mod visible;
mod work;

pub use config::{HubConfig, Priority, ReceiverId, ReceiverOptions};
pub use emit::Audience;
pub use hub::{Handled, Hub};
pub use peer::PeerStatus;
pub use rates::KindOptions;
pub use work::Work;
