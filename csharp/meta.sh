#!/usr/bin/env bash
# Unity ignores each file of an installed package that has no .meta file. This writes the missing
# files. With --check it only lists missing .meta files, .meta files without a file, and GUIDs that
# occur twice. A GUID is derived from the first path of its file: if you rename a file, rename its
# .meta file too.
set -euo pipefail
cd "$(dirname "$0")/Kinepack"
importer() {
  case "$1" in
    *.cs) printf 'MonoImporter:\n  externalObjects: {}\n  serializedVersion: 2\n' ;;
    *.asmdef) printf 'AssemblyDefinitionImporter:\n  externalObjects: {}\n' ;;
    package.json) printf 'PackageManifestImporter:\n  externalObjects: {}\n' ;;
    *)
      if [ -d "$1" ]; then echo 'folderAsset: yes'; fi
      printf 'DefaultImporter:\n  externalObjects: {}\n'
      ;;
  esac
}
# Builds create bin and obj, which are not in the repository.
find . -mindepth 1 \( -name bin -o -name obj \) -prune -o ! -name '*.meta' -printf '%P\n' | sort \
  | while read -r path; do
  if [ -n "$path" ] && [ ! -e "$path.meta" ]; then
    echo "missing: $path.meta"
    if [ "${1:-}" != --check ]; then
      guid="$(printf 'com.kinepack.kinepack/%s' "$path" | md5sum | cut -c1-32)"
      { printf 'fileFormatVersion: 2\nguid: %s\n' "$guid"; importer "$path"; } >"$path.meta"
    fi
  fi
done
find . -name '*.meta' | while read -r path; do
  if [ ! -e "${path%.meta}" ]; then echo "without a file: $path"; fi
done
find . -name '*.meta' -exec grep -h '^guid' {} + | sort | uniq -d
