#!/bin/sh
# Compares one step of DP-SGD by BPR on a table of 70,839 x 64, clipped by pair, with Opacus, and each side's own
# step without privacy. Opacus runs as "hooks" (GradSampleModule, once: a step of it takes tens of seconds) and as
# "ghost clipping" (GradSampleModuleFastGradientClipping). Stops where the losses of one batch differ.
# The sides take turns for ROUNDS rounds; compare.py says what is printed and what the environment may name
# (PEERS, PYTHON, TCMALLOC).
# Usage: scripts/bench/dpsgd.sh [THREADS [SECONDS [ROUNDS [FLAGS OF compare.py...]]]]
set -eu
cd "$(dirname "$0")/../.."
. scripts/bench/common.sh
compare dpsgd "$@"
