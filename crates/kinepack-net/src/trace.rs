//! Reports events to the crate `tracing`, if the feature `tracing` is on. Without the feature,
//! [`event`] expands to nothing and its arguments are not evaluated.

#[cfg(feature = "tracing")]
macro_rules! event {
    ($level:ident, $($arguments:tt)*) => {
        ::tracing::$level!($($arguments)*)
    };
}

#[cfg(not(feature = "tracing"))]
macro_rules! event {
    ($level:ident, $($arguments:tt)*) => {
        ()
    };
}

pub(crate) use event;
