package cli

import (
	"io"
	"math"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/papers/pricdsr"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/system"
)

// perturb adds the commands that perturb files to the verb "perturb". It makes that verb
// where no task has it.
func (a *App) perturb(verbs []*cobra.Command) []*cobra.Command {
	return withVerb(verbs, "perturb", a.perturbPricdsr(), a.perturbExposure(), a.perturbFeatures(), a.perturbMerge())
}

// historyFlags are the flags of perturb pricdsr.
type historyFlags struct {
	fileFlags
	o        pricdsr.Options
	dryRun   bool
	epsilons []float64
	plot     string
}

// perturbPricdsr makes the command that perturbs histories.
func (a *App) perturbPricdsr() *cobra.Command {
	var f historyFlags
	c := &cobra.Command{
		Use:   "pricdsr --in FILE --out FILE --epsilon E --items M --length L [--secure]",
		Short: "write perturbed histories: the privacy layer of PriCDSR",
		Long: `Perturbs the history of every user once, for any model of two domains to train on
("Privacy-preserving cross-domain sequential recommendation"). A row holds the last L
items of a history, of each item the first occurrence. Shorter rows get padding in front,
which is perturbed too.

Input files are tables with the columns user_id, item_id and, where there are times,
timestamp (.tsv, .csv, RecBole's .inter, .parquet), or one line for each user, "user item
item ..." (.txt); text plain, .gz or .zst. The rows of a user stand together, in order of time.
Users come in any order and number: memory does not grow with them.

The output has user_id, item_id and position, 1 to L, without padding and times. Its
bytes depend on the rows, the settings and the seed, but not on the workers nor, without
--keep-order, on the order of the users. Beside NAME.tsv stand NAME.empty.tsv with the
users whose row came out empty, NAME.ledger.jsonl, and a report as text and JSON. All of
them appear, or none. With --force, a command that is killed while it replaces files
leaves no output, and the next one says where the old files are.

Mechanisms:

  sdp-fixed    has epsilon for one cell of one user and for the order of two cells
  sdp-lengths  the same for the items of a row; how many they are is shown
  set          which items a row has, without their order: epsilon for one interaction
               that is added, removed, replaced or moved
  sdp-user     has epsilon for the whole row of a user; a cell has one part in L of it
  sdp-paper    is the paper's: the order of two cells has 2 epsilon
  rr           answers cell by cell: the order of two cells has 2 epsilon

The whole row of a user has L times epsilon under all but sdp-user. Half of the cells are
kept at epsilon = ln M; --dry-run prints the share at other epsilons, from M and L only.

The catalogue, its size or its ids, must be public: never take it from the rows.

` + exitCodes,
		Args: wants(),
		RunE: func(c *cobra.Command, _ []string) error { return a.runPerturbPricdsr(c, &f) },
	}
	p := c.Flags()
	f.add(p, &f.o.Settings, "histories", "sequences", "noise")
	p.Float64VarP(&f.o.Epsilon, "epsilon", "e", 0,
		"epsilon of one cell, or of what the mechanism protects; see --dry-run")
	p.StringVar((*string)(&f.o.Variant), "mechanism", string(sequence.SDPFixed),
		"sdp-fixed, sdp-lengths, sdp-user, set, sdp-paper or rr")
	p.StringVar(&f.o.Parent, "parent", "",
		"file of a budget that the release is charged to first, for a user's whole row; see privrec account budget")
	p.IntVar(&f.o.Items, "items", 0, "size M of the public catalogue, of ids 1 to M")
	p.StringVar(&f.o.Catalogue, "catalogue", "",
		"file with the public ids of all items, under item_id or one a line (.txt)")
	p.IntVar(&f.o.Length, "length", 0, "number L of cells in a row")
	p.BoolVar(&f.o.KeepOrder, "keep-order", false, "users in the order of the input, not by id")
	p.BoolVar(&f.o.Strict, "strict", false, "refuse repeated items and histories longer than L")
	p.BoolVar(&f.o.Limits, "limits", false,
		"accept epsilon 0 (nothing of the rows is left) and inf (nothing is protected)")
	p.BoolVar(&f.o.Small, "small", false, "accept fewer items than cells")
	p.BoolVar(&f.dryRun, "dry-run", false, "print the share of cells kept over a range of epsilons, and read no file")
	p.Float64SliceVar(&f.epsilons, "epsilons", nil, "epsilons for --dry-run; default: around ln M")
	p.StringVar(&f.plot, "plot", "", "draw the table of --dry-run to this file (.svg)")
	return c
}

// runPerturbPricdsr perturbs a file of histories, or with --dry-run shows what would be
// kept.
func (a *App) runPerturbPricdsr(c *cobra.Command, f *historyFlags) error {
	if err := f.check(c); err != nil {
		return err
	}
	if f.dryRun {
		return a.showKept(c, f)
	}
	for _, name := range []string{"epsilons", "plot"} {
		if c.Flags().Changed(name) {
			return usagef("add --dry-run", "--%s works only with --dry-run", name)
		}
	}
	if !c.Flags().Changed("epsilon") {
		return usagef("--dry-run shows which share of the cells each epsilon keeps", "--epsilon is missing")
	}
	r := newReporter(a.Stderr, f.quiet)
	f.o.Progress = r
	done, err := pricdsr.Perturb(c.Context(), f.o)
	if err != nil {
		return err
	}
	return a.showPerturbed(f.fileFlags, r, done.Document())
}

// showKept prints the share of cells that are kept at each epsilon, for a catalogue.
func (a *App) showKept(c *cobra.Command, f *historyFlags) error {
	o, list := &f.o, f.epsilons
	for _, e := range list {
		if !(e >= 0) || math.IsInf(e, 1) {
			return usagef("whole numbers around ln M show most", "--epsilons has %g, want finite numbers, 0 or above",
				e)
		}
	}
	given := c.Flags().Changed("epsilon")
	if !given {
		o.Epsilon = 1
	}
	if err := o.Check(); err != nil {
		return err
	}
	cat, err := pricdsr.OpenCatalogue(c.Context(), o)
	if err != nil {
		return err
	}
	m := o.Mechanism(cat.Size)
	switch {
	case len(list) > 0:
	case given && !math.IsInf(o.Epsilon, 1):
		list = withEpsilon(pricdsr.Epsilons(m), o.Epsilon)
	default:
		list = pricdsr.Epsilons(m)
	}
	if err := m.Validate(); err != nil {
		return usagef("", "%v", err)
	}
	d := pricdsr.Forecast(m, list)
	if f.plot != "" {
		if err := writePlot(f.plot, d.Figures[0], o.Force); err != nil {
			return err
		}
	}
	return run.Show(a.Stdout, f.asJSON, d)
}

// withEpsilon inserts a value into an ascending list that lacks it.
func withEpsilon(list []float64, e float64) []float64 {
	for i, x := range list {
		if x == e {
			return list
		}
		if x > e {
			return append(list[:i:i], append([]float64{e}, list[i:]...)...)
		}
	}
	return append(list, e)
}

// writePlot writes a figure as a picture. The end of the name says in which format.
func writePlot(path string, fig report.Figure, force bool) error {
	at := strings.LastIndexByte(path, '.')
	format := path[at+1:]
	for _, known := range report.ImageFormats() {
		if at < 0 || known != format {
			continue
		}
		b, err := fig.Image(format)
		if err != nil {
			return err
		}
		if err := refuseExisting(path, force); err != nil {
			return err
		}
		return system.WriteFile(path, func(w io.Writer) error { _, err := w.Write(b); return err })
	}
	return usagef("the formats are "+join(report.ImageFormats()), "--plot: the name %q does not tell a format", path)
}

// refuseExisting refuses to write over a file without force.
func refuseExisting(path string, force bool) error {
	if _, err := os.Lstat(path); err != nil || force {
		return nil
	}
	return usagef("choose another name, or --force to replace what is there", "%s is there already", path)
}
