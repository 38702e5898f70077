//! Writes `Pack::interpolate`: pairs fields with their velocities, and interpolates each field.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{Error, Path, Result, Type};

use crate::expand::{FieldLanes, StructField, limits_of, member_name};
use crate::rules::{FieldRule, Floats, Rule};

/// The index of each field's velocity.
pub(crate) fn velocities(fields: &[StructField<'_>]) -> Result<Vec<Option<usize>>> {
    let mut velocity_of: Vec<Option<usize>> = vec![None; fields.len()];
    // Names first, because they take precedence over positions.
    for (index, field) in fields.iter().enumerate() {
        let Some(Some(named)) = field.rule.velocity() else { continue };
        let target = member_name(named);
        let refuse = |message: String| {
            Err(Error::new(named.span(), format!("field `{}`: {message}", field.name)))
        };
        let Some(owner) = fields.iter().position(|other| other.name == target) else {
            return refuse(format!("there is no field `{target}` to be the velocity of"));
        };
        if !may_move(&fields[owner], field.ty) {
            return refuse(format!(
                "it cannot be the velocity of `{target}`: name a field of the same type without \
                 `velocity`, `rotation`, `wrap`, `step`, `clock`, `skip` or `with`"
            ));
        }
        if let Some(other) = velocity_of[owner].replace(index) {
            return refuse(format!(
                "`{target}` already has the velocity `{}`; remove one name",
                fields[other].name
            ));
        }
    }
    for (index, field) in fields.iter().enumerate() {
        let Some(None) = field.rule.velocity() else { continue };
        let mut nearest = (0..index).rev().chain(index + 1..fields.len());
        if let Some(owner) = nearest.find(|&other| may_move(&fields[other], field.ty)) {
            velocity_of[owner].get_or_insert(index);
        }
    }
    Ok(velocity_of)
}

/// True if `field` can have a velocity of the type `ty`.
fn may_move(field: &StructField<'_>, ty: &Type) -> bool {
    let blends = match &field.rule.lanes {
        Rule::Nested => true,
        Rule::Floats(Floats { wrap, velocity, .. }) => !wrap && velocity.is_none(),
        Rule::Skip | Rule::With(_) | Rule::Rotation { .. } | Rule::Integer { .. } => false,
    };
    blends && !field.rule.steps && !field.rule.clock && written(field.ty) == written(ty)
}

/// A type as written, without the invisible parentheses of `macro_rules!`.
fn written(ty: &Type) -> String {
    match ty {
        Type::Group(group) => written(&group.elem),
        Type::Paren(paren) => written(&paren.elem),
        other => other.to_token_stream().to_string(),
    }
}

/// The method. It splits off the lanes of both states field by field before it makes any value,
/// because a field may come before its velocity.
pub(crate) fn expand(
    krate: &Path,
    fields: &[StructField<'_>],
    lanes: &[Option<FieldLanes>],
    velocities: &[Option<usize>],
) -> TokenStream {
    let helpers = quote!(#krate::__derive);
    let splits = lanes.iter().enumerate().filter_map(|(index, lanes)| {
        let (part, count) = (part_name(index), &lanes.as_ref()?.count);
        Some(quote!(let #part = lanes.split(#count);))
    });
    let values = fields.iter().enumerate().map(|(index, field)| {
        let member = &field.member;
        let value = match &lanes[index] {
            None => quote!(::core::default::Default::default()),
            Some(own) => match (
                velocities[index],
                velocities[index].and_then(|velocity| lanes[velocity].as_ref()),
            ) {
                (Some(velocity), Some(its)) => {
                    let axes = match field.rule.lanes {
                        Rule::Floats(_) => limits_of(index),
                        _ => quote!([]),
                    };
                    let ty = field.ty;
                    let (ends, velocities) = (both(index, own), both(velocity, its));
                    quote!(#helpers::interpolate_moving::<#ty>(&#axes, #ends, #velocities, at))
                }
                _ => between(krate, index, field, own),
            },
        };
        quote!(#member: #value)
    });
    quote! {
        #[inline]
        fn interpolate(from: &[u32], to: &[u32], at: #krate::Between) -> Self {
            let mut lanes = #helpers::LanePair::new(from, to, <Self as #krate::Pack>::LANES);
            #(#splits)*
            let _ = (&mut lanes, at);
            Self { #(#values),* }
        }
    }
}

/// The value of a field without a velocity.
fn between(krate: &Path, index: usize, field: &StructField<'_>, lanes: &FieldLanes) -> TokenStream {
    let (ty, part, limits) = (field.ty, part_name(index), limits_of(index));
    let helpers = quote!(#krate::__derive);
    match &field.rule {
        FieldRule { lanes: Rule::Nested, steps: false, .. } => {
            quote!(<#ty as #krate::Pack>::interpolate(#part.from, #part.to, at))
        }
        FieldRule { lanes: Rule::With(with), .. } => {
            quote!(<#with as #krate::schema::PackWith<#ty>>::interpolate(#part.from, #part.to, at))
        }
        FieldRule { lanes: Rule::Rotation { .. }, steps: false, .. } => {
            quote!(#helpers::interpolate_rotation::<#ty>(&#limits, #part, at))
        }
        FieldRule { lanes: Rule::Floats(_), steps: false, .. } => {
            quote!(#helpers::interpolate_floats::<#ty>(&#limits, #part, at))
        }
        FieldRule { lanes: Rule::Integer { .. } | Rule::Skip, .. }
        | FieldRule { steps: true, .. } => {
            let reconstruct = &lanes.reconstruct;
            quote!({
                let part = at.step(#part.from, #part.to);
                #reconstruct
            })
        }
    }
}

/// The values at both ends.
fn both(index: usize, lanes: &FieldLanes) -> TokenStream {
    let (part, reconstruct) = (part_name(index), &lanes.reconstruct);
    quote!([#part.from, #part.to].map(|part| #reconstruct))
}

fn part_name(index: usize) -> Ident {
    format_ident!("part_{index}")
}
