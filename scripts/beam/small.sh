#!/usr/bin/env bash
# Runs privrec-beam's counts and evaluate on a small input, on the runner in their process, and compares
# with privrec: small.sh PRIVREC PRIVREC-BEAM FOLDER
set -euo pipefail
privrec=$(realpath "$1") beam=$(realpath "$2") out=$3
mkdir -p "$out/data/own-small" "$out/rows"
cd "$out"
export PRIVREC_DATA=$PWD/data

# 300 users, 60 items, in the order of their numbers: training rows and truth.
awk 'BEGIN {
	for (u = 0; u < 300; u++) {
		train = u; test = u
		for (k = 0; k < 3 + u % 11; k++) { i = (u * k + k * k + u) % 60; if (!has[u, i]++) train = train " " i }
		for (k = 0; k < 2; k++) { i = (7 * u + 31 * k + 3) % 60; if (!has[u, i]++) test = test " " i }
		print train > "data/own-small/train.txt"
		if (test ~ / /) print test > "data/own-small/test.txt"
		print train > ("rows/train-" u % 3 ".txt")
		if (test ~ / /) print test > ("rows/truth-" u % 2 ".txt")
	}
	for (i = 0; i < 60; i++) print i > "rows/items.txt"
}' </dev/null
gzip rows/train-1.txt
table() { echo "user_id,item_id"; awk '{ for (k = 2; k <= NF; k++) print $1 "," $k }' "$1"; }
table data/own-small/train.txt >rows/train.csv
table data/own-small/test.txt >rows/truth.csv

same() {
	cmp "$1" "$2" || { echo "small.sh: $1 is not $2" >&2; exit 1; }
}

# The Gram matrix in five shards, and EASE of it.
"$beam" counts --input 'rows/train-*' --catalogue rows/items.txt --shards 5 --output rows/small.gram
"$privrec" train ease --set data.name=own-small --workers 1 -q --out ease >/dev/null
"$privrec" train ease --set data.name=own-small --workers 1 -q --gram rows/small.gram --out gram >/dev/null
same ease/scores.tsv.gz gram/scores.tsv.gz

# What DP-EASE releases, and the run that goes on from it.
sets="--set data.name=own-small --set model.items=40 --set privacy.items=5 --set privacy.epsilon=20 --set run.noise_seed=5 --seed 5"
"$privrec" train dp-ease $sets --workers 1 -q --out one >/dev/null
"$beam" counts --release dp-ease $sets --input 'rows/train-*' --catalogue rows/items.txt --shards 7 --output far
"$privrec" train dp-ease --config far/config.yaml --out far --resume -q >/dev/null
for name in released.safetensors metrics.json privacy.json ledger.jsonl; do
	same one/$name far/$name
done

# Rankings by vectors.
"$privrec" train bprmf --set data.name=own-small --set train.epochs=2 --set model.dim=8 --workers 1 -q --out bprmf >/dev/null
"$privrec" report vectors bprmf --out vectors --format npy >/dev/null
"$privrec" import --vectors vectors/users.npy,vectors/items.npy --ids vectors/users.txt,vectors/items.txt \
	--train rows/train.csv --truth rows/truth.csv -q --out imported >/dev/null
"$beam" evaluate --users vectors/users.npy --user-ids vectors/users.txt --items vectors/items.npy --item-ids vectors/items.txt \
	--input 'rows/train-*' --truth 'rows/truth-*.txt' --shards 4 --output evaluated.json --lists lists
same imported/scores.tsv.gz evaluated.scores.tsv.gz
[ "$(cat lists.shard-*.tsv.gz | gzip -dc | grep -vc user_id)" -eq 6000 ] || { echo "small.sh: lists are missing" >&2; exit 1; }
echo "small.sh: what pipelines made is what one machine makes"
