//! kinepack-capture
