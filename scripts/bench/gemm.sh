#!/bin/sh
# Compares the dense product with OpenBLAS through numpy (Debian: python3-numpy).
# Usage: scripts/bench/gemm.sh [THREADS [SECONDS [ONLY]]]
set -eu
cd "$(dirname "$0")/../.."
threads=${1:-2}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
go build -o "$tmp/gemm" ./scripts/bench/gemm
OPENBLAS_NUM_THREADS=$threads "${PYTHON:-python3}" scripts/bench/gemm.py "$threads" "$tmp/gemm" "${2:-0.1}" "${3:-}"
