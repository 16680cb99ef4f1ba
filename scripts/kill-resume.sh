#!/usr/bin/env bash
# Kills a training run with SIGKILL at random moments, resumes it, and compares its
# files byte for byte with those of a run without kills. After each kill the ledger
# must have no finite epsilon if that of the run without kills has none. Then repeats
# the run with 1 and 5 workers and compares again.
#
#   scripts/kill-resume.sh [CONFIG]                                  # small: a minute at most
#   KILLS=30 scripts/kill-resume.sh configs/dipsgnn/kill.yaml        # full: several minutes
#
#   CONFIG   configuration of a small task (default configs/dipsgnn/smoke.yaml, with a
#            checkpoint every two steps; "" for the defaults)
#   TASK     the task (default "train dipsgnn")
#   KILLS    how many kills in all (default 10)
#   WORKERS  further numbers of workers to compare (default "1 5")
#   SEED     seed of the random moments (default: from the clock; printed)
#   PRIVREC  the program (default: built from this checkout)
#   ARGS     further arguments for the program, such as "--set run.save_steps=2"
set -euo pipefail
cd "$(dirname "$0")/.."

config=${1-configs/dipsgnn/smoke.yaml}
read -r -a task <<<"${TASK:-train dipsgnn}"
if [ $# -eq 0 ]; then ARGS="--set run.save_steps=2 ${ARGS:-}"; fi # too short for a cadence in seconds
# Two runs have the same noise with a seed of it alone; secure noise has none, and is not compared.
case "${ARGS:-}" in *secure* | *noise_seed*) ;; *) ARGS="${ARGS:-} --set run.noise_seed=1" ;; esac
read -r -a args <<<"$ARGS"
kills=${KILLS:-10}
seed=${SEED:-$(date +%s)}
RANDOM=$((seed % 32768))
if [ -n "$config" ]; then args=(--config "$config" "${args[@]}"); fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${PRIVREC:-}" ]; then
	PRIVREC=$work/privrec
	go build -o "$PRIVREC" ./cmd/privrec
fi

fail() {
	echo "kill-resume: $*" >&2
	exit 1
}

# start OUT WORKERS: makes a run to its end, without output
start() {
	"$PRIVREC" "${task[@]}" "${args[@]}" --quiet --resume --out "$1" --workers "$2" >/dev/null 2>"$1.log"
}

# artefacts DIR: lists the files that must not depend on kills
artefacts() {
	(cd "$1" && find . -type f \( -name '*.tsv.gz' -o -name metrics.json -o -name privacy.json -o -name ledger.jsonl \
		-o -path './checkpoint/*' -o -name '.tmp-*' \) | LC_ALL=C sort)
}

# within CHECKPOINT: succeeds if it was made in the middle of an epoch
within() {
	head -c 65536 "$1" | grep -aqE '\\"batch\\":[1-9]'
}

# compare DIR WHAT: fails where a file differs from that of the run without kills
compare() {
	local f
	[ "$(artefacts "$work/whole")" = "$(artefacts "$1")" ] || fail "$2: other files: $(artefacts "$1" | tr '\n' ' ')"
	while read -r f; do
		cmp "$work/whole/$f" "$1/$f" || fail "$2: $f differs (seed of the moments $seed)"
	done < <(artefacts "$work/whole")
}

# finite DIR: prints how many epsilons of the run's ledger are finite
finite() {
	"$PRIVREC" account ledger "$1/ledger.jsonl" --delta 1e-6 --json >"$work/account.json" 2>"$work/account.log" ||
		{ cat "$work/account.log" >&2; fail "the ledger in $1 cannot be accounted (seed of the moments $seed)"; }
	grep -cE '"epsilon": [0-9]' "$work/account.json" || true
}

begin=$(date +%s%N)
start "$work/whole" 2 || { cat "$work/whole.log" >&2; fail "the run without kills failed"; }
took_ms=$((($(date +%s%N) - begin) / 1000000))
for f in metrics.json checkpoint/checkpoint.safetensors; do
	[ -s "$work/whole/$f" ] || fail "the run without kills wrote no $f"
done
whole=$(finite "$work/whole")
echo "kill-resume: the run without kills took $took_ms ms, wrote $(artefacts "$work/whole" | tr '\n' ' '); seed of the moments $seed"

# wanted: succeeds while more kills are needed: there were too few, or none came after
# a checkpoint, or of ten or more none came after one within an epoch. So the speed of
# the machine does not decide whether this passes.
wanted() {
	[ "$done_kills" -lt "$kills" ] || { [ "$kills" -gt 0 ] && [ "$resumed" -eq 0 ]; } || { [ "$kills" -ge 10 ] && [ "$midway" -eq 0 ]; }
}

# changes FILE PID: waits until the file is another one or the process is gone
changes() {
	local was
	was=$(stat -c %i:%Y:%s "$1" 2>/dev/null || true)
	while [ "$(stat -c %i:%Y:%s "$1" 2>/dev/null || true)" = "$was" ] && kill -0 "$2" 2>/dev/null; do sleep 0.01; done
}

done_kills=0 round=0 resumed=0 midway=0 tries=0
while wanted; do
	round=$((round + 1))
	dir=$work/killed$round
	while :; do
		"$PRIVREC" "${task[@]}" "${args[@]}" --quiet --resume --out "$dir" --workers 2 >/dev/null 2>"$dir.log" &
		pid=$!
		if wanted; then
			tries=$((tries + 1))
			[ "$tries" -le $((kills + 500)) ] || fail "$done_kills kills, $resumed of them after a checkpoint and $midway after one within an epoch: take a longer task or save more often (run.save_steps, run.save_seconds)"
			ms=$((10 + RANDOM % (took_ms * 2 / 3 + 10)))
			if [ $((tries % 2)) -eq 0 ]; then # soon after the next checkpoint
				changes "$dir/checkpoint/checkpoint.safetensors" "$pid"
				ms=$((RANDOM % (took_ms / 8 + 10)))
			fi
			sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
			kill -9 "$pid" 2>/dev/null || true
		fi
		status=0
		wait "$pid" 2>/dev/null || status=$?
		case $status in
		0) break ;;
		137)
			done_kills=$((done_kills + 1))
			if [ -s "$dir/checkpoint/checkpoint.safetensors" ]; then
				resumed=$((resumed + 1))
				left=$(finite "$dir")
				[ "$whole" -gt 0 ] || [ "$left" -eq 0 ] ||
					fail "the ledger has a finite epsilon after a kill, and none after a run without kills (seed of the moments $seed)"
				if within "$dir/checkpoint/checkpoint.safetensors"; then midway=$((midway + 1)); fi
			fi
			;;
		*) cat "$dir.log" >&2; fail "a resumed run failed with exit code $status (seed of the moments $seed)" ;;
		esac
	done
	compare "$dir" "after kills"
done
echo "kill-resume: $done_kills kills ($resumed after a checkpoint, $midway after one within an epoch) over $round runs, all byte-identical"

for n in ${WORKERS:-1 5}; do
	start "$work/workers$n" "$n" || { cat "$work/workers$n.log" >&2; fail "the run with $n workers failed"; }
	compare "$work/workers$n" "$n workers"
	echo "kill-resume: $n workers byte-identical to 2"
done
