#!/bin/sh
# Compares one training step of SASRec on the items of ML-1M with PyTorch. Stops where the losses of one batch differ.
# The sides take turns for ROUNDS rounds; compare.py says what is printed and what the environment may name
# (PEERS, PYTHON, TCMALLOC).
# Usage: scripts/bench/sasrec.sh [THREADS [SECONDS [ROUNDS [FLAGS OF compare.py...]]]]
set -eu
cd "$(dirname "$0")/../.."
. scripts/bench/common.sh
compare sasrec "$@"
