#!/usr/bin/env bash
# Tests the npm package: that its modules are what the sources make, its tests in Node and in
# Chromium, and the frozen vectors of all crates as WebAssembly in both. Needs Node 20 and Chromium.
# Options of cargo select packages and features for the example server, so that a build that exists
# already is used again: `check.sh --workspace --all-features --test tests`.
set -euo pipefail
cd "$(dirname "$0")"
target=$(mkdir -p "${CARGO_TARGET_DIR:-../../target}/web" && cd "${CARGO_TARGET_DIR:-../../target}/web" && pwd)
step() { printf '\n-- %s\n' "$*"; "$@"; }

step ./build.sh "$target/module"
if cmp -s "$target/module/COMPILER" package/module/COMPILER; then
  if ! (step diff -r --exclude demo "$target/module" package/module &&
    step diff -r "$target/module/demo" ../../lab/demo/src/module); then
    echo 'the modules are not what the sources make; run crates/kinepack-web/build.sh' >&2
    exit 1
  fi
else
  # Another compiler makes other bytes. Both must do the same.
  echo "other compiler: $(cat "$target/module/COMPILER"), package/module is of $(cat package/module/COMPILER)"
  rm -rf "$target/package" && cp -r package "$target/package" && rm -r "$target/package/module"
  cp -r "$target/module" "$target/package/module" && rm -r "$target/package/module/demo"
  step node --test "$target/package/test/node.test.js"
fi
step node --test package/test/node.test.js package/test/moq.test.js package/test/connection.test.js
step npm exec --yes --package typescript@5.9.3 -- tsc --noEmit --strict --target es2022 --module nodenext \
  --noUncheckedIndexedAccess package/test/types.ts

. ./compiler.sh
# A source of random numbers is linked, but no test takes one.
export RUSTFLAGS="$linker --cfg getrandom_backend=\"unsupported\""
(cd vectors && cargo test --no-run --locked --target wasm32-unknown-unknown --target-dir "$target" \
  --ignore-rust-version -Zbuild-std=std,panic_abort,test --message-format json) |
  sed -n 's/.*"executable":"\([^"]*\)".*/\1/p' > "$target/vectors.txt"
[ "$(wc -l < "$target/vectors.txt")" -ge 8 ] || { echo 'the vectors were not built' >&2; exit 1; }
step node vectors/main.js "$target/vectors.txt"
step node browser.js "$target/vectors.txt"

# The example server and its pages.
unset RUSTC RUSTFLAGS RUSTC_BOOTSTRAP
world=../kinepack-webtransport/examples/world
[ $# -gt 0 ] || set -- -p kinepack-webtransport
step cargo build --locked "$@" --example world --message-format short
(cd $world && step npm install --no-save --no-package-lock three@0.180.0)
step npm install --no-save --no-package-lock puppeteer-core@24.20.0
step node examples.js "$(dirname "$target")/debug/examples/world"
step node hidden.js "$(dirname "$target")/debug/examples/world"
