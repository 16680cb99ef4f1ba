package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/dataset/format"
	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// fileFlags are the flags of every command that perturbs a file.
type fileFlags struct {
	in, out         string
	inForm, outForm string // empty: by the names of the files
	purpose         string // names the release in the ledger
	seed            uint64 // of research noise; a fresh one, from check, where none is given
	fresh           bool   // the seed was drawn for this run
	secure, force   bool
	keyFile         string
	key             *privacy.Key // once check has read it
	workers         int          // 0 for all cores, until check has counted them
	asJSON, quiet   bool
}

// add declares the flags, for a file of rows whose release has the purpose named; under
// another name it has other draws.
func (f *fileFlags) add(p *pflag.FlagSet, rows, purpose, draws string) {
	p.StringVar(&f.in, "in", "", "file of "+rows)
	p.StringVarP(&f.out, "out", "o", "", "file to write")
	p.StringVar(&f.inForm, "in-form", "", "tsv, csv, inter or lines; default: by the name")
	p.StringVar(&f.outForm, "out-form", "", "tsv, csv, inter or lines; default: by the name")
	p.StringVar(&f.purpose, "purpose", purpose, "name of the release in the ledger; another name has other "+draws)
	p.Uint64Var(&f.seed, "seed", 0, "seed of research noise; default: a fresh one, which is printed")
	p.BoolVar(&f.secure, "secure", false, "cryptographic bits, for data that is released: no seed, no second time")
	p.StringVar(&f.keyFile, "ledger-key", "", "file of a secret key for the ledger: only with it can lines be rewritten unseen")
	p.BoolVar(&f.force, "force", false, "replace files that are there")
	p.IntVar(&f.workers, "workers", 0, "threads, 0 for all cores; the output does not depend on it")
	p.BoolVar(&f.asJSON, "json", false, "as JSON")
	p.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
}

// check refuses what no such command can carry out, and draws the seed that was not given.
func (f *fileFlags) check(c *cobra.Command) (err error) {
	if f.secure && c.Flags().Changed("seed") {
		return usagef("leave out one of them", "--secure takes cryptographic bits, and --seed says which")
	}
	for _, form := range []struct{ flag, name string }{{"in-form", f.inForm}, {"out-form", f.outForm}} {
		if c.Flags().Changed(form.flag) && !slices.Contains(format.Forms(), format.Form(form.name)) {
			return usagef(fmt.Sprintf("want one of %v", format.Forms()), "--%s is %q", form.flag, form.name)
		}
	}
	if f.fresh = !f.secure && !c.Flags().Changed("seed"); f.fresh {
		f.seed = new(rng.Secret).Uint64()
	}
	if f.key, err = ledgerKey(f.keyFile); err != nil {
		return err
	}
	f.workers, err = threads(f.workers)
	return err
}

// released says what the noise of a file is worth and where it is, and shows the report.
func (a *App) released(f fileFlags, r reporter, report run.Result) error {
	if !f.secure {
		if f.fresh {
			fmt.Fprintf(r, "seed %d: drawn for this run, for noise that comes twice shows what changed in the file in between; --seed %d repeats the run\n", f.seed, f.seed)
		} else {
			fmt.Fprintf(r, "warning: --seed %d gives the same noise every time: beside another output with it, what changed in the file shows\n", f.seed)
		}
		fmt.Fprintf(r, "warning: research noise: the seed, %d, undoes it: not for release; --secure takes cryptographic bits\n", f.seed)
	}
	r.Phase("written to " + f.out)
	return run.Show(a.Stdout, f.asJSON, report)
}
