package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
	"privrec/internal/dataset/standin"
	"privrec/internal/inventory"
	"privrec/internal/progress"
	"privrec/internal/report"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// data makes the commands on data sets.
func (a *App) data() *cobra.Command {
	c := &cobra.Command{
		Use:   "data",
		Short: "list, fetch, check, describe and count data sets; write stand-ins",
		Long: `Data sets are looked for in the folder that --data or $PRIVREC_DATA names, each in a
folder of its own. Stand-ins are generated and need no file.`,
		Args: cobra.ArbitraryArgs,
		RunE: group("command"),
	}
	c.AddCommand(a.dataList(), a.dataDescribe(), a.dataStats(), a.dataSynth())
	c.AddCommand(a.dataFetch(), a.dataVerify(), a.dataPrepare())
	return c
}

// dataList makes the command that lists data sets, an old name of list.
func (a *App) dataList() *cobra.Command {
	c := &cobra.Command{
		Use:   "list",
		Short: "list data sets and their recipes",
		Args:  wants(),

		Hidden: true,
	}
	a.shows(c, func(_ *cobra.Command, _ []string) (run.Result, error) {
		return &report.Document{Title: "Data to run on", Tables: []*report.Table{inventory.Sets(), inventory.Slates()}},
			nil
	})
	return c
}

// dataDescribe makes the command that says what the files of a set hold.
func (a *App) dataDescribe() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "describe NAME",
		Short: "show the files of a data set, their columns and terms",
		Long: `Reads the files of a data set and shows what they hold: sizes and hashes, columns with
their types, counts, the terms of their owner and the paper to cite where these are known.`,
		Args: wants("a data set, see privrec list"),
	}
	a.reports(c, func(c *cobra.Command, args []string, r reporter) (run.Result, error) {
		r.Phase("read " + args[0])
		d, err := inventory.Describe(progress.With(c.Context(), r), args[0], registry.Options{Dir: dir})
		if err != nil {
			return nil, err
		}
		return inventory.Described(d), nil
	})
	p := c.Flags()
	p.StringVar(&dir, "data", "", "folder of data sets; default $PRIVREC_DATA")
	return c
}

// dataStats makes the command that shows the counts after every step of a recipe.
func (a *App) dataStats() *cobra.Command {
	var (
		recipe, dir string
		seed        uint64
		noCache     bool
		slates      slate.Options
	)
	c := &cobra.Command{
		Use:   "stats NAME [--recipe R]",
		Short: "show the counts after every step of a recipe beside the expected ones",
		Long: `Shows the counts after every step of a recipe beside the expected ones. The recipe slates
pairs each slate with the clicks before it, for exposure attacks; sets of slates have no
other recipe. A log of your own is a folder own-NAME with impressions.tsv or
impressions.csv, whose columns are user, item, shown_at, clicked_at.`,
		Args: wants("a data set, see privrec list"),
	}
	a.reports(c, func(c *cobra.Command, args []string, r reporter) (run.Result, error) {
		c.SetContext(progress.With(c.Context(), r))
		r.Phase("load " + args[0])
		start := time.Now()
		loaded := func(cache string) {
			r.Phase(fmt.Sprintf("loaded in %.1f s%s", time.Since(start).Seconds(), parenthesis(cache)))
		}
		src, ok, err := inventory.SlateSource(args[0], recipe)
		if err != nil {
			return nil, err
		}
		if ok {
			slates.Dir = dir
			d, err := inventory.SlateStats(c.Context(), src, dataset.View{Seed: rng.Seed(seed)}, slates)
			if err != nil {
				return nil, err
			}
			loaded("")
			return d, nil
		}
		for _, flag := range []string{"slate", "behaviour", "early"} {
			if c.Flags().Changed(flag) {
				return nil, usagef("add --recipe slates", "--%s belongs to the recipe slates", flag)
			}
		}
		set, err := inventory.Find(args[0])
		if err != nil {
			return nil, err
		}
		if recipe == "" {
			recipe = set.Recipes[0].Name // the recipe that is used most stands first
		}
		s, err := registry.Load(c.Context(), args[0], recipe, dataset.View{Seed: rng.Seed(seed)},
			registry.Options{Dir: dir, NoCache: noCache})
		if err != nil {
			return nil, err
		}
		loaded(s.Source.Cache)
		return inventory.Stats(s), nil
	})
	p := c.Flags()
	p.StringVar(&recipe, "recipe", "",
		"steps from raw rows to sequences, see privrec list; default: the first of the set")
	p.StringVar(&dir, "data", "", "folder of data sets; default $PRIVREC_DATA")
	p.Uint64Var(&seed, "seed", 1, "seed of a stand-in and of random splits")
	p.IntVar(&slates.T, "slate", 0, "recipe slates: items shown, 0 for 10")
	p.IntVar(&slates.L, "behaviour", 0, "recipe slates: clicks before them, 0 for 5")
	p.StringVar(&slates.Early, "early", slate.EarlyKeep,
		"recipe slates: clicks that come before their item was shown: keep, drop or refuse")
	p.BoolVar(&noCache, "no-cache", false, "neither read nor write the cache of filtered rows")
	return c
}

// parenthesis puts a remark into brackets, after a blank. An empty remark stays empty.
func parenthesis(s string) string {
	if s == "" {
		return ""
	}
	return " (" + s + ")"
}

// dataSynth makes the command that writes a stand-in.
func (a *App) dataSynth() *cobra.Command {
	var (
		out   string
		seed  uint64
		force bool
	)
	c := &cobra.Command{
		Use:   "synth NAME --out DIR",
		Short: "write a stand-in as RecBole atomic files",
		Args:  wants("a stand-in, see privrec list"),
	}
	a.reports(c, func(c *cobra.Command, args []string, r reporter) (run.Result, error) {
		p, err := standin.Find(args[0])
		if err != nil {
			return nil, err
		}
		if out == "" {
			return nil, usagef("give --out DIR", "%s: missing --out", c.CommandPath())
		}
		c.SetContext(progress.With(c.Context(), r))
		r.Phase("generate " + p.Name)
		log, features, err := p.Generate(c.Context(), rng.Seed(seed))
		if err != nil {
			return nil, err
		}
		files, err := p.Write(out, rng.Seed(seed), log, features, registry.StandIn(p).Recipes[0], force)
		if err != nil {
			return nil, err
		}
		t := &report.Table{Name: "files", Title: p.Title, Columns: report.Columns("", "file", "bytes", "sha256")}
		for _, f := range files {
			t.Add(f.Path, f.Bytes, f.SHA256)
		}
		return t, nil
	})
	c.Flags().StringVarP(&out, "out", "o", "", "folder to write to")
	c.Flags().BoolVar(&force, "force", false, "replace files of the same name")
	c.Flags().Uint64Var(&seed, "seed", 1, "seed of every random number")
	return c
}
