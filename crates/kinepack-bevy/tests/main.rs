//! Tests with headless apps: motion over a network, connections, clips, and figures. They are
//! modules of one program, because each further program would have to be linked.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod clips;
mod coarser;
mod figure;
mod frames;
mod hostile;
mod input_ticks;
mod interest;
mod late;
mod messages;
mod prediction;
mod replicon;
mod rewind;
mod states;
mod support;
mod udp;
mod web;
mod web_client;
