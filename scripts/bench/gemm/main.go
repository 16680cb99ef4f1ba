// Command gemm measures products on request: for each line "name form m n k
// seconds" on standard input it prints "min median" in seconds. It is the half of
// gemm.py that runs this project's kernels.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"privrec/internal/bench"
	"privrec/internal/tensor"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run() error {
	if err := tensor.SIMDError(); err != nil {
		return err
	}
	if len(os.Args) > 1 {
		n, err := strconv.Atoi(os.Args[1])
		if err != nil {
			return fmt.Errorf("workers: %w", err)
		}
		tensor.SetWorkers(n)
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var p bench.Product
		var form string
		var seconds float64
		if _, err := fmt.Sscan(in.Text(), &p.Name, &form, &p.M, &p.N, &p.K, &seconds); err != nil {
			return fmt.Errorf("line %q: %w", in.Text(), err)
		}
		p.TA, p.TB = form[0] == 'T', form[1] == 'T'
		r, err := p.Run(context.Background(), time.Duration(seconds*float64(time.Second)))
		if err != nil {
			return err
		}
		fmt.Println(r.MinS, r.MedianS)
	}
	return in.Err()
}
