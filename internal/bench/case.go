package bench

import (
	"context"
	"fmt"
	"strings"
	"time"

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
		all = append(all, Result{Name: c.Name, Shape: c.Shape, Threads: tensor.Workers(), MedianS: median, MinS: least,
			RSSMB: residentMB()})
	}
	return all, nil
}
