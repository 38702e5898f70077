#!/usr/bin/env bash
# Trains the profile for cubes on the built-in world: four minutes in each style in which something
# moves, with seeds that no measurement uses.
#
#   lab/cube-data/train-profile.sh PROFILE [OPTION]...
#
# The options are those of `train`, such as --force and --without. The recordings are deleted at the
# end; they take some gigabytes in TMPDIR.
set -euo pipefail
workspace=$(dirname "$0")/../../Cargo.toml
lab() { cargo run --release --quiet --manifest-path "$workspace" -p demo -- "$@"; }
recordings=$(mktemp -d)
trap 'rm -rf "$recordings"' EXIT
captures=()
for style in typical push pull; do
  for seed in 1000 1001 1002 1003; do
    captures+=("$recordings/$style-$seed.mcap")
    lab record "${captures[-1]}" --style "$style" --seed "$seed" --seconds 60
  done
done
lab train "${captures[@]}" --out "$@"
