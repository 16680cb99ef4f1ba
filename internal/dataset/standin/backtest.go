package standin

import (
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/metrics"
	"privrec/internal/rng"
)

// BacktestRow is a baseline on real data and on their stand-in.
type BacktestRow struct {
	Method  Baseline        `json:"method"`
	Real    []metrics.Value `json:"real"`
	StandIn []metrics.Value `json:"stand_in"`
}

// Backtest says how far conclusions about methods that hold on a stand-in hold on real data.
type Backtest struct {
	Rows    []BacktestRow `json:"rows"`
	Kendall []float64     `json:"kendall"` // for each metric: rank correlation of the methods, -1 to 1
	// Turned lists, for each metric, the pairs of methods that the stand-in puts in the
	// opposite order.
	Turned [][]string `json:"turned"`
}

// NewBacktest measures every baseline on both data sets, which must come from the same recipe.
func NewBacktest(ctx context.Context, real, standIn *dataset.Sequential, ms []metrics.Metric, seed rng.Seed) (*Backtest, error) {
	if real.Source.StandIn || !standIn.Source.StandIn {
		return nil, fmt.Errorf("dataset: a back-test takes real data and a stand-in, got %s and %s", real.Name, standIn.Name)
	}
	b := &Backtest{}
	stream := seed.Stream("standin/backtest")
	for _, method := range Baselines() {
		row := BacktestRow{Method: method}
		for _, side := range []struct {
			s  *dataset.Sequential
			to *[]metrics.Value
		}{{real, &row.Real}, {standIn, &row.StandIn}} {
			var err error
			if *side.to, err = method.Measure(ctx, side.s, ms, stream); err != nil {
				return nil, fmt.Errorf("%s on %s: %w", method, side.s.Name, err)
			}
		}
		b.Rows = append(b.Rows, row)
	}
	for k := range ms {
		tau, turned := agreement(b.Rows, k)
		b.Kendall, b.Turned = append(b.Kendall, tau), append(b.Turned, turned)
	}
	return b, nil
}

// agreement returns Kendall's tau of the methods under metric k and the pairs in opposite
// order. A pair that is equal on either data set does not count.
func agreement(rows []BacktestRow, k int) (tau float64, turned []string) {
	turned = []string{}
	pairs := 0
	for i := range rows {
		for j := range i {
			pairs++
			d := (rows[i].Real[k].Value - rows[j].Real[k].Value) * (rows[i].StandIn[k].Value - rows[j].StandIn[k].Value)
			switch {
			case d > 0:
				tau++
			case d < 0:
				tau--
				turned = append(turned, fmt.Sprintf("%s and %s", rows[j].Method, rows[i].Method))
			}
		}
	}
	return tau / float64(max(1, pairs)), turned
}
