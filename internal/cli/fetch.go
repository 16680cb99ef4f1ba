package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"privrec/internal/cli/screen"
	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/fetch"
	"privrec/internal/inventory"
	"privrec/internal/run"
)

// dataFetch makes the command that gets a data set.
func (a *App) dataFetch() *cobra.Command {
	var (
		o                     fetch.Options
		accept, asJSON, quiet bool
	)
	c := &cobra.Command{
		Use:   "fetch NAME [--from FILE]... [--accept-terms]",
		Short: "get a data set: download or take a copy, check, unpack",
		Long: `Gets a data set into its folder below --data or $PRIVREC_DATA.

The terms of the owner are shown and must be accepted. A download, or a copy given with
--from, is compared with the published size and hash, and unpacked. An archive that would
write outside its folder, or that unpacks to far more than it should, is refused. The file
receipt.json in the folder then says where every file came from and what its hash is;
privrec data verify reads it.

Content other than the published one is refused, and the error shows both hashes.
--pin-new accepts it, and results on it say so; the rows decide their level of evidence. A
copy with the rows of a published split in another order needs no --pin-new. Ctrl-C leaves
a .part file, and the same command goes on from there.

Copies of some sets are got by hand. The error then says what to get and where, and --from
takes the archive, its unpacked files, or a folder with them.`,
		Args: wants("a data set, see privrec list"),
		RunE: func(c *cobra.Command, args []string) error {
			o.Name = args[0]
			r := screen.NewBytes(a.Stderr, quiet)
			o.Progress = r
			o.AcceptTerms = func(ctx context.Context, s fetch.Source) (bool, error) {
				return a.acceptTerms(ctx, s, accept)
			}
			receipt, err := fetch.Fetch(c.Context(), o)
			switch {
			case errors.Is(err, fetch.ErrRefused):
				return usagef("fetch it when you can accept them", "%s", err)
			case run.WasInterrupted(err):
				if o.Unfinished() {
					return run.WithHint(err, "what was downloaded is kept; the same command goes on from there")
				}
				return run.WithHint(err, "nothing was saved yet")
			case err != nil:
				return err
			}
			if receipt.Kept {
				r.Phase(o.Name + " is here and complete: nothing to fetch")
			}
			if err := run.Show(a.Stdout, asJSON, inventory.Receipt{Receipt: receipt}); err != nil {
				return err
			}
			if _, err := registry.Find(o.Name); err == nil {
				r.Phase("next: privrec data prepare " + o.Name)
			}
			return nil
		},
	}
	p := c.Flags()
	p.StringVar(&o.Dir, "data", "", "folder of data sets; default $PRIVREC_DATA")
	p.StringArrayVar(&o.From, "from", nil,
		"a copy to take in place of a download: archive, unpacked file or folder; may be repeated")
	p.BoolVar(&accept, "accept-terms", false, "accept the owner's terms without being asked, for scripts")
	p.BoolVar(&o.PinNew, "pin-new", false, "accept content other than the published one; results on it say so")
	p.StringVar(&o.Mirror, "mirror", "",
		"web address of a folder with the archives, in place of the official addresses")
	p.BoolVar(&asJSON, "json", false, "as JSON")
	p.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}

// acceptTerms shows the terms of a set and asks for them, unless they were accepted on
// the command line.
func (a *App) acceptTerms(ctx context.Context, s fetch.Source, accepted bool) (bool, error) {
	fmt.Fprintf(a.Stderr, "%s\n  from     %s\n  terms    %s\n  used by  %s\n", s.Title, s.Address, s.Licence,
		join(s.UsedBy))
	for _, x := range s.Archives {
		fmt.Fprintf(a.Stderr, "  file     %s, %s\n", x.FileName(), x.About())
	}
	if accepted {
		fmt.Fprintln(a.Stderr, "terms accepted with --accept-terms")
		return true, nil
	}
	if !screen.IsTerminal(os.Stdin) {
		return false, usagef("read them above, then give --accept-terms",
			"%s: terms must be accepted, and there is no terminal to ask on", s.Name)
	}
	fmt.Fprint(a.Stderr, "accept these terms? [y/N] ")
	answer := make(chan string, 1)
	// A read from a terminal cannot be taken back: after Ctrl-C this one ends with
	// the process, which has nothing else to do.
	go func() {
		line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case s := <-answer:
		return s == "y" || s == "yes", nil
	}
}

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
		recipe, dir string
	)
	c := &cobra.Command{
		Use:   "prepare NAME [--recipe R]",
		Short: "verify a data set, run a recipe, keep the result in the cache",
		Long: `Compares the files of a set with their receipt, runs a recipe on them and keeps the
filtered rows in the cache ($PRIVREC_CACHE, else below the user's cache folder), so that
training starts at once. Shows the counts after every step.`,
		Args: wants("a data set, see privrec list"),
	}
	a.reports(c, func(c *cobra.Command, args []string, r reporter) (run.Result, error) {
		set, err := registry.Find(args[0])
		if err != nil {
			return nil, err
		}
		if recipe == "" {
			recipe = set.Recipes[0].Name // as in data stats
		}
		if set.StandIn == nil {
			r.Phase("verify " + set.Name)
			x, err := fetch.Verify(c.Context(), set.Name, dir)
			if err != nil {
				return nil, err
			}
			if bad := x.Problems(); len(bad) > 0 {
				return nil, bad[0]
			}
		}
		r.Phase("prepare " + set.Name + " with recipe " + recipe)
		start := time.Now()
		s, err := registry.Load(c.Context(), set.Name, recipe, dataset.View{Seed: 1},
			registry.Options{Dir: dir})
		if err != nil {
			return nil, err
		}
		r.Phase(fmt.Sprintf("prepared in %.1f s%s", time.Since(start).Seconds(), parenthesis(s.Source.Cache)))
		return inventory.Stats(s), nil
	})
	p := c.Flags()
	p.StringVar(&recipe, "recipe", "",
		"steps from raw rows to sequences, see privrec list; default: the first of the set")
	p.StringVar(&dir, "data", "", "folder of data sets; default $PRIVREC_DATA")
	return c
}
