#!/usr/bin/env bash
# Compiles the C# package, its tests and its examples, and runs them with the native library. Needs
# a Rust toolchain, a C compiler and mono-mcs. Writes only below cargo's target folder.
# The arguments are options of cargo that select packages and features, to reuse an existing build:
# `check.sh --workspace --all-features`. Without options it builds `kinepack-c` alone.
set -euo pipefail
CARGO_TARGET_DIR="$(realpath -m "${CARGO_TARGET_DIR:-$(dirname "$0")/../target}")"
export CARGO_TARGET_DIR
cd "$(dirname "$0")"
for tool in mcs mono cc; do
  if ! command -v "$tool" >/dev/null; then
    echo "missing: $tool (apt-get install mono-mcs gcc)" >&2
    exit 1
  fi
done
out="$CARGO_TARGET_DIR/csharp"
rm -rf "$out"
mkdir -p "$out"
[ $# -gt 0 ] || set -- -p kinepack-c
# One build has the native library, and the test that writes the frozen vectors as a script.
KINEPACK_WRITE_SCRIPT="$out/script.txt" cargo test --quiet "$@" --test tests -- \
  --exact vectors::all_frozen_vectors_pass_through_c >"$out/script.log" 2>&1 \
  || { cat "$out/script.log" >&2; exit 1; }
[ -s "$out/script.txt" ] || { echo 'the script of the vectors was not written' >&2; exit 1; }
export LD_LIBRARY_PATH="$CARGO_TARGET_DIR/debug/deps${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
# 7.2 is the newest language version that mcs has.
options=(-codepage:utf8 -langversion:7.2 -unsafe -debug -warn:4 -warnaserror+)
compile() { mcs "${options[@]}" -out:"$out/$1" "${@:2}"; }
run() { printf '\n== %s\n' "$1"; mono --debug "$out/$1" "${@:2}"; }

mapfile -t package < <(find Kinepack -name '*.cs' | sort)
# mcs misreads numbers such as 1_000_000_000.
if grep -rnE '\b[0-9]+_[0-9]' --include='*.cs' .; then
  echo 'write these numbers without _' >&2
  exit 1
fi
unity="$(./meta.sh --check)"
if [ -n "$unity" ]; then
  printf '%s\nRun csharp/meta.sh.\n' "$unity" >&2
  exit 1
fi
# A public member without documentation is an error.
compile Kinepack.dll -target:library -doc:"$out/Kinepack.xml" "${package[@]}"
# The tests see internals, so they contain the package.
compile Tests.exe -main:Program "${package[@]}" tests/*.cs examples/LossyLink.cs
run Tests.exe ../crates/kinepack-c/include/kinepack.h "$out"
# The frozen vectors that the C interface can run, through the public classes.
compile Vectors.exe -main:Vectors -reference:"$out/Kinepack.dll" tests/Vector*.cs tests/Check.cs
# If the last digit of a vector is changed, the program must fail.
run Vectors.exe "$out/script.txt" schema hash profile view runs sparse magnitude sends records \
  acknowledges splits stream_codec packet clip pose anm_pose pushes reads replay frame shows catalogue gives piece
# A library with another interface, and a library that is older than kp_abi.
compile OtherLibrary.exe -main:OtherLibrary -reference:"$out/Kinepack.dll" \
  tests/OtherLibrary.cs tests/Check.cs
printf '\n== OtherLibrary.exe\n'
other() {
  mkdir -p "$out/$1"
  echo "const char *kp_version(void) { return \"9.8.7\"; } $2" \
    | cc -x c -shared -fPIC -o "$out/$1/libkinepack_c.so" -
  LD_LIBRARY_PATH="$out/$1" mono --debug "$out/OtherLibrary.exe" "library 9.8.7 has interface $1,"
}
other 2 'unsigned kp_abi(void) { return 2; }'
other 0 ''
compile World.exe -reference:"$out/Kinepack.dll" examples/World.cs examples/LossyLink.cs
run World.exe
compile Transform.exe -reference:"$out/Kinepack.dll" examples/Transform.cs
run Transform.exe
# The programs of the README and of the book's chapter. Other blocks are not marked as `csharp`.
of_page() {
  sed -n '/^```csharp$/,/^```$/p' "$1" | sed '/^```/d' > "$out/$2.cs"
  compile "$2.exe" -reference:"$out/Kinepack.dll" "$out/$2.cs"
  run "$2.exe"
}
of_page README.md First
of_page ../docs/src/engines.md LiveBody
