//! Prints the gain or loss that learning gives on synthetic motions, without a profile and with
//! profiles of other motions.
//!
//! ```text
//! cargo run --release -p comparisons --example motions
//! ```
//!
//! Each packet is coded against the state 100 ms earlier, and no packet is lost.

mod compare;

use std::error::Error;

use command_kit::table::table;
use compare::compare;

fn main() -> Result<(), Box<dyn Error>> {
    let rows = compare([(1, 900), (200, 300)])?.into_iter().map(|row| {
        [
            row.motion.to_owned(),
            row.profile.to_owned(),
            row.movers.to_string(),
            format!("{:.1}", row.adaptive),
            format!("{:.1}", row.learning),
            format!("{:.2}", row.learning / row.adaptive),
        ]
    });
    let header = ["\nmotion", "\nprofile", "\nmovers", "bytes\nadaptive", "\nlearning", "\nratio"];
    println!("{}", table(header, 2, rows).trim_fmt());
    Ok(())
}
