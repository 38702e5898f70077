//! The parts that the commands of the program `kinepack` share: options, output files, tables,
//! pages, and exit codes.

#![forbid(unsafe_code)]
#![allow(missing_docs, unreachable_pub, reason = "a part of the program, with no users of its own")]

mod background;
pub mod bandwidth;
pub mod bodies;
mod budget_options;
pub mod cube_precision;
mod distribution;
mod failure;
pub mod interrupt;
mod link_meter;
mod link_options;
pub mod output;
mod own_file;
#[cfg(feature = "page")]
pub mod page;
pub mod parts;
mod progress;
mod read_once;
pub mod report_page;
mod seed;
mod sent_level;
mod stdout;
pub mod table;
mod trace_options;
mod words;
mod wrong_lanes;

pub use background::in_background;
pub use budget_options::{
    AUTO_BUDGET, budget_kbps_name, budget_name, budget_now, parse_budget, parse_budget_kbps,
};
pub use distribution::{Distribution, Summary};
pub use failure::Failure;
pub use link_meter::{LinkMeter, LinkUse, Slot, Waits};
pub use link_options::{
    LinkOptions, LinkOptionsError, both_ways, link_names, parse_milliseconds, parse_span,
};
pub use output::OutputError;
pub use own_file::own_file_limits;
pub use progress::progress;
pub use read_once::{READ_ONCE, is_read_once};
pub use seed::parse_seed;
pub use sent_level::SentLevel;
pub use stdout::{Escaping, announce, escaped, print, program_name, say, set_program_name};
pub use trace_options::{TraceError, TraceOptions};
pub use words::counted;
pub use wrong_lanes::wrong_lanes;
