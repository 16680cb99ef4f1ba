package cli

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/dataset/format"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/papers/gerai/features"
	"privrec/internal/papers/pricdsr"
	"privrec/internal/perturb"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// fileFlags are the flags of every command that perturbs a file.
type fileFlags struct {
	*perturb.Settings // add fills them, check completes them

	fresh         bool // the seed was drawn for this run
	keyFile       string
	shard         string
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
	p.BoolVar(&s.Secure, "secure", false,
		"cryptographic bits, for data to release: without a seed, and never the same again")
	p.StringVar(&f.keyFile, "ledger-key", "",
		"file with a secret key for the ledger: without the key no change of the ledger goes unseen")
	p.BoolVar(&s.Force, "force", false, "replace files of the same name")
	p.StringVar(&f.shard, "shard", "", "make one part, as in 2/7, beside the others; privrec perturb merge joins them")
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
	if f.Shard.Shard, err = run.ParseShard(f.shard); err != nil {
		return err
	}
	if f.Shard.Of > 0 && !f.Secure && !c.Flags().Changed("seed") {
		return usagef("all shards need the same --seed, or --secure", "--shard is given without --seed")
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
			fmt.Fprintf(r, "seed %d: drawn for this run; two outputs with one seed would show whose rows changed "+
				"between them; --seed %d repeats the run\n", uint64(f.Seed), uint64(f.Seed))
		} else {
			fmt.Fprintf(r, "warning: --seed %d gives the same noise every time: beside another output with it, whose "+
				"rows changed shows\n", uint64(f.Seed))
		}
		fmt.Fprintf(r, "warning: research noise: the seed, %d, undoes it: not for release; --secure takes "+
			"cryptographic bits\n", uint64(f.Seed))
	}
	r.Phase("written to " + f.Shard.Name(f.Out))
	return run.Show(a.Stdout, f.asJSON, report)
}

// perturbMerge makes the command that joins shards.
func (a *App) perturbMerge() *cobra.Command {
	var m perturb.Merging
	var keyFile string
	var asJSON, quiet bool
	c := &cobra.Command{
		Use:   "merge --out FILE [--from FOLDER]",
		Short: "join the shards of a perturbed file",
		Long: `Joins the files that perturb pricdsr, exposure or features made with --shard 1/n to n/n and
with --out FILE: the table, those beside it, one report and one ledger. With one seed these are
the bytes of the command without --shard. All shards must be in one folder, that of FILE or
--from: FILE's name with .shard-1-of-n in it, its .index, its .part.json, its ledger.

Refused are a missing shard, shards of another input, with other settings, of another seed or
kind of noise, and files that are not as a shard wrote them. Every user, or every slate, is in
one shard, so the ledger of the whole has what each shard's has. A shard that was made twice
with --secure was released twice if both outputs were seen: the ledger counts what is joined.

` + exitCodes,
		Args: wants(),
		RunE: func(c *cobra.Command, _ []string) (err error) {
			if m.Key, err = ledgerKey(keyFile); err != nil {
				return err
			}
			r := newReporter(a.Stderr, quiet)
			m.Progress = r
			done, err := perturb.Merge(c.Context(), m, map[string]perturb.Whole{pricdsr.Kind: pricdsr.Whole(),
				features.Kind: features.Whole(), protect.Kind: protect.Whole()})
			if err != nil {
				return err
			}
			r.Phase("written to " + m.Out)
			return run.Show(a.Stdout, asJSON, done)
		},
	}
	p := c.Flags()
	p.StringVarP(&m.Out, "out", "o", "", "file to write, as it was named to every shard")
	p.StringVar(&m.From, "from", "", "folder with the shards; default: that of --out")
	p.BoolVar(&m.Force, "force", false, "replace files of the same name")
	p.StringVar(&keyFile, "ledger-key", "", "file with the secret key of the ledgers")
	p.BoolVar(&asJSON, "json", false, "as JSON")
	p.BoolVarP(&quiet, "quiet", "q", false, "no progress")
	return c
}
