package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// fileFlags are the flags of every command that perturbs a file.
type fileFlags struct {
	*perturb.Settings // of the command, which add fills and check completes

	fresh         bool // the seed was drawn for this run
	keyFile       string
	asJSON, quiet bool
}

// add declares the flags, for a file of rows whose release has the purpose named; under
// another name it has other draws.
func (f *fileFlags) add(p *pflag.FlagSet, s *perturb.Settings, rows, purpose, draws string) {
	f.Settings = s
	p.StringVar(&s.In, "in", "", "file of "+rows)
	p.StringVarP(&s.Out, "out", "o", "", "file to write")
	p.StringVar((*string)(&s.InForm), "in-form", "", "tsv, csv, inter or lines; default: by the name")
	p.StringVar((*string)(&s.OutForm), "out-form", "", "tsv, csv, inter or lines; default: by the name")
	p.StringVar(&s.Purpose, "purpose", purpose, "name of the release in the ledger; another name has other "+draws)
	p.Uint64Var((*uint64)(&s.Seed), "seed", 0, "seed of research noise; default: a fresh one, which is printed")
	p.BoolVar(&s.Secure, "secure", false, "cryptographic bits, for data that is released: no seed, no second time")
	p.StringVar(&f.keyFile, "ledger-key", "", "file of a secret key for the ledger: only with it can lines be rewritten unseen")
	p.BoolVar(&s.Force, "force", false, "replace files that are there")
	p.IntVar(&s.Workers, "workers", 0, "threads, 0 for all cores; the output does not depend on it")
	p.BoolVar(&f.asJSON, "json", false, "as JSON")
	p.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
}

// check refuses what no such command can carry out, draws the seed that was not given and
// counts the cores.
func (f *fileFlags) check(c *cobra.Command) (err error) {
	if f.Secure && c.Flags().Changed("seed") {
		return usagef("leave out one of them", "--secure takes cryptographic bits, and --seed says which")
	}
	for _, form := range []struct {
		flag string
		is   format.Form
	}{{"in-form", f.InForm}, {"out-form", f.OutForm}} {
		if c.Flags().Changed(form.flag) && !slices.Contains(format.Forms(), form.is) {
			return usagef(fmt.Sprintf("want one of %v", format.Forms()), "--%s is %q", form.flag, string(form.is))
		}
	}
	if f.fresh = !f.Secure && !c.Flags().Changed("seed"); f.fresh {
		f.Seed = rng.Seed(new(rng.Secret).Uint64())
	}
	if f.Key, err = ledgerKey(f.keyFile); err != nil {
		return err
	}
	f.Workers, err = threads(f.Workers)
	return err
}

// released says what the noise of a file is worth and where it is, and shows the report.
func (a *App) released(f fileFlags, r reporter, report run.Result) error {
	if !f.Secure {
		if f.fresh {
			fmt.Fprintf(r, "seed %d: drawn for this run, for noise that comes twice shows what changed in the file in between; --seed %d repeats the run\n", uint64(f.Seed), uint64(f.Seed))
		} else {
			fmt.Fprintf(r, "warning: --seed %d gives the same noise every time: beside another output with it, what changed in the file shows\n", uint64(f.Seed))
		}
		fmt.Fprintf(r, "warning: research noise: the seed, %d, undoes it: not for release; --secure takes cryptographic bits\n", uint64(f.Seed))
	}
	r.Phase("written to " + f.Out)
	return run.Show(a.Stdout, f.asJSON, report)
}
