//! The 901-cube world.
