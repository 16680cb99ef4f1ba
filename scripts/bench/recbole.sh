#!/bin/sh
# Compares a run of LightGCN on ML-100K, from reading the rows to the measures, with RecBole 1.2.1. RECBOLE names a
# Python with it: python3.11 -m venv V && V/bin/pip install recbole==1.2.1 'numpy<1.24' 'scipy<1.11' 'setuptools<80'.
# The sides take turns for ROUNDS rounds; compare.py says what is printed and what the environment may name
# (PEERS, PYTHON, TCMALLOC).
# Usage: scripts/bench/recbole.sh [THREADS [SECONDS [ROUNDS [FLAGS OF compare.py...]]]]
set -eu
cd "$(dirname "$0")/../.."
. scripts/bench/common.sh
compare recbole "$@"
