package reproduce

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"privrec/internal/reproduce/costs"
	"privrec/internal/reproduce/grid"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Measure writes the table of costs that the program comes with. It has what the finished runs of a plan took, as if
// they had the workers of the plan and had run the most epochs that they may. Of those that are not finished it has
// what is recorded, and of others what measured steps say. Runs without data, and runs about others that are not
// finished, are left out where no cost is recorded.
func (p *Plan) Measure(ctx context.Context, w io.Writer) error {
	table, err := costs.Known()
	if err != nil {
		return err
	}
	before := tensor.Workers()
	defer tensor.SetWorkers(before)
	on := map[int]float64{}
	for _, n := range []int{1, p.o.Workers} {
		on[n] = costs.SpeedOn(n)
	}
	fmt.Fprintf(w, "# %.4g billion multiplications a second\n%s\n", on[p.o.Workers], strings.Join(costs.Columns, ","))
	written := map[string]bool{}
	for _, r := range p.runs {
		key, epochs, err := costs.Effort(r)
		if err != nil {
			return err
		}
		if written[key] {
			continue
		}
		c, ok := costs.Spent(r)
		if ok {
			ran, err := costs.RanShare(r)
			if err != nil {
				return err
			}
			if c.Seconds /= ran; on[c.Workers] > 0 {
				c.Seconds *= on[c.Workers] / on[p.o.Workers]
			}
		}
		if !ok {
			c = costs.Of(r)
			c.Seconds *= table.Speed / on[p.o.Workers]
			ok = c.How == costs.Recorded
		}
		if !ok {
			if _, err := r.Look(); err != nil {
				return err
			}
			if r.Waits() || grid.Absent(r.Data) != "" {
				continue
			}
			p.o.Progress.Phase(fmt.Sprintf("measure %s on %s", r.Method, r.Data))
			f, err := r.Entry.Task.Forecast(ctx, r.Start)
			if errors.Is(err, run.ErrNoForecast) {
				continue
			}
			if err != nil {
				return fmt.Errorf("%s on %s: %w", r.Method, r.Data, err)
			}
			c = costs.Cost{Seconds: f.Fastest, Memory: f.Bytes}
		}
		written[key] = true
		fmt.Fprintf(w, "%s,%s,%s,%d,%.4g,%d,%d\n", key, r.Entry.Task, r.Data, epochs, c.Seconds, c.Memory>>20,
			c.Disk>>10)
	}
	return nil
}
