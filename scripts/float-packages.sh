#!/usr/bin/env bash
# Prints the packages of internal/tensor, and those whose code or tests import them or what is written on them
# (autograd, nn, optim): built with -tags f64 they compute in float64. Packages that only start these compute nothing in
# tensor.Float themselves. internal/cli and cmd are left out, too: .ci/run uses the float64 program itself.
#
#   GO   the go command (default go)
set -euo pipefail
cd "$(dirname "$0")/.."

path='{{.ImportPath}}'
imports='{{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}'
"${GO:-go}" list -f "$path $path $imports " ./... |
	sed -nE 's#^([^ ]*) .*privrec/internal/(tensor|autograd|nn|optim)(/[^ ]*)? .*#\1#p' |
	grep -vE '^privrec/(internal/cli|cmd)(/.*)?$' | LC_ALL=C sort
