package cli

import (
	"github.com/spf13/cobra"

	"privrec/internal/dataset/format"
	"privrec/internal/papers/gerai/features"
	columns "privrec/internal/perturb/features"
)

// featureFlags are the flags of perturb features.
type featureFlags struct {
	fileFlags
	o features.FileOptions
}

// columnFlag declares a column for each time that it is given. All such flags fill one list, so that
// columns stand in the order of the command line.
type columnFlag struct {
	list *[]columns.Column
	read func(text string) (columns.Column, error)
}

// Set implements pflag.Value: it adds a column.
func (f columnFlag) Set(text string) error {
	c, err := f.read(text)
	if err == nil {
		*f.list = append(*f.list, c)
	}
	return err
}

// String implements pflag.Value.
func (columnFlag) String() string { return "" }

// Type implements pflag.Value.
func (columnFlag) Type() string { return "column" }

// perturbFeatures makes the command that perturbs user features.
func (a *App) perturbFeatures() *cobra.Command {
	var f featureFlags
	c := &cobra.Command{
		Use: "features --attributes FILE --out FILE --epsilon E --category NAME=LEVELS ... [--in FILE --items M] " +
			"[--secure]",
		Short: "write perturbed user features: the local privacy layer of GERAI",
		Long: `Perturbs the features of every user once, before anyone sees them ("Graph embedding for
recommendation against attribute inference attacks", algorithms 1 and 2).

A user sends k features of n, drawn at random, each with epsilon/k: numbers by the
piecewise mechanism, times n/k, categories as bits by optimised unary encoding. The others
are 0. k is epsilon/2.5 rounded down, at least 1 and at most n; --draw sets another. With
--each every user sends every feature, and --epsilon is that of one feature.

--attributes is a table with user_id and the declared columns (.tsv, .csv, RecBole's form
.inter); each plain, .gz or .zst; other columns are left out. Ranges and levels are
declared, never taken from the rows, which would show what one user has:

  --number age=0..120       a number with its public range
  --category gender=F,M     a category with all its levels
  --bands age=35,45         a number in groups: under 35, 35 to 45, over 45

With --in, a table with user_id and rating (1 to 5), 18 statistics of a user's ratings come
in front: how many, of which level, shares, entropy, median, minimum, maximum, mean. They
are functions of private ratings, and their epsilon covers nothing else. --items is the size
of the public catalogue. Both tables must have the same users.

Users come in any order, each once, and are written in the order of their ids. Memory does
not grow with them; larger tables are sorted on a file without a name beside the output.
The bytes depend on the rows, the settings and the seed, but not on the workers nor on the
order of the rows. Beside NAME.tsv stand NAME.ledger.jsonl and a report as text and JSON,
which says what one attribute costs. All of them appear, or none. With --force, a command
that is killed while it replaces files leaves no output, and the next one says where the old
files are.

` + exitCodes,
		Args: wants(),
		RunE: func(c *cobra.Command, _ []string) error { return a.runPerturbFeatures(c, &f) },
	}
	p := c.Flags()
	f.add(p, &f.o.Settings, "ratings, to send statistics of", "features", "noise")
	for _, name := range []string{"in-form", "out-form"} { // rows of a table, not lines of items
		p.Lookup(name).Usage = "tsv, csv or inter; default: by the end of the name"
	}
	p.StringVar(&f.o.Attributes, "attributes", "", "table of users and their features")
	p.StringVar((*string)(&f.o.AttributesForm), "attributes-form", "",
		"tsv, csv or inter; default: by the end of the name")
	p.Var(columnFlag{&f.o.Columns, columns.Number}, "number", "a number, as NAME=LOW..HIGH; once for each")
	p.Var(columnFlag{&f.o.Columns, columns.Category}, "category", "a category, as NAME=LEVEL,LEVEL,...; once for each")
	p.Var(columnFlag{&f.o.Columns, columns.Bands}, "bands",
		"a number in groups, as NAME=BORDER,BORDER,...; once for each")
	p.Float64VarP(&f.o.Epsilon, "epsilon", "e", 0, "epsilon of a user's whole row; with --each of every feature")
	p.IntVar(&f.o.Draw, "draw", 0, "features that each user sends; default: epsilon/2.5, rounded down")
	p.BoolVar(&f.o.Each, "each", false, "every user sends every feature")
	p.IntVar(&f.o.Items, "items", 0, "size M of the public catalogue, with --in")
	p.BoolVar(&f.o.Missing, "missing", false, "accept empty fields: no value, which is hidden like any other")
	return c
}

// runPerturbFeatures perturbs a table of user features.
func (a *App) runPerturbFeatures(c *cobra.Command, f *featureFlags) error {
	if err := f.check(c); err != nil {
		return err
	}
	if c.Flags().Changed("attributes-form") && f.o.AttributesForm != format.TSV && f.o.AttributesForm != format.CSV &&
		f.o.AttributesForm != format.Atomic {
		return usagef("want tsv, csv or inter", "--attributes-form is %q", string(f.o.AttributesForm))
	}
	if !c.Flags().Changed("epsilon") {
		return usagef("20 is the paper's, of a whole row; one feature then has 2.5", "--epsilon is missing")
	}
	r := newReporter(a.Stderr, f.quiet)
	f.o.Progress = r
	done, err := features.File(c.Context(), f.o)
	if err != nil {
		return err
	}
	return a.showPerturbed(f.fileFlags, r, done.Document())
}
