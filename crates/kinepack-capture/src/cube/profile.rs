//! The profile trained for cubes.

use kinepack::Profile;

/// todo
pub fn profile() -> Profile {
    Profile::untrained(&super::schema(kinepack::Quantized::Everything))
}
