//! Sets the name by which programs find the shared library. Without it, they would look for the path
//! at which the library was built.

fn main() {
    let os = std::env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    match os.as_str() {
        "macos" | "ios" => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-install_name,@rpath/libkinepack_c.dylib");
        }
        "linux" | "android" | "freebsd" => {
            println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libkinepack_c.so");
        }
        _ => {}
    }
    println!("cargo:rerun-if-changed=build.rs");
}
