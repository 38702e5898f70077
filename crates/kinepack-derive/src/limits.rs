//! Writes the constants that hold a field's limits. The constants are evaluated at compile time, so
//! impossible limits give a compile error that names the field.
//!
//! A panic message in a constant must be a literal, so each error has its own `match` arm and text.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Path, Type};

use crate::lane_rule::{Ends, Floats, Step};
use crate::precision::TimePrecision;

/// The field that code is generated for, with the paths and attributes that the code needs.
pub(crate) struct Site<'a> {
    pub(crate) krate: &'a Path,
    pub(crate) name: &'a str,
    pub(crate) ty: &'a Type,
    /// The span that errors point to.
    pub(crate) span: Span,
    /// The type's attribute `ticks_per_s`.
    pub(crate) ticks_per_s: Option<&'a Expr>,
}

impl Site<'_> {
    /// Makes an array of `FloatLimits`: one for all components, or one for each. `mark` is the
    /// attribute that requires three components, if there is one.
    pub(crate) fn floats(&self, floats: &Floats, mark: Option<&str>) -> TokenStream {
        let (krate, ty) = (self.krate, self.ty);
        let count = quote!(<#ty as #krate::schema::Components>::COUNT);
        let len = floats.axes.len();
        let one_an_axis = floats.one_an_axis.then(|| {
            let refusal = self.refusal(&format!(
                "{len} axes are given, but the field's type has another number of components"
            ));
            quote!(if #count != #len { #refusal })
        });
        let three = mark.map(|mark| {
            let refusal = self.refusal(&format!(
                "a field with `{mark}` has 3 components; give it three, or remove `{mark}`"
            ));
            quote!(if #count != 3 { #refusal })
        });
        let too_many = self.refusal("a field has at most 255 components");
        let axes = floats.axes.iter().map(|(ends, step)| self.axis(ends, step, floats.wrap));
        quote!({
            #one_an_axis
            #three
            if #count > 255 { #too_many }
            [#(#axes),*]
        })
    }

    /// Makes the `IntegerLimits` between `ends`, or of all integers of `bits`.
    pub(crate) fn integer(&self, ends: Option<&Ends>, step: Option<&Step>) -> TokenStream {
        let (krate, ty) = (self.krate, self.ty);
        let helpers = quote!(#krate::__derive);
        let whole_type = quote!(<#ty>::MIN as i128, <#ty>::MAX as i128);
        let ends = ends.map(|Ends { min, end, inclusive }| {
            let last = if *inclusive { quote!((#end) as i128) } else { quote!((#end) as i128 - 1) };
            quote!((#min) as i128, #last)
        });
        let limits = match (ends, step) {
            (Some(ends), Some(Step::Bits(bits))) => {
                quote!(#helpers::integer_with_bits(#ends, #bits))
            }
            (Some(ends), Some(Step::Precision(step))) => {
                quote!(#krate::quantize::IntegerLimits::new(#ends, #step))
            }
            (Some(ends), None) => quote!(#krate::quantize::IntegerLimits::new(#ends, 1)),
            (None, Some(Step::Bits(bits))) => quote!(#helpers::integer_of_bits(#whole_type, #bits)),
            (None, _) => quote!(#krate::quantize::IntegerLimits::new(#whole_type, 1)),
        };
        self.checked(
            &quote!(#helpers::within(#limits, #whole_type)),
            &[
                ("EmptyRange", "the range is empty"),
                ("BadPrecision", "`precision` must be at least 1 and no wider than the range"),
                ("TooManySteps", "the range is wider than the field's type"),
            ],
            "`bits` must be at least 1, and at most what the type and the range take",
        )
    }

    /// Makes the `SmallestThree` of `bits`.
    pub(crate) fn rotation(&self, bits: &Expr) -> TokenStream {
        let (krate, ty) = (self.krate, self.ty);
        let no_quaternion =
            self.refusal("a rotation is a quaternion and has 4 components: x, y, z, w");
        let made = quote!(#krate::quantize::SmallestThree::new(#bits));
        let rotation = self.checked(&made, &[], "`bits` of a rotation must be 2 to 20");
        quote!({
            if <#ty as #krate::schema::Components>::COUNT != 4 { #no_quaternion }
            #rotation
        })
    }

    /// Makes the field's `TimePrecision`; `None` if the type has no `ticks_per_s`.
    pub(crate) fn precision(
        &self,
        precision: &TimePrecision,
        is_rotation: bool,
    ) -> Option<TokenStream> {
        let (krate, ty, ticks_per_s) = (self.krate, self.ty, self.ticks_per_s?);
        let lanes = if is_rotation {
            quote!(3)
        } else {
            quote!(<#ty as #krate::schema::Components>::COUNT)
        };
        let time_ms = &precision.time_ms;
        let max_step =
            precision.max_step.as_ref().map(|step| quote!(.with_max_step((#step) as f64)));
        let made = quote!(#krate::schema::TimePrecision::new((#time_ms) as f64, (#ticks_per_s) as f64) #max_step);
        let refusal = "`time_precision_ms`, `ticks_per_s` and `max_step` must be positive, and \
                       the time must be below half a tick divided by the square root of the \
                       number of components (3 for a rotation)";
        Some(self.checked(&quote!(#krate::__derive::time_precision(#made, #lanes)), &[], refusal))
    }

    fn axis(&self, ends: &Ends, step: &Step, wrap: bool) -> TokenStream {
        let (krate, ty) = (self.krate, self.ty);
        let Ends { min, end, inclusive } = ends;
        // The casts let attributes use constants of type `f32` and integers.
        let ends = quote!((#min) as f64, (#end) as f64);
        let limits = match (step, inclusive) {
            (Step::Precision(step), true) => quote!(new(#ends, (#step) as f64)),
            (Step::Precision(step), false) => quote!(until(#ends, (#step) as f64)),
            (Step::Bits(bits), true) => quote!(with_bits(#ends, #bits)),
            (Step::Bits(bits), false) => quote!(until_with_bits(#ends, #bits)),
        };
        let limits = self.checked(
            &quote!(#krate::__derive::for_type::<#ty>(#krate::quantize::FloatLimits::#limits)),
            &[
                ("EmptyRange", "the range is empty, not finite, or narrower than one step"),
                ("BadPrecision", "`precision` must be positive and no wider than the range"),
                (
                    "TooManySteps",
                    "the range holds more than 2^32 steps; choose a coarser `precision`",
                ),
                (
                    "FinerThanFloat",
                    "the step is finer than `f32` can hold at the far end of the range; choose a \
                     coarser one",
                ),
            ],
            "`bits` must be 1 to 32",
        );
        if !wrap {
            return limits;
        }
        let refusal = self.refusal(
            "with `wrap` the range must be a whole number of steps; use `bits`, or divide the \
             range",
        );
        quote!({
            let limits = #limits;
            if !#krate::__derive::is_period(&limits, #ends) { #refusal }
            limits.wrapping()
        })
    }

    /// Makes the value of a `Result<_, SetupError>`, or a compile error with its reason.
    fn checked(
        &self,
        result: &TokenStream,
        reasons: &[(&str, &str)],
        otherwise: &str,
    ) -> TokenStream {
        let krate = self.krate;
        let variants =
            reasons.iter().map(|(variant, _)| syn::Ident::new(variant, Span::call_site()));
        let refusals = reasons.iter().map(|(_, message)| self.refusal(message));
        let otherwise = self.refusal(otherwise);
        quote! {
            match #result {
                ::core::result::Result::Ok(limits) => limits,
                #(::core::result::Result::Err(#krate::SetupError::#variants) => #refusals,)*
                ::core::result::Result::Err(_) => #otherwise,
            }
        }
    }

    pub(crate) fn refusal(&self, message: &str) -> TokenStream {
        let message = format!("field `{}`: {message}", self.name);
        quote_spanned!(self.span=> ::core::panic!(#message))
    }
}
