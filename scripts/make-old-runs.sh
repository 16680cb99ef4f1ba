#!/usr/bin/env bash
# Makes testdata/runs: a small finished run of every task, on generated data. They stay as
# an earlier program wrote them, and tests demand that later programs read them: do not
# make them again, but add runs of new forms beside them.
#
#   scripts/make-old-runs.sh              # those that are missing
#   scripts/make-old-runs.sh train-ease   # those named, in place of what is there
#
#   PRIVREC   the program (default: built from this checkout)
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "${PRIVREC:-}" ]; then
	PRIVREC=$work/privrec
	go build -trimpath -o "$PRIVREC" ./cmd/privrec
fi
PRIVREC=$(realpath "$PRIVREC")

# Plain Go runs on every processor, so that every machine computes the same numbers.
export PRIVREC_SIMD=off GODEBUG=cpu.fma=off
export LC_ALL=C
wanted=("$@")

# old VERB TASK [ARG]...: makes a run named VERB-TASK, without what names a machine
old() {
	local name=$1-$2 dir=testdata/runs/$1-$2
	if [ ${#wanted[@]} -gt 0 ]; then
		case " ${wanted[*]} " in
		*" $name "*) rm -rf "$dir" ;;
		*) return 0 ;;
		esac
	elif [ -e "$dir" ]; then
		return 0
	fi
	"$PRIVREC" "$@" --quiet --workers 1 --out "$dir" >/dev/null
	rm "$dir/report.html" # nothing reads it
	sed -E -i -e 's/^( *"host": )"[^"]*"/\1"example"/' -e 's/^( *"cpu": )"[^"]*"/\1"example"/' \
		-e 's/^( *"cores": )[0-9]+/\18/' -e 's/^( *"memory_bytes": )[0-9]+/\18589934592/' "$dir/manifest.json"
	if grep -rqF -e "$(hostname)\"" -e "$PWD" "$dir"; then
		echo "make-old-runs: $dir names this machine" >&2
		exit 1
	fi
	echo "$dir: $(du -sb "$dir" | cut -f1) bytes"
}

# settings KEY=VALUE...: prints them as arguments
settings() { for s in "$@"; do printf -- '--set\n%s\n' "$s"; done; }

mkdir -p testdata/runs
mapfile -t session < <(settings data.name=standin-tiny model.dim=4 train.epochs=2 train.batch=300)
mapfile -t closed < <(settings data.name=standin-tiny data.recipe=rdpgcf 'eval.k=[5,20]')
mapfile -t graph < <(settings model.dim=4 train.epochs=2 train.batch=512 train.rate=0.01)
mapfile -t released < <(settings perturb.epsilon=8)
mapfile -t cross < <(settings data.name=standin-cross data.target=left data.auxiliary=right data.length=14 model.dim=4 model.window=3 \
	train.epochs=1 train.batch=256 train.rate=0.01 eval.negatives=20)
mapfile -t slates < <(settings attack.dim=4 attack.ffn=4 train.epochs=1 train.batch=256 'eval.k=[5]' 'eval.budget=[k]' eval.resamples=100 \
	'sweep.ratios=[0.4]' 'sweep.epsilons=[]' 'sweep.attackers=[clean]')

old train dipsgnn --config configs/dipsgnn/smoke.yaml "${session[@]}" --set model.user_dim=2
old train srgnn "${session[@]}"
old train apgnn "${session[@]}" --set model.user_dim=2
old train gru4rec "${session[@]}"
old train rdpgcf --config configs/rdpgcf/smoke.yaml --set model.dim=4 --set train.epochs=2
for task in bprmf lightgcn ngcf; do old train "$task" "${closed[@]}" "${graph[@]}"; done
for task in edgerand lapgraph; do old train "$task" "${closed[@]}" "${graph[@]}" "${released[@]}"; done
for task in ease itemknn; do old train "$task" "${closed[@]}"; done
old train pricdsr --config configs/pricdsr/smoke.yaml "${cross[@]}"
for task in dasl dasl-single; do old train "$task" "${cross[@]}"; done
old attack exposure --config configs/exposure/smoke.yaml "${slates[@]}"
old train sasrec --config configs/exposure/smoke-sasrec.yaml --set model.dim=4 --set train.epochs=2
