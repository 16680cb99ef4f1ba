#!/bin/sh
# Writes the assembly of package kernel and its Go declarations, by default into
# that package, else into the folder given. Needs the modules of gen/go.mod.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=$(cd "${1:-$here/..}" && pwd)
cd "$here"
for part in gemm vec; do
	go run "./$part" -pkg kernel -out "$out/${part}_amd64.s" -stubs "$out/${part}_amd64.go"
done
