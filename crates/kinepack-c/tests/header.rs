//! The C header and the C# declarations follow from the sources. This command writes both:
//! `KINEPACK_WRITE_HEADER=1 cargo test -p kinepack-c --test tests header::`.

use std::path::Path;

use cbindgen::Bindings;

use crate::csharp;

#[test]
fn the_header_is_that_of_the_sources() {
    let mut header = Vec::new();
    bindings().write(&mut header);
    expect_file("include/kinepack.h", &header);
}

#[test]
fn the_declarations_for_csharp_are_those_of_the_sources() {
    let declarations = csharp::declarations(&bindings());
    expect_file("../../csharp/Kinepack/Native/Native.cs", declarations.as_bytes());
}

fn bindings() -> Bindings {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    cbindgen::generate_with_config(folder, config).unwrap()
}

/// Compares a file with its contents, or writes it.
fn expect_file(path: &str, contents: &[u8]) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    if std::env::var_os("KINEPACK_WRITE_HEADER").is_some() {
        std::fs::write(&file, contents).unwrap();
    }
    let is_same = std::fs::read(&file).is_ok_and(|stored| stored == contents);
    assert!(is_same, "{path} does not match the sources; KINEPACK_WRITE_HEADER=1 writes it");
}
