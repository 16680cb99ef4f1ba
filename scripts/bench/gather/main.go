// Command gather measures how fast the workers of this machine read rows of 256 bytes at random places of tables of
// 0.25, 1 and 18 MB: the limit of a product of graph and table. It prints the results of `privrec bench` as JSON, with
// 1e9 bytes a second in the place of GFLOP/s.
//
// Usage: gather [WORKERS [SECONDS]]
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"time"

	"privrec/internal/bench"
	"privrec/internal/rng"
	"privrec/internal/tensor"
)

// cols is the number of values in a row, and near the number of rows added up for one result.
const (
	cols = 64
	near = 256
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if err := tensor.SIMDError(); err != nil {
		return err
	}
	seconds := 1.0
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		if err != nil {
			return fmt.Errorf("workers: %w", err)
		}
		tensor.SetWorkers(n)
	}
	if len(args) > 1 {
		var err error
		if seconds, err = strconv.ParseFloat(args[1], 64); err != nil {
			return fmt.Errorf("seconds: %w", err)
		}
	}
	var cases []bench.Case
	bytes := map[string]float64{}
	for _, mb := range []float64{0.25, 1, 18} {
		name := fmt.Sprintf("gather_%gmb", mb)
		rows := int(mb * (1 << 20) / 256)
		sums := max(512, rows/16)
		bytes[name] = float64(sums) * near * 256
		cases = append(cases, bench.Case{Name: name, Shape: fmt.Sprintf("%g MB", mb),
			Prepare: func() (func() error, error) {
				return prepare(rows, sums), nil
			}})
	}
	results, err := bench.Run(context.Background(), bench.Options{Time: time.Duration(seconds * float64(time.Second))},
		cases)
	if err != nil {
		return err
	}
	for i, r := range results {
		results[i].GFLOPS = bytes[r.Name] / r.MinS / 1e9
	}
	return json.NewEncoder(os.Stdout).Encode(results)
}

// prepare makes a table with a number of rows, and returns a call that computes a number of sums, each of near rows at
// random places.
func prepare(rows, sums int) func() error {
	draw := rng.Seed(1).Stream("bench.gather")
	a := &tensor.CSR{Rows: sums, Cols: rows, Ptr: make([]int64, sums+1), Idx: make([]int32, sums*near),
		Val: make([]tensor.Float, sums*near)}
	for i := range a.Idx {
		a.Idx[i], a.Val[i] = int32(draw.IntN(rows)), 1
	}
	for i := range a.Ptr {
		a.Ptr[i] = int64(i * near)
	}
	table, out := tensor.NewTable(rows, cols), tensor.NewTable(sums, cols)
	for i := range table.Data {
		table.Data[i] = 1
	}
	return func() error {
		a.MulDense(out, table)
		return nil
	}
}
