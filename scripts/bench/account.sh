#!/bin/sh
# Compares the accountants with those of dp_accounting 0.6.0, an account by pld as a whole process too, and the float32
# normals with PyTorch's. DP_PYTHON names a Python with dp_accounting (python3 -m venv V && V/bin/pip install
# dp-accounting==0.6.0).
# The sides take turns for ROUNDS rounds; compare.py says what is printed and what the environment may name
# (PEERS, PYTHON, TCMALLOC).
# Usage: scripts/bench/account.sh [THREADS [SECONDS [ROUNDS [FLAGS OF compare.py...]]]]
set -eu
cd "$(dirname "$0")/../.."
. scripts/bench/common.sh
compare account,normals "$@"
