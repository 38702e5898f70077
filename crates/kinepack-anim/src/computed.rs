//! Tables that the code computes, so that the source does not list their numbers.

/// Declares a static table by the expression that computes it. Normally, the compiler evaluates the
/// expression. In WebAssembly, the first use of the table evaluates the expression instead, so that
/// the module does not contain the table. A module must be downloaded, so its size matters more
/// than a check at each use. Both give the same numbers.
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
