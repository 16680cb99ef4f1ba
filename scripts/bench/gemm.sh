#!/bin/sh
# Compares the dense product with OpenBLAS through numpy (Debian: python3-numpy).
# Usage: scripts/bench/gemm.sh [THREADS [SECONDS [ONLY]]]
set -eu
cd "$(dirname "$0")/../.."
threads=${1:-2}
# The environment may tie OpenBLAS to kernels or cache sizes of another machine, and
# old versions take a new processor for one without AVX-512. Either halves its speed,
# so the kernels are named here.
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
if grep -qw avx512vl /proc/cpuinfo; then
	export OPENBLAS_CORETYPE=SkylakeX
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/gemm" ./scripts/bench/gemm
OPENBLAS_NUM_THREADS=$threads "${PYTHON:-python3}" scripts/bench/gemm.py "$threads" "$tmp/gemm" "${2:-0.05}" "${3:-}"
