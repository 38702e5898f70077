//! Tables that the code computes, so that the source does not list their numbers.

/// Declares a static table by the expression that computes it. The compiler evaluates the
/// expression. For WebAssembly, the first use of the table evaluates it instead. A WebAssembly
/// module must be downloaded first, so its size matters more than a check at each use. Both ways
/// compute the same numbers.
macro_rules! computed {
    ($($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $value:expr;)*) => {$(
        $(#[$attribute])*
        #[cfg(not(target_family = "wasm"))]
        $visibility static $name: $type = $value;
        $(#[$attribute])*
        #[cfg(target_family = "wasm")]
        $visibility static $name: std::sync::LazyLock<Box<$type>> =
            std::sync::LazyLock::new(|| Box::new($value));
    )*};
}

pub(crate) use computed;
