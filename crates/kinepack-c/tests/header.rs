//! The header is what the sources say. `KINEPACK_WRITE_HEADER=1 cargo test -p kinepack-c --test tests
//! header::` writes it anew.

use std::path::Path;

#[test]
fn the_header_is_that_of_the_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::generate_with_config(folder, config).unwrap();
    let mut header = Vec::new();
    bindings.write(&mut header);
    let path = folder.join("include/kinepack.h");
    if std::env::var_os("KINEPACK_WRITE_HEADER").is_some() {
        std::fs::write(&path, &header).unwrap();
    }
    let is_same = std::fs::read(&path).is_ok_and(|stored| stored == header);
    assert!(is_same, "include/kinepack.h is of other sources; KINEPACK_WRITE_HEADER=1 writes it");
}
