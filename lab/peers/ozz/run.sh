#!/usr/bin/env bash
# Builds and runs this program with the stable compiler: `./run.sh raw/*.clip`.
#
# ozz-animation-rs 0.11 needs unstable features of the standard library. This script builds a copy
# of its source with two lines changed:
# - The original calls a method of masks that has another name since Rust 1.95.
# - The original never clears the marks of tracks that reached another key, so it unpacks all tracks
#   in each pose. ozz-animation in C++ clears these marks.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
target=${CARGO_TARGET_DIR:-$here/target}
copy=$target/ozz-animation-rs
export RUSTC_BOOTSTRAP=1
manifest=$here/Cargo.toml
if [ ! -d "$copy" ]; then
  source=$(cargo metadata --manifest-path "$manifest" --format-version 1 |
    grep -o '"manifest_path":"[^"]*/ozz-animation-rs-[^"/]*/Cargo.toml"' | cut -d '"' -f 4)
  mkdir -p "$target"
  cp -r "$(dirname "$source")" "$copy.new"
  sed -i.bak 's/\.to_int()/.to_simd()/' "$copy.new/src/math.rs"
  sed -i.bak 's/= args.outdated\[j\];/= std::mem::take(\&mut args.outdated[j]);/' \
    "$copy.new/src/sampling_job.rs"
  mv "$copy.new" "$copy"
fi
patch="patch.crates-io.ozz-animation-rs.path=\"$copy\""
exec cargo run --release --manifest-path "$manifest" --config "$patch" -- "$@"
