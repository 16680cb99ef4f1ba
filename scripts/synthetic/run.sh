#!/bin/sh
# Measures synthetic rows: three seeds of two data sets at epsilon 4 and 8. Each step is skipped if its result is there.
#   PRIVREC_DATA=data sh scripts/synthetic/run.sh OUT
# OUT becomes a folder of data. Needs bin/privrec (or PRIVREC), and python3 with numpy and scipy (or PYTHON).
set -eu
out=$1
here=$(dirname "$0")
root=$here/../..
privrec=${PRIVREC:-$root/bin/privrec}
python=${PYTHON:-python3}
source=${PRIVREC_DATA:?names the folder of ml-100k and ml-1m}
mkdir -p "$out"
for seed in ${SEEDS:-1 2 3}; do
	for set in ${SETS:-ml-100k ml-1m}; do
		own=own-$set-$seed
		[ -e "$out/$own/items.txt" ] || "$python" "$here/split.py" "$source/$set" "$out/$own" "$seed"
		[ -e "$out/$set-$seed.json" ] || "$python" "$here/measure.py" "$out/$own" - "$out/$set-$seed.json"
		for epsilon in ${EPSILONS:-4 8}; do
			run=$set-$seed-$epsilon
			[ -e "$out/$run/result.json" ] || PRIVREC_DATA=$out "$privrec" train dp-ease -q \
				--config "$root/configs/private/$set-dp-ease.yaml" --set "data.name=$own" --set data.recipe=split \
				--set "data.items=$out/$own/items.txt" --set data.floor=none --set "privacy.epsilon=$epsilon" \
				--set 'eval.k=[20]' --seed "$seed" --set "run.noise_seed=$seed" --out "$out/$run"
			[ -e "$out/own-synthetic-$run/card.json" ] || PRIVREC_DATA=$out "$privrec" release dataset -q "$out/$run" \
				--out "$out/own-synthetic-$run" --seed "$seed"
			[ -e "$out/$run.json" ] || "$python" "$here/measure.py" "$out/$own" \
				"$out/own-synthetic-$run/own-synthetic-$run.inter" "$out/$run.json"
		done
	done
done
