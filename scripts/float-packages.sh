#!/usr/bin/env bash
# Prints the packages whose code or tests compute in tensor.Float: those that import
# internal/tensor, autograd or nn themselves and name their numbers. Their tests are
# what a program built with -tags f64 can fail; a package that only starts such code,
# such as internal/cli, and one that computes in float64 anyway, such as all of
# internal/privacy, have the same tests in both.
#
#   GO   the go command (default go)
set -euo pipefail
cd "$(dirname "$0")/.."

"${GO:-go}" list -f '{{$p := .}}{{range .Imports}}{{$p.ImportPath}} {{$p.Dir}} {{.}}
{{end}}{{range .TestImports}}{{$p.ImportPath}} {{$p.Dir}} {{.}}
{{end}}{{range .XTestImports}}{{$p.ImportPath}} {{$p.Dir}} {{.}}
{{end}}{{$p.ImportPath}} {{$p.Dir}} {{$p.ImportPath}}
' ./... | while read -r package dir import; do
	case $import in
	privrec/internal/tensor | privrec/internal/tensor/* | privrec/internal/autograd | privrec/internal/nn)
		if [ "$package" = "$import" ] || grep -qE '(tensor|kernel)\.(Float|Matrix)\b|\b(autograd|nn)\.' "$dir"/*.go; then echo "$package"; fi
		;;
	esac
done | LC_ALL=C sort -u
