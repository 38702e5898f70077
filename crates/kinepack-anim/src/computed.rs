//! Tables that are computed instead of written down.

/// Declares a table by what computes it: at compile time, or, in WebAssembly, when it is first
/// used. There, a module that has to be loaded first counts more than a check at each use. Both
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
