//! The name by which programs find the shared library, instead of the path that it was built at.

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
