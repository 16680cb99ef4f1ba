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

// Backtest compares methods that need no training on a data set and on its stand-in, under
// one recipe. It says which pairs of methods the stand-in puts in another order. name is
// that of the set or of its stand-in; phase is told what happens now.
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

// backtestDocument shows the methods on both sides, in percent, and where their orders
// differ.
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
	t := &report.Table{Name: "methods", Title: "Methods on the real data and on the stand-in (percent)", Columns: columns}
	for _, row := range b.Rows {
		cells := []any{string(row.Method)}
		for k := range ms {
			cells = append(cells, 100*row.Real[k].Value, 100*row.StandIn[k].Value)
		}
		t.Add(cells...)
	}
	real, standIn := b.Rows[0].Real[0].Count, b.Rows[0].StandIn[0].Count
	return &report.Document{
		Title: "The stand-in of " + name + " against the real data", Subtitle: fmt.Sprintf("recipe %s, seed %d", recipe, seed),
		Level: dataset.LevelD, Tables: []*report.Table{t, agree},
		Notes: []string{fmt.Sprintf("%d test samples of the real data, %d of the stand-in", real, standIn),
			"that the orders of these methods agree does not show that those of others do"},
	}
}
