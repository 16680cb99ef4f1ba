#!/usr/bin/env bash
# Runs the slow tests, those in files with the build tag "slow", and no others: the
# rest is what `make test` runs. A line "// slow:TestName" in such a file names a test of
# another one, which does more with the tag. Arguments go to go test.
#
#   scripts/slow-tests.sh -v -count=1
#
#   GO   the go command (default go)
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}

# files TAG: lists the test files, one on each line, as package, folder and name
files() {
	"$go" list -tags "$1" -f '{{$p := .}}{{range .TestGoFiles}}{{$p.ImportPath}} {{$p.Dir}} {{.}}
{{end}}{{range .XTestGoFiles}}{{$p.ImportPath}} {{$p.Dir}} {{.}}
{{end}}' ./... | sed '/^$/d' | LC_ALL=C sort
}

slow=$(LC_ALL=C comm -13 <(files none) <(files slow))
[ -n "$slow" ] || {
	echo "slow-tests: no file has the build tag slow" >&2
	exit 1
}
names=$(while read -r _ dir name; do
	found=$(sed -nE 's/^func ((Test|Fuzz|Example)[A-Za-z0-9_]*)\(.*/\1/p; s#^// slow:(Test[A-Za-z0-9_]*)$#\1#p' "$dir/$name")
	[ -n "$found" ] || {
		echo "slow-tests: $dir/$name has the build tag slow and no test" >&2
		exit 1
	}
	echo "$found"
done <<<"$slow" | LC_ALL=C sort -u | paste -sd '|')
# The longest package begins first: begun last, it would keep one core busy while the others wait.
longest=privrec/internal/papers
mapfile -t packages < <(echo "$longest"; cut -d' ' -f1 <<<"$slow" | uniq | grep -vx "$longest")

exec "$go" test -tags slow -timeout 0 -run "^($names)\$" "$@" "${packages[@]}"
