#!/usr/bin/env bash
# Kills workers and task managers of a running job on Flink, and holds what comes out to one machine.
#
#   kill.sh FOLDER PRIVREC PRIVREC-BEAM
#
# FOLDER has the libraries that flink.sh jars gathers; the others are the two programs. Workers are
# processes that the two task managers start (PROCESS), and processes of privrec-beam worker (EXTERNAL).
# In each job one process is killed (kill -9) once eight pieces of rows are written: none, a worker,
# a task manager. Table, list of empty rows and ledger must be those of one machine; with cryptographic
# bits every user must come out once, under the same ledger each time.
set -euo pipefail
[ $# -eq 3 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
dir=$(cd "$1" && pwd) one=$(realpath "$2") beam=$(realpath "$3")
data=$dir/kill-data out=$dir/kill-out
rm -rf "$data" "$out"
mkdir -p "$data" "$out"

# A hundred thousand users with 1 to 19 items each, in 16 files.
awk -v dir="$data" 'BEGIN {
	srand(7)
	for (f = 0; f < 16; f++) print "user_id\titem_id\ttimestamp" > (dir "/part-" f ".tsv")
	for (u = 1; u <= 100000; u++) {
		n = 1 + int(rand() * 19)
		for (i = 0; i < n; i++) print u "\t" 1 + int(rand() * 10000) "\t" i > (dir "/part-" u % 16 ".tsv")
	}
}'
{ head -1 "$data/part-0.tsv"; for f in "$data"/part-*.tsv; do tail -n +2 "$f"; done; } >"$data/one.tsv"
gzip -1 "$data"/part-*.tsv
settings=(--epsilon 6 --items 10000 --length 10)
"$one" perturb pricdsr --in "$data/one.tsv" --out "$out/want.tsv" "${settings[@]}" --seed 7 >/dev/null 2>&1
"$one" perturb pricdsr --in "$data/one.tsv" --out "$out/secure.tsv" "${settings[@]}" --secure >/dev/null 2>&1

# workers lists the worker processes of these task managers and of this pool.
workers() { pgrep -f -- "^$beam --id=.*--provision_endpoint=" || true; }

# job NAME VICTIM ARGUMENT...: runs a job, and kills a victim when it has written eight pieces.
job() {
	local name=$1 victim=$2 code=0
	shift 2
	"$beam" perturb pricdsr --input "$data/part-*.tsv.gz" --output "$out/$name.tsv" "${settings[@]}" --shards 8 \
		--runner flink --endpoint 127.0.0.1:8099 --parallelism 2 "$@" >"$out/$name.log" 2>&1 &
	local driver=$!
	if [ "$victim" != none ]; then
		until [ "$(find "$out" -path "*$name.tsv.work-*/rows-*" 2>/dev/null | wc -l)" -ge 8 ] && [ -n "$(workers)" ]; do
			kill -0 $driver 2>/dev/null || { tail -3 "$out/$name.log"; echo "kill.sh: $name ended before anything was killed" >&2; exit 1; }
			sleep 0.05
		done
		case $victim in
		worker) kill -9 "$(workers | head -1)" ;;
		manager) kill -9 "$(cat "$dir/task-manager-1.pid")" ;;
		esac
	fi
	wait $driver || code=$?
	[ $code -eq 0 ] || { tail -3 "$out/$name.log"; echo "kill.sh: $name failed" >&2; exit 1; }
	"$one" perturb merge --out "$out/$name.tsv" >/dev/null 2>&1
}

# same NAME: compares with one machine.
same() {
	cmp "$out/$1.tsv" "$out/want.tsv"
	cmp "$out/$1.empty.tsv" "$out/want.empty.tsv"
	cmp "$out/$1.ledger.jsonl" "$out/want.ledger.jsonl"
	cmp "$out/$1.job.ledger.jsonl" "$out/want.ledger.jsonl"
	echo "$1: the bytes of one machine"
}

# users FILE...: lists the users of each table, sorted.
users() { for f in "$@"; do tail -n +2 "$f" | cut -f1 | uniq; done | sort; }

# once NAME: compares the users of all shards, and the ledger, with those of one machine.
once() {
	cmp <(users "$out/$1".shard-*.tsv) <(users "$out/secure.tsv" "$out/secure.empty.tsv")
	cmp "$out/$1.ledger.jsonl" "$out/secure.ledger.jsonl"
	echo "$1: every user once, the ledger of one machine"
}

pool=
trap '[ -z "$pool" ] || kill "$pool"; "$here/flink.sh" stop "$dir"' EXIT
"$here/flink.sh" cluster "$dir" 2
job process none --environment_type PROCESS --seed 7
same process
job process-worker worker --environment_type PROCESS --seed 7
same process-worker
job process-secure worker --environment_type PROCESS --secure
once process-secure
"$beam" worker --listen localhost:50123 >"$out/pool.log" 2>&1 &
pool=$!
job external-worker worker --environment_type EXTERNAL --environment_config localhost:50123 --seed 7
same external-worker
job process-manager manager --environment_type PROCESS --seed 7
same process-manager
