package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"privrec/internal/stats"
	"privrec/internal/tensor"
)

// Case is one thing to measure. Prepare sets up a call and returns it.
type Case struct {
	Name, Shape string
	Prepare     func() (call func() error, err error)
}

// ProductTime and StepTime are the default times that GEMM and Run spend on a case. Steps of models take longer and
// vary more than products.
const (
	ProductTime = 300 * time.Millisecond
	StepTime    = 2 * time.Second
)

// Run measures the cases that o selects.
func Run(ctx context.Context, o Options, cases []Case) ([]Result, error) {
	return measured(ctx, o, cases, Measure)
}

// runOnce measures the cases that o selects as Run does, each once and then until its time is over: calls of seconds
// need no others to warm up.
func runOnce(ctx context.Context, o Options, cases []Case) ([]Result, error) {
	return measured(ctx, o, cases, func(ctx context.Context, d time.Duration, f func()) (median, least float64,
		err error) {
		var times []float64
		for begin := time.Now(); len(times) == 0 || time.Since(begin) < d; {
			if err := ctx.Err(); err != nil {
				return 0, 0, err
			}
			start := time.Now()
			f()
			times = append(times, time.Since(start).Seconds())
		}
		return stats.Median(times), slices.Min(times), nil
	})
}

// measured measures the cases that o selects, as a function measures one.
func measured(ctx context.Context, o Options, cases []Case,
	measure func(ctx context.Context, d time.Duration, f func()) (median, least float64, err error)) ([]Result, error) {
	if o.Time < 0 {
		return nil, fmt.Errorf("bench: time %v a case", o.Time)
	}
	if o.Time == 0 {
		o.Time = StepTime
	}
	var all []Result
	for _, c := range cases {
		if !strings.Contains(c.Name, o.Only) {
			continue
		}
		call, err := c.Prepare()
		if err != nil {
			return all, fmt.Errorf("bench %s: %w", c.Name, err)
		}
		var failed error
		median, least, err := measure(ctx, o.Time, func() {
			if failed == nil {
				failed = call()
			}
		})
		if failed != nil {
			err = failed
		}
		if err != nil {
			return all, fmt.Errorf("bench %s: %w", c.Name, err)
		}
		all = append(all, Result{Name: c.Name, Shape: c.Shape, Threads: tensor.Workers(), MedianS: median, MinS: least,
			RSSMB: residentMB()})
	}
	return all, nil
}
