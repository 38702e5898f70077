//! Writes the `impl Pack`.
//!
//! All code is inside an unnamed constant. Limits are constants of a private trait that the type
//! implements there, so that they may name its generic parameters and `Self`. Lanes are split off
//! the front, field by field, by constant counts. After one check of the whole length, the compiler
//! removes the others.

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{
    Data, DataEnum, DataStruct, DeriveInput, Error, Field, Fields, Index, Member, Path, Result,
    Type, WherePredicate, parse_quote,
};

use crate::attributes::OfType;
use crate::interpolate;
use crate::limits::Site;
use crate::precision;
use crate::roles;
use crate::rules::{self, FieldRule, Rule};

/// The code that `#[derive(Pack)]` adds, or the reason to refuse.
pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let of_type = OfType::parse(&input.attrs)?;
    let code = match &input.data {
        Data::Struct(data) => expand_struct(input, data, &of_type)?,
        Data::Enum(data) => {
            precision::ticks_per_s(&of_type, &[])?;
            expand_enum(input, data, &of_type.krate)?
        }
        Data::Union(_) => {
            let message =
                "a union does not record which of its fields it holds; derive `Pack` for a struct";
            return Err(Error::new(input.ident.span(), message));
        }
    };
    Ok(quote! {
        #[allow(deprecated, trivial_numeric_casts, unused_parens, unused_qualifications, clippy::all)]
        const _: () = { #code };
    })
}

/// The code for a refused type: the error, and an `impl` that satisfies the compiler. Without it,
/// each use of the type would be another error.
pub(crate) fn refuse(input: &DeriveInput, error: &Error) -> TokenStream {
    let message = error.to_compile_error();
    let Ok(OfType { krate, .. }) = OfType::parse(&input.attrs) else { return message };
    let name = &input.ident;
    let (generics, of_generics, predicates) = input.generics.split_for_impl();
    quote! {
        #message
        #[automatically_derived]
        impl #generics #krate::Pack for #name #of_generics #predicates {
            const LANES: usize = 0;
            fn fields(_: &str, _: &mut #krate::__derive::Vec<#krate::schema::Field>) {}
            fn quantize(&self, _: &mut [u32]) -> ::core::result::Result<(), #krate::EncodeError> {
                ::core::result::Result::Ok(())
            }
            fn reconstruct(_: &[u32]) -> Self {
                ::core::unreachable!()
            }
        }
    }
}

/// A field of the struct.
pub(crate) struct StructField<'a> {
    pub(crate) member: Member,
    pub(crate) name: String,
    pub(crate) ty: &'a Type,
    pub(crate) rule: FieldRule,
}

impl<'a> StructField<'a> {
    fn new(index: usize, field: &'a Field) -> Result<Self> {
        let member = match &field.ident {
            Some(ident) => Member::Named(ident.clone()),
            None => Member::Unnamed(Index { index: index as u32, span: field.ty.span() }),
        };
        let name = member_name(&member);
        let rule = rules::rule(&name, &field.ty, &field.attrs)?;
        Ok(Self { member, name, ty: &field.ty, rule })
    }
}

/// The name of a field in the schema.
pub(crate) fn member_name(member: &Member) -> String {
    match member {
        Member::Named(ident) => ident.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// The constant with the limits of the field at `index`.
pub(crate) fn limits_of(index: usize) -> TokenStream {
    let limit = limit_name(index);
    quote!(<Self as __KinepackLimits>::#limit)
}

fn limit_name(index: usize) -> syn::Ident {
    format_ident!("FIELD_{index}")
}

/// The parts of the code that each field adds to.
#[derive(Default)]
struct Parts {
    predicates: Vec<WherePredicate>,
    limit_names: Vec<syn::Ident>,
    limit_types: Vec<TokenStream>,
    limit_values: Vec<TokenStream>,
    lane_counts: Vec<TokenStream>,
    fields: Vec<TokenStream>,
    quantize: Vec<TokenStream>,
    store_raw: Vec<TokenStream>,
    reconstruct: Vec<TokenStream>,
    interpolate: TokenStream,
}

fn expand_struct(input: &DeriveInput, data: &DataStruct, of_type: &OfType) -> Result<TokenStream> {
    let krate = &of_type.krate;
    let mut fields = Vec::new();
    let mut errors: Option<Error> = None;
    for (index, field) in data.fields.iter().enumerate() {
        match (StructField::new(index, field), &mut errors) {
            (Ok(field), _) => fields.push(field),
            (Err(error), Some(errors)) => errors.combine(error),
            (Err(error), None) => errors = Some(error),
        }
    }
    if let Some(errors) = errors {
        return Err(errors);
    }
    roles::check(&fields)?;
    let ticks_per_s = precision::ticks_per_s(of_type, &fields)?;
    let velocities = interpolate::velocities(&fields)?;
    let mut parts = Parts::default();
    let mut lanes = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let span = Span::mixed_site().located_at(field.member.span());
        let site = Site { krate, name: &field.name, ty: field.ty, span, ticks_per_s };
        let owner = velocities.iter().position(|velocity| *velocity == Some(index));
        lanes.push(parts.add(
            input,
            &site,
            index,
            field,
            owner.map(|owner| fields[owner].name.as_str()),
        ));
        if field.rule.clock {
            parts.fields.push(quote!(#krate::__derive::mark_clock(fields);));
        }
    }
    parts.interpolate = interpolate::expand(krate, &fields, &lanes, &velocities);
    Ok(parts.into_impl(input, krate))
}

/// The lanes of one field: their number, and the expression that reconstructs the value from
/// `part`.
pub(crate) struct FieldLanes {
    pub(crate) count: TokenStream,
    pub(crate) reconstruct: TokenStream,
}

impl Parts {
    /// Adds a field of the struct, which may be another field's velocity. Returns its lanes, if it
    /// has any.
    fn add(
        &mut self,
        input: &DeriveInput,
        site: &Site<'_>,
        index: usize,
        field: &StructField<'_>,
        velocity_of: Option<&str>,
    ) -> Option<FieldLanes> {
        let member = &field.member;
        let &Site { krate, name, ty, .. } = site;
        let helpers = quote!(#krate::__derive);
        let (limit, limits) = (limit_name(index), limits_of(index));
        let role = field.rule.role();
        let precision = self.add_precision(site, index, field);
        let velocity_of =
            velocity_of.map(|owner| quote!(.with_velocity_of(#helpers::join(path, #owner))));
        let mut own = None;
        let bound = match &field.rule.lanes {
            Rule::Nested => {
                let schema = match field.rule.part {
                    Some(_) => {
                        quote!(fields.push(#helpers::flag_field(path, #name, #krate::schema::Role::#role));)
                    }
                    None => {
                        quote!(<#ty as #krate::Pack>::fields(&#helpers::join(path, #name), fields);)
                    }
                };
                own = Some(self.add_code(
                    member,
                    quote!(<#ty as #krate::Pack>::LANES),
                    schema,
                    quote!(<#ty as #krate::Pack>::quantize(&self.#member, part)?;),
                    quote!(<#ty as #krate::Pack>::store_raw(&self.#member, part)?;),
                    quote!(<#ty as #krate::Pack>::reconstruct(part)),
                ));
                quote!(#ty: #krate::Pack)
            }
            Rule::Skip => {
                self.reconstruct.push(quote!(#member: ::core::default::Default::default()));
                quote!(#ty: ::core::default::Default)
            }
            Rule::With(with) => {
                let lanes = quote!(<#with as #krate::schema::PackWith<#ty>>);
                own = Some(self.add_code(
                    member,
                    quote!(#lanes::LANES),
                    quote!(#lanes::fields(&#helpers::join(path, #name), fields);),
                    quote!(#lanes::quantize(&self.#member, part).map_err(|error| error.in_field(#name))?;),
                    quote!(#lanes::store_raw(&self.#member, part).map_err(|error| error.in_field(#name))?;),
                    quote!(#lanes::reconstruct(part)),
                ));
                quote!(#with: #krate::schema::PackWith<#ty>)
            }
            Rule::Rotation { bits } => {
                self.add_limit(limit, quote!(#krate::quantize::SmallestThree), site.rotation(bits));
                own = Some(self.add_code(
                    member,
                    quote!(4),
                    quote!(fields.push(#helpers::rotation_field(path, #name, &#limits, #krate::schema::Role::#role) #precision);),
                    quote!(#helpers::quantize_rotation::<#ty>(&self.#member, &#limits, #name, part)?;),
                    quote!(#helpers::store_raw_components::<#ty>(&self.#member, part);),
                    quote!(#helpers::reconstruct_rotation::<#ty>(&#limits, part)),
                ));
                quote!(#ty: #krate::schema::Components)
            }
            Rule::Floats(floats) => {
                let count = floats.axes.len();
                let clamp = floats.clamp;
                let limits_value = site.floats(floats, field.rule.part.is_some());
                self.add_limit(
                    limit,
                    quote!([#krate::quantize::FloatLimits; #count]),
                    limits_value,
                );
                own = Some(self.add_code(
                    member,
                    quote!(<#ty as #krate::schema::Components>::COUNT),
                    quote!(fields.push(#helpers::floats_field::<#ty>(path, #name, &#limits, #krate::schema::Role::#role) #precision #velocity_of);),
                    quote!(#helpers::quantize_floats::<#ty>(&self.#member, &#limits, #clamp, #name, part)?;),
                    quote!(#helpers::store_raw_components::<#ty>(&self.#member, part);),
                    quote!(#helpers::reconstruct_floats::<#ty>(&#limits, part)),
                ));
                quote!(#ty: #krate::schema::Components)
            }
            Rule::Integer { ends, step, clamp } => {
                self.add_limit(
                    limit,
                    quote!(#krate::quantize::IntegerLimits),
                    site.integer(ends.as_ref(), step.as_ref()),
                );
                own = Some(self.add_code(
                    member,
                    quote!(#helpers::integer_lanes(&#limits)),
                    quote!(fields.push(#helpers::integer_field(path, #name, &#limits));),
                    quote!(#helpers::quantize_integer(self.#member, &#limits, #clamp, #name, part)?;),
                    quote!(#helpers::store_raw_integer(self.#member, part);),
                    quote!(#helpers::reconstruct_integer(&#limits, part) as #ty),
                ));
                return own;
            }
        };
        if names_parameter(input, bound.clone()) {
            self.predicates.push(parse_quote!(#bound));
        }
        own
    }

    /// Adds the constant of a field's time precision. Returns the call that gives it to the field,
    /// or no tokens.
    fn add_precision(
        &mut self,
        site: &Site<'_>,
        index: usize,
        field: &StructField<'_>,
    ) -> TokenStream {
        let is_rotation = matches!(field.rule.lanes, Rule::Rotation { .. });
        let precision = field.rule.precision.as_ref();
        let Some(value) = precision.and_then(|precision| site.precision(precision, is_rotation))
        else {
            return TokenStream::new();
        };
        let (krate, name) = (site.krate, format_ident!("PRECISION_{index}"));
        let call = quote!(.with_time_precision(<Self as __KinepackLimits>::#name));
        self.add_limit(name, quote!(#krate::schema::TimePrecision), value);
        call
    }

    fn add_limit(&mut self, name: syn::Ident, ty: TokenStream, value: TokenStream) {
        self.limit_names.push(name);
        self.limit_types.push(ty);
        self.limit_values.push(value);
    }

    /// Adds the code of a field with lanes. `quantize`, `store_raw` and `reconstruct` find the
    /// lanes in `part`.
    fn add_code(
        &mut self,
        member: &Member,
        lane_count: TokenStream,
        field: TokenStream,
        quantize: TokenStream,
        store_raw: TokenStream,
        reconstruct: TokenStream,
    ) -> FieldLanes {
        self.fields.push(field);
        self.quantize.push(quote! {
            let (part, lanes) = lanes.split_at_mut(#lane_count);
            #quantize
        });
        self.store_raw.push(quote! {
            let (part, raw) = raw.split_at_mut(#lane_count);
            #store_raw
        });
        // The fields of a struct expression are evaluated in source order.
        self.reconstruct.push(quote!(#member: {
            let (part, rest) = lanes.split_at(#lane_count);
            lanes = rest;
            #reconstruct
        }));
        self.lane_counts.push(lane_count.clone());
        FieldLanes { count: lane_count, reconstruct }
    }

    fn into_impl(self, input: &DeriveInput, krate: &Path) -> TokenStream {
        let Self { predicates, limit_names, limit_types, limit_values, .. } = self;
        let Self { lane_counts, fields, quantize, store_raw, reconstruct, interpolate, .. } = self;
        let mut generics = input.generics.clone();
        if !predicates.is_empty() {
            generics.make_where_clause().predicates.extend(predicates);
        }
        let ident = &input.ident;
        let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
        let limits = (!limit_names.is_empty()).then(|| {
            // A trait's constants are evaluated only when used. This uses them at once, if that is
            // possible.
            let evaluation = input.generics.params.is_empty().then(
                || quote!(#(const _: #limit_types = <#ident as __KinepackLimits>::#limit_names;)*),
            );
            quote! {
                trait __KinepackLimits { #(const #limit_names: #limit_types;)* }
                #[automatically_derived]
                impl #impl_generics __KinepackLimits for #ident #ty_generics #where_clause {
                    #(const #limit_names: #limit_types = #limit_values;)*
                }
                #evaluation
            }
        });
        quote! {
            #limits
            #[automatically_derived]
            impl #impl_generics #krate::Pack for #ident #ty_generics #where_clause {
                const LANES: usize = 0 #(+ #lane_counts)*;

                fn fields(path: &str, fields: &mut #krate::__derive::Vec<#krate::schema::Field>) {
                    let _ = (path, &mut *fields);
                    #(#fields)*
                }

                #[inline]
                fn quantize(&self, lanes: &mut [u32]) -> ::core::result::Result<(), #krate::EncodeError> {
                    let lanes = &mut lanes[..<Self as #krate::Pack>::LANES];
                    #(#quantize)*
                    let _ = lanes;
                    ::core::result::Result::Ok(())
                }

                #[inline]
                fn store_raw(&self, raw: &mut [u64]) -> ::core::result::Result<(), #krate::EncodeError> {
                    let raw = &mut raw[..<Self as #krate::Pack>::LANES];
                    #(#store_raw)*
                    let _ = raw;
                    ::core::result::Result::Ok(())
                }

                #[inline]
                fn reconstruct(lanes: &[u32]) -> Self {
                    let mut lanes = &lanes[..<Self as #krate::Pack>::LANES];
                    let state = Self { #(#reconstruct),* };
                    let _ = &mut lanes;
                    state
                }

                #interpolate
            }
        }
    }
}

fn expand_enum(input: &DeriveInput, data: &DataEnum, krate: &Path) -> Result<TokenStream> {
    let ident = &input.ident;
    for variant in &data.variants {
        let name = &variant.ident;
        if let Some(attribute) =
            variant.attrs.iter().find(|attribute| attribute.path().is_ident("pack"))
        {
            let message = format!(
                "variant `{name}`: a variant is a number and takes no attributes; remove \
                 `#[pack(...)]`"
            );
            return Err(Error::new(attribute.path().span(), message));
        }
        if !matches!(variant.fields, Fields::Unit) {
            let message = format!(
                "variant `{name}` has fields, but `Pack` takes only enums without fields; make it \
                 a struct with an enum and the fields in it, or write `#[pack(with = Type)]` on \
                 each field of type `{ident}`"
            );
            return Err(Error::new(name.span(), message));
        }
    }
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    let Some((last, others)) = variants.split_last() else {
        return Err(Error::new(
            ident.span(),
            format!("enum `{ident}` has no variants, so it has no values; add variants"),
        ));
    };
    let max = others.len() as u32;
    let (codes, other_codes) = (0..=max, 0..max);
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics #krate::Pack for #ident #ty_generics #where_clause {
            const LANES: usize = 1;

            fn fields(path: &str, fields: &mut #krate::__derive::Vec<#krate::schema::Field>) {
                fields.push(#krate::schema::Field::new(path, #krate::schema::FieldKind::Choice { max: #max }));
            }

            #[inline]
            fn quantize(&self, lanes: &mut [u32]) -> ::core::result::Result<(), #krate::EncodeError> {
                lanes[0] = match self { #(Self::#variants => #codes,)* };
                ::core::result::Result::Ok(())
            }

            #[inline]
            fn store_raw(&self, raw: &mut [u64]) -> ::core::result::Result<(), #krate::EncodeError> {
                let mut lanes = [0];
                <Self as #krate::Pack>::quantize(self, &mut lanes)?;
                raw[0] = lanes[0].into();
                ::core::result::Result::Ok(())
            }

            #[inline]
            fn reconstruct(lanes: &[u32]) -> Self {
                match lanes[0] {
                    #(#other_codes => Self::#others,)*
                    _ => Self::#last,
                }
            }
        }
    })
}

/// True if `tokens` name a type or constant parameter of the struct. Only then is a bound useful.
fn names_parameter(input: &DeriveInput, tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(ident) => {
            let types = input.generics.type_params().map(|parameter| &parameter.ident);
            types
                .chain(input.generics.const_params().map(|parameter| &parameter.ident))
                .any(|name| *name == ident)
        }
        proc_macro2::TokenTree::Group(group) => names_parameter(input, group.stream()),
        _ => false,
    })
}
