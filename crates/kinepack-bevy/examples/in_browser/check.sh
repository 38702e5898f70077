#!/usr/bin/env bash
# Builds the client as WebAssembly and the server, and tests them with Chromium.
# Options of cargo select the server's packages and features, so that a build that exists already is
# used again: `check.sh --workspace --all-features --test tests`. Without options it builds its own.
set -euo pipefail
cd "$(dirname "$0")"
target=$(mkdir -p "${CARGO_TARGET_DIR:-../../../../target}/web" && cd "${CARGO_TARGET_DIR:-../../../../target}/web" && pwd)
web=../../../kinepack-web
cargo build --release --locked --quiet --manifest-path $web/builder/Cargo.toml --target-dir "$target/builder"
. $web/compiler.sh
(
  export RUSTFLAGS="$linker"
  build=(--target wasm32-unknown-unknown --target-dir "$target" --ignore-rust-version -Zbuild-std=std,panic_abort)
  cargo check --locked -p kinepack-bevy --no-default-features --features transform,web "${build[@]}"
  cargo build --locked -p in-browser "${build[@]}"
)
"$target/builder/release/kinepack-web-builder" "$target/wasm32-unknown-unknown/debug/in-browser.wasm" "$target/in-browser" client
unset RUSTC RUSTC_BOOTSTRAP
[ $# -gt 0 ] || set -- -p in-browser
cargo build --locked "$@" --bin in-browser
"$(dirname "$target")/debug/in-browser" "$target/in-browser" --check
echo "the module is in $target/in-browser"
