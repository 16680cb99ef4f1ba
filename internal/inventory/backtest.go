package inventory

import (
	"context"
	"fmt"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/standin"
	"privrec/internal/metrics"
	"privrec/internal/report"
)

// Backtest counts methods that need no training on a data set and on its stand-in under the
// same recipe, and says which of them the stand-in orders otherwise. The name may be that of
// either. Phase is told what happens now.
func Backtest(ctx context.Context, name, recipe string, o registry.Options, phase func(text string)) (*report.Document, error) {
	name = strings.TrimPrefix(name, "standin-")
	if _, err := registry.Find(name); err != nil {
		return nil, err
	}
	if _, err := standin.Find(name); err != nil {
		return nil, err
	}
	var sides [2]*dataset.Sequential
	for i, set := range []string{name, "standin-" + name} {
		phase("load " + set)
		var err error
		if sides[i], err = registry.Load(ctx, set, recipe, o); err != nil {
			return nil, err
		}
	}
	phase("measure")
	ms := metrics.Grid([]metrics.Kind{metrics.Recall, metrics.MRR}, []int{10, 20})
	b, err := standin.NewBacktest(ctx, sides[0], sides[1], ms, o.Seed)
	if err != nil {
		return nil, err
	}
	return backtestDocument(name, recipe, uint64(o.Seed), ms, b), nil
}

// backtestDocument shows both sides in percent and what does not carry over.
func backtestDocument(name, recipe string, seed uint64, ms []metrics.Metric, b *standin.Backtest) *report.Document {
	columns := []report.Column{{Name: "method"}}
	agree := &report.Table{Name: "agreement", Title: "Agreement in the order of methods",
		Columns: []report.Column{{Name: "metric"}, {Name: "kendall", Format: "%+.2f"}, {Name: "ordered otherwise"}}}
	for k, m := range ms {
		columns = append(columns, report.Column{Name: m.String() + " real", Format: "%.2f"}, report.Column{Name: "stand-in", Format: "%.2f"})
		turned := "none"
		if len(b.Turned[k]) > 0 {
			turned = strings.Join(b.Turned[k], "; ")
		}
		agree.Add(m.String(), b.Kendall[k], turned)
	}
	t := &report.Table{Name: "methods", Title: "Methods, percent", Columns: columns}
	for _, row := range b.Rows {
		cells := []any{string(row.Method)}
		for k := range ms {
			cells = append(cells, 100*row.Real[k].Value, 100*row.StandIn[k].Value)
		}
		t.Add(cells...)
	}
	real, standIn := b.Rows[0].Real[0].Count, b.Rows[0].StandIn[0].Count
	return &report.Document{
		Title: "back-test of the stand-in for " + name, Subtitle: fmt.Sprintf("recipe %s, seed %d", recipe, seed),
		Level: dataset.LevelD, Tables: []*report.Table{t, agree},
		Notes: []string{fmt.Sprintf("%d test samples of the real data, %d of the stand-in", real, standIn),
			"agreement on these methods does not show that it holds for others"},
	}
}
