#!/usr/bin/env bash
# Prints the packages with code or tests that import internal/tensor, at once or through
# others: a program built with -tags f64 computes them in float64. All other packages, such
# as internal/privacy, compute the same in both. internal/cli and cmd are left out: they
# only start the others, and .ci/run uses the float64 program itself.
#
#   GO   the go command (default go)
set -euo pipefail
cd "$(dirname "$0")/.."

"${GO:-go}" list -test -f '{{.ImportPath}} {{join .Deps " "}} ' ./... |
	sed -nE 's|^([^ ]*)\.test .* privrec/internal/tensor(/[^ ]*)? .*|\1|p' |
	grep -vE '^privrec/(internal/cli|cmd)(/.*)?$' | LC_ALL=C sort
