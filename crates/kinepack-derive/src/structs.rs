//! Writes the code of a struct from the code of its fields, in their order.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DataStruct, DeriveInput, Path, Result};

use crate::attributes::OfType;
use crate::fields::{Context, PackedField, first_precision};
use crate::group::Group;
use crate::implementation::{Bodies, Needs, all};
use crate::{precision, roles};

pub(crate) fn expand(
    input: &DeriveInput,
    data: &DataStruct,
    of_type: &OfType,
) -> Result<TokenStream> {
    let krate = &of_type.krate;
    let fields = all(data
        .fields
        .iter()
        .enumerate()
        .map(|(index, field)| PackedField::in_struct(index, field)))?;
    roles::check(fields.iter().filter_map(PackedField::body_part))?;
    let ticks_per_s = precision::ticks_per_s(of_type, first_precision(&fields))?;
    let mut needs = Needs::new(input);
    let coarse: Vec<TokenStream> = fields.iter().filter_map(PackedField::coarser).collect();
    let group = Group::new(quote!(Self), fields, &Context { krate, ticks_per_s }, &mut needs)?;
    let counts = group.lane_counts();
    let (quantize, store_raw) = (group.quantize(), group.store_raw());
    let bodies = Bodies {
        lanes: quote!(0 #(+ #counts)*),
        fields: group.schema(),
        quantize: quote!(let state = self; #quantize),
        quantize_columns: Some(group.quantize_columns()),
        store_raw: quote!(let state = self; #store_raw),
        reconstruct: group.reconstruct(),
        interpolate: group.interpolate(krate),
        to_world: group.to_world(krate),
        displace: group.displace(krate),
    };
    Ok(needs
        .into_impl(krate, if coarse.is_empty() { bodies } else { after(bodies, &coarse, krate) }))
}

/// Adds the lane of the coarseness in front of the lanes of `bodies`. `most` has the most bits by
/// which each field may be coarser. A state of the type is never coarse, so the lane is always 0.
fn after(bodies: Bodies, most: &[TokenStream], krate: &Path) -> Bodies {
    let Bodies { lanes, fields, quantize, quantize_columns, store_raw, reconstruct, .. } = &bodies;
    let interpolate = &bodies.interpolate;
    Bodies {
        lanes: quote!(1 + #lanes),
        fields: quote!(#krate::__derive::push_coarseness(path, &[#(#most),*], fields); #fields),
        quantize: quote! {
            let (coarseness, lanes) = lanes.split_at_mut(1);
            coarseness[0] = 0;
            #quantize
        },
        quantize_columns: quantize_columns.as_ref().map(|fill| {
            quote! {
                columns.split(1).lane(0).fill(0);
                #fill
            }
        }),
        store_raw: quote! {
            let (coarseness, raw) = raw.split_at_mut(1);
            coarseness[0] = 0;
            #store_raw
        },
        reconstruct: quote!(let lanes = &lanes[1..]; #reconstruct),
        interpolate: quote!(let lanes = lanes.after(1); #interpolate),
        to_world: bodies.to_world,
        displace: bodies.displace,
    }
}
