package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"privrec/internal/tensor"
)

// Case is one thing to measure. Prepare makes what a call needs and returns the call.
type Case struct {
	Name, Shape string
	Prepare     func() (call func() error, err error)
}

// ProductTime and StepTime are how long GEMM and Run measure a case by default: steps of models
// take longer and vary more than products.
const (
	ProductTime = 300 * time.Millisecond
	StepTime    = 2 * time.Second
)

// Run measures the cases that o asks for.
func Run(ctx context.Context, o Options, cases []Case) ([]Result, error) {
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
		median, least, err := Measure(ctx, o.Time, func() {
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
		all = append(all, Result{Name: c.Name, Shape: c.Shape, Threads: tensor.Workers(), MedianS: median, MinS: least, RSSMB: residentMB()})
	}
	return all, nil
}
