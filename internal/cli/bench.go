package cli

import (
	"context"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/bench"
	"privrec/internal/papers/dipsgnn"
	"privrec/internal/private/stream"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Bench measures one thing on this machine.
type Bench struct {
	Name, Summary string
	Run           func(ctx context.Context, o bench.Options) ([]bench.Result, error)
	Sizes         bool // takes the sizes of a graph and of a model
	Graph         bool // takes a file of a graph too
	Held          bool // and a file of pairs that the graph leaves out
}

// measurements shows a list of results.
type measurements struct {
	title string
	list  []bench.Result
}

// MarshalJSON writes the list alone.
func (m measurements) MarshalJSON() ([]byte, error) { return json.Marshal(m.list) }

// JSONForms says what MarshalJSON writes.
func (measurements) JSONForms() []any { return []any{[]bench.Result{}} }

// Text writes the list as a table.
func (m measurements) Text(w io.Writer) error {
	t := &report.Table{Title: m.title, Columns: []report.Column{{Name: "name"}, {Name: "shape"}, {Name: "threads"},
		{Name: "median s", Format: "%.3e"}, {Name: "min s", Format: "%.3e"}, {Name: "median/min", Format: "%.2f"},
		{Name: "GFLOP/s", Format: "%.1f"}, {Name: "RSS MB", Format: "%.0f"}}}
	for _, x := range m.list {
		gflops := any(nil)
		if x.GFLOPS > 0 {
			gflops = x.GFLOPS
		}
		t.Add(x.Name, x.Shape, x.Threads, x.MedianS, x.MinS, x.MedianS/x.MinS, gflops, x.RSSMB)
	}
	return t.Text(w)
}

// bench makes one command for each measurement. They are for developers: the help of the program does not list them.
func (a *App) bench() *cobra.Command {
	parent := &cobra.Command{
		Use: "bench", Short: "measure speed on this machine", Hidden: true,
		Args: cobra.ArbitraryArgs, RunE: group("benchmark"),
	}
	for _, b := range a.Benches {
		var (
			o             bench.Options
			workers       int
			asJSON, quiet bool
		)
		c := &cobra.Command{
			Use:   b.Name,
			Short: b.Summary,
			Args:  wants(),
			RunE: func(c *cobra.Command, _ []string) error {
				n, err := threads(workers)
				if err != nil {
					return err
				}
				if b.Sizes {
					if err := o.Sizes.Check(); err != nil {
						return usagef("", "%v", err)
					}
				}
				if o.Held != "" && o.Graph == "" {
					return usagef("give the graph too, or leave --held-out out", "--held-out has no effect without "+
						"--graph")
				}
				if o.Time < 0 {
					return usagef("0 takes the default", "--time is %v, want at least 0", o.Time)
				}
				tensor.SetWorkers(n)
				r := newReporter(a.Stderr, quiet)
				r.Phase("bench " + b.Name)
				list, err := b.Run(c.Context(), o)
				if err != nil {
					return err
				}
				if len(list) == 0 {
					return usagef("leave --only out to see all", "no case of %s has %q in its name", c.CommandPath(),
						o.Only)
				}
				return run.Show(a.Stdout, asJSON, measurements{b.Summary + ", kernels " + tensor.SIMD(), list})
			},
		}
		c.Flags().IntVar(&workers, "workers", 0, "threads, 0 for all cores")
		c.Flags().BoolVar(&asJSON, "json", false, "a list of {name, shape, threads, median_s, min_s, gflops, rss_mb}")
		c.Flags().DurationVar(&o.Time, "time", 0, "time to spend on a case; 0 takes "+bench.ProductTime.String()+
			" for a product and "+bench.StepTime.String()+" for any other case")
		c.Flags().StringVar(&o.Only, "only", "", "only cases with this in their name")
		c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress")
		if b.Sizes {
			sizeFlags(c.Flags(), &o.Sizes)
		}
		if b.Graph {
			c.Flags().StringVar(&o.Graph, "graph", "",
				"file with a user and an item, numbers from 0, in each line: measured in place of drawn graphs")
		}
		if b.Held {
			c.Flags().StringVar(&o.Held, "held-out", "",
				"file of pairs that the graph of --graph leaves out: Recall and NDCG of the lists are printed")
		}
		parent.AddCommand(c)
	}
	return parent
}

// sizeFlags declares the flags of the benchmarks on graphs.
func sizeFlags(f *pflag.FlagSet, s *bench.Sizes) {
	d := bench.Gowalla()
	f.IntVar(&s.Users, "users", d.Users, "users of the graph")
	f.IntVar(&s.Items, "items", d.Items, "items of the graph")
	f.IntVar(&s.Edges, "edges", d.Edges, "edges of the graph; 2 and 4 times as many are measured too")
	f.IntVar(&s.Dim, "dim", d.Dim, "numbers in a row of the embedding table")
	f.IntVar(&s.Layers, "layers", d.Layers, "layers of the propagation")
	f.IntVar(&s.Batch, "batch", d.Batch, "pairs in a step")
}

// benches lists what can be measured.
func benches() []Bench {
	return []Bench{
		{Name: "gemm", Summary: "matrix products at the shapes that models use", Run: bench.GEMM},
		{Name: "account", Summary: "privacy accounting and noise", Run: bench.Account},
		{Name: "closed", Summary: "fit and ranking of iALS, ItemKNN, RP3beta and EASE", Run: bench.Closed, Sizes: true,
			Graph: true, Held: true},
		{Name: "dipsgnn", Summary: "training step of DIPSGNN on 100 sessions", Run: dipsgnn.Bench},
		{Name: "dasl", Summary: "training step of DASL over 240,000 items", Run: bench.DASL},
		{Name: "ease", Summary: "fit and ranking of EASE at the catalogue of Netflix, once each", Run: bench.EASE},
		{Name: "gerai", Summary: "training step of GERAI, and of its network without noise", Run: bench.GERAI},
		{Name: "lightgcn", Summary: "training step of LightGCN", Run: bench.Step("lightgcn"), Sizes: true, Graph: true},
		{Name: "rdpgcf", Summary: "training step of RDP-GCF", Run: bench.Step("rdpgcf"), Sizes: true, Graph: true},
		{Name: "ngcf", Summary: "training step of NGCF", Run: bench.Step("ngcf"), Sizes: true, Graph: true},
		{Name: "bprmf", Summary: "training step of matrix factorisation, and ranking", Run: bench.Step("bprmf"),
			Sizes: true, Graph: true},
		{Name: "dpsgd", Summary: "training step of matrix factorisation with per-example clipping and noise, and " +
			"without", Run: bench.DPSGD, Sizes: true},
		{Name: "sasrec", Summary: "training step of SASRec on the items of ML-1M", Run: bench.SASRec},
		{Name: "exposure", Summary: "training step and ranking of exposure attacks", Run: bench.Exposure},
		{Name: "stream", Summary: "a night's release of a private stream of 1,000 items", Run: stream.Bench},
	}
}
