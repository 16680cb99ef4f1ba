package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"privrec/configs"
	"privrec/internal/claims"
	"privrec/internal/cli/screen"
	"privrec/internal/record"
	"privrec/internal/report"
	"privrec/internal/reproduce"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/results"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// tableFlags are the flags of privrec reproduce.
type tableFlags struct {
	table   int
	figure  int
	profile string
	grid    string
	out     string
	sets    []string
	workers int
	shard   string
	standIn bool
	printed bool
	dryRun  bool
	noRun   bool
	list    bool
	claims  bool
	noWait  bool
	records string
	during  time.Duration
	jobs    int
	json    bool
	quiet   bool
	verbose bool
	all     bool // the tables and figures of all papers are asked for
}

// reproduce makes the command that makes tables of papers.
func (a *App) reproduce() *cobra.Command {
	var f tableFlags
	c := &cobra.Command{
		Use:   "reproduce [PAPER]... [--table N | --figure N] [--profile smoke|quick|full]",
		Short: "make a paper's table or figure: train the runs behind it, set them beside the printed numbers",
		Long: `Makes a paper's table. It trains the runs behind each row, one for each seed, and sets
mean and spread beside the printed numbers, the floors, the level of evidence, and the
epsilons claimed and accounted. Without PAPER it makes the tables and figures of all
papers, without a number those of the paper; --list shows them and starts nothing.

--figure makes a figure: the points of its curves with their intervals over
users and seeds, drawn, and for every claim that the paper makes of it whether these
numbers bear it out. --claims shows the verdicts on all claims of the papers instead.

A table has three sizes:

  smoke  generated rows and small networks: minutes, no data needed, level D, no
         comparison with the paper
  quick  real data, few epochs, one seed: the result of a short run beside the printed
         number, without a difference from it
  full   real data, the paper's epochs, several seeds; where the paper's own steps would take weeks,
         larger and fewer of them (train.schedule: large), which rows say and --as-printed leaves out

With --stand-ins, rows whose data are missing are made on generated rows, as in size
smoke: level D, no comparison with the paper. The table says what is replaced.

Runs are in OUT/runs, each in a directory named after its task, configuration and seed. A
finished run is never repeated. One that was interrupted or killed goes on from its
checkpoint. One that fails is reported and does not stop the others. Processes with the
same OUT share the work. --shard 2/3 makes the second of three parts of the runs, for
machines with an OUT of their own: copy their folders of runs together, then --no-run
makes the tables, and says which shards lack runs.

--records makes everything of kept runs: small files of finished runs, without models, which
a clone of the project has in docs/results/records/runs. It needs no data and starts
nothing. --for 150m makes runs for so long instead of tables: numbers that have no result
yet before further seeds, those first that add most for the time that they take. What a run
has done when the time is over is kept at a checkpoint. With both, finished runs are kept in
that folder, and those that are there are not made again.

Tables go to OUT/tables as Markdown, LaTeX and CSV, beside *-runs.json with the time and
memory of the runs; a figure also as SVG, PNG, PDF and a page. A single table is printed
too; of several there is a line each, a total, and a page that lists them. --verbose prints
all tables in full, and the epochs of the runs. --dry-run of several says for each what it would take,
from recorded costs; of a single one, and with --verbose, it measures steps of every row. --json prints one
document: the tables, each with its name, its files and how far its runs are.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, papers []string) error {
			if f.records != "" && !c.Flags().Changed("profile") {
				f.profile = "full"
			}
			f.all = len(papers) == 0 && f.table == 0 && f.figure == 0 && f.grid == ""
			return a.makeTables(c.Context(), papers, f)
		},
	}
	p := c.Flags()
	p.IntVar(&f.table, "table", 0, "number of the table in the paper, 0 for all tables and figures")
	p.IntVar(&f.figure, "figure", 0, "number of the figure in the paper")
	p.StringVar(&f.profile, "profile", "quick", "size: smoke, quick or full")
	p.StringVar(&f.grid, "grid", "", "a grid file of your own; its configurations are found relative to it")
	p.StringVarP(&f.out, "out", "o", "runs/reproduce", "folder for runs and tables")
	p.StringArrayVar(&f.sets, "set", nil,
		"override one key in every run, as in train.epochs=1; the table says so; may be repeated")
	p.IntVar(&f.workers, "workers", 0, "threads, 0 for all cores; results do not depend on them")
	p.StringVar(&f.shard, "shard", "", "make one part of the runs, as in 2/3, and no table")
	p.BoolVar(&f.standIn, "stand-ins", false, "take generated rows where data are missing, as size smoke does")
	p.BoolVar(&f.printed, "as-printed", false,
		"train as the paper says, where size full has fewer and larger steps for the same model")
	p.BoolVar(&f.dryRun, "dry-run", false,
		"start nothing: say what runs there are, and what time, memory and disk they would take")
	p.BoolVar(&f.noRun, "no-run", false, "start nothing: make the table of finished runs")
	p.BoolVar(&f.list, "list", false,
		"start nothing: list tables and figures, how many numbers each has, and how many of them the data at hand "+
			"and finished runs fill")
	p.BoolVar(&f.claims, "claims", false,
		"start nothing: hold the papers' claims against finished runs, and show which hold")
	p.BoolVar(&f.noWait, "no-wait", false, "do not wait for runs that other processes make")
	p.StringVar(&f.records, "records", "",
		"start nothing: take runs that are not in OUT from this folder of kept runs; the default size is full")
	p.Lookup("records").NoOptDefVal = record.KeptRuns
	p.DurationVar(&f.during, "for", 0,
		"make runs for so long, as in 150m, those first that add most to the evidence; with --records they are kept "+
			"there")
	p.IntVar(&f.jobs, "jobs", 1, "processes that share the work of --for; the threads are divided among them")
	p.BoolVar(&f.json, "json", false, "print the tables as one JSON document")
	p.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, warnings only")
	p.BoolVarP(&f.verbose, "verbose", "v", false, "print all tables in full, and all that the runs report")
	return c
}

// grids returns the tables that are asked for, as printed where that is asked for.
func (a *App) grids(papers []string, f tableFlags) ([]*grid.Grid, error) {
	grids, err := a.named(papers, f)
	if err != nil || !f.printed {
		return grids, err
	}
	any := false
	for i, g := range grids {
		printed, departs := g.AsPrinted(f.profile)
		grids[i], any = printed, any || departs
	}
	if !any {
		return nil, usagef("leave it out",
			"--as-printed changes nothing: in size %s these tables depart from no step of their papers", f.profile)
	}
	return grids, nil
}

// named returns the tables that are asked for.
func (a *App) named(papers []string, f tableFlags) ([]*grid.Grid, error) {
	if f.table < 0 {
		return nil, usagef("0 makes all tables", "--table is %d, want at least 0", f.table)
	}
	if f.figure < 0 {
		return nil, usagef("privrec reproduce --list shows the figures", "--figure is %d, want at least 0", f.figure)
	}
	if f.table != 0 && f.figure != 0 {
		return nil, usagef("leave out one of them", "--table and --figure exclude each other")
	}
	if f.grid == "" {
		all, err := grid.BuiltIn(configs.Files(), a.Tasks)
		if err != nil {
			return nil, err
		}
		if f.list && f.table == 0 && f.figure == 0 {
			return grid.Of(all, papers)
		}
		grids, err := grid.Select(all, papers, f.table, f.figure)
		for _, g := range grids {
			if err == nil {
				err = g.Check()
			}
		}
		return grids, err
	}
	if len(papers) > 0 || f.table != 0 || f.figure != 0 {
		return nil, usagef("leave out PAPER, --table and --figure", "--grid names the table already")
	}
	g, err := grid.Load(f.grid, a.Tasks)
	if err != nil {
		if owner := a.owner(f.grid); owner != "" {
			err = usagef("privrec run "+f.grid, "%s: this is a configuration of %s, not the grid of a table", f.grid,
				owner)
		}
		return nil, err
	}
	return []*grid.Grid{g}, grid.Explain(configs.Files(), g)
}

// makeTables makes the tables that are asked for, and shows them.
func (a *App) makeTables(ctx context.Context, papers []string, f tableFlags) (err error) {
	if _, err := threads(f.workers); err != nil {
		return err
	}
	if f.out == "" {
		return usagef("the default is runs/reproduce", "--out is empty")
	}
	shelf, err := f.shelf()
	if err != nil {
		return err
	}
	if shelf != nil {
		defer func() { err = errors.Join(err, shelf.Close()) }()
	}
	if f.claims {
		return a.showClaims(papers, f, shelf)
	}
	if f.list && (f.dryRun || f.noRun) {
		return usagef("leave out all but one", "--list, --dry-run and --no-run exclude each other")
	}
	if f.dryRun && f.noRun {
		return usagef("--dry-run estimates, --no-run makes the table of what is finished",
			"--dry-run and --no-run exclude each other")
	}
	grids, err := a.grids(papers, f)
	if err != nil {
		return err
	}
	if f.list {
		d, err := reproduce.Listing(grids, roster.Options{Size: f.profile, Out: f.out, Sets: f.sets, Records: shelf})
		if err != nil {
			return err
		}
		return run.Show(a.Stdout, f.json, d)
	}
	if f.quiet && f.verbose {
		return usagef("leave out one of them", "--quiet and --verbose exclude each other")
	}
	shard, err := run.ParseShard(f.shard)
	if err != nil {
		return err
	}
	if shard.Of > 0 && f.noRun {
		return usagef("--no-run makes the tables of all shards: leave out --shard",
			"--shard and --no-run exclude each other")
	}
	if f.during > 0 {
		return a.queue(ctx, papers, grids, shelf, f)
	}
	f.noRun = f.noRun || shelf != nil
	r := screen.NewTables(a.Stderr, f.quiet, f.verbose, len(grids) > 1)
	defer r.Close()
	o := roster.Options{
		Size: f.profile, Out: f.out, Sets: f.sets, Workers: f.workers, NoRun: f.noRun, NoWait: f.noWait,
		StandIns: f.standIn, Shard: shard, Records: shelf,
		Log: screen.NewLogger(r, true), Progress: r, Run: r.Run(), Watch: r.Watch,
	}
	if f.dryRun {
		return a.estimateTables(ctx, grids, o, f)
	}
	p, err := reproduce.NewPlan(grids, o)
	if err != nil {
		return err
	}
	if f.noRun {
		note, err := p.OneKind()
		if err != nil {
			return err
		}
		if note != "" {
			r.Phase(note)
		}
	}
	r.Follow(p.Left)
	t := reproduce.NewTally(o, grids)
	whole := !f.json && (len(grids) == 1 && shard.Of == 0 || f.verbose) // tables in full, else one line for each
	var open error
	var all []*reproduce.Outcome
	for i, g := range grids {
		r.Open(fmt.Sprintf("table %d of %d: %s, size %s", i+1, len(grids), g.Name, f.profile))
		made, err := p.Make(ctx, i)
		if err != nil {
			r.Close()
			if i > 0 {
				r.Phase(fmt.Sprintf("stopped in table %d of %d; %s", i+1, len(grids), t.Total()))
			}
			if run.WasInterrupted(err) {
				return run.WithHint(err, "what is done is kept; the same command goes on from there")
			}
			return err
		}
		r.Close()
		all = append(all, made)
		line := t.Add(made)
		switch {
		case whole && shard.Of == 0:
			if err := made.Document.Text(a.Stdout); err != nil {
				return err
			}
			for _, path := range made.Files {
				r.Phase("written: " + path)
			}
			if text := made.Lacking(); text != "" && made.Err() == nil {
				r.Phase(text)
			}
		case !f.json:
			if _, err := fmt.Fprintln(a.Stdout, line); err != nil {
				return err
			}
		}
		if shelf == nil { // of kept runs a table is whole as far as they go
			open = errors.Join(open, made.Err())
		}
	}
	if len(grids) > 1 && shard.Of == 0 {
		if err := t.WriteIndex(); err != nil {
			return err
		}
	}
	if shard.Of == 0 {
		page, err := a.tablePages(ctx, grids, all, o, f)
		if err != nil {
			return err
		}
		r.Phase("overview: " + page)
	}
	if f.json {
		if err := t.List().JSON(a.Stdout); err != nil {
			return err
		}
	}
	if f.json || whole {
		r.Phase(t.Total().String())
	} else if _, err := fmt.Fprintln(a.Stdout, t.Total()); err != nil {
		return err
	}
	if text := p.Missing(); f.noRun && text != "" {
		r.Phase(text)
	}
	return open
}

// estimateTables shows what the tables would take. Of a single table, and with --verbose, it
// measures steps of every row.
func (a *App) estimateTables(ctx context.Context, grids []*grid.Grid, o roster.Options, f tableFlags) error {
	list := reproduce.List{Size: o.Size, Out: o.Out}
	show := func(d *report.Document) error {
		if f.json {
			return nil
		}
		return d.Text(a.Stdout)
	}
	several := len(grids) > 1
	if !several || f.verbose {
		for _, g := range grids {
			d, err := reproduce.Estimate(ctx, g, o)
			if err != nil {
				return err
			}
			list.Tables = append(list.Tables, reproduce.Listed{Name: g.FileName(o.Size, o.Sets), Document: d})
			if err := show(d); err != nil {
				return err
			}
		}
	}
	if several {
		p, err := reproduce.NewPlan(grids, o)
		if err != nil {
			return err
		}
		d, ahead, err := p.Forecast(ctx)
		if err != nil {
			return err
		}
		for i := range ahead {
			if i == len(list.Tables) {
				list.Tables = append(list.Tables, reproduce.Listed{Name: grids[i].FileName(o.Size, o.Sets)})
			}
			list.Tables[i].Forecast = &ahead[i]
		}
		list.Forecast = d
		if err := show(d); err != nil {
			return err
		}
	}
	if f.json {
		return list.JSON(a.Stdout)
	}
	return nil
}

// verdicts is the claims of papers with their verdicts, as one JSON document.
type verdicts struct {
	Size    string           `json:"profile"`
	Out     string           `json:"out"`
	Meaning string           `json:"meaning"`
	Papers  []*claims.Result `json:"papers"`
}

// showClaims holds the claims of papers against the finished runs below --out, and shows the
// verdicts. It starts nothing.
func (a *App) showClaims(papers []string, f tableFlags, shelf *record.Shelf) error {
	if f.table != 0 || f.figure != 0 || f.grid != "" || f.list || f.dryRun {
		return usagef("leave out --table, --figure, --grid, --list and --dry-run",
			"--claims shows the claims of whole papers")
	}
	grids, err := grid.BuiltIn(configs.Files(), a.Tasks)
	if err != nil {
		return err
	}
	if grids, err = grid.Of(grids, papers); err != nil {
		return err
	}
	list, err := grid.ReadClaims(configs.Files(), grids, papers...)
	if err != nil {
		return err
	}
	o := roster.Options{Size: f.profile, Out: f.out, Sets: f.sets, Records: shelf}
	results, err := results.Verdicts(list, grids, o)
	if err != nil {
		return err
	}
	if !f.json {
		return run.Show(a.Stdout, false, claims.Document(results))
	}
	b, err := json.MarshalIndent(verdicts{f.profile, f.out, claims.Meaning, results}, "", "  ")
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(append(b, '\n'))
	return err
}
