#!/usr/bin/env bash
# Builds the WebAssembly modules of the npm package into package/module/. On Debian as root it
# installs what is missing. The same compiler makes the same bytes, wherever the repository is.
set -euo pipefail
cd "$(dirname "$0")"
out=${1:-package/module}
# rustup's compiler, if it has the target; else Debian's, which builds the standard library anew.
if rustup target list --installed 2>/dev/null | grep -q wasm32-unknown-unknown; then
  compiler=$(rustup which rustc)
else
  compiler=/usr/bin/rustc
  if ! [ -d /usr/src/rustc-"$($compiler -V 2>/dev/null | cut -d ' ' -f 2)"/library ] || ! command -v wasm-ld >/dev/null; then
    apt-get update
    apt-get install -y --no-install-recommends rustc-web rust-web-src lld
  fi
fi
version=$(sed -n 's/^wasm-bindgen = "=\(.*\)"$/\1/p' Cargo.toml)
[ "$(wasm-bindgen --version 2>/dev/null)" = "wasm-bindgen $version" ] || cargo install wasm-bindgen-cli --version "$version"
# Panics need no text: a panic is a bug of this library, and stops the module.
export RUSTC=$compiler RUSTC_BOOTSTRAP=1
export RUSTFLAGS='-Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none -Zfmt-debug=none'
[ "$compiler" = /usr/bin/rustc ] && RUSTFLAGS+=' -Clinker=wasm-ld -Clinker-flavor=wasm-ld'
target=${CARGO_TARGET_DIR:-../../target}/web
for part in snapshots clips; do
  cargo build --profile web --target wasm32-unknown-unknown --target-dir "$target" --ignore-rust-version \
    -Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size --no-default-features --features "$part"
  wasm-bindgen --target web --no-typescript --remove-name-section --remove-producers-section \
    --out-dir "$out" --out-name "$part" "$target/wasm32-unknown-unknown/web/kinepack_web.wasm"
done
