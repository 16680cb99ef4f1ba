package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"privrec/configs"
	"privrec/internal/record"
	"privrec/internal/reproduce"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/pages"
	"privrec/internal/reproduce/results"
	"privrec/internal/reproduce/roster"
	"privrec/internal/review"
	"privrec/internal/run"
	"privrec/internal/system"
)

// reportFlags are the flags of privrec report.
type reportFlags struct {
	force   bool
	profile string
	grids   []string
	out     string
	standIn bool
	open    bool
}

// report makes the command that makes pages of finished runs.
func (a *App) report() *cobra.Command {
	var f reportFlags
	c := &cobra.Command{
		Use:   "report [OUT | RUN...] [--open]",
		Short: "make pages of finished runs; show them in a browser, keep their numbers, write their vectors",
		Long: `Makes pages of finished runs, and starts none. OUT is a folder of privrec reproduce: its
tables are made again as far as its runs are finished, in the largest size that has any,
and OUT/tables/index.html says what holds of every paper and what does not. A page for
each paper has its numbers beside ours, the privacy panel, training and data; a page for
each run has its results, floors, account and configuration.

With RUN, directories of runs, the pages are about these, side by side, in the folder
that --out names. An overview that is there stays, and the command refuses, unless it was
written for the same runs and has not been changed, or with --force.

The pages load nothing from elsewhere and are readable without a script. Beside every table
are Markdown, LaTeX and CSV, beside every figure SVG, PNG and PDF; index.json has everything.
The same runs give the same bytes; only costs.html has times and machines.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return a.makePages(c.Context(), args, f) },
	}
	p := c.Flags()
	p.StringVar(&f.profile, "profile", "",
		"size of the tables: smoke, quick or full (default: the largest with finished runs)")
	p.StringArrayVar(&f.grids, "grid", nil, "a grid file of your own, beside the papers' tables; may be repeated")
	p.StringVarP(&f.out, "out", "o", "runs/report", "folder for the pages of RUN")
	p.BoolVar(&f.force, "force", false,
		"pages of RUN replace an overview in --out that is of other runs, or is not ours")
	p.BoolVar(&f.standIn, "stand-ins", false, "the tables were made with --stand-ins")
	p.BoolVar(&f.open, "open", false, "open the overview in the browser")
	c.AddCommand(a.reportPrivacy(), a.record(), a.browse(), a.vectors())
	return c
}

// reportPrivacy makes the command that writes two pages about privacy for those who decide.
func (a *App) reportPrivacy() *cobra.Command {
	var out, delta, keyFile string
	var force bool
	var g gate
	c := &cobra.Command{
		Use:   "privacy FILE|RUN --out FILE.html",
		Short: "two pages for a review board: unit, epsilon, delta, what is open, what an attacker gains",
		Long: `Writes a page about what was released, for readers who do not know differential privacy: whose
data the guarantee is about, epsilon and delta, what no noise covers, what an attacker gains
at most (a table and a curve), what does not fit, and what to ask those who made it. It prints on two
sheets of A4, loads nothing from elsewhere, and the same source gives the same bytes.
FILE is a file of events of another program (see privrec account events) or the ledger of a run; RUN is
the directory of a run, whatever its account says: finite, infinite or none.
` + exitCodes,
		Args: wants("a file of events, a ledger or a run directory"),
	}
	a.shows(c, func(c *cobra.Command, args []string) (run.Result, error) {
		if out == "" {
			return nil, usagef("give --out page.html", "%s: missing --out", c.CommandPath())
		}
		if err := g.ready(); err != nil {
			return nil, err
		}
		s := review.Settings{}
		var err error
		if s.Key, err = ledgerKey(keyFile); err != nil {
			return nil, err
		}
		if delta != "" {
			if s.Delta, err = strconv.ParseFloat(delta, 64); err != nil || !(s.Delta > 0 && s.Delta < 1) {
				return nil, usagef("a probability well below one over the number of users, such as 1e-6",
					"--delta is %q, want above 0 and below 1", delta)
			}
		}
		if _, err := os.Lstat(out); err == nil && !force {
			return nil, usagef("--force replaces it", "%s is there already", out)
		}
		r, err := review.Of(args[0], s)
		if err != nil {
			return nil, err
		}
		if err := system.WriteFile(out, r.HTML); err != nil {
			return nil, err
		}
		var all []promised
		if unit, epsilon, ok := r.Epsilon(); ok {
			all = []promised{{unit, epsilon}}
		}
		return review.Written{Review: r, Out: out}, g.hold(all, r.Doubts())
	})
	p := c.Flags()
	p.StringVarP(&out, "out", "o", "", "the page to write")
	p.StringVar(&delta, "delta", "", "delta of the guarantee of a ledger; in place of that of a file of events")
	p.StringVar(&keyFile, "ledger-key", "", "file of the secret key that the ledger was written with")
	p.BoolVar(&force, "force", false, "replace a file of the same name")
	g.flags(c)
	return c
}

// makePages makes the pages that are asked for.
func (a *App) makePages(ctx context.Context, args []string, f reportFlags) error {
	if len(args) == 0 {
		args = []string{"runs/reproduce"}
	}
	var dirs []string
	for _, dir := range args {
		if _, err := os.Stat(filepath.Join(dir, "manifest.json")); err == nil {
			dirs = append(dirs, dir)
		}
	}
	set := pages.Set{Out: f.out, Runs: dirs, Replace: f.force}
	switch {
	case len(dirs) == len(args):
		for _, dir := range dirs {
			if m, err := run.ReadManifest(dir); err != nil {
				return err
			} else if m.Status != run.StatusDone {
				return usagef("finish it first: the command that began it, with --resume", "%s is not finished: %s",
					dir, m.Status)
			}
		}
	case len(dirs) > 0 || len(args) > 1:
		return usagef("name one folder of reproduce, or any number of runs", "%s is not the directory of a run",
			args[slices.IndexFunc(args, func(s string) bool { return !slices.Contains(dirs, s) })])
	default:
		if _, err := os.Stat(filepath.Join(args[0], "runs")); err != nil {
			return usagef("OUT is the folder that privrec reproduce --out names, RUN a directory below OUT/runs",
				"%s holds neither a run nor runs of privrec reproduce", args[0])
		}
		set.Out = args[0]
		if err := a.lookAtTables(ctx, &set, f); err != nil {
			return err
		}
	}
	files, err := set.Write()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(a.Stdout, "%s, and %d pages below it\n", files[0], len(files)-1); err != nil {
		return err
	}
	if f.open {
		return openFile(files[0])
	}
	return nil
}

// lookAtTables makes the tables of a folder as far as its runs are finished.
func (a *App) lookAtTables(ctx context.Context, set *pages.Set, f reportFlags) error {
	builtIn, err := grid.BuiltIn(configs.Files(), a.Tasks)
	if err != nil {
		return err
	}
	grids := slices.Clone(builtIn)
	for _, file := range f.grids {
		g, err := grid.Load(file, a.Tasks)
		if err != nil {
			return err
		}
		grids = append(grids, g)
	}
	sizes := grid.SizeNames()
	if f.profile != "" {
		if !slices.Contains(sizes, f.profile) {
			return usagef("want smoke, quick or full", "unknown profile %q", f.profile)
		}
		sizes = []string{f.profile}
	}
	for _, size := range slices.Backward(sizes) {
		o := roster.Options{Size: size, Out: set.Out, StandIns: f.standIn}
		finished := 0
		set.Made = nil
		for _, g := range grids {
			made, err := reproduce.Look(ctx, g, o)
			if err != nil {
				return err
			}
			finished += made.Finished()
			set.Made = append(set.Made, pages.Made{Grid: g, Outcome: made})
		}
		if finished == 0 && size != sizes[0] {
			continue
		}
		for _, m := range set.Made {
			if m.Finished() == 0 {
				continue
			}
			if err := m.Write(set.Out); err != nil {
				return err
			}
		}
		return holdClaims(set, builtIn, o)
	}
	return nil
}

// holdClaims holds the claims of the papers of pages against their finished runs. all are the papers'
// tables.
func holdClaims(set *pages.Set, all []*grid.Grid, o roster.Options) (err error) {
	var papers []string
	for _, m := range set.Made {
		known := slices.ContainsFunc(all, func(g *grid.Grid) bool { return g.Paper == m.Grid.Paper })
		if known && m.Grid.Paper != "" && !slices.Contains(papers, m.Grid.Paper) {
			papers = append(papers, m.Grid.Paper)
		}
	}
	if len(papers) == 0 {
		return nil
	}
	list, err := grid.ReadClaims(configs.Files(), all, papers...)
	if err != nil {
		return err
	}
	var tables []*results.Table
	if o.Records != nil { // else a table also says what became of runs that did not finish
		for _, m := range set.Made {
			tables = append(tables, m.Table)
		}
	}
	if set.Verdicts, err = results.Verdicts(list, all, o, tables...); err != nil {
		return err
	}
	set.Epsilons, err = epsilonTables(papers)
	return err
}

// tablePages writes the pages of tables that were made, and of those that were made in the same
// folder before.
func (a *App) tablePages(ctx context.Context, grids []*grid.Grid, made []*reproduce.Outcome, o roster.Options,
	f tableFlags) (string, error) {
	set := pages.Set{Out: o.Out}
	var others []*grid.Grid
	if f.all {
		others = grids
	} else if f.grid == "" {
		var err error
		if others, err = grid.BuiltIn(configs.Files(), a.Tasks); err != nil {
			return "", err
		}
	}
	for i, g := range grids {
		set.Made = append(set.Made, pages.Made{Grid: g, Outcome: made[i]})
	}
	for _, g := range others {
		if slices.ContainsFunc(grids, func(of *grid.Grid) bool { return of.Name == g.Name }) {
			continue
		}
		if _, err := os.Stat(filepath.Join(o.Out, "tables", g.FileName(o.Size, o.Sets)+".md")); err != nil {
			continue
		}
		was, err := reproduce.Look(ctx, g, o)
		if err != nil {
			return "", err
		}
		if err := was.Write(o.Out); err != nil {
			return "", err
		}
		set.Made = append(set.Made, pages.Made{Grid: g, Outcome: was})
	}
	if len(set.Made) > 1 { // one table alone has few of a paper's claims
		if err := holdClaims(&set, others, o); err != nil {
			return "", err
		}
	}
	files, err := set.Write()
	if err != nil {
		return "", err
	}
	if o.Records != nil && !f.json && len(set.Made) > 1 {
		text, err := set.Conclusion()
		if err != nil {
			return "", err
		}
		if _, err := fmt.Fprintln(a.Stdout, text); err != nil {
			return "", err
		}
	}
	return files[0], nil
}

// record makes the command that keeps what finished runs measured in a small file.
func (a *App) record() *cobra.Command {
	var into, name, only, metrics, about string
	c := &cobra.Command{
		Use:   "record RUN... --out FILE --name NAME",
		Short: "keep what finished runs measured in a small file",
		Long: `Keeps what finished runs measured in a small file, which lives on when the run directories
are deleted: task, hash of the configuration, seed, hash and level of the data, metrics
beside floors, epsilon claimed and accounted, epochs, commit, machine and time. RUN is a
run directory, or a file that reproduce --records kept of one; several are the seeds of one
setting, and become one record. A record of the same name in the file is replaced, the
others stay.

The pages of this project are filled from such files: docs/results/records.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
	}
	p := c.Flags()
	p.StringVar(&into, "out", "", "the file of records; written anew, or added to")
	p.StringVar(&name, "name", "", "the record's name in it, such as lightgcn-epsilon-1")
	p.StringVar(&only, "only", "", "keep the scores whose name this regular expression matches")
	p.StringVar(&metrics, "metrics", "", "keep the metrics that this regular expression matches")
	gains := p.Bool("gains", false, "keep what an attack finds more than floors, with intervals, too")
	p.StringVar(&about, "about", "", "what the file has records of, in a sentence")
	a.shows(c, func(c *cobra.Command, args []string) (run.Result, error) {
		if len(args) == 0 || into == "" || name == "" {
			return nil, usagef("privrec report record RUN --out FILE --name NAME",
				"%s: a run, --out and --name are needed", c.CommandPath())
		}
		var match [2]*regexp.Regexp
		for i, text := range []string{only, metrics} {
			if text == "" {
				continue
			}
			var err error
			if match[i], err = regexp.Compile(text); err != nil {
				return nil, usagef("a regular expression, such as ^noisy", "%s: %v", c.CommandPath(), err)
			}
		}
		var runs []record.Run
		for _, dir := range args {
			r, err := record.Of(dir, record.Keep{Only: match[0], Metrics: match[1], Gains: *gains})
			if err != nil {
				return nil, err
			}
			runs = append(runs, r)
		}
		joined, err := record.Join(name, runs)
		if err != nil {
			return nil, err
		}
		f, err := record.Open(into)
		if err != nil {
			return nil, err
		}
		if about != "" {
			f.About = about
		}
		f.Put(joined)
		if err := f.Write(into); err != nil {
			return nil, err
		}
		return recorded{filepath.ToSlash(into), name, len(runs), len(f.Records)}, nil
	})
	return c
}

// recorded says what was written.
type recorded struct {
	File    string `json:"file"`
	Name    string `json:"name"`
	Runs    int    `json:"runs"`
	Records int    `json:"records"` // in the file
}

// Text writes it as a line.
func (r recorded) Text(w io.Writer) error {
	_, err := fmt.Fprintf(w, "record %s, runs: %d, in %s, records: %d\n", r.Name, r.Runs, r.File, r.Records)
	return err
}
