//! kinepack-derive
