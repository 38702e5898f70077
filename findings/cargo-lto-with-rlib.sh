#!/usr/bin/env bash
# cargo 1.95.0: `lto = "fat"` of a profile is ignored, without a warning, for a library whose
# `crate-type` has `rlib` beside `cdylib`. One would expect the cdylib to be optimized as a whole, or a
# warning. It is the usual pair for a WebAssembly module that also has tests in Rust. The same library
# built with `cargo rustc --crate-type cdylib` is optimized as a whole: the modules of this project
# became 4 to 13 % smaller.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cargo --version
mkdir -p lib/src dependency/src
cat > dependency/Cargo.toml <<'TOML'
[package]
name = "dependency"
version = "0.1.0"
edition = "2024"
TOML
echo 'pub fn twice(number: u32) -> u32 { number.wrapping_mul(2) }' > dependency/src/lib.rs
cat > lib/Cargo.toml <<'TOML'
[package]
name = "module"
version = "0.1.0"
edition = "2024"
[lib]
crate-type = ["cdylib", "rlib"]
[dependencies]
dependency = { path = "../dependency" }
[profile.release]
lto = "fat"
[workspace]
TOML
echo 'pub extern "C" fn four() -> u32 { dependency::twice(2) }' > lib/src/lib.rs

# options COMMAND...: the options for link-time optimization that cargo gives rustc for the library.
options() {
  cargo "$@" --release --verbose --offline --manifest-path lib/Cargo.toml --target-dir "target-$1" 2>&1 |
    grep -- '--crate-name module' | grep -oE -- '-C (lto|embed-bitcode|linker-plugin-lto)[^ ]*' | tr '\n' ' ' || true
}
both=$(options build)
alone=$(options rustc --lib --crate-type cdylib)
echo "crate-type = [\"cdylib\", \"rlib\"]: ${both:-no option for link-time optimization}"
echo "cargo rustc --crate-type cdylib:   ${alone:-no option for link-time optimization}"
case $both in *lto=fat*) echo 'changed: cargo optimizes the cdylib as a whole beside an rlib'; exit 1;; esac
case $alone in *lto=fat*) ;; *) echo 'changed: a cdylib alone is not optimized as a whole'; exit 1;; esac
