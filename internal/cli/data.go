package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/dataset/standin"
	"privrec/internal/progress"
	"privrec/internal/report"
	"privrec/internal/rng"
	"privrec/internal/run"
)

func (a *App) data() *cobra.Command {
	c := &cobra.Command{
		Use:   "data",
		Short: "data sets: what there is, their statistics, stand-ins",
		Long: `Data sets are looked for in the folder given by --data or $PRIVREC_DATA, one
folder a set. Stand-ins are generated and need no file.`,
		Args: cobra.ArbitraryArgs,
		RunE: group("command"),
	}
	c.AddCommand(a.dataList(), a.dataStats(), a.dataSynth(), a.dataBacktest())
	c.AddCommand(a.dataFetch(), a.dataVerify(), a.dataPrepare())
	return c
}

func (a *App) dataList() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "known data sets and their recipes",
		Args:  wants(),
		RunE: func(*cobra.Command, []string) error {
			return run.Show(a.Stdout, asJSON, &report.Document{Title: "What there is to run on", Tables: []*report.Table{dataSets(), slateSets()}})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func (a *App) dataStats() *cobra.Command {
	var (
		recipe, dir            string
		seed                   uint64
		noCache, asJSON, quiet bool
		slates                 slate.Options
	)
	c := &cobra.Command{
		Use:   "stats NAME [--recipe R]",
		Short: "counts after every step of a recipe, compared with what they should be",
		Long: `Counts after every step of a recipe, compared with what they should be. Recipe slates
makes the pairs that exposure attacks need, of slates and of the clicks before them; sets
of slates have no other. A log of your own is own-NAME: impressions.tsv or impressions.csv
with the columns user, item, shown_at, clicked_at, in the folder of that name.`,
		Args: wants("a data set, see privrec data list"),
		RunE: func(c *cobra.Command, args []string) error {
			r := newReporter(a.Stderr, quiet)
			c.SetContext(progress.With(c.Context(), r))
			r.Phase("load " + args[0])
			start := time.Now()
			loaded := func(cache string) {
				r.Phase(fmt.Sprintf("loaded in %.1f s%s", time.Since(start).Seconds(), parenthesis(cache)))
			}
			src, ok, err := slateSource(args[0], recipe)
			if err != nil {
				return err
			}
			if ok {
				slates.Dir, slates.Seed = dir, rng.Seed(seed)
				d, err := slateStats(c.Context(), src, slates)
				if err != nil {
					return err
				}
				loaded("")
				return run.Show(a.Stdout, asJSON, d)
			}
			for _, flag := range []string{"slate", "behaviour", "early"} {
				if c.Flags().Changed(flag) {
					return usagef("add --recipe slates", "--%s is of recipe slates", flag)
				}
			}
			set, err := findSet(args[0])
			if err != nil {
				return err
			}
			if recipe == "" {
				recipe = set.Recipes[0].Name // the one that the set is used most for stands first
			}
			s, err := registry.Load(c.Context(), args[0], recipe, registry.Options{Dir: dir, NoCache: noCache, Seed: rng.Seed(seed)})
			if err != nil {
				return err
			}
			loaded(s.Source.Cache)
			return run.Show(a.Stdout, asJSON, statsDocument(s))
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return setNames(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	p := c.Flags()
	p.StringVar(&recipe, "recipe", "", "steps from raw rows to sequences, see privrec data list; default: the first of the set")
	p.StringVar(&dir, "data", "", "folder of data sets; default $PRIVREC_DATA")
	p.Uint64Var(&seed, "seed", 1, "seed of a stand-in and of random splits")
	p.IntVar(&slates.T, "slate", 0, "recipe slates: items shown, 0 for 10")
	p.IntVar(&slates.L, "behaviour", 0, "recipe slates: clicks before them, 0 for 5")
	p.StringVar(&slates.Early, "early", slate.EarlyKeep, "recipe slates: clicks before their show: keep, drop or refuse")
	p.BoolVar(&noCache, "no-cache", false, "neither read nor write the cache of filtered rows")
	p.BoolVar(&asJSON, "json", false, "as JSON")
	p.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}

func parenthesis(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// statsDocument shows the ladder, the comparison with expected counts, and the
// shape of what is left.
func statsDocument(s *dataset.Sequential) *report.Document {
	checks := checksTable(s.Source.Checks)
	st := s.Stats()
	shape := &report.Table{Name: "shape", Title: "Sequences", Columns: []report.Column{{Name: "statistic"}, {Name: "value", Format: "%.4f"}}}
	shape.Add("users", st.Users)
	shape.Add("items", st.Items)
	shape.Add("rows", st.Rows)
	shape.Add("density", st.Density)
	shape.Add("gini of items", st.Gini)
	shape.Add("mean length", st.Mean)
	for i, q := range dataset.StatsQuantiles {
		shape.Add(fmt.Sprintf("length at %g %%", 100*q), st.Lengths[i])
	}
	d := &report.Document{
		Title: s.Source.Title, Subtitle: fmt.Sprintf("data set %s, recipe %s, sha256 %.12s", s.Name, s.Recipe, s.Source.Hash),
		Level: s.Source.Level, Tables: []*report.Table{ladderTable(s.Ladder)}, Notes: s.Source.Notes,
	}
	if len(checks.Rows) > 0 {
		d.Tables = append(d.Tables, checks)
	}
	d.Tables = append(d.Tables, shape)
	return d
}

func ladderTable(l dataset.Ladder) *report.Table {
	t := &report.Table{Name: "ladder", Title: "Ladder", Columns: report.Columns("", "step", "users", "items", "rows", "samples")}
	for _, r := range l {
		t.Add(r.Name, count(r.Users), count(r.Items), count(r.Rows), count(r.Samples))
	}
	return t
}

func checksTable(checks []dataset.Check) *report.Table {
	t := &report.Table{Name: "checks", Title: "Expected counts", Columns: report.Columns("", "step", "count", "got", "want", "verdict", "from")}
	for _, c := range checks {
		verdict := "equal"
		if !c.OK() {
			verdict = "differs"
		}
		t.Add(c.Rung, c.Count, c.Got, c.Want, verdict, c.From)
	}
	return t
}

// count hides a count that a step does not have.
func count(n int) any {
	if n == 0 {
		return nil
	}
	return n
}

func (a *App) dataSynth() *cobra.Command {
	var (
		out                  string
		seed                 uint64
		force, asJSON, quiet bool
	)
	c := &cobra.Command{
		Use:   "synth NAME --out DIR",
		Short: "write a stand-in as RecBole atomic files",
		Args:  wants("a stand-in, see privrec data list"),
		RunE: func(c *cobra.Command, args []string) error {
			p, err := standin.Find(args[0])
			if err != nil {
				return err
			}
			if out == "" {
				return usagef("give --out DIR", "%s: missing --out", c.CommandPath())
			}
			r := newReporter(a.Stderr, quiet)
			c.SetContext(progress.With(c.Context(), r))
			r.Phase("generate " + p.Name)
			log, features, err := p.Generate(c.Context(), rng.Seed(seed))
			if err != nil {
				return err
			}
			files, err := p.Write(out, rng.Seed(seed), log, features, registry.StandIn(p).Recipes[0], force)
			if err != nil {
				return err
			}
			t := &report.Table{Name: "files", Title: p.Title, Columns: report.Columns("", "file", "bytes", "sha256")}
			for _, f := range files {
				t.Add(f.Path, f.Bytes, f.SHA256)
			}
			return run.Show(a.Stdout, asJSON, t)
		},
	}
	c.Flags().StringVarP(&out, "out", "o", "", "folder to write to")
	c.Flags().BoolVar(&force, "force", false, "replace files of the same name")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of every random number")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}
