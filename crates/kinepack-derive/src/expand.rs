//! Assembles all code that the derive adds.
//!
//! The code is inside an unnamed constant. Limits are constants of a private trait that the type
//! implements there, because only associated constants can name generic parameters and `Self`.
//! `fields.rs` writes the code of each field. `structs.rs` and `enums.rs` join that code.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Result};

use crate::attributes::OfType;
use crate::implementation::static_bounds;
use crate::{enums, structs};

/// Returns the code that `#[derive(Pack)]` adds, or the reason to refuse the type.
pub(crate) fn expand(input: &DeriveInput) -> Result<TokenStream> {
    let of_type = OfType::parse(&input.attrs)?;
    let code = match &input.data {
        Data::Struct(data) => structs::expand(input, data, &of_type)?,
        Data::Enum(data) => enums::expand(input, data, &of_type)?,
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

/// Returns the code for a refused type: the error, and an `impl` that satisfies the compiler.
/// Without that `impl`, each use of the type would be another error.
pub(crate) fn refuse(input: &DeriveInput, error: &Error) -> TokenStream {
    let message = error.to_compile_error();
    let Ok(OfType { krate, .. }) = OfType::parse(&input.attrs) else { return message };
    let name = &input.ident;
    let mut generics = input.generics.clone();
    let is_static = static_bounds(input);
    if !is_static.is_empty() {
        generics.make_where_clause().predicates.extend(is_static);
    }
    let (generics, of_generics, predicates) = generics.split_for_impl();
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
