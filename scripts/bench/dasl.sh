#!/bin/sh
# Compares one training step of DASL over 240,000 items, with exact lazy Adam, with PyTorch and dense Adam, with
# the recurrence as it is (eager) or compiled by torch.jit (script). Stops where the losses of one batch differ.
# The sides take turns for ROUNDS rounds; compare.py says what is printed and what the environment may name
# (PEERS, PYTHON, TCMALLOC).
# Usage: scripts/bench/dasl.sh [THREADS [SECONDS [ROUNDS [FLAGS OF compare.py...]]]]
set -eu
cd "$(dirname "$0")/../.."
. scripts/bench/common.sh
compare dasl "$@"
