#!/usr/bin/env bash
# Builds the client as WebAssembly and the server, and tests them with Chromium.
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
cargo build --locked -p in-browser
"$(dirname "$target")/debug/in-browser" "$target/in-browser" --check
echo "the module is in $target/in-browser"
