package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"privrec/configs"
	"privrec/internal/cli/screen"
	"privrec/internal/experiment"
	"privrec/internal/record"
	"privrec/internal/reproduce/matrix"
	"privrec/internal/reproduce/roster"
	"privrec/internal/run"
)

// matrixFlags are the flags of privrec attack matrix.
type matrixFlags struct {
	profile string
	grid    string
	runs    []string
	attacks []string
	users   string
	out     string
	record  string
	sets    []string
	workers int
	shard   string
	dryRun  bool
	noRun   bool
	noWait  bool
	json    bool
	quiet   bool
	verbose bool
}

// ownMatrix is the matrix that the command makes where none is named.
const ownMatrix = "ml-100k"

// matrix adds the command that attacks models under defences to attack.
func (a *App) matrix(verbs []*cobra.Command) []*cobra.Command {
	var f matrixFlags
	c := &cobra.Command{
		Use:   "matrix [--grid FILE] [--profile smoke|quick|full] [--runs DIR]...",
		Short: "attack models under defences: what each attack finds beyond its best floor",
		Long: `Holds attacks against models under defences: a row a trained model, a column an attack,
in each cell what the attack finds beyond the best floor that sees no model, with a 95 %
interval and a word:

  leaks                    the interval is above 0
  not told from the floor  it contains 0
  protected                likewise, while the attack on the same model without the defence leaks
  below the floor          it is below 0

A cell without a number says why: no attribute in these data, no vectors in this model.
Beside each row stands the accounted epsilon with its unit. What the attacker sees, and how
often it may guess, is in the table of attacks.

Without --grid the matrix is that of ML-100K (configs/matrix/ml-100k.yaml). It
trains what is missing in OUT/runs and attacks it there. Finished runs are never repeated,
interrupted ones go on, and processes with the same OUT share the work, as in privrec
reproduce; --shard 2/3 makes the second of three parts of the runs.

--runs DIR takes finished runs of any folder as rows in place of those of the grid, and
attacks them as the grid does; it may be repeated, and may name a folder of run directories.
Membership needs runs that were trained with run.hold_out. Imported runs have no attributes
of users: --attributes FILE names a table with a column user_id and a column an attribute.

The matrix goes to OUT/tables as Markdown, CSV, JSON, a page, and a heat map in SVG and PNG,
beside *-runs.json with the time and memory of the runs. All but that file have the same
bytes whenever and wherever they are made. --record FILE keeps what the cells measured in a
small file too, as privrec report record does.

` + exitCodes,
		Args: wants(),
		RunE: func(c *cobra.Command, _ []string) error { return a.makeMatrix(c.Context(), f) },
	}
	p := c.Flags()
	p.StringVar(&f.profile, "profile", "quick", "size: smoke, quick or full")
	p.StringVar(&f.grid, "grid", "", "file of the matrix; its configurations are found relative to it")
	p.StringArrayVar(&f.runs, "runs", nil, "a finished run, or a folder of them, as rows; may be repeated")
	p.StringArrayVar(&f.attacks, "attack", nil, "make only this column; may be repeated")
	p.StringVar(&f.users, "attributes", "",
		"with --runs, table of attributes of the users of imported runs, which have none themselves")
	p.StringVarP(&f.out, "out", "o", "runs/matrix", "folder for runs and tables")
	p.StringVar(&f.record, "record", "",
		"keep what each row measured in this file of records, with those that are there")
	p.StringArrayVar(&f.sets, "set", nil,
		"override one key in every run and attack that has it, as in run.save_seconds=60; the matrix says so; may be "+
			"repeated")
	p.IntVar(&f.workers, "workers", 0, "threads, 0 for all cores; results do not depend on them")
	p.StringVar(&f.shard, "shard", "", "make one part of the runs, as in 2/3, and no matrix")
	p.BoolVar(&f.dryRun, "dry-run", false,
		"start nothing: say what runs there are, and what time, memory and disk they would take")
	p.BoolVar(&f.noRun, "no-run", false, "start nothing: make the matrix of finished runs")
	p.BoolVar(&f.noWait, "no-wait", false, "do not wait for runs that other processes make")
	p.BoolVar(&f.json, "json", false, "print the matrix as one JSON document")
	p.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, warnings only")
	p.BoolVarP(&f.verbose, "verbose", "v", false, "print all that the runs report")
	return withVerb(verbs, "attack", c)
}

// openMatrix reads the matrix that is asked for, with the rows and the columns that are.
func (a *App) openMatrix(f matrixFlags) (m *matrix.Matrix, err error) {
	if f.grid != "" {
		m, err = matrix.Load(f.grid, a.Tasks)
	} else {
		m, err = matrix.BuiltIn(configs.Files(), ownMatrix, a.Tasks)
	}
	if err != nil {
		return nil, err
	}
	if len(f.attacks) > 0 {
		if err := m.Only(f.attacks); err != nil {
			return nil, err
		}
	}
	if len(f.runs) > 0 {
		dirs, err := runFolders(f.runs)
		if err != nil {
			return nil, err
		}
		if f.users != "" {
			if m.Attributes, err = filepath.Abs(f.users); err != nil {
				return nil, fmt.Errorf("--attributes: %w", err)
			}
		}
		err = m.OnRuns(dirs)
		return m, err
	}
	if f.users != "" {
		return nil, usagef("rows of a grid have the attributes of their data", "--attributes is for --runs")
	}
	return m, nil
}

// runFolders lists run directories: those that are named, and the finished trainings in folders that are.
func runFolders(names []string) (dirs []string, err error) {
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(name, "manifest.json")); err == nil {
			dirs = append(dirs, name)
			continue
		}
		found, err := filepath.Glob(filepath.Join(name, "*", "manifest.json"))
		if err != nil || len(found) == 0 {
			return nil, usagef("name run directories, or a folder of them, as privrec train writes them",
				"--runs: there is no run in %s", name)
		}
		for _, file := range found {
			if m, err := run.ReadManifest(filepath.Dir(file)); err == nil && m.Status == run.StatusDone &&
				(strings.HasPrefix(m.Task, "train ") || experiment.IsImported(m.Task)) {
				dirs = append(dirs, filepath.Dir(file))
			}
		}
	}
	return dirs, nil
}

// makeMatrix makes the matrix that is asked for, and shows it.
func (a *App) makeMatrix(ctx context.Context, f matrixFlags) error {
	if _, err := threads(f.workers); err != nil {
		return err
	}
	shard, err := run.ParseShard(f.shard)
	switch {
	case err != nil:
		return err
	case f.out == "":
		return usagef("the default is runs/matrix", "--out is empty")
	case f.dryRun && f.noRun:
		return usagef("--dry-run estimates, --no-run makes the matrix of what is finished",
			"--dry-run and --no-run exclude each other")
	case shard.Of > 0 && f.noRun:
		return usagef("--no-run makes the matrix of all shards: leave out --shard",
			"--shard and --no-run exclude each other")
	case f.quiet && f.verbose:
		return usagef("leave out one of them", "--quiet and --verbose exclude each other")
	case f.record != "" && (f.dryRun || shard.Of > 0):
		return usagef("leave out --record, and give it when the matrix is made",
			"--record: --dry-run and --shard make no matrix")
	}
	m, err := a.openMatrix(f)
	if err != nil {
		return err
	}
	r := screen.NewTables(a.Stderr, f.quiet, f.verbose, true)
	defer r.Close()
	o := roster.Options{
		Size: f.profile, Out: f.out, Sets: f.sets, Workers: f.workers, NoRun: f.noRun, NoWait: f.noWait, Shard: shard,
		Log: screen.NewLogger(r, true), Progress: r, Run: r.Run(), Watch: r.Watch,
	}
	p, grids, err := m.Plan(o)
	if err != nil {
		return err
	}
	if f.dryRun && f.verbose && !f.json {
		return a.estimateTables(ctx, grids, o, tableFlags{verbose: true})
	}
	if f.dryRun {
		d, _, err := p.Forecast(ctx)
		if err != nil {
			return err
		}
		return run.Show(a.Stdout, f.json, d)
	}
	r.Follow(p.Left)
	made, err := m.Make(ctx, p, grids, o, func(k int, heading string) {
		r.Open(fmt.Sprintf("attack %d of %d: %s, size %s", k+1, len(grids), heading, f.profile))
	})
	r.Close()
	if err != nil {
		if run.WasInterrupted(err) {
			return run.WithHint(err, "what is done is kept; the same command goes on from there")
		}
		return err
	}
	if shard.Of > 0 {
		return firstOf(made.Err, run.Show(a.Stdout, f.json, matrixPart{made.Name, shard.String()}))
	}
	if err := run.Show(a.Stdout, f.json, made); err != nil {
		return err
	}
	if f.record != "" {
		if err := recordMatrix(made, f); err != nil {
			return err
		}
		made.Files = append(made.Files, f.record)
	}
	for _, path := range made.Files {
		r.Phase("written: " + path)
	}
	if text := p.Missing(); f.noRun && text != "" {
		r.Phase(text)
	}
	return made.Err
}

// recordMatrix keeps what the rows of a matrix measured.
func recordMatrix(made *matrix.Made, f matrixFlags) error {
	file, err := record.Open(f.record)
	if err != nil {
		return err
	}
	command := "privrec attack matrix --profile " + f.profile
	if f.grid != "" {
		command += " --grid " + filepath.ToSlash(f.grid)
	}
	if err := made.Record(file, command); err != nil {
		return err
	}
	return file.Write(f.record)
}

// firstOf returns the first error that there is.
func firstOf(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// matrixPart is what a shard of a matrix has to say: its runs are made, and the matrix is not.
type matrixPart struct {
	Name  string `json:"name"`
	Shard string `json:"shard"`
}

// Text implements run.Result.
func (m matrixPart) Text(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%s: %s makes no matrix\n", m.Name, m.Shard)
	return err
}
