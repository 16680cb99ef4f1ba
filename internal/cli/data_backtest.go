package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/standin"
	"privrec/internal/metrics"
	"privrec/internal/progress"
	"privrec/internal/report"
	"privrec/internal/rng"
	"privrec/internal/run"
)

func (a *App) dataBacktest() *cobra.Command {
	var (
		recipe, dir   string
		seed          uint64
		asJSON, quiet bool
	)
	c := &cobra.Command{
		Use:   "backtest NAME",
		Short: "order of simple methods on a stand-in against the real data",
		Long: `Counts methods that need no training on real data and on their stand-in under the
same recipe, and says which of them the stand-in orders otherwise.`,
		Args: wants("a data set that has a stand-in, see privrec data list"),
		RunE: func(c *cobra.Command, args []string) error {
			name := strings.TrimPrefix(args[0], "standin-")
			if _, err := registry.Find(name); err != nil {
				return err
			}
			if _, err := standin.Find(name); err != nil {
				return err
			}
			r := newReporter(a.Stderr, quiet)
			c.SetContext(progress.With(c.Context(), r))
			var sides [2]*dataset.Sequential
			for i, set := range []string{name, "standin-" + name} {
				r.Phase("load " + set)
				var err error
				if sides[i], err = registry.Load(c.Context(), set, recipe, registry.Options{Dir: dir, Seed: rng.Seed(seed)}); err != nil {
					return err
				}
			}
			r.Phase("measure")
			ms := metrics.Grid([]metrics.Kind{metrics.Recall, metrics.MRR}, []int{10, 20})
			b, err := standin.NewBacktest(c.Context(), sides[0], sides[1], ms, rng.Seed(seed))
			if err != nil {
				return err
			}
			return run.Show(a.Stdout, asJSON, backtestDocument(name, recipe, seed, ms, b))
		},
	}
	p := c.Flags()
	p.StringVar(&recipe, "recipe", "dipsgnn", "steps from raw rows to sequences, of both")
	p.StringVar(&dir, "data", "", "folder of data sets; default $PRIVREC_DATA")
	p.Uint64Var(&seed, "seed", 1, "seed of the stand-in and of what is shuffled")
	p.BoolVar(&asJSON, "json", false, "as JSON")
	p.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
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
