#!/usr/bin/env bash
# Shows what a Python user does, without Go: trains a model each with RecBole, LensKit and
# implicit on ML-100K, and evaluates, imports and attacks their lists and their vectors, with
# the wheel. At the end it says how long each first attack took from pip install of the wheel.
#
#   scripts/python/run.sh WHEEL ML-100K-FOLDER OUT
#
# PYTHON and PYTHON_RECBOLE name interpreters; RecBole 1.2.1 needs numpy < 1.24, so at most
# Python 3.11. Models that OUT holds already are not trained again. The environments, 4 GB, stay
# in OUT/venv*; what was measured is in OUT/measured.txt.
set -euo pipefail
wheel=$(realpath "$1") data=$(realpath "$2") out=$3
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
out=$(realpath "$out")
python=${PYTHON:-python3} recbole=${PYTHON_RECBOLE:-python3.11}
python=$(command -v "$python") recbole=$(command -v "$recbole")

# No Go: folders that have one are taken out of the path.
path=
while IFS= read -r -d : dir; do
	[ -x "$dir/go" ] || path=$path${path:+:}$dir
done <<<"$PATH:"
export PATH=$path PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
if command -v go; then
	echo "there is a Go in the path" >&2
	exit 1
fi

[ -e "$out/train.tsv" ] || "$python" "$here/split.py" "$data" "$out"

# model NAME PYTHON SCRIPT PACKAGE...: trains a model in an environment of its own.
model() {
	local name=$1 interpreter=$2 script=$3
	shift 3
	if [ ! -e "$out/$name/items.txt" ]; then
		SECONDS=0
		"$interpreter" -m venv "$out/venv-$name"
		"$out/venv-$name/bin/pip" install --quiet "$@"
		echo "$name: installed in $SECONDS s"
		SECONDS=0
		"$out/venv-$name/bin/python" "$here/$script" "$out" "$out/$name" >"$out/$name.log" 2>&1 || { tail "$out/$name.log" >&2; exit 1; }
		echo "$name: trained and exported in $SECONDS s"
	fi
}
model implicit "$python" train_implicit.py implicit pandas polars pyarrow
model lenskit "$python" train_lenskit.py lenskit
model recbole "$recbole" train_recbole.py 'recbole==1.2.1' 'numpy<1.24' 'setuptools<80'

rm -rf "$out/venv" "$out/runs"
"$python" -m venv "$out/venv"
started=$(date +%s.%N)
"$out/venv/bin/pip" install --quiet --no-index "$wheel"
"$out/venv/bin/privrec" version
"$out/venv/bin/python" "$here/measure.py" "$out" "$started" implicit lenskit recbole | tee "$out/measured.txt"

"$out/venv-implicit/bin/pip" install --quiet --no-index --force-reinstall "$wheel"
"$out/venv-implicit/bin/python" "$here/measure.py" "$out" --frames implicit
