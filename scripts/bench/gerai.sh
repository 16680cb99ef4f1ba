#!/bin/sh
# Compares one training step of GERAI and of its network without noise (gcn), at ML-100K's sizes, with PyTorch. "index",
# "segment" and "sparse" are three ways to write the attention there. Stops where the losses of one batch differ.
# The sides take turns for ROUNDS rounds; compare.py says what is printed and what the environment may name
# (PEERS, PYTHON, TCMALLOC).
# Usage: scripts/bench/gerai.sh [THREADS [SECONDS [ROUNDS [FLAGS OF compare.py...]]]]
set -eu
cd "$(dirname "$0")/../.."
. scripts/bench/common.sh
compare gerai "$@"
