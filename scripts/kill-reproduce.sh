#!/usr/bin/env bash
# Makes a table three times: without interruption, killed with SIGKILL again and again,
# and by two processes side by side. All three must have the same bytes, and no run may
# be made twice.
#
#   KILLS=6 scripts/kill-reproduce.sh [--profile smoke ...]
#
# Takes half a minute on two free cores; needs no data with --profile smoke.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
args=(--profile smoke --set run.save_steps=2 "$@") # checkpoints in the middle of runs of a second

go build -buildvcs=false -o "$work/privrec" ./cmd/privrec
make_table() { "$work/privrec" reproduce dipsgnn "${args[@]}" --quiet --out "$work/$1" >"$work/$1.out"; }

start=$(date +%s%N)
make_table peace
took=$((($(date +%s%N) - start) / 1000000))

killed=0
for ((i = 1; i <= ${KILLS:-6}; i++)); do
	"$work/privrec" reproduce dipsgnn "${args[@]}" --quiet --out "$work/killed" >"$work/killed.out" 2>&1 &
	pid=$!
	sleep "$(awk -v t="$took" -v s="$RANDOM" 'BEGIN { printf "%.3f", t / 1000 * (0.05 + 0.4 * s / 32768) }')"
	if kill -KILL $pid 2>/dev/null; then
		killed=$((killed + 1))
	fi
	wait $pid 2>/dev/null || true
done
make_table killed

make_table shared &
pid=$!
"$work/privrec" reproduce dipsgnn "${args[@]}" --quiet --out "$work/shared" >"$work/second.out"
wait $pid

for other in killed shared; do
	for file in "$work"/peace/tables/*.md "$work"/peace/tables/*.csv; do
		cmp "$file" "$work/$other/tables/$(basename "$file")"
	done
done
cmp "$work/peace.out" "$work/killed.out"
cmp "$work/peace.out" "$work/shared.out"
cmp "$work/peace.out" "$work/second.out"
for run in "$work"/peace/runs/*; do
	for other in killed shared; do
		cmp "$run/metrics.json" "$work/$other/runs/$(basename "$run")/metrics.json"
	done
	if [ "$(grep -c '"started"' "$work/shared/runs/$(basename "$run")/manifest.json")" != 1 ]; then
		echo "$(basename "$run") was begun more than once" >&2
		exit 1
	fi
done
echo "$(ls "$work/peace/runs" | wc -l) runs, $killed kills: the same tables, byte for byte; two processes shared the work"
