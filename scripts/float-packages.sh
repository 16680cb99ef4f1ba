#!/usr/bin/env bash
# Prints the packages whose code or tests reach internal/tensor, whose numbers a program
# built with -tags f64 has in float64. All others, such as internal/privacy, compute the
# same in both. The shell around it all, internal/cli and cmd, is left out: it only starts
# what the others are, and .ci/run uses the float64 program itself.
#
#   GO   the go command (default go)
set -euo pipefail
cd "$(dirname "$0")/.."

"${GO:-go}" list -test -f '{{.ImportPath}} {{join .Deps " "}} ' ./... |
	sed -nE 's|^([^ ]*)\.test .* privrec/internal/tensor(/[^ ]*)? .*|\1|p' |
	grep -vE '^privrec/(internal/cli|cmd)(/.*)?$' | LC_ALL=C sort
