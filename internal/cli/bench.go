package cli

import (
	"context"
	"encoding/json"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Bench measures one thing on this machine.
type Bench struct {
	Name, Summary string
	Run           func(ctx context.Context, o BenchOptions) ([]Measurement, error)
}

// BenchOptions say how to measure.
type BenchOptions struct {
	Workers  int // threads
	Quick    bool
	Progress run.Progress
}

// Measurement is one line of every benchmark.
type Measurement struct {
	Name    string  `json:"name"`
	Shape   string  `json:"shape"`
	Threads int     `json:"threads"`
	MedianS float64 `json:"median_s"`
	MinS    float64 `json:"min_s"`
	SpreadS float64 `json:"-"`      // half the interquartile range
	GFLOPS  float64 `json:"gflops"` // at the median; 0 where it means nothing
	RSSMB   float64 `json:"rss_mb"` // peak of the process so far
}

// measurements shows a list of measurements; its JSON is the bare list.
type measurements struct {
	title string
	list  []Measurement
}

func (m measurements) MarshalJSON() ([]byte, error) { return json.Marshal(m.list) }

func (m measurements) Text(w io.Writer) error {
	t := &report.Table{Title: m.title, Columns: []report.Column{{Name: "name"}, {Name: "shape"}, {Name: "threads"},
		{Name: "median s", Format: "%.3e"}, {Name: "min s", Format: "%.3e"}, {Name: "spread s", Format: "%.1e"},
		{Name: "GFLOP/s", Format: "%.1f"}, {Name: "RSS MB", Format: "%.0f"}}}
	for _, x := range m.list {
		gflops := any(nil)
		if x.GFLOPS > 0 {
			gflops = x.GFLOPS
		}
		t.Add(x.Name, x.Shape, x.Threads, x.MedianS, x.MinS, x.SpreadS, gflops, x.RSSMB)
	}
	return t.Text(w)
}

func (a *App) bench() *cobra.Command {
	parent := &cobra.Command{Use: "bench", Short: "measure speed on this machine", Args: cobra.ArbitraryArgs, RunE: group("benchmark")}
	for _, b := range a.Benches {
		var workers int
		var asJSON, quick, quiet bool
		c := &cobra.Command{
			Use:   b.Name,
			Short: b.Summary,
			Args:  wants(),
			RunE: func(c *cobra.Command, _ []string) error {
				if workers < 0 {
					return usagef("0 takes all cores", "--workers is %d, want at least 0", workers)
				}
				if workers == 0 {
					workers = runtime.GOMAXPROCS(0)
				}
				tensor.SetWorkers(workers)
				r := newReporter(a.Stderr, quiet)
				r.Phase("bench " + b.Name)
				list, err := b.Run(c.Context(), BenchOptions{Workers: workers, Quick: quick, Progress: r})
				if err != nil {
					return err
				}
				return run.Show(a.Stdout, asJSON, measurements{b.Summary + ", kernels " + tensor.SIMD(), list})
			},
		}
		c.Flags().IntVar(&workers, "workers", 0, "threads, 0 for all cores")
		c.Flags().BoolVar(&asJSON, "json", false, "a list of {name, shape, threads, median_s, min_s, gflops, rss_mb}")
		c.Flags().BoolVar(&quick, "quick", false, "fewer repetitions")
		c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress")
		parent.AddCommand(c)
	}
	return parent
}
