//! Pairs fields with their velocities, and writes the code of a field's value between two states.

use proc_macro2::TokenStream;
use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, Path, Result, Type};

use crate::fields::{FieldCode, PackedField, member_name};
use crate::lane_rule::{Floats, Rule};
use crate::rules::FieldRule;
use crate::types::written;

/// Finds the index of each field's velocity.
pub(crate) fn velocities(fields: &[PackedField<'_>]) -> Result<Vec<Option<usize>>> {
    let mut velocity_of: Vec<Option<usize>> = vec![None; fields.len()];
    // Velocities that name their field are paired first, because names take precedence over
    // positions.
    for (index, field) in fields.iter().enumerate() {
        let Some(Some(named)) = field.rule.velocity() else { continue };
        let target = member_name(named);
        let refuse = |message: String| {
            Err(Error::new(named.span(), format!("field `{}`: {message}", field.name)))
        };
        let Some(owner) = fields.iter().position(|other| member_name(&other.member) == target)
        else {
            let place =
                if field.name == member_name(&field.member) { "" } else { " in its variant" };
            return refuse(format!("there is no field `{target}`{place} to be the velocity of"));
        };
        if !may_move(&fields[owner], field.ty) {
            return refuse(format!(
                "it cannot be the velocity of `{target}`: name a field of the same type without \
                 `velocity`, `rotation`, `wrap`, `step`, `clock`, `skip`, `with` or `Option`"
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

/// Returns true if `field` can have a velocity of the type `ty`.
fn may_move(field: &PackedField<'_>, ty: &Type) -> bool {
    let blends = match &field.rule.lanes {
        Rule::Nested => true,
        Rule::Floats(Floats { wrap, velocity, .. }) => !wrap && velocity.is_none(),
        Rule::Skip | Rule::With(_) | Rule::Rotation { .. } | Rule::Integer { .. } => false,
    };
    let always = !field.rule.steps && !field.rule.clock && !field.rule.optional;
    blends && always && written(field.ty) == written(ty)
}

/// Returns an expression for a field's value between two states. `velocity` is the field's
/// velocity, with its code, if there is one.
pub(crate) fn value(
    krate: &Path,
    field: &PackedField<'_>,
    code: &FieldCode,
    velocity: Option<(&PackedField<'_>, &FieldCode)>,
) -> TokenStream {
    let Some((velocity, its)) = velocity else { return between(krate, field, code) };
    let axes = match field.rule.lanes {
        Rule::Floats(_) => field.limits(),
        _ => quote!([]),
    };
    let (ty, ends, velocities) = (field.ty, both(field, code), both(velocity, its));
    quote!(#krate::__derive::interpolate_moving::<#ty>(&#axes, #ends, #velocities, at))
}

/// Returns an expression for the interpolated value of a field without a velocity.
fn between(krate: &Path, field: &PackedField<'_>, code: &FieldCode) -> TokenStream {
    let (ty, part, limits) = (field.ty, field.part(), field.limits());
    let helpers = quote!(#krate::__derive);
    let reconstruct = &code.reconstruct;
    let step = quote!({
        let part = at.step(#part.from, #part.to);
        #reconstruct
    });
    let blended = match &field.rule {
        FieldRule { steps: true, .. } => return step,
        FieldRule { lanes: Rule::Nested, .. } => {
            quote!(<#ty as #krate::Pack>::interpolate(#part.from, #part.to, at))
        }
        FieldRule { lanes: Rule::With(with), .. } => {
            quote!(<#with as #krate::schema::PackWith<#ty>>::interpolate(#part.from, #part.to, at))
        }
        FieldRule { lanes: Rule::Rotation { .. }, .. } => {
            quote!(#helpers::interpolate_rotation::<#ty>(&#limits, #part, at))
        }
        FieldRule { lanes: Rule::Floats(Floats { velocity, .. }), .. } => {
            // Beyond the second state, a field moves straight on at the velocity, so that holds.
            let at = if velocity.is_some() { quote!(at.within()) } else { quote!(at) };
            quote!(#helpers::interpolate_floats::<#ty>(&#limits, #part, #at))
        }
        FieldRule { lanes: Rule::Integer { .. } | Rule::Skip, .. } => return step,
    };
    if !field.rule.optional {
        return blended;
    }
    quote! {
        if #part.from[0] != 0 && #part.to[0] != 0 {
            let #part = #part.after(1);
            ::core::option::Option::Some(#blended)
        } else #step
    }
}

/// Returns statements that displace a field. `places` are references to it in the state that moves,
/// and in the states `from` and `to`. There are none if the field does not move.
pub(crate) fn displace(
    krate: &Path,
    field: &PackedField<'_>,
    places: [TokenStream; 3],
) -> TokenStream {
    let FieldRule { steps, clock, cut, optional, .. } = field.rule;
    if steps || clock || cut || field.rule.velocity().is_some() {
        return TokenStream::new();
    }
    let (ty, limits, helpers) = (field.ty, field.limits(), quote!(#krate::__derive));
    let moved = |[now, from, to]: [TokenStream; 3]| match &field.rule.lanes {
        Rule::Nested => quote!(<#ty as #krate::Pack>::displace(#now, #from, #to, share);),
        Rule::Floats(_) => {
            quote!(#helpers::displace_floats::<#ty>(#now, #from, #to, &#limits, share);)
        }
        Rule::Rotation { .. } => {
            quote!(#helpers::displace_rotation::<#ty>(#now, #from, #to, share);)
        }
        Rule::With(_) | Rule::Integer { .. } | Rule::Skip => TokenStream::new(),
    };
    if !optional {
        return moved(places);
    }
    let [now, from, to] = places;
    let statement = moved([quote!(now), quote!(from), quote!(to)]);
    if statement.is_empty() {
        return statement;
    }
    let some = quote!(::core::option::Option::Some);
    quote! {
        if let (#some(now), #some(from), #some(to)) = (#now, #from, #to) {
            #statement
        }
    }
}

/// Returns an expression for an array of the field's values in both states.
fn both(field: &PackedField<'_>, code: &FieldCode) -> TokenStream {
    let (part, reconstruct) = (field.part(), &code.reconstruct);
    quote!([#part.from, #part.to].map(|part| #reconstruct))
}
