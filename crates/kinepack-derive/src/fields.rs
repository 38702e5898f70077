//! One field of a struct or of a variant: its name, its rule, and the code for it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Expr, Field, Index, Member, Path, Result, Type};

use crate::implementation::{Needs, constant};
use crate::lane_rule::{Floats, Rule};
use crate::limits::Site;
use crate::precision::TimePrecision;
use crate::roles::BodyPart;
use crate::rules::{self, FieldRule};

/// A field, and the rule by which it becomes lanes.
pub(crate) struct PackedField<'a> {
    pub(crate) member: Member,
    /// The field's name relative to the type's path. In an enum, this name begins with the
    /// variant's name.
    pub(crate) name: String,
    /// The type that the rule is for; if the rule is optional, the type inside the `Option`.
    pub(crate) ty: &'a Type,
    pub(crate) rule: FieldRule,
    /// The field's number among all fields of the type.
    index: usize,
    /// An expression for the field's value in `quantize`.
    place: TokenStream,
}

/// The inputs of a field's code that are the same for all fields of a type.
pub(crate) struct Context<'a> {
    /// The path of kinepack.
    pub(crate) krate: &'a Path,
    /// The type's attribute `ticks_per_s`.
    pub(crate) ticks_per_s: Option<&'a Expr>,
}

/// The code of a field with lanes. The variable `part` holds the field's lanes.
pub(crate) struct FieldCode {
    /// An expression for the number of lanes.
    pub(crate) lanes: TokenStream,
    /// Statements that append to `fields` below `path`.
    pub(crate) schema: TokenStream,
    /// Statements that fill `part`.
    pub(crate) quantize: TokenStream,
    /// An expression that is true if the columns `part` could be filled lane by lane from the
    /// iterator `values`. The expression is `None` if the field must be quantized row by row.
    pub(crate) quantize_columns: Option<TokenStream>,
    /// Statements that fill `part` with raw words.
    pub(crate) store_raw: TokenStream,
    /// An expression for the value of `part`.
    pub(crate) reconstruct: TokenStream,
}

impl<'a> PackedField<'a> {
    /// Makes the field at `index` of a struct.
    pub(crate) fn in_struct(index: usize, field: &'a Field) -> Result<Self> {
        let member = member(index, field);
        let name = member_name(&member);
        let (rule, ty) = rules::rule(&name, &field.ty, &field.attrs, false)?;
        let place = quote!(state.#member);
        Ok(Self { member, name, ty, rule, index, place })
    }

    /// Makes the field at `place` in a variant. `index` is its number among all fields of the enum.
    pub(crate) fn in_variant(
        variant: &Ident,
        place: usize,
        index: usize,
        field: &'a Field,
    ) -> Result<Self> {
        let member = member(place, field);
        let name = format!("{}.{}", variant.unraw(), member_name(&member));
        let (rule, ty) = rules::rule(&name, &field.ty, &field.attrs, true)?;
        let binding = binding(index);
        Ok(Self { member, name, ty, rule, index, place: quote!((*#binding)) })
    }

    /// Returns the field's name, part and rule, if the field is a part of a rigid body.
    pub(crate) fn body_part(&self) -> Option<(&str, &BodyPart, &Rule)> {
        Some((&self.name, self.rule.part.as_ref()?, &self.rule.lanes))
    }

    /// Returns the variable to which a pattern binds the field.
    pub(crate) fn binding(&self) -> Ident {
        binding(self.index)
    }

    /// Returns the variable that holds the field's lanes in `interpolate`.
    pub(crate) fn part(&self) -> Ident {
        format_ident!("part_{}", self.index)
    }

    /// Returns the constant that holds the field's limits.
    pub(crate) fn limits(&self) -> TokenStream {
        constant(&self.limits_name())
    }

    fn limits_name(&self) -> Ident {
        format_ident!("FIELD_{}", self.index)
    }

    /// Returns the field's code, if the field has lanes. `velocity_of` is the name of the field
    /// whose velocity this field is, if there is one. `is_frame` is true if other fields are relative
    /// to the entity with this field's id.
    pub(crate) fn code(
        &self,
        context: &Context<'_>,
        velocity_of: Option<&str>,
        is_frame: bool,
        needs: &mut Needs<'_>,
    ) -> Option<FieldCode> {
        let mut code = if self.rule.optional {
            let code = self.code_at(&quote!((*value)), context, velocity_of, needs)?;
            self.optional(context.krate, code)
        } else {
            self.code_at(&self.place, context, velocity_of, needs)?
        };
        let marks = [(self.rule.spawn, quote!(mark_spawn)), (is_frame, quote!(mark_frame))];
        for (_, mark) in marks.into_iter().filter(|(is_marked, _)| *is_marked) {
            let (krate, schema) = (context.krate, code.schema);
            code.schema = quote!({
                let first = fields.len();
                #schema
                #krate::__derive::#mark(fields, first);
            });
        }
        Some(code)
    }

    /// Returns the code of the value at `place`.
    fn code_at(
        &self,
        place: &TokenStream,
        context: &Context<'_>,
        velocity_of: Option<&str>,
        needs: &mut Needs<'_>,
    ) -> Option<FieldCode> {
        let &Context { krate, ticks_per_s } = context;
        let (name, ty) = (&self.name, self.ty);
        let span = Span::mixed_site().located_at(self.member.span());
        let site = Site { krate, name, ty, span, ticks_per_s };
        let helpers = quote!(#krate::__derive);
        let (time, coarser) = (self.add_precision(&site, needs), self.add_coarser(&site, needs));
        let frame = self.rule.frame.as_ref().map(member_name);
        let frame = frame.map(|frame| quote!(.with_frame(#helpers::join(path, #frame))));
        let precision = quote!(#time #coarser #frame);
        let mut code = match &self.rule.lanes {
            Rule::Nested => self.nested_code(place, krate, needs),
            Rule::Skip => {
                needs.add_bound(quote!(#ty: ::core::default::Default));
                return None;
            }
            Rule::With(with) => self.with_code(with, place, krate, needs),
            Rule::Rotation { bits } => self.rotation_code(bits, place, &site, &precision, needs),
            Rule::Floats(floats) => {
                let velocity_of = velocity_of
                    .map(|owner| quote!(.with_velocity_of(#helpers::join(path, #owner))));
                let calls = quote!(#precision #velocity_of);
                self.floats_code(floats, place, &site, &calls, needs)
            }
            Rule::Integer { ends, step, clamp } => {
                let value = site.integer(ends.as_ref(), step.as_ref());
                let constant_type = quote!(#krate::quantize::IntegerLimits);
                needs.add_constant(self.limits_name(), constant_type, value);
                self.integer_code(place, krate, *clamp)
            }
        };
        let mark = if self.rule.clock { Some("Clock") } else { self.rule.cut.then_some("Cut") };
        if let Some(role) = mark {
            let role = Ident::new(role, Span::call_site());
            code.schema.extend(quote!(#helpers::mark(#krate::schema::Role::#role, fields);));
        }
        Some(code)
    }

    /// Returns the code of a value that becomes lanes by the `Pack` of its type.
    fn nested_code(&self, place: &TokenStream, krate: &Path, needs: &mut Needs<'_>) -> FieldCode {
        let (name, ty) = (&self.name, self.ty);
        let helpers = quote!(#krate::__derive);
        needs.add_bound(quote!(#ty: #krate::Pack));
        let schema = match self.rule.part {
            Some(_) => {
                let role = self.role(krate);
                quote!(fields.push(#helpers::flag_field(path, #name, #role));)
            }
            None => {
                quote!(<#ty as #krate::Pack>::fields(&#helpers::join(path, #name), fields);)
            }
        };
        let named = quote!(map_err(|error| #helpers::named(error, #name)));
        FieldCode {
            lanes: quote!(<#ty as #krate::Pack>::LANES),
            schema,
            quantize: quote!(<#ty as #krate::Pack>::quantize(&#place, part).#named?;),
            quantize_columns: Some(quote!(<#ty as #krate::Pack>::quantize_columns(values, part))),
            store_raw: quote!(<#ty as #krate::Pack>::store_raw(&#place, part).#named?;),
            reconstruct: quote!(<#ty as #krate::Pack>::reconstruct(part)),
        }
    }

    /// Returns the code of a value that becomes lanes by the `PackWith` of the type `with`.
    fn with_code(
        &self,
        with: &Type,
        place: &TokenStream,
        krate: &Path,
        needs: &mut Needs<'_>,
    ) -> FieldCode {
        let (name, ty) = (&self.name, self.ty);
        let helpers = quote!(#krate::__derive);
        needs.add_bound(quote!(#with: #krate::schema::PackWith<#ty>));
        let lanes = quote!(<#with as #krate::schema::PackWith<#ty>>);
        let named = quote!(map_err(|error| error.in_field(#name)));
        FieldCode {
            lanes: quote!(#lanes::LANES),
            schema: quote!(#lanes::fields(&#helpers::join(path, #name), fields);),
            quantize: quote!(#lanes::quantize(&#place, part).#named?;),
            quantize_columns: None,
            store_raw: quote!(#lanes::store_raw(&#place, part).#named?;),
            reconstruct: quote!(#lanes::reconstruct(part)),
        }
    }

    /// Returns the code of a rotation of `bits`. `calls` are the method calls that complete the
    /// rotation's schema field.
    fn rotation_code(
        &self,
        bits: &Expr,
        place: &TokenStream,
        site: &Site<'_>,
        calls: &TokenStream,
        needs: &mut Needs<'_>,
    ) -> FieldCode {
        let &Site { krate, name, ty, .. } = site;
        let helpers = quote!(#krate::__derive);
        let constant_type = quote!(#krate::quantize::SmallestThree);
        let (limits, role) = self.add_limits(site, constant_type, site.rotation(bits), needs);
        FieldCode {
            lanes: quote!(4),
            schema: quote!(fields.push(#helpers::rotation_field(path, #name, &#limits, #role) #calls);),
            quantize: quote!(#helpers::quantize_rotation::<#ty>(&#place, &#limits, #name, part)?;),
            quantize_columns: Some(
                quote!(#helpers::rotation_columns::<#ty>(values, &#limits, part)),
            ),
            store_raw: quote!(#helpers::store_raw_components::<#ty>(&#place, part);),
            reconstruct: quote!(#helpers::reconstruct_rotation::<#ty>(&#limits, part)),
        }
    }

    /// Returns the code of numbers with limits. `calls` are the method calls that complete the
    /// numbers' schema field.
    fn floats_code(
        &self,
        floats: &Floats,
        place: &TokenStream,
        site: &Site<'_>,
        calls: &TokenStream,
        needs: &mut Needs<'_>,
    ) -> FieldCode {
        let &Site { krate, name, ty, .. } = site;
        let helpers = quote!(#krate::__derive);
        let Floats { axes, clamp, .. } = floats;
        let count = axes.len();
        let marked = [(self.rule.part.is_some(), "body"), (self.rule.frame.is_some(), "frame")];
        let marked = marked.into_iter().find(|(is_marked, _)| *is_marked);
        let value = site.floats(floats, marked.map(|(_, name)| name));
        let constant_type = quote!([#krate::quantize::FloatLimits; #count]);
        let (limits, role) = self.add_limits(site, constant_type, value, needs);
        FieldCode {
            lanes: quote!(<#ty as #krate::schema::Components>::COUNT),
            schema: quote!(fields.push(#helpers::floats_field::<#ty>(path, #name, &#limits, #role) #calls);),
            quantize: quote!(#helpers::quantize_floats::<#ty>(&#place, &#limits, #clamp, #name, part)?;),
            quantize_columns: Some(
                quote!(#helpers::float_columns::<#ty>(values, &#limits, #clamp, part)),
            ),
            store_raw: quote!(#helpers::store_raw_components::<#ty>(&#place, part);),
            reconstruct: quote!(#helpers::reconstruct_floats::<#ty>(&#limits, part)),
        }
    }

    /// Adds the constant of the limits of real numbers or of a rotation, and the trait bound on
    /// their type. Returns the path of the constant, and the field's role.
    fn add_limits(
        &self,
        site: &Site<'_>,
        constant_type: TokenStream,
        value: TokenStream,
        needs: &mut Needs<'_>,
    ) -> (TokenStream, TokenStream) {
        let &Site { krate, ty, .. } = site;
        needs.add_bound(quote!(#ty: #krate::schema::Components));
        needs.add_constant(self.limits_name(), constant_type, value);
        (self.limits(), self.role(krate))
    }

    /// Returns the code of an integer. The integer's limits are already a constant.
    fn integer_code(&self, place: &TokenStream, krate: &Path, clamp: bool) -> FieldCode {
        let (name, ty) = (&self.name, self.ty);
        let helpers = quote!(#krate::__derive);
        let limits = self.limits();
        FieldCode {
            lanes: quote!(#helpers::integer_lanes(&#limits)),
            schema: quote!(fields.push(#helpers::integer_field(path, #name, &#limits));),
            quantize: quote!(#helpers::quantize_integer(#place, &#limits, #clamp, #name, part)?;),
            quantize_columns: None,
            store_raw: quote!(#helpers::store_raw_integer(#place, part);),
            reconstruct: quote!(#helpers::reconstruct_integer(&#limits, part) as #ty),
        }
    }

    /// Returns the path of the field's `kinepack::schema::Role`.
    fn role(&self, krate: &Path) -> TokenStream {
        let role = self.rule.role();
        quote!(#krate::schema::Role::#role)
    }

    /// Makes the code of an `Option` from the code of the value in it, which is bound to `value`.
    fn optional(&self, krate: &Path, code: FieldCode) -> FieldCode {
        let helpers = quote!(#krate::__derive);
        let FieldCode { lanes, schema, quantize, store_raw, reconstruct, .. } = code;
        let (name, place) = (&self.name, &self.place);
        let store = |store: TokenStream| {
            quote! {
                part.fill(0);
                if let ::core::option::Option::Some(value) = &#place {
                    part[0] = 1;
                    let part = &mut part[1..];
                    #store
                }
            }
        };
        FieldCode {
            lanes: quote!((1 + #lanes)),
            schema: quote!({
                let selector = #helpers::presence_field(path, #name, fields);
                #schema
                #helpers::only_if(fields, selector, selector + 1, 1..=1);
            }),
            quantize: store(quantize),
            quantize_columns: None,
            store_raw: store(store_raw),
            reconstruct: quote! {
                if part[0] == 0 {
                    ::core::option::Option::None
                } else {
                    let part = &part[1..];
                    ::core::option::Option::Some(#reconstruct)
                }
            },
        }
    }

    /// Returns the constant with the most bits by which the field may be coarser.
    pub(crate) fn coarser(&self) -> Option<TokenStream> {
        self.rule.coarser.as_ref().map(|_| constant(&self.coarser_name()))
    }

    fn coarser_name(&self) -> Ident {
        format_ident!("COARSER_{}", self.index)
    }

    /// Adds the constant with the most bits by which the field may be coarser. Returns the method
    /// call that sets it on the schema's field, or no tokens if the field is always exact.
    fn add_coarser(&self, site: &Site<'_>, needs: &mut Needs<'_>) -> TokenStream {
        let Some(bits) = &self.rule.coarser else { return TokenStream::new() };
        let (krate, refusal) = (site.krate, site.refusal("`coarser` must be 1 to 31 bits"));
        let value = quote!({
            let bits: u8 = #bits;
            if bits == 0 || bits > 31 { #refusal }
            bits
        });
        needs.add_constant(self.coarser_name(), quote!(u8), value);
        let bits = constant(&self.coarser_name());
        quote!(.with_coarser(#krate::__derive::coarser(path, #bits)))
    }

    /// Adds the constant of the time precision. Returns the method call that sets it on the
    /// schema's field, or no tokens if the field has no time precision.
    fn add_precision(&self, site: &Site<'_>, needs: &mut Needs<'_>) -> TokenStream {
        let is_rotation = matches!(self.rule.lanes, Rule::Rotation { .. });
        let precision = self.rule.precision.as_ref();
        let Some(value) = precision.and_then(|precision| site.precision(precision, is_rotation))
        else {
            return TokenStream::new();
        };
        let krate = site.krate;
        let name = format_ident!("PRECISION_{}", self.index);
        let precision = constant(&name);
        needs.add_constant(name, quote!(#krate::schema::TimePrecision), value);
        quote!(.with_time_precision(#precision))
    }
}

/// Returns the name and the time precision of the first field that has a time precision.
pub(crate) fn first_precision<'a>(
    fields: impl IntoIterator<Item = &'a PackedField<'a>>,
) -> Option<(&'a str, &'a TimePrecision)> {
    let of_field =
        |field: &'a PackedField<'a>| Some((field.name.as_str(), field.rule.precision.as_ref()?));
    fields.into_iter().find_map(of_field)
}

fn binding(index: usize) -> Ident {
    format_ident!("field_{index}")
}

fn member(index: usize, field: &Field) -> Member {
    match &field.ident {
        Some(ident) => Member::Named(ident.clone()),
        None => Member::Unnamed(Index { index: index as u32, span: field.ty.span() }),
    }
}

/// Returns the name of a field in its struct or variant.
pub(crate) fn member_name(member: &Member) -> String {
    match member {
        Member::Named(ident) => ident.unraw().to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}
