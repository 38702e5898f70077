//! The sending side: one world, many receivers.
//!
//! [`hub`] routes; per receiver, [`peer`] decides what to do in a tick with what [`history`] knows of acknowledgements; [`older`] chooses
//! what a snapshot is coded against beside its baseline; [`subjects`] has what there is to see and [`view`]s what a receiver holds;
//! [`plan`] chooses what fits; [`block`] carries what is too large; [`budget`] and [`freshness`] say how much and what first;
//! [`sharing`] limits how many different encodings a tick makes; [`cost`] tells tools where the bits went.

mod block;
mod budget;
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
