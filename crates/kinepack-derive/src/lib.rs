//! `#[derive(Pack)]` for kinepack: a struct's schema from its fields.
//!
//! Use it through `kinepack`, whose `derive` feature is on by default and re-exports it beside the
//! trait of the same name; the table of attributes stands on that trait. A derive runs in three
//! steps: `attributes` reads what `#[pack(...)]` says of each field; `rules` decides how the field
//! becomes lanes and refuses what makes no sense, with the field's name and what to do about it,
//! `roles` those of rigid bodies, `precision` those of time precision; `expand` writes the `impl`,
//! `limits` the constants in it, and `interpolate` what is between two states. Whether a range is
//! possible is known only when its expressions are evaluated, so the constants refuse it, still at
//! compile time.
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
mod precision;
mod roles;
mod rules;

mod expand;
mod interpolate;
mod limits;

use proc_macro::TokenStream;
use syn::{DeriveInput, Error, parse_macro_input};

/// Derives kinepack's trait `Pack` for a struct or for an enum without fields. The attributes are
/// listed there.
///
/// Two attributes belong on the type itself: `#[pack(crate = path)]` says where kinepack is if not
/// at `::kinepack`, and `#[pack(ticks_per_s = f)]` how long a tick is, where a field has
/// `time_precision_ms`.
#[proc_macro_derive(Pack, attributes(pack))]
pub fn derive_pack(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand::expand(&input).unwrap_or_else(Error::into_compile_error).into()
}
