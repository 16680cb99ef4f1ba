package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"privrec/internal/dataset/registry"
	"privrec/internal/fetch"
	"privrec/internal/inventory"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// dataVerify makes the command that compares data sets with their receipts.
func (a *App) dataVerify() *cobra.Command {
	var (
		dir           string
		asJSON, quiet bool
	)
	c := &cobra.Command{
		Use:   "verify [NAME]...",
		Short: "read every file of data sets and compare it with its receipt and published hash",
		Long: `Reads every file of the sets named, or of all sets that are present, and compares it with
the receipt of its fetch and with the published hash. The exit code is 3 where a file
differs, is missing or is not in the receipt. A set without a receipt is compared with
published hashes; without these the verdict is present, unverified.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			r := newReporter(a.Stderr, quiet)
			reports, err := verifyAll(c.Context(), r, args, dir)
			if err != nil {
				return err
			}
			if err := run.Show(a.Stdout, asJSON, inventory.Verification(reports)); err != nil {
				return err
			}
			var bad []error
			for _, x := range reports {
				bad = append(bad, x.Problems()...)
				if len(args) > 0 {
					bad = append(bad, x.Absent())
				}
			}
			return errors.Join(bad...)
		},
	}
	p := c.Flags()
	p.StringVar(&dir, "data", "", "folder of data sets; default $PRIVREC_DATA")
	p.BoolVar(&asJSON, "json", false, "as JSON")
	p.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}

// verifyAll verifies the sets named, or without names all that have a folder.
func verifyAll(ctx context.Context, r reporter, names []string, dir string) ([]fetch.Report, error) {
	if len(names) == 0 {
		var err error
		if names, err = fetch.Present(dir); err != nil {
			return nil, err
		}
	}
	reports := []fetch.Report{}
	for _, name := range names {
		r.Phase("verify " + name)
		x, err := fetch.Verify(ctx, name, dir)
		if err != nil {
			return nil, err
		}
		reports = append(reports, x)
	}
	return reports, nil
}

// dataPrepare makes the command that fills the cache of a data set.
func (a *App) dataPrepare() *cobra.Command {
	var (
		recipe, dir   string
		asJSON, quiet bool
	)
	c := &cobra.Command{
		Use:   "prepare NAME [--recipe R]",
		Short: "verify a data set, run a recipe, keep the result in the cache",
		Long: `Compares the files of a set with their receipt, runs a recipe on them and keeps the
filtered rows in the cache ($PRIVREC_CACHE, else below the user's cache folder), so that
training starts at once. Shows the counts after every step.`,
		Args: wants("a data set, see privrec data list"),
		RunE: func(c *cobra.Command, args []string) error {
			r := newReporter(a.Stderr, quiet)
			set, err := registry.Find(args[0])
			if err != nil {
				return err
			}
			if recipe == "" {
				recipe = set.Recipes[0].Name // as in data stats
			}
			if set.StandIn == nil {
				r.Phase("verify " + set.Name)
				x, err := fetch.Verify(c.Context(), set.Name, dir)
				if err != nil {
					return err
				}
				if bad := x.Problems(); len(bad) > 0 {
					return bad[0]
				}
			}
			r.Phase("prepare " + set.Name + " with recipe " + recipe)
			start := time.Now()
			s, err := registry.Load(c.Context(), set.Name, recipe, registry.Options{Dir: dir, Seed: rng.Seed(1)})
			if err != nil {
				return err
			}
			r.Phase(fmt.Sprintf("prepared in %.1f s%s", time.Since(start).Seconds(), parenthesis(s.Source.Cache)))
			return run.Show(a.Stdout, asJSON, inventory.Stats(s))
		},
	}
	p := c.Flags()
	p.StringVar(&recipe, "recipe", "", "steps from raw rows to sequences, see privrec data list; default: the first of the set")
	p.StringVar(&dir, "data", "", "folder of data sets; default $PRIVREC_DATA")
	p.BoolVar(&asJSON, "json", false, "as JSON")
	p.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}
