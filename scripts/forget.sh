#!/bin/sh
# Makes requests to forget random users of a run, and checks each against a training from the start.
#
#   scripts/forget.sh PRIVREC FOLDER DATA REQUESTS MODEL [--set KEY=VALUE]...
#
# PRIVREC is the program. FOLDER gets the runs; it is kept. A line of the output is a request: model, data, users, the
# seconds that forgetting and a training took (processor time where that is less), and whether all files are equal.
set -eu
privrec=$1 folder=$2 data=$3 requests=$4 model=$5
shift 5
mkdir -p "$folder"
run=$folder/$model
[ -e "$run/metrics.json" ] || "$privrec" train "$model" --set data.name="$data" "$@" --out "$run" -q > /dev/null
for k in $(seq "$requests"); do
	new=$folder/$model-$k
	# users by a fixed rule: 1 to 50 of them, spread over the lists that the run measured
	users=$(zcat "$run"/scores*.tsv.gz | awk -v k="$k" 'BEGIN { srand(k); most = 1 + int(50 * rand()) }
		NR > 1 { id[NR - 1] = $1; n = NR - 1 }
		END { for (i = 0; i < most; i++) { u = id[1 + int(n * rand())]; if (!(u in had)) { had[u] = 1; print u } } }')
	# shellcheck disable=SC2086
	"$privrec" forget "$run" $(for u in $users; do printf ' --user %s' "$u"; done) --out "$new" -q > /dev/null
	equal=$("$privrec" forget check "$run" --against "$new" -q | grep '^bytes' | sed 's/^bytes *//')
	took=$(grep -o '"seconds": [0-9.]*' "$new/forgotten.json" | sed 's/.*: //' | paste -sd ' ')
	# shellcheck disable=SC2086
	printf '%s\t%s\t%d\t%s\t%s\n' "$model" "$data" "$(echo $users | wc -w)" "$took" "$equal"
done
