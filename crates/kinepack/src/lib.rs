//! kinepack
