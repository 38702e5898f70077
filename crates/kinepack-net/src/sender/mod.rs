//! The sending side: one world, many receivers.
//!
//! [`hub`] routes. For each receiver, [`peer`] decides what to send in a tick, based on the
//! acknowledgements in [`history`]. [`older`] chooses the older views of a snapshot. [`subjects`]
//! holds what receivers may see, and [`view`] what each receiver holds. [`plan`] chooses what fits
//! into a datagram. [`sending`] keeps the plans of a tick for receivers that share them, and
//! [`encodings`] makes encodings on threads of the caller, by way of [`work`]. [`block`] carries
//! states too large for one datagram. [`budget`] and [`freshness`] decide how much to send and what
//! first, and [`rates`] which kinds are due. [`checks`] decides which snapshots get a
//! state check. [`sharing`] limits how many different encodings a tick makes. [`cost`](crate::cost) reports bits
//! to tools.
//!
//! A snapshot meets these types in this order:
//!
//! | type | what it is | file |
//! |---|---|---|
//! | `Subject` | what a receiver may see: the world, or a part of it | [`subjects`] |
//! | `OfferedCodec` | a codec that receivers may choose, with its planner | [`sending`] |
//! | `Target` | a codec and a subject: receivers with equal targets share work | [`sending`] |
//! | `ChosenBaseline` | what to code against: a view, views to merge, older views | [`history`] |
//! | `DueSnapshot` | a snapshot that a receiver should get now: target and baseline | [`peer`] |
//! | `PlanRequest` | the same for a planner, with a size limit and weights | [`sending`] |
//! | `BaselineViews` | the same as the codec takes it, already merged | [`crate::baseline`] |
//! | `Coded` | what a planner produced: bytes, learned models, cost | [`plan`] |
//! | `SentView` | the view that a receiver holds once the snapshot arrives | [`view`] |
//! | `Skipped` | how a partial view differs from its subject | [`view`] |
//! | `PartSet` | a complete state in several datagrams | [`view`] |
//! | `Plan` | `Coded` and `SentView`, for all with this baseline and target | [`plan`] |
//! | `Sent` | a datagram in the window, with its content and outcome | [`history`] |
//! | `Reference` | a reference state: the initial state, or that of a block | [`peer`] |
//!
//! A view is *complete* if it equals its subject, and *partial* if its snapshot skipped entities.

mod block;
mod budget;
mod checks;
mod emit;
mod encodings;
mod freshness;
mod history;
mod hub;
mod older;
mod peer;
mod plan;
mod rates;
mod sending;
mod sharing;
mod sight;
mod subjects;
mod view;
mod work;

pub use emit::Audience;
pub use hub::{Handled, Hub, HubConfig, ReceiverId, ReceiverOptions, Weight};
pub use peer::PeerStatus;
pub use rates::KindOptions;
pub use work::Work;
