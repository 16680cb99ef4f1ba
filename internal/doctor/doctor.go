// Package doctor reports what a machine is, whether this program computes correctly on it, and
// which folders and data it has.
//
//	machine -> kernels against plain loops -> places -> data sets
//
// It measures or inspects everything at the time of the call. It downloads nothing and leaves
// nothing on disk. A full report takes a few seconds.
package doctor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"privrec/internal/dataset/registry"
	"privrec/internal/run"
)

// Options says where to look. The zero value looks where runs look.
type Options struct {
	Data string // folder of data sets; "" takes $PRIVREC_DATA
	Runs string // where runs go; "" takes "runs", as the command line does
}

// Report holds all findings.
type Report struct {
	OK      bool      `json:"ok"` // every self-test passed
	Build   run.Build `json:"build"`
	Machine Machine   `json:"machine"`
	Tests   []Test    `json:"self_tests"`
	Places  []Place   `json:"places"`
	Sets    []Set     `json:"data_sets"`
	Seconds float64   `json:"seconds"`
}

// Examine returns the report. It fails only if it cannot continue, such as when ctx ends; faults of the machine are in
// the report.
func Examine(ctx context.Context, o Options, p run.Progress) (*Report, error) {
	start := time.Now()
	r := &Report{OK: true, Build: run.BuildInfo(), Machine: thisMachine()}
	p.Phase("self-tests")
	for _, f := range families() {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		t := f.test()
		r.Tests, r.OK = append(r.Tests, t), r.OK && t.OK
	}
	r.Places = places(o)
	p.Phase("data sets")
	var err error
	if r.Sets, err = sets(ctx, o.Data); err != nil {
		return nil, err
	}
	r.Seconds = time.Since(start).Seconds()
	return r, nil
}

// ended returns ctx's error as an interruption.
func ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", run.ErrInterrupted, err)
	}
	return nil
}

// Err returns nil if every self-test passed, otherwise an error that names the failed ones.
func (r *Report) Err() error {
	if r.OK {
		return nil
	}
	var bad []string
	for _, t := range r.Tests {
		if !t.OK {
			bad = append(bad, t.Name)
		}
	}
	err := fmt.Errorf("self-test failed: %s", strings.Join(bad, ", "))
	if r.Build.SIMD == "off" {
		return run.WithHint(err,
			"plain Go fails too: the memory or the processor may be faulty; do not trust any result of this machine")
	}
	return run.WithHint(err,
		"set PRIVREC_SIMD=off and run privrec list machine again: if that passes, work with it set; "+
			"results of this machine without it are wrong")
}

// known returns every set that has files, in the registry's order.
func known() []registry.Set {
	var out []registry.Set
	for _, s := range registry.All() {
		if s.StandIn == nil {
			out = append(out, s)
		}
	}
	return out
}
