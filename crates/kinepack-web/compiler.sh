# Finds a compiler for WebAssembly, and sets `compiler` and `linker`. It is read by other scripts.
# rustup's compiler, if it has the target; else Debian's, which builds the standard library anew.
if rustup target list --installed 2>/dev/null | grep -q wasm32-unknown-unknown; then
  compiler=$(rustup which rustc) linker=
else
  compiler=/usr/bin/rustc linker='-Clinker=wasm-ld -Clinker-flavor=wasm-ld'
  if ! [ -d "/usr/src/rustc-$($compiler -V 2>/dev/null | cut -d ' ' -f 2)/library" ] || ! command -v wasm-ld >/dev/null; then
    if [ "$(id -u)" != 0 ]; then
      echo 'missing: a compiler for WebAssembly (apt-get install rustc-web rust-web-src lld)' >&2
      exit 1
    fi
    apt-get update
    apt-get install -y --no-install-recommends rustc-web rust-web-src lld
  fi
fi
export RUSTC=$compiler RUSTC_BOOTSTRAP=1
