#!/usr/bin/env bash
# Builds the WebAssembly modules of the npm package into package/module/, and that of the
# demo's pages into its folder; or all of them into another folder. On Debian as root it installs what is
# missing. One compiler makes the same bytes everywhere.
set -euo pipefail
cd "$(dirname "$0")"
out=${1:-package/module}
demo=${1:+$1/demo}
demo=${demo:-../../lab/demo/src/module}
target=${CARGO_TARGET_DIR:-../../target}/web
cargo build --release --locked --quiet --manifest-path builder/Cargo.toml --target-dir "$target/builder"
. ./compiler.sh
# Panics need no text: a panic is a bug of this library, and stops the module.
export RUSTFLAGS="-Zunstable-options -Cpanic=immediate-abort -Zlocation-detail=none $linker"
rm -rf "$out" "$demo"

# module DIR NAME PACKAGE OPTION...: builds a package as DIR/NAME_bg.wasm, and DIR/NAME.js around it.
module() {
  cargo rustc --profile web --crate-type cdylib --lib --locked --target wasm32-unknown-unknown --target-dir "$target" --ignore-rust-version \
    -Zbuild-std=std,panic_abort -Zbuild-std-features=optimize_for_size --package "${@:3}"
  "$target/builder/release/kinepack-web-builder" "$target/wasm32-unknown-unknown/web/${3//-/_}.wasm" "$1" "$2"
}

for part in snapshots clips crowd figures; do
  # Playing clips takes little of the codec, which is smaller and faster in line; and the loops of a
  # clip are faster where the code around them is not made small.
  level='"s"'
  [ $part = clips ] && level=3
  module "$out" $part kinepack-web --config "profile.web.package.kinepack.opt-level=$level" \
    --config "profile.web.package.kinepack-web.opt-level=$level" --no-default-features --features $part
done
module "$demo" demo demo-module
"$compiler" -V > "$out/COMPILER"
