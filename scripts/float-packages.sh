#!/usr/bin/env bash
# Prints the packages of internal/tensor, and those whose code or tests import them or what is written on them
# (autograd, nn, optim): built with -tags f64 they compute in float64. Packages that only start these compute nothing in
# tensor.Float themselves, and neither do those that take nothing but workers from internal/tensor. internal/cli and cmd
# are left out, too: .ci/run uses the float64 program itself.
#
#   GO   the go command (default go)
set -euo pipefail
cd "$(dirname "$0")/.."

imports='{{join .Imports " "}} {{join .TestImports " "}} {{join .XTestImports " "}}'
floats='privrec/internal/(tensor|autograd|nn|optim)(/[^ ]*)?'
workers='tensor\.(Parallel|SetWorkers|Workers)'
"${GO:-go}" list -f "{{.ImportPath}} {{.Dir}} $imports" ./... | while read -r path dir names; do
	found=$(tr ' ' '\n' <<<"$path $names" | grep -xE "$floats" | sort -u) || continue
	if [ "$found" = privrec/internal/tensor ] && [ "$path" != "$found" ]; then
		grep -ohE '\btensor\.[A-Z][A-Za-z0-9]*' "$dir"/*.go | grep -vxE "$workers" >/dev/null || continue
	fi
	echo "$path"
done | grep -vE '^privrec/(internal/cli|cmd)(/.*)?$' | LC_ALL=C sort
