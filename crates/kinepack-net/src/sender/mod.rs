//! The sending side: one world, many receivers.
//!
//! [`hub`] routes. For each receiver, [`peer`] decides what to do in a tick, from what [`history`]
//! knows of acknowledgements. [`older`] chooses what a snapshot is coded against beside its
//! baseline. [`subjects`] has what there is to see, and [`view`] what a receiver holds. [`plan`]
//! chooses what fits. [`sending`] keeps the plans of a tick for receivers that share them.
//! [`block`] carries what is too large. [`budget`] and [`freshness`] say how much to send and what
//! first. [`checks`] says which snapshots get a state check. [`sharing`] limits how many different
//! encodings a tick makes. [`cost`] tells tools where the bits went.
//!
//! The words of these files, in the order in which a snapshot meets them:
//!
//! | word | what it is | where |
//! |---|---|---|
//! | `Subject` | what there is to see in a tick: the world, or a part of it | [`subjects`] |
//! | `Offer` | a codec that receivers may choose, with its planner | [`sending`] |
//! | `Wanted` | what a receiver is to get in a tick: a codec and a subject | [`sending`] |
//! | `Base` | what to code against: a view, views to merge, older ones, lesson | [`history`] |
//! | `OlderView` | a view beside the baseline, with its sequence | [`older`] |
//! | `Turn` | a snapshot that a receiver is to get now: `Wanted` and `Base` | [`peer`] |
//! | `Order` | what [`peer`] asks a plan for: `Wanted`, `Base`, bytes, weights | [`sending`] |
//! | `Composed` | makes a `Known` of a `Base`; keeps the last merged baseline | [`sending`] |
//! | `Known` | the views that the codec takes, merged; receivers use it too | [`crate::baseline`] |
//! | `Coded` | what a planner made: bytes, lesson, cost | [`plan`] |
//! | `Lesson` | what a codec had learned at the end of a packet, with a number | [`view`] |
//! | `SentView` | a view that a receiver has, or will have when the packet arrives | [`view`] |
//! | `LeftOut` | how such a view differs from what there was to see, and what was sent | [`view`] |
//! | `Split` | a whole state in several datagrams | [`view`] |
//! | `Plan` | `Coded` and its `SentView`, for all receivers with one base and codec | [`plan`] |
//! | `Sent` | a datagram of the window, with its content and what became of it | [`history`] |
//! | `Fate` | what an acknowledgement or the time changed: arrived, or lost | [`history`] |
//! | `Reference` | a state that both sides hold for good: the initial one, or a block | [`peer`] |
//! | `BlockOut` | a state too large for one datagram, on its way in fragments | [`block`] |

mod block;
mod budget;
mod checks;
mod cost;
mod freshness;
mod history;
mod hub;
mod older;
mod peer;
mod plan;
mod sending;
mod sharing;
mod subjects;
mod view;

pub use cost::Cost;
pub use hub::{Handled, Hub, HubConfig, ReceiverId, ReceiverOptions, Weight};
pub use peer::PeerStatus;
