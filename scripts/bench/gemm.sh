#!/bin/sh
# Compares the dense product with PyTorch's (MKL, or OpenBLAS in Debian's), or with numpy's where PYTHON has no PyTorch.
# GEMM_JSON names a file for the ratios.
# Usage: scripts/bench/gemm.sh [THREADS [SECONDS [ONLY]]]
set -eu
cd "$(dirname "$0")/../.."
threads=${1:-2}
unset OPENBLAS_CORETYPE OPENBLAS_L2_SIZE ATEN_CPU_CAPABILITY MKL_ENABLE_INSTRUCTIONS
# Old versions of OpenBLAS take a new processor for one without AVX-512, so that its kernels are named here. MKL and new
# versions find them by themselves.
if grep -qw avx512vl /proc/cpuinfo; then
	export OPENBLAS_CORETYPE=SkylakeX
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/gemm" ./scripts/bench/gemm
export OPENBLAS_NUM_THREADS="$threads" OMP_NUM_THREADS="$threads" MKL_NUM_THREADS="$threads"
"${PYTHON:-python3}" scripts/bench/gemm.py "$threads" "$tmp/gemm" "${2:-0.05}" "${3:-}"
