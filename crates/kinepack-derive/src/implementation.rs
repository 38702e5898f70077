//! Writes the `impl Pack` of a type, with the constants and bounds that it needs.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Error, Generics, Path, Result, WherePredicate, parse_quote};

/// Returns the values, or all errors combined, so that the compiler shows each of them.
pub(crate) fn all<T>(results: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let mut errors: Option<Error> = None;
    let mut values = Vec::new();
    for result in results {
        match (result, &mut errors) {
            (Ok(value), _) => values.push(value),
            (Err(error), Some(errors)) => errors.combine(error),
            (Err(error), None) => errors = Some(error),
        }
    }
    errors.map_or(Ok(values), Err)
}

/// Returns the path of a constant of the private trait.
pub(crate) fn constant(name: &syn::Ident) -> TokenStream {
    quote!(<Self as __KinepackLimits>::#name)
}

/// Returns the bounds that `Pack`, which requires `'static`, puts on a type's parameters.
pub(crate) fn static_bounds(input: &DeriveInput) -> Vec<WherePredicate> {
    let is_static = |parameter: &syn::TypeParam| -> WherePredicate {
        let ident = &parameter.ident;
        parse_quote!(#ident: 'static)
    };
    input.generics.type_params().map(is_static).collect()
}

/// The constants and bounds that a type's fields need.
pub(crate) struct Needs<'a> {
    input: &'a DeriveInput,
    predicates: Vec<WherePredicate>,
    names: Vec<syn::Ident>,
    types: Vec<TokenStream>,
    values: Vec<TokenStream>,
}

/// The bodies of the functions of `Pack`.
pub(crate) struct Bodies {
    /// An expression for the number of lanes of the type.
    pub(crate) lanes: TokenStream,
    /// Statements that append to `fields` below `path`.
    pub(crate) fields: TokenStream,
    /// Statements that quantize `self` into `lanes`, which has the right length.
    pub(crate) quantize: TokenStream,
    /// An expression that is true if `columns` could be filled from `states`. The expression is
    /// `None` if the default method is used.
    pub(crate) quantize_columns: Option<TokenStream>,
    /// Statements that store `self` in `raw`, which has the right length.
    pub(crate) store_raw: TokenStream,
    /// An expression for the value of `lanes`, which has the right length.
    pub(crate) reconstruct: TokenStream,
    /// An expression for the interpolated value of the pair `lanes`.
    pub(crate) interpolate: TokenStream,
    /// Statements that move the fields of `self` into world coordinates. `None` if the default
    /// method is used.
    pub(crate) to_world: Option<TokenStream>,
    /// Statements that displace `self` by `share` of the way from `from` to `to`.
    pub(crate) displace: TokenStream,
}

impl<'a> Needs<'a> {
    pub(crate) fn new(input: &'a DeriveInput) -> Self {
        Self {
            input,
            predicates: static_bounds(input),
            names: Vec::new(),
            types: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Adds a constant to the private trait.
    pub(crate) fn add_constant(&mut self, name: syn::Ident, ty: TokenStream, value: TokenStream) {
        self.names.push(name);
        self.types.push(ty);
        self.values.push(value);
    }

    /// Adds a bound, if it names a type or constant parameter of the type. The compiler checks all
    /// other bounds where the generated code needs them.
    pub(crate) fn add_bound(&mut self, bound: TokenStream) {
        if names_parameter(self.input, bound.clone()) {
            self.predicates.push(parse_quote!(#bound));
        }
    }

    /// Returns the `impl`, and the private trait with the constants.
    pub(crate) fn into_impl(self, krate: &Path, bodies: Bodies) -> TokenStream {
        let Bodies {
            lanes,
            fields,
            quantize,
            quantize_columns,
            store_raw,
            reconstruct,
            interpolate,
            to_world,
            displace,
        } = bodies;
        let quantize_columns = quantize_columns.map(|fill| quantize_columns_fn(krate, &fill));
        let to_world = to_world.map(|statements| to_world_fn(krate, &statements));
        let ident = &self.input.ident;
        let mut generics = self.input.generics.clone();
        if !self.predicates.is_empty() {
            generics.make_where_clause().predicates.extend(self.predicates.iter().cloned());
        }
        let limits = self.limits_trait(&generics);
        let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
        quote! {
            #limits
            #[automatically_derived]
            impl #impl_generics #krate::Pack for #ident #ty_generics #where_clause {
                const LANES: usize = #lanes;

                fn fields(path: &str, fields: &mut #krate::__derive::Vec<#krate::schema::Field>) {
                    let _ = (path, &mut *fields);
                    #fields
                }

                #[inline]
                fn quantize(&self, lanes: &mut [u32]) -> ::core::result::Result<(), #krate::EncodeError> {
                    let lanes = &mut lanes[..<Self as #krate::Pack>::LANES];
                    #quantize
                    ::core::result::Result::Ok(())
                }

                #quantize_columns

                #[inline]
                fn store_raw(&self, raw: &mut [u64]) -> ::core::result::Result<(), #krate::EncodeError> {
                    let raw = &mut raw[..<Self as #krate::Pack>::LANES];
                    #store_raw
                    ::core::result::Result::Ok(())
                }

                #[inline]
                fn reconstruct(lanes: &[u32]) -> Self {
                    let lanes = &lanes[..<Self as #krate::Pack>::LANES];
                    #reconstruct
                }

                #[inline]
                fn interpolate(from: &[u32], to: &[u32], at: #krate::Between) -> Self {
                    let _ = at;
                    let lanes = #krate::__derive::LanePair::new(
                        from,
                        to,
                        <Self as #krate::Pack>::LANES,
                    );
                    #interpolate
                }

                #to_world

                fn displace(&mut self, from: &Self, to: &Self, share: #krate::schema::Share) {
                    let _ = (&mut *self, from, to, share);
                    #displace
                }
            }
        }
    }

    /// Returns the private trait with the constants, and its `impl` for the type. Returns `None` if
    /// there are no constants.
    fn limits_trait(&self, generics: &Generics) -> Option<TokenStream> {
        let Self { input, names, types, values, .. } = self;
        let ident = &input.ident;
        let (impl_generics, ty_generics, where_clause) = generics.split_for_impl();
        (!names.is_empty()).then(|| {
            // A trait's constants are evaluated only when they are used. These items use the
            // constants at once, so that impossible limits are an error even in an unused type. A
            // generic type has no values for its parameters here, so its constants are checked only
            // when it is used.
            let evaluation = input
                .generics
                .params
                .is_empty()
                .then(|| quote!(#(const _: #types = <#ident as __KinepackLimits>::#names;)*));
            quote! {
                trait __KinepackLimits { #(const #names: #types;)* }
                #[automatically_derived]
                impl #impl_generics __KinepackLimits for #ident #ty_generics #where_clause {
                    #(const #names: #types = #values;)*
                }
                #evaluation
            }
        })
    }
}

/// Returns the function `quantize_columns` with the body `fill`.
fn quantize_columns_fn(krate: &Path, fill: &TokenStream) -> TokenStream {
    quote! {
        #[inline]
        fn quantize_columns<'__states>(
            states: impl ::core::iter::Iterator<Item = &'__states Self> + ::core::clone::Clone,
            mut columns: #krate::schema::Columns<'_>,
        ) -> bool {
            #fill
        }
    }
}

/// Returns the function `to_world` with the body `statements`.
fn to_world_fn(krate: &Path, statements: &TokenStream) -> TokenStream {
    quote! {
        fn to_world(
            &mut self,
            ends: ::core::option::Option<[&Self; 2]>,
            carrier: &#krate::frame::Carrier,
        ) {
            #statements
        }
    }
}

/// Returns true if `tokens` name a type or constant parameter of the type.
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
