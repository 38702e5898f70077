//! Reads types as they are written, because a derive cannot resolve aliases.

use quote::ToTokens;
use syn::{GenericArgument, PathArguments, Type};

/// Returns the type inside `ty`, if `ty` is written as an `Option`.
pub(crate) fn in_option(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Group(group) => in_option(&group.elem),
        Type::Paren(paren) => in_option(&paren.elem),
        Type::Path(path) => {
            let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
            let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
            match arguments.args.first()? {
                GenericArgument::Type(inner) if arguments.args.len() == 1 => Some(inner),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the name of the integer type, if `ty` is written as one.
pub(crate) fn integer_name(ty: &Type) -> Option<String> {
    type_name(ty).filter(|name| {
        let width = name.strip_prefix(['u', 'i']);
        width.is_some_and(|width| matches!(width, "8" | "16" | "32" | "64" | "128" | "size"))
    })
}

/// Returns the name of a type, without the path before it.
pub(crate) fn type_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Group(group) => type_name(&group.elem),
        Type::Paren(paren) => type_name(&paren.elem),
        Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}

/// Returns the source text of a type, without the invisible parentheses that `macro_rules!` adds.
pub(crate) fn written(ty: &Type) -> String {
    match ty {
        Type::Group(group) => written(&group.elem),
        Type::Paren(paren) => written(&paren.elem),
        other => other.to_token_stream().to_string(),
    }
}
