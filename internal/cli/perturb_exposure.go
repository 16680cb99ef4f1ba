package cli

import (
	"github.com/spf13/cobra"

	"privrec/internal/papers/exposure"
)

// slateFlags are the flags of perturb exposure.
type slateFlags struct {
	fileFlags
	o exposure.PerturbOptions
}

func (a *App) perturbExposure() *cobra.Command {
	var f slateFlags
	c := &cobra.Command{
		Use:   "exposure --in FILE --out FILE (--ratio R | --replace rr --epsilon E --items M)",
		Short: "write protected slates: the protection of the exposure paper, and one with a guarantee",
		Long: `Replaces items of recommended slates, so that they tell less of what the user did
before ("On the user behavior leakage from recommender system exposure", section 4).

In every slate of T items ceil(T*R) positions are selected: at random, or by the cosine
of the item's vector to the mean vector of the user's past behaviour, the farthest
(dissimilar) or the nearest (similar) first. Items that the slate has not come in their
place, without repeats: all alike (uniform), by how often they are shown (popularity),
or by how often they are shown to the others of the same --batch (in-batch). None of
this has a guarantee.

--replace rr has one: every position goes through randomised response over the public
catalogue, with --epsilon for one position and T times that for the slate. The ledger
records it, and the report says how many positions are kept, half at epsilon = ln(M-1),
and what epsilon all slates of a user have. A slate_id that comes twice is refused.

Files are tables with user_id and item_1 to item_T, a slate a row; or with user_id,
slate_id, position and item_id, an item a row (.tsv, .csv, RecBole's .inter); or one
slate a line, "user item item ..." (.txt); each plain, .gz or .zst. All slates of a file
have one length; other columns are dropped. Slates are worked on one after the other, in
memory that does not grow with them. The bytes depend on the slates, the settings and
the seed, not on the workers. Beside NAME.tsv come NAME.ledger.jsonl and a report as
text and JSON. All of them appear, or none; one that is killed while it replaces files,
with --force, leaves no output, and the next one says where the old files are.

Without --catalogue and --items, items and their counts are those of the slates, which
are read twice then. rr must have them stated: never take them from the slates.

` + exitCodes,
		Args: wants(),
		RunE: func(c *cobra.Command, _ []string) error { return a.runPerturbExposure(c, &f) },
	}
	p := c.Flags()
	f.add(p, &f.o.Settings, "slates", "slates", "draws")
	p.StringVar(&f.o.Select, "select", "", "random, similar or dissimilar; default: random")
	p.StringVar(&f.o.Replace, "replace", exposure.ReplaceUniform, "uniform, popularity, in-batch or rr")
	p.Float64Var(&f.o.Ratio, "ratio", 0, "share R of the positions, at least 0 and below 1")
	p.Float64VarP(&f.o.Epsilon, "epsilon", "e", 0, "of one position, with --replace rr")
	p.BoolVar(&f.o.Weighted, "weighted", false, "draw positions by similarity, not the first ones")
	p.Float64Var(&f.o.Tau, "tau", exposure.DefaultTau, "temperature of --weighted")
	p.StringVar(&f.o.Reference, "reference", exposure.ReferencePast, "what similarity is to: past behaviour, or slate, the slate's own mean")
	p.StringVar(&f.o.Vectors, "vectors", "", "table of item_id and numbers, or the directory of a finished train sasrec")
	p.StringVar(&f.o.History, "history", "", "past behaviour: table of user_id and item_id, or \"user item item ...\" (.txt)")
	p.StringVar(&f.o.Catalogue, "catalogue", "", "file with the ids of all items, under item_id or one a line (.txt); with count for popularity")
	p.IntVar(&f.o.Items, "items", 0, "size M of a catalogue of the ids 1 to M")
	p.IntVar(&f.o.Length, "length", 0, "positions T of a slate; default: those of the first")
	p.IntVar(&f.o.Batch, "batch", exposure.DefaultBatch, "slates in a row that are a batch of in-batch")
	p.BoolVar(&f.o.OwnRows, "own-rows", false, "in-batch: draw from the user's own slates too, as the released program does")
	return c
}

func (a *App) runPerturbExposure(c *cobra.Command, f *slateFlags) error {
	if err := f.check(c); err != nil {
		return err
	}
	o := &f.o
	changed := c.Flags().Changed
	switch {
	case o.Replace == exposure.ReplaceRR && changed("ratio"):
		return usagef("rr answers every position: leave out --ratio", "--ratio and --replace rr are given")
	case changed("items") && o.Items < 1:
		return usagef("leave it out to take the items of the slates", "--items is %d, want at least 1", o.Items)
	case o.Replace == exposure.ReplaceRR && !changed("epsilon"):
		return usagef("half of the positions are kept at epsilon = ln(M-1)", "--epsilon is missing")
	case o.Replace != exposure.ReplaceRR && changed("epsilon"):
		return usagef("add --replace rr: other replacements have no epsilon", "--epsilon is given without --replace rr")
	case o.Replace != exposure.ReplaceRR && !changed("ratio"):
		return usagef("0.2 replaces two of ten positions", "--ratio is missing")
	case (changed("batch") || changed("own-rows")) && o.Replace != exposure.ReplaceInBatch:
		return usagef("add --replace in-batch", "--batch and --own-rows are of --replace in-batch")
	case (changed("weighted") || changed("tau") || changed("reference")) && o.Select != exposure.SelectSimilar && o.Select != exposure.SelectDissimilar:
		return usagef("add --select similar or dissimilar", "--weighted, --tau and --reference are of --select similar and dissimilar")
	}
	r := newReporter(a.Stderr, f.quiet)
	o.Progress = r
	done, err := exposure.PerturbFile(c.Context(), *o)
	if err != nil {
		return err
	}
	return a.released(f.fileFlags, r, done.Document())
}
