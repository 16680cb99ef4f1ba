#!/bin/sh
# Compares everything that scripts/bench compares, in one run, and writes one table in Markdown: OUT/bench.md, with the
# numbers in OUT/bench.json. Above the table stand the processor, its caches and kernels, how fast rows are gathered at
# random, and the load before and after. Every side uses THREADS threads.
#
#   PEERS="torch-2.15=/venv/bin/python torch-1.13=/usr/bin/python3" PRIVREC_DATA=DATA scripts/bench/all.sh
#
# PEERS lists interpreters with PyTorch; one that has none is named and left out. DP_PYTHON has dp_accounting and RECBOLE
# has RecBole (account.sh and recbole.sh say how to make them); their rows are left out without them. GROUPS_OF_BENCH
# chooses some of: gemm graph dipsgnn dasl attack gerai sasrec dpsgd account normals recbole; ONLY=A,B chooses cases of
# them with A or B in their key; COMPILE=1 asks peers through torch.compile too, which compiles for minutes.
# The record of docs/results is made of it by
#
#   go run ./scripts/bench/record OUT/bench.json docs/results/records/FILE.json
#
# which refuses numbers that were measured beside other programs.
#
# Usage: scripts/bench/all.sh [THREADS [SECONDS [ROUNDS [OUT]]]]
set -eu
cd "$(dirname "$0")/../.."
threads=${1:-2} seconds=${2:-3} rounds=${3:-3} out=${4:-.}
mkdir -p "$out"
. scripts/bench/common.sh
groups=${GROUPS_OF_BENCH:-gemm graph dipsgnn dasl attack gerai sasrec dpsgd account normals recbole}
[ -n "${RECBOLE:-}" ] && [ -n "${PRIVREC_DATA:-}" ] || groups=$(echo "$groups" | sed 's/ *recbole//')
go run ./scripts/bench/gather "$threads" 1 >"$tmp/gather.json"
list=
for g in $groups; do
	if [ "$g" != gemm ]; then
		list=${list:+$list,}$g
		continue
	fi
	for peer in ${PEERS:-python=${PYTHON:-python3}}; do
		echo "matrix products against ${peer%%=*}" >&2
		GEMM_JSON="$tmp/gemm.${peer%%=*}.json" PYTHON="${peer#*=}" scripts/bench/gemm.sh "$threads" "${GEMM_SECONDS:-0.05}" >&2 ||
			echo "${peer%%=*}: no matrix products" >&2
	done
done
compare "${list:-none}" "$threads" "$seconds" "$rounds" --gather "$tmp/gather.json" --gemm "$tmp" --only "${ONLY:-}" --commit "$(git rev-parse HEAD 2>/dev/null || true)" \
	${COMPILE:+--compile} --json "$out/bench.json" --table "$out/bench.md"
