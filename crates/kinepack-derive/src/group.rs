//! Joins the fields of a struct or of one variant, and the code of all of them.
//!
//! The generated code splits lanes off the front, field by field, in constant numbers. It checks
//! the total length once, so the compiler can remove the bounds checks of the individual fields.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::{Path, Result};

use crate::fields::{Context, FieldCode, PackedField};
use crate::frames;
use crate::implementation::Needs;
use crate::interpolate;

pub(crate) struct Group<'a> {
    /// The tokens `Self` or `Self::Variant`.
    constructor: TokenStream,
    fields: Vec<PackedField<'a>>,
    /// The code of each field; `None` for a field without lanes.
    codes: Vec<Option<FieldCode>>,
    /// For each field, the index of its velocity in `fields`, if it has one.
    velocities: Vec<Option<usize>>,
}

impl<'a> Group<'a> {
    pub(crate) fn new(
        constructor: TokenStream,
        fields: Vec<PackedField<'a>>,
        context: &Context<'_>,
        needs: &mut Needs<'_>,
    ) -> Result<Self> {
        let velocities = interpolate::velocities(&fields)?;
        let frame = frames::find(&fields)?;
        frames::check_velocities(&fields, &velocities)?;
        let mut codes = Vec::new();
        for (index, field) in fields.iter().enumerate() {
            let owner = velocities.iter().position(|velocity| *velocity == Some(index));
            let velocity_of = owner.map(|owner| fields[owner].name.as_str());
            codes.push(field.code(context, velocity_of, frame == Some(index), needs));
        }
        Ok(Self { constructor, fields, codes, velocities })
    }

    /// Returns the number of lanes of each field that has lanes.
    pub(crate) fn lane_counts(&self) -> Vec<&TokenStream> {
        self.codes.iter().flatten().map(|code| &code.lanes).collect()
    }

    /// Returns whether no field has lanes.
    pub(crate) fn is_empty(&self) -> bool {
        self.codes.iter().all(Option::is_none)
    }

    /// Returns a pattern that binds the fields with lanes by reference.
    pub(crate) fn pattern(&self) -> TokenStream {
        let constructor = &self.constructor;
        let bindings = self.fields.iter().zip(&self.codes).filter_map(|(field, code)| {
            let (member, binding) = (&field.member, field.binding());
            code.as_ref().map(|_| quote!(#member: #binding,))
        });
        quote!(#constructor { #(#bindings)* .. })
    }

    /// Returns statements that append to `fields` below `path`.
    pub(crate) fn schema(&self) -> TokenStream {
        self.codes.iter().flatten().map(|code| code.schema.clone()).collect()
    }

    /// Returns statements that fill `lanes`.
    pub(crate) fn quantize(&self) -> TokenStream {
        let parts = self.codes.iter().flatten().map(|FieldCode { lanes, quantize, .. }| {
            quote! {
                let (part, lanes) = lanes.split_at_mut(#lanes);
                #quantize
            }
        });
        quote!(#(#parts)* let _ = lanes;)
    }

    /// Returns an expression that is true if the `columns` of a struct could be filled from its
    /// `states`.
    pub(crate) fn quantize_columns(&self) -> TokenStream {
        let parts = self.fields.iter().zip(&self.codes).filter_map(|(field, code)| {
            let FieldCode { lanes, quantize, quantize_columns, .. } = code.as_ref()?;
            let member = &field.member;
            let fill = match quantize_columns {
                Some(fill) => quote! {
                    let values = states.clone().map(|state| &state.#member);
                    #fill
                },
                None => quote! {
                    part.fill_rows(states.clone(), |state, part| {
                        #quantize
                        ::core::result::Result::Ok(())
                    })
                },
            };
            Some(quote!({
                let part = columns.split(#lanes);
                #fill
            }))
        });
        quote! {
            let _ = (&states, &mut columns);
            true #(&& #parts)*
        }
    }

    /// Returns statements that fill `raw`.
    pub(crate) fn store_raw(&self) -> TokenStream {
        let parts = self.codes.iter().flatten().map(|FieldCode { lanes, store_raw, .. }| {
            quote! {
                let (part, raw) = raw.split_at_mut(#lanes);
                #store_raw
            }
        });
        quote!(#(#parts)* let _ = raw;)
    }

    /// Returns an expression for the value of `lanes`.
    pub(crate) fn reconstruct(&self) -> TokenStream {
        let constructor = &self.constructor;
        // The fields of a struct expression are evaluated in the order of the source.
        let values = self.fields.iter().zip(&self.codes).map(|(field, code)| {
            let member = &field.member;
            match code {
                None => quote!(#member: ::core::default::Default::default()),
                Some(FieldCode { lanes, reconstruct, .. }) => quote!(#member: {
                    let (part, rest) = lanes.split_at(#lanes);
                    lanes = rest;
                    #reconstruct
                }),
            }
        });
        quote! {
            let mut lanes = lanes;
            let value = #constructor { #(#values),* };
            let _ = &mut lanes;
            value
        }
    }

    /// Returns statements that move the fields of `self`, a struct, into world coordinates. `None`
    /// if no field can be relative to an entity.
    pub(crate) fn to_world(&self, krate: &Path) -> Option<TokenStream> {
        frames::to_world(krate, &self.fields, &self.velocities)
    }

    /// Returns statements that displace the fields of a struct, `self`.
    pub(crate) fn displace(&self, krate: &Path) -> TokenStream {
        let statements = self.fields.iter().map(|field| {
            let member = &field.member;
            let places = [quote!(&mut self), quote!(&from), quote!(&to)];
            interpolate::displace(krate, field, places.map(|state| quote!(#state.#member)))
        });
        quote!(#(#statements)*)
    }

    /// Returns an arm of a `match` on three states, which displaces the fields of a variant.
    pub(crate) fn displace_variant(&self, krate: &Path) -> TokenStream {
        let constructor = &self.constructor;
        let names = |state: &str| {
            let named = |field: &PackedField<'_>| format_ident!("{state}_{}", field.part());
            self.fields.iter().map(named).collect::<Vec<Ident>>()
        };
        let states = ["now", "from", "to"].map(names);
        let moved = |index: usize| {
            let places = states.each_ref().map(|names| names[index].to_token_stream());
            interpolate::displace(krate, &self.fields[index], places)
        };
        let statements: Vec<_> = (0..self.fields.len()).map(moved).collect();
        let patterns = states.each_ref().map(|names| {
            let bindings = self.fields.iter().zip(names).zip(&statements);
            let used = bindings.filter(|(_, statement)| !statement.is_empty());
            let bindings = used.map(|((field, name), _)| {
                let member = &field.member;
                quote!(#member: #name,)
            });
            quote!(#constructor { #(#bindings)* .. })
        });
        quote!((#(#patterns),*) => { #(#statements)* })
    }

    /// Returns an expression for the interpolated value of the pair `lanes`. The code splits off
    /// the lanes of all fields before it makes any value, because a field may precede its velocity.
    pub(crate) fn interpolate(&self, krate: &Path) -> TokenStream {
        let constructor = &self.constructor;
        let splits = self.fields.iter().zip(&self.codes).filter_map(|(field, code)| {
            let (part, count) = (field.part(), &code.as_ref()?.lanes);
            Some(quote!(let #part = lanes.split(#count);))
        });
        let values = self.fields.iter().enumerate().map(|(index, field)| {
            let member = &field.member;
            let velocity = self.velocities[index].and_then(|velocity| {
                Some((&self.fields[velocity], self.codes[velocity].as_ref()?))
            });
            let value = match &self.codes[index] {
                None => quote!(::core::default::Default::default()),
                Some(code) => interpolate::value(krate, field, code, velocity),
            };
            quote!(#member: #value)
        });
        quote! {
            let mut lanes = lanes;
            #(#splits)*
            let _ = &mut lanes;
            #constructor { #(#values),* }
        }
    }
}
