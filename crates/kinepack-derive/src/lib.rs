//! Implements `#[derive(Pack)]` for kinepack: makes the schema of a struct or an enum from its
//! fields.
//!
//! Use the derive through `kinepack`, whose default feature `derive` re-exports it next to the
//! trait of the same name. The documentation of that trait lists all attributes.
//!
//! A derive runs in three steps:
//!
//! 1. `attributes` reads each field's `#[pack(...)]`.
//!
//! 2. `rules` decides how the field becomes lanes (`lane_rule`), with `roles` for rigid bodies and
//!    `precision` for time precision. Both refuse contradictions, with errors that name the field
//!    and the remedy.
//!
//! 3. `expand` writes the code of a struct (`structs`) or an enum (`enums`) from the code of its
//!    fields (`fields`, joined in `group`). `limits` writes the constants, `interpolate` the
//!    interpolation, and `implementation` the `impl` around all of this code.
//!
//! The derive cannot evaluate the expressions of a range, so it does not know whether the range is
//! possible. The generated constants check the range, still at compile time.
//!
//! ```
//! use kinepack::{Pack, Schema};
//!
//! #[derive(Pack)]
//! struct Ship {
//!     #[pack(range = -512.0..512.0, precision = 1.0 / 64.0)]
//!     position: [f32; 3],
//!     #[pack(rotation, bits = 10)]
//!     orientation: [f32; 4],
//!     #[pack(max = 200, clamp)]
//!     hull: u16,
//! }
//!
//! assert_eq!(Schema::of::<Ship>().bits_per_entity(), 3 * 16 + 32 + 8);
//! ```

mod attributes;
mod lane_rule;
mod precision;
mod roles;
mod rules;
mod types;

mod enums;
mod expand;
mod fields;
mod frames;
mod group;
mod implementation;
mod interpolate;
mod limits;
mod structs;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Derives kinepack's trait `Pack` for a struct or an enum. The documentation of the trait lists
/// the attributes. [The crate](crate) has an example.
///
/// Two attributes belong on the type itself. `#[pack(crate = path)]` gives kinepack's path if it is
/// not `::kinepack`. `#[pack(ticks_per_s = f)]` gives the ticks per second for fields with
/// `time_precision_ms`.
#[proc_macro_derive(Pack, attributes(pack))]
pub fn derive_pack(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::expand(&input).unwrap_or_else(|error| expand::refuse(&input, &error)).into()
}
