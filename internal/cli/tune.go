package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/cli/screen"
	"privrec/internal/run"
	"privrec/internal/tune"
)

// tuneFlags are the flags of privrec tune.
type tuneFlags struct {
	study     string
	config    string
	sets      []string
	spaces    []string
	trials    int
	objective string
	seed      uint64
	out       string
	jobs      int
	workers   int
	resume    bool
	json      bool
	quiet     bool
}

// tune makes the command that searches for settings.
func (a *App) tune() *cobra.Command {
	var f tuneFlags
	c := &cobra.Command{
		Use:   "tune [TASK]... --study FILE | TASK --config FILE --space key=SPACE...",
		Short: "search for settings on validation rows, as many trials for every method",
		Long: `Searches for settings. Every task gets the same number of trials, each a run whose
validation rows are measured: test rows are taken out of the data before a task sees them,
and cannot be opened. The first trial is the configuration as it stands; the others are
drawn at random from a space of keys. A study by successive halving gives many settings
few epochs and the best of them more, and spends no more epochs.

A study file names tasks with their configurations and spaces, the number of trials and
the objective. With TASK only these of its tasks are searched. Without a study file, the
space of one task is given by --space:

  privrec tune bprmf --config FILE --space train.rate=log:1e-4,1e-2 --space model.dim=choice:32,64

  choice:a,b,c    each as likely
  uniform:lo,hi   uniform between two numbers
  log:lo,hi       uniform in the logarithm
  integer:lo,hi   integers, both ends included

OUT gets log.jsonl, a line a trial; best/TASK.yaml, the winning configurations; result.txt;
and the trials' own directories. The log has no times and does not depend on --jobs or
--workers: after a kill, the same command with --resume goes on to the same bytes.

Where a study says that its rows are private, trials are a random number, and the cost of
the choice is accounted for (Papernot and Steinke, ICLR 2022).

` + exitCodes,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error { return a.runTune(c, args, f) },
	}
	p := c.Flags()
	p.StringVar(&f.study, "study", "", "study file (YAML)")
	p.StringVarP(&f.config, "config", "c", "", "configuration file (YAML) of the task; without it, the defaults")
	p.StringArrayVar(&f.sets, "set", nil,
		"override one key of the configuration in all trials, as in data.name=ml-100k; may be repeated")
	p.StringArrayVar(&f.spaces, "space", nil, "a key with its space, as in train.rate=log:1e-4,1e-2; may be repeated")
	p.IntVar(&f.trials, "trials", 0, "trials of every task; 0: those of the study, or 16")
	p.StringVar(&f.objective, "objective", "",
		"metric of validation rows to make as large as it gets; default that of the study, or NDCG@20")
	p.Uint64Var(&f.seed, "seed", 1, "seed of the settings, the rows and the runs")
	p.StringVarP(&f.out, "out", "o", "", "folder for the log, the trials and the winners; default runs/tune/<study>")
	p.IntVar(&f.jobs, "jobs", 1, "trials at a time")
	p.IntVar(&f.workers, "workers", 0, "threads, 0 for all cores; results do not depend on them")
	p.BoolVar(&f.resume, "resume", false, "go on with the search in OUT")
	p.BoolVar(&f.json, "json", false, "the result as JSON")
	p.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, warnings only")
	return c
}

// runTune makes the search that the flags ask for, and shows its result.
func (a *App) runTune(c *cobra.Command, args []string, f tuneFlags) error {
	if err := refuseEmpty(c); err != nil {
		return err
	}
	if _, err := threads(f.workers); err != nil {
		return err
	}
	if f.jobs < 1 || f.jobs > run.MaxWorkers {
		return usagef("1 makes one trial after the other", "--jobs is %d, want 1 to %d", f.jobs, run.MaxWorkers)
	}
	s, err := a.study(c, args, f)
	if err != nil {
		return err
	}
	if f.out == "" {
		f.out = "runs/tune/" + s.Name
	}
	r := newReporter(a.Stderr, f.quiet)
	r.Phase("study " + s.Name)
	result, err := a.search(c.Context(), s, f, r)
	if err != nil {
		if run.WasInterrupted(err) {
			return run.WithHint(err, "the same command with --resume goes on from there")
		}
		return err
	}
	if err := run.Show(a.Stdout, f.json, result); err != nil {
		return err
	}
	for _, file := range result.Files() {
		r.Phase("written: " + file)
	}
	return result.Err()
}

func (a *App) search(ctx context.Context, s *tune.Study, f tuneFlags, r reporter) (*tune.Result, error) {
	return tune.Run(ctx, s, tune.Options{Out: f.out, Jobs: f.jobs, Workers: f.workers, Resume: f.resume,
		Log: screen.NewLogger(r, f.quiet), Progress: r})
}

// study reads the study file, or makes a study of one task from the flags.
func (a *App) study(c *cobra.Command, args []string, f tuneFlags) (*tune.Study, error) {
	s := new(tune.Study)
	if f.study != "" {
		for _, name := range []string{"config", "space"} {
			if c.Flags().Changed(name) {
				return nil, usagef("write it into the study", "--study and --%s exclude each other", name)
			}
		}
		var err error
		if s, err = tune.Load(f.study, a.Tasks); err != nil {
			return nil, err
		}
		if err := s.Only(args); err != nil {
			return nil, err
		}
	} else {
		if len(args) != 1 {
			return nil, usagef("name one TASK, or a study by --study FILE", "privrec tune: want one task, got %d",
				len(args))
		}
		if len(f.spaces) == 0 {
			return nil, usagef("add --space key=log:lo,hi or another space", "privrec tune %s: nothing to search",
				args[0])
		}
		t := tune.Task{Task: "train " + strings.TrimPrefix(args[0], "train "), Config: f.config,
			Space: map[string]tune.Space{}}
		for _, text := range f.spaces {
			key, space, _ := strings.Cut(text, "=")
			x, err := tune.ParseSpace(space)
			if err != nil {
				return nil, usagef("as in --space train.rate=log:1e-4,1e-2", "--space %s: %v", text, err)
			}
			t.Space[key] = x
		}
		*s = tune.Default()
		s.Name, s.Rows, s.Tasks = strings.ReplaceAll(t.Task, " ", "-"), tune.Public, []tune.Task{t}
	}
	s.Set = slices.Concat(s.Set, f.sets)
	if f.trials != 0 {
		s.Trials = f.trials
	}
	if f.objective != "" {
		s.Objective = f.objective
	}
	if c.Flags().Changed("seed") {
		s.Seed = f.seed
	}
	return s, s.Form(nil, a.Tasks)
}
