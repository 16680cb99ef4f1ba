#!/bin/sh
# Times training steps with two workers while another process takes one of their two cores, beside two workers and one
# worker alone. neighbour.py says what is printed. Needs a quiet machine: other work counts as a neighbour too.
# Usage: scripts/bench/neighbour.sh [SECONDS [ROUNDS [CORES]]]
set -eu
cd "$(dirname "$0")/../.."
. scripts/bench/common.sh
"${PYTHON:-python3}" scripts/bench/neighbour.py "$tmp/privrec" "$@"
