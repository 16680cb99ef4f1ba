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
	*perturb.Settings // add fills them, check completes them

	fresh         bool // the seed was drawn for this run
	keyFile       string
	asJSON, quiet bool
}

// add declares the flags for a file of rows. The ledger names the release by its purpose, and
// another purpose has other draws of noise.
func (f *fileFlags) add(p *pflag.FlagSet, s *perturb.Settings, rows, purpose, draws string) {
	f.Settings = s
	p.StringVar(&s.In, "in", "", "file of "+rows)
	p.StringVarP(&s.Out, "out", "o", "", "file to write")
	p.StringVar((*string)(&s.InForm), "in-form", "", "tsv, csv, inter or lines; default: by the end of the name")
	p.StringVar((*string)(&s.OutForm), "out-form", "", "tsv, csv, inter or lines; default: by the end of the name")
	p.StringVar(&s.Purpose, "purpose", purpose, "name of the release in the ledger; another name has other "+draws)
	p.Uint64Var((*uint64)(&s.Seed), "seed", 0, "seed of research noise; default: a new one, which is printed")
	p.BoolVar(&s.Secure, "secure", false, "cryptographic bits, for data to release: without a seed, and never the same again")
	p.StringVar(&f.keyFile, "ledger-key", "", "file with a secret key for the ledger: without the key no change of the ledger goes unseen")
	p.BoolVar(&s.Force, "force", false, "replace files of the same name")
	p.IntVar(&s.Workers, "workers", 0, "threads, 0 for all cores; the output does not depend on them")
	p.BoolVar(&f.asJSON, "json", false, "as JSON")
	p.BoolVarP(&f.quiet, "quiet", "q", false, "no progress")
}

// check refuses what no command that perturbs can carry out. It draws a seed where none is
// given, and counts the cores.
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

// showPerturbed says how far noise can be repeated and where the file is, and shows the
// report.
func (a *App) showPerturbed(f fileFlags, r reporter, report run.Result) error {
	if !f.Secure {
		if f.fresh {
			fmt.Fprintf(r, "seed %d: drawn for this run; two outputs with one seed would show what changed in the file between them; --seed %d repeats the run\n", uint64(f.Seed), uint64(f.Seed))
		} else {
			fmt.Fprintf(r, "warning: --seed %d gives the same noise every time: beside another output with it, what changed in the file shows\n", uint64(f.Seed))
		}
		fmt.Fprintf(r, "warning: research noise: the seed, %d, undoes it: not for release; --secure takes cryptographic bits\n", uint64(f.Seed))
	}
	r.Phase("written to " + f.Out)
	return run.Show(a.Stdout, f.asJSON, report)
}
