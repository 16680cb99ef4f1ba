#!/usr/bin/env bash
# Makes the tables of a paper four times: without interruption, killed with SIGKILL again and
# again, by two processes side by side, and by three shards whose folders are copied
# together. All must have the same bytes, and no run may be made twice.
#
#   KILLS=6 scripts/kill-reproduce.sh [PAPER] [--profile smoke ...]
#
# Takes a minute on two free cores; needs no data with --profile smoke.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
paper=gerai
if [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; then
	paper=$1
	shift
fi
args=("$paper" --profile smoke --set run.save_steps=2 "$@") # checkpoints in the middle of runs of a second

go build -buildvcs=false -o "$work/privrec" ./cmd/privrec
make_table() {
	local out=$1
	shift
	"$work/privrec" reproduce "${args[@]}" --quiet --out "$work/$out" "$@" >"$work/$out.out"
}

start=$(date +%s%N)
make_table peace
took=$((($(date +%s%N) - start) / 1000000))

killed=0
for ((i = 1; i <= ${KILLS:-6}; i++)); do
	"$work/privrec" reproduce "${args[@]}" --quiet --out "$work/killed" >"$work/killed.out" 2>&1 &
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
"$work/privrec" reproduce "${args[@]}" --quiet --out "$work/shared" >"$work/second.out"
wait $pid

mkdir -p "$work/merged/runs"
for i in 1 2 3; do
	make_table "shard$i" --shard "$i/3"
	cp -r "$work/shard$i/runs/." "$work/merged/runs/"
done
make_table merged --no-run

for other in killed shared merged; do
	for file in "$work"/peace/tables/*.md "$work"/peace/tables/*.csv; do
		cmp "$file" "$work/$other/tables/$(basename "$file")"
	done
done
for run in "$work"/peace/runs/*; do
	for other in killed shared merged; do
		cmp "$run/metrics.json" "$work/$other/runs/$(basename "$run")/metrics.json"
	done
	if [ "$(grep -c '"started"' "$work/shared/runs/$(basename "$run")/manifest.json")" != 1 ]; then
		echo "$(basename "$run") was begun more than once" >&2
		exit 1
	fi
done
echo "$(ls "$work/peace/runs" | wc -l) runs, $killed kills: the same tables, byte for byte; two processes and three shards shared the work"
