#!/bin/bash
# Installs Hilo into a scratch folder and builds and runs examples/embed against it: embedding_test.sh SOURCE BUILD
set -euo pipefail
source_dir=$1
build_dir=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cmake --install "$build_dir" --prefix "$scratch/hilo" >"$scratch/install.log"
cmake -S "$source_dir/examples/embed" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/hilo" -DCMAKE_BUILD_TYPE=Release >"$scratch/configure.log"
cmake --build "$scratch/build" >"$scratch/build.log" || { cat "$scratch/build.log"; exit 1; }
got=$("$scratch/build/embed")
expected='f32[3] {3, 5, 7}'
[[ $got == "$expected" ]] || { echo "expected '$expected', got '$got'"; exit 1; }
echo "$got"
