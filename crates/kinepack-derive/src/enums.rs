//! Writes the code of an enum: a number for the variant, then the fields of each variant. The
//! fields of all variants except the value's own are absent, so their lanes are 0.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{DataEnum, DeriveInput, Error, Fields, Path, Result, Variant};

use crate::attributes::OfType;
use crate::fields::{Context, PackedField, first_precision};
use crate::group::Group;
use crate::implementation::{Bodies, Needs, all, constant};
use crate::precision;

pub(crate) fn expand(
    input: &DeriveInput,
    data: &DataEnum,
    of_type: &OfType,
) -> Result<TokenStream> {
    if data.variants.is_empty() {
        let message =
            format!("enum `{}` has no variants, so it has no values; add variants", input.ident);
        return Err(Error::new(input.ident.span(), message));
    }
    let mut first = 0;
    let variants = all(data.variants.iter().map(|variant| {
        let fields = fields_of(variant, first);
        first += variant.fields.len();
        fields
    }))?;
    let ticks_per_s = precision::ticks_per_s(of_type, first_precision(variants.iter().flatten()))?;
    if data.variants.iter().all(|variant| matches!(variant.fields, Fields::Unit)) {
        return Ok(without_fields(input, data, &of_type.krate));
    }
    let context = Context { krate: &of_type.krate, ticks_per_s };
    with_fields(input, data, variants, &context)
}

/// Returns the fields of a variant. `first` is the number of the enum's fields before this variant.
fn fields_of(variant: &Variant, first: usize) -> Result<Vec<PackedField<'_>>> {
    if let Some(attribute) =
        variant.attrs.iter().find(|attribute| attribute.path().is_ident("pack"))
    {
        let message = format!(
            "variant `{}`: a variant takes no attributes, only its fields do; remove \
             `#[pack(...)]`",
            variant.ident.unraw()
        );
        return Err(Error::new(attribute.path().span(), message));
    }
    all(variant
        .fields
        .iter()
        .enumerate()
        .map(|(place, field)| PackedField::in_variant(&variant.ident, place, first + place, field)))
}

/// The code of the variants, in their order.
#[derive(Default)]
struct VariantCode {
    /// Statements that append the fields of a variant to `fields`, for each variant with lanes.
    schema: Vec<TokenStream>,
    /// The arms of a `match` on `self`, which fill `lanes`.
    quantize: Vec<TokenStream>,
    /// The arms of a `match` on `self`, which fill `raw`.
    store_raw: Vec<TokenStream>,
    /// The arms of a `match` on the variant's number, with expressions for the value of `lanes`.
    reconstruct: Vec<TokenStream>,
    /// The arms of a `match` on the variant's number, with expressions for the interpolated value.
    interpolate: Vec<TokenStream>,
    /// The arms of a `match` on three states of the same variant.
    displace: Vec<TokenStream>,
}

impl VariantCode {
    /// Makes the function bodies of an enum with `count` lanes, whose last variant has the number
    /// `max`.
    fn into_bodies(self, krate: &Path, count: TokenStream, max: u32) -> Bodies {
        let Self { schema, quantize, store_raw, reconstruct, interpolate, displace } = self;
        Bodies {
            lanes: count,
            fields: quote! {
                let selector = fields.len();
                fields.push(#krate::schema::Field::new(path, #krate::schema::FieldKind::Choice { max: #max }));
                #(#schema)*
                let _ = selector;
            },
            quantize: quote! {
                lanes.fill(0);
                match self { #(#quantize)* }
            },
            quantize_columns: None,
            store_raw: quote! {
                raw.fill(0);
                match self { #(#store_raw)* }
            },
            reconstruct: quote!(match lanes[0] { #(#reconstruct)* }),
            interpolate: quote! {
                if lanes.from[0].min(#max) != lanes.to[0].min(#max) {
                    return <Self as #krate::Pack>::reconstruct(at.step(from, to));
                }
                match lanes.from[0] { #(#interpolate)* }
            },
            to_world: None,
            displace: quote! {
                match (self, from, to) {
                    #(#displace)*
                    #[allow(unreachable_patterns)]
                    _ => {}
                }
            },
        }
    }
}

fn with_fields(
    input: &DeriveInput,
    data: &DataEnum,
    variants: Vec<Vec<PackedField<'_>>>,
    context: &Context<'_>,
) -> Result<TokenStream> {
    let krate = context.krate;
    let helpers = quote!(#krate::__derive);
    let mut needs = Needs::new(input);
    let max = (data.variants.len() - 1) as u32;
    let mut count = quote!(1);
    let mut parts = VariantCode::default();
    for (code, (variant, fields)) in (0u32..).zip(data.variants.iter().zip(variants)) {
        let variant = &variant.ident;
        let group = Group::new(quote!(Self::#variant), fields, context, &mut needs)?;
        // A number above that of the last variant counts as the last, because any lanes must give a
        // value.
        let code_pattern = if code == max { quote!(_) } else { quote!(#code) };
        let pattern = group.pattern();
        let first = if group.is_empty() {
            quote!(1)
        } else {
            let name = format_ident!("VARIANT_{code}");
            let first = constant(&name);
            needs.add_constant(name, quote!(usize), count);
            let counts = group.lane_counts();
            count = quote!(#first #(+ #counts)*);
            let appended = group.schema();
            parts.schema.push(quote!({
                let first = fields.len();
                #appended
                #helpers::only_if(fields, selector, first, #code..=#code);
            }));
            first
        };
        let (quantize_fields, store_fields) = (group.quantize(), group.store_raw());
        parts.quantize.push(quote!(#pattern => {
            lanes[0] = #code;
            let (_, lanes) = lanes.split_at_mut(#first);
            #quantize_fields
        }));
        parts.store_raw.push(quote!(#pattern => {
            raw[0] = #code as u64;
            let (_, raw) = raw.split_at_mut(#first);
            #store_fields
        }));
        let value = group.reconstruct();
        parts.reconstruct.push(quote!(#code_pattern => {
            let (_, lanes) = lanes.split_at(#first);
            #value
        }));
        let value = group.interpolate(krate);
        parts.interpolate.push(quote!(#code_pattern => {
            let lanes = lanes.after(#first);
            #value
        }));
        parts.displace.push(group.displace_variant(krate));
    }
    Ok(needs.into_impl(krate, parts.into_bodies(krate, count, max)))
}

fn without_fields(input: &DeriveInput, data: &DataEnum, krate: &Path) -> TokenStream {
    let ident = &input.ident;
    let variants: Vec<_> = data.variants.iter().map(|variant| &variant.ident).collect();
    let max = (variants.len() - 1) as u32;
    let (last, others) = (variants[max as usize], &variants[..max as usize]);
    let (codes, other_codes) = (0..=max, 0..max);
    let (impl_generics, ty_generics, where_clause) = input.generics.split_for_impl();
    quote! {
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
    }
}
