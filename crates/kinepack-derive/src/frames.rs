//! Finds the fields that are relative to another entity, and writes the code that moves them into
//! world coordinates.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Error, Member, Path, Result, Type};

use crate::fields::{PackedField, member_name};
use crate::lane_rule::{Floats, Rule, Step};
use crate::types::{in_option, integer_name, type_name};

/// Returns an error if a field with these lanes cannot be relative to an entity. `key` is the
/// attribute.
pub(crate) fn check(key: &Ident, lanes: &Rule) -> Result<()> {
    let message = match lanes {
        Rule::Rotation { .. } | Rule::Floats(Floats { wrap: false, .. }) => return Ok(()),
        Rule::Floats(_) => "a field that wraps cannot be relative to an entity; remove `frame`",
        _ => {
            "`frame` is for positions and velocities of three numbers with a `range`, and for a \
             `rotation`; write those, or remove `frame`"
        }
    };
    Err(Error::new(key.span(), message))
}

/// Finds the field with the id of the entity that other fields are relative to. `None` if no field
/// is relative.
pub(crate) fn find(fields: &[PackedField<'_>]) -> Result<Option<usize>> {
    let mut found: Option<usize> = None;
    for field in fields {
        let Some(named) = &field.rule.frame else { continue };
        let refuse = |message: String| {
            Err(Error::new(named.span(), format!("field `{}`: {message}", field.name)))
        };
        let target = member_name(named);
        let Some(id) = fields.iter().position(|other| member_name(&other.member) == target) else {
            return refuse(format!("there is no field `{target}` to be the frame"));
        };
        if !is_id(&fields[id]) {
            return refuse(format!(
                "`{target}` cannot be the frame: name a field of the type `EntityId`, `u8`, `u16` \
                 or `u32`, or an `Option` of it, that is not marked otherwise"
            ));
        }
        if let Some(key) = changes_ids(&fields[id].rule.lanes) {
            return refuse(format!(
                "`{target}` is the id of an entity, and `{key}` would make another id of it; \
                 remove `{key}` there"
            ));
        }
        if let Some(other) = found.replace(id).filter(|other| *other != id) {
            return refuse(format!(
                "an entity has one frame, and that is already `{}`; name it here too",
                fields[other].name
            ));
        }
    }
    Ok(found)
}

/// Returns whether a field can hold the id of an entity.
fn is_id(field: &PackedField<'_>) -> bool {
    let ty = if field.rule.optional { field.ty } else { in_option(field.ty).unwrap_or(field.ty) };
    let name = type_name(ty).unwrap_or_default();
    let is_number = matches!(name.as_str(), "u8" | "u16" | "u32");
    let is_right = match field.rule.lanes {
        Rule::Nested => is_number || name == "EntityId",
        Rule::Integer { .. } => is_number,
        _ => false,
    };
    is_right && !field.rule.clock && !field.rule.cut && field.rule.part.is_none()
}

/// Returns the attribute by which an integer would not have the exact value of an id, if there is
/// one.
fn changes_ids(lanes: &Rule) -> Option<&'static str> {
    match lanes {
        Rule::Integer { clamp: true, .. } => Some("clamp"),
        Rule::Integer { step: Some(Step::Precision(_)), .. } => Some("precision"),
        Rule::Integer { ends: Some(_), step: Some(Step::Bits(_)), .. } => Some("bits"),
        _ => None,
    }
}

/// Returns an error if a field is relative to an entity and its velocity is not, or the reverse.
/// `velocities` has the index of each field's velocity.
pub(crate) fn check_velocities(
    fields: &[PackedField<'_>],
    velocities: &[Option<usize>],
) -> Result<()> {
    for (owner, velocity) in fields.iter().zip(velocities) {
        let Some(velocity) = velocity.map(|velocity| &fields[velocity]) else { continue };
        let (relative, other) = match (&owner.rule.frame, &velocity.rule.frame) {
            (Some(frame), None) => (frame, velocity),
            (None, Some(frame)) => (frame, owner),
            _ => continue,
        };
        let message = format!(
            "field `{}`: it and `{}` are a place and its velocity, so both are relative or none; \
             write `frame = {}` here too",
            other.name,
            if other.name == owner.name { &velocity.name } else { &owner.name },
            member_name(relative),
        );
        return Err(Error::new(other.member.span(), message));
    }
    Ok(())
}

/// Returns the body of `Pack::to_world`, or `None` if no field can be relative to an entity.
/// `velocities` has the index of each field's velocity.
pub(crate) fn to_world(
    krate: &Path,
    fields: &[PackedField<'_>],
    velocities: &[Option<usize>],
) -> Option<TokenStream> {
    let helpers = quote!(#krate::__derive);
    let both = |member: &Member| quote!(ends.map(|ends| ends.map(|end| &end.#member)));
    let is_relative = |field: &&PackedField<'_>| field.rule.frame.is_some();
    // A velocity also depends on the place that moves, so velocities are first.
    let moving = fields.iter().enumerate().filter(|(_, field)| field.rule.velocity().is_some());
    let moving = moving.filter(|(_, field)| is_relative(field)).map(|(index, field)| {
        let (member, ty) = (&field.member, field.ty);
        let owner = velocities.iter().position(|velocity| *velocity == Some(index));
        let owner = owner.map(|owner| &fields[owner]).filter(is_relative);
        let point_ty = owner.map_or(ty, |owner| owner.ty);
        let of = |state: TokenStream| match owner.map(|owner| &owner.member) {
            Some(owner) => {
                quote!((::core::option::Option::Some(&#state.#owner), &#state.#member))
            }
            None => quote!((::core::option::Option::None, &#state.#member)),
        };
        let (now, from, to) = (of(quote!(self)), of(quote!(from)), of(quote!(to)));
        quote! {
            self.#member = #helpers::velocity_in_world::<#point_ty, #ty>(
                #now,
                ends.map(|[from, to]| [#from, #to]),
                carrier,
            );
        }
    });
    let others = fields.iter().filter(|field| field.rule.velocity().is_none());
    let others = others.filter_map(|field| {
        let (member, ty, ends) = (&field.member, field.ty, both(&field.member));
        let function = match &field.rule.lanes {
            Rule::Rotation { .. } if field.rule.frame.is_some() => quote!(rotation_in_world),
            Rule::Floats(_) if field.rule.frame.is_some() => quote!(point_in_world),
            Rule::Nested if !field.rule.optional && may_hold_others(ty) => {
                return Some(
                    quote!(<#ty as #krate::Pack>::to_world(&mut self.#member, #ends, carrier);),
                );
            }
            _ => return None,
        };
        Some(quote!(self.#member = #helpers::#function::<#ty>(&self.#member, #ends, carrier);))
    });
    let statements: Vec<TokenStream> = moving.chain(others).collect();
    (!statements.is_empty()).then(|| quote!(#(#statements)*))
}

/// Returns whether a value of the type may hold fields that are relative to an entity.
fn may_hold_others(ty: &Type) -> bool {
    const PLAIN: [&str; 6] = ["bool", "f32", "f64", "Duration", "EntityId", "Option"];
    if let Type::Array(array) = ty {
        return may_hold_others(&array.elem);
    }
    let is_plain = type_name(ty).is_some_and(|name| PLAIN.contains(&name.as_str()));
    !is_plain && integer_name(ty).is_none()
}
