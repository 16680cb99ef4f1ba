#!/bin/sh
# Compares one training step of LightGCN, RDP-GCF, NGCF and matrix factorisation, and one product of a graph with a
# table, with PyTorch: on Gowalla and ML-1M, where $PRIVREC_DATA has them, and on a power-law graph of Gowalla's size.
# The sides take turns for ROUNDS rounds; compare.py says what is printed and what the environment may name
# (PEERS, PYTHON, TCMALLOC).
# Usage: scripts/bench/graph.sh [THREADS [SECONDS [ROUNDS [FLAGS OF compare.py...]]]]
set -eu
cd "$(dirname "$0")/../.."
. scripts/bench/common.sh
compare graph "$@"
