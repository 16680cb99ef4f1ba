package cli

import (
	"github.com/spf13/cobra"

	"privrec/internal/papers/exposure/protect"
)

// slateFlags are the flags of perturb exposure.
type slateFlags struct {
	fileFlags
	o protect.FileOptions
}

// perturbExposure makes the command that protects slates.
func (a *App) perturbExposure() *cobra.Command {
	var f slateFlags
	c := &cobra.Command{
		Use:   "exposure --in FILE --out FILE (--ratio R | --replace rr --epsilon E --items M)",
		Short: "write protected slates: the protection of the exposure paper, and one with a guarantee",
		Long: `Replaces items of recommended slates, so that the slates tell less of what the user did
before ("On the user behavior leakage from recommender system exposure", section 4).

In every slate of T items, ceil(T*R) positions are selected: at random, or by the cosine
between the item's vector and the mean vector of the user's past behaviour, the lowest
first (dissimilar) or the highest first (similar). They get items that the slate does not
have, without repeats: with equal probability (uniform), by how often an item is shown
(popularity), or by how often it is shown to the other users of the same --batch
(in-batch). None of these has a guarantee.

--replace rr has one: every position goes through randomised response over the public
catalogue, with --epsilon for one position and T times that for the slate. The ledger
records it. The report says how many positions are kept (half at epsilon = ln(M-1)), and
which epsilon all slates of a user have. A slate_id that comes twice is refused.

Files are tables with user_id and item_1 to item_T, one row for each slate; or with
user_id, slate_id, position and item_id, one row for each item (.tsv, .csv, RecBole's
.inter); or one line for each slate, "user item item ..." (.txt); each plain, .gz or .zst.
All slates of a file have one length; other columns are left out. Memory does not grow with
the number of slates. The bytes of the output depend on the slates, the settings and the
seed, but not on the workers. Beside NAME.tsv stand NAME.ledger.jsonl and a report as text
and JSON. All of them appear, or none. With --force, a command that is killed while it
replaces files leaves no output, and the next one says where the old files are.

Without --catalogue and --items, items and their counts are those of the slates, which are
then read twice. rr needs one of the two: never take the catalogue from the slates.

` + exitCodes,
		Args: wants(),
		RunE: func(c *cobra.Command, _ []string) error { return a.runPerturbExposure(c, &f) },
	}
	p := c.Flags()
	f.add(p, &f.o.Settings, "slates", "slates", "draws")
	p.StringVar(&f.o.Select, "select", "", "random, similar or dissimilar; default: random")
	p.StringVar(&f.o.Replace, "replace", protect.ReplaceUniform, "uniform, popularity, in-batch or rr")
	p.Float64Var(&f.o.Ratio, "ratio", 0, "share R of the positions, at least 0 and below 1")
	p.Float64VarP(&f.o.Epsilon, "epsilon", "e", 0, "epsilon of one position, with --replace rr")
	p.BoolVar(&f.o.Weighted, "weighted", false, "draw positions with weights by similarity, in place of the first ones")
	p.Float64Var(&f.o.Tau, "tau", protect.DefaultTau, "temperature of --weighted")
	p.StringVar(&f.o.Reference, "reference", protect.ReferencePast,
		"what similarity is measured to: past (behaviour) or slate (its mean)")
	p.StringVar(&f.o.Vectors, "vectors", "",
		"item vectors: table of item_id and numbers, or directory of a finished run of train sasrec")
	p.StringVar(&f.o.History, "history", "",
		"past behaviour: table of user_id and item_id, or \"user item item ...\" (.txt)")
	p.StringVar(&f.o.Catalogue, "catalogue", "",
		"file with the ids of all items, under item_id or one a line (.txt); with count for popularity")
	p.IntVar(&f.o.Items, "items", 0, "size M of a catalogue with the ids 1 to M")
	p.IntVar(&f.o.Length, "length", 0, "number T of positions in a slate; default: that of the first slate")
	p.IntVar(&f.o.Batch, "batch", protect.DefaultBatch, "in-batch: how many slates in a row are a batch")
	p.BoolVar(&f.o.OwnRows, "own-rows", false,
		"in-batch: draw from the user's own slates too, as the published program does")
	return c
}

// runPerturbExposure protects a file of slates.
func (a *App) runPerturbExposure(c *cobra.Command, f *slateFlags) error {
	if err := f.check(c); err != nil {
		return err
	}
	o := &f.o
	changed := c.Flags().Changed
	switch {
	case o.Replace == protect.ReplaceRR && changed("ratio"):
		return usagef("rr works on every position: leave out --ratio", "--ratio and --replace rr are given")
	case changed("items") && o.Items < 1:
		return usagef("leave it out to take the items of the slates", "--items is %d, want at least 1", o.Items)
	case o.Replace == protect.ReplaceRR && !changed("epsilon"):
		return usagef("half of the positions are kept at epsilon = ln(M-1)", "--epsilon is missing")
	case o.Replace != protect.ReplaceRR && changed("epsilon"):
		return usagef("add --replace rr: other replacements have no epsilon", "--epsilon is given without --replace rr")
	case o.Replace != protect.ReplaceRR && !changed("ratio"):
		return usagef("0.2 replaces two of ten positions", "--ratio is missing")
	case (changed("batch") || changed("own-rows")) && o.Replace != protect.ReplaceInBatch:
		return usagef("add --replace in-batch", "--batch and --own-rows work only with --replace in-batch")
	case (changed("weighted") || changed("tau") || changed("reference")) && o.Select != protect.SelectSimilar &&
		o.Select != protect.SelectDissimilar:
		return usagef("add --select similar or dissimilar",
			"--weighted, --tau and --reference work only with --select similar or dissimilar")
	}
	r := newReporter(a.Stderr, f.quiet)
	o.Progress = r
	done, err := protect.File(c.Context(), *o)
	if err != nil {
		return err
	}
	return a.showPerturbed(f.fileFlags, r, done.Document())
}
