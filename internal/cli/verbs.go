package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"privrec/internal/cli/screen"
	"privrec/internal/run"
	"privrec/internal/system"
)

// verbSummaries are the one-line helps of the verbs.
var verbSummaries = map[string]string{
	"train":   "train a model",
	"perturb": "write protected data",
	"attack":  "attack a run, a data set, or models under defences",
	"import":  "make a run of a model that another program trained",
}

// verbAudit is the verb whose tasks are commands of audit.
const verbAudit = "audit"

// verbs makes one command for each verb, and under it one for each task.
func (a *App) verbs() []*cobra.Command {
	var out []*cobra.Command
	byVerb := map[string]*cobra.Command{}
	for _, t := range a.Tasks {
		if t.Verb == verbAudit { // beside commands that are no tasks
			continue
		}
		v := byVerb[t.Verb]
		if v == nil {
			v = &cobra.Command{Use: t.Verb, Short: verbSummaries[t.Verb], Args: cobra.ArbitraryArgs,
				RunE: group("task")}
			byVerb[t.Verb] = v
			out = append(out, v)
		}
		v.AddCommand(a.task(t))
	}
	if v := byVerb[verbImport]; v != nil {
		a.importModel(v)
	}
	return out
}

// withVerb adds commands that are no tasks to a verb, which it makes where no task has it.
func withVerb(verbs []*cobra.Command, name string, more ...*cobra.Command) []*cobra.Command {
	at := slices.IndexFunc(verbs, func(v *cobra.Command) bool { return v.Name() == name })
	if at < 0 {
		at = len(verbs)
		verbs = append(verbs, &cobra.Command{
			Use: name, Short: verbSummaries[name], Args: cobra.ArbitraryArgs, RunE: group("task"),
		})
	}
	verbs[at].AddCommand(more...)
	return verbs
}

// taskFlags are the flags of every task. Each stands for a key of the configuration.
type taskFlags struct {
	config   string
	sets     []string
	out      string
	resume   bool
	workers  int
	seed     uint64
	json     bool
	quiet    bool
	defaults bool
	log      string

	ledgerKey string
	own       map[string]*[]string // of the task, by name: what was given, several of a list
}

// taskHelp is what the help of every task says.
const taskHelp = `Results go to standard output and to the run directory, beside manifest, privacy.json,
scores and a checkpoint. Ctrl-C saves a checkpoint; the same command with --resume goes on
from it, to the same bytes as a run without interruption. A second Ctrl-C quits at once.`

// task makes the command that runs a task.
func (a *App) task(t run.Task) *cobra.Command {
	f := taskFlags{own: map[string]*[]string{}}
	c := &cobra.Command{
		Use:   t.Name + " [--config FILE] [--set key=value]... [--out DIR] [--resume]",
		Short: t.Summary,
		Long:  t.Summary + ".\n\n" + cited(t.Cite) + taskHelp + "\n\n" + exitCodes,
		Args:  noWords(t),
		RunE:  func(c *cobra.Command, _ []string) error { return a.runTask(c, t, &f) },
	}
	p := c.Flags()
	f.declareSource(p)
	f.declare(p)
	for _, own := range t.Flags {
		f.own[own.Name] = ownFlag(p, own)
	}
	return c
}

// run makes the command that runs the task that a configuration file names.
func (a *App) run() *cobra.Command {
	f := taskFlags{own: map[string]*[]string{}}
	c := &cobra.Command{
		Use:   "run FILE [--set key=value]... [--out DIR] [--resume]",
		Short: "run the task that a configuration file names",
		Long: `Runs the task that a configuration file names at its key task, as in "task: train lightgcn".
It does what privrec train lightgcn --config FILE does.

` + exitCodes,
		Args: wants("FILE"),
		RunE: func(c *cobra.Command, args []string) error {
			t, err := a.taskOfFile(args[0])
			if err != nil {
				return err
			}
			f.config = args[0]
			for _, own := range t.Flags { // --set says the same
				f.own[own.Name] = new([]string)
			}
			return a.runTask(c, t, &f)
		},
	}
	f.declare(c.Flags())
	return c
}

// declareSource declares the flags that say which configuration is run, of commands that a file does not name.
func (f *taskFlags) declareSource(p *pflag.FlagSet) {
	p.StringVarP(&f.config, "config", "c", "", "configuration file (YAML); without it, the defaults")
	p.BoolVar(&f.defaults, "defaults", false, "print the complete default configuration and stop")
}

// declare declares the flags that every run has.
func (f *taskFlags) declare(p *pflag.FlagSet) {
	p.StringArrayVar(&f.sets, "set", nil,
		"override one key of the configuration, as in train.epochs=3; may be repeated")
	p.StringVarP(&f.out, "out", "o", "", "run directory (run.out); default runs/<task>-<configuration hash>")
	p.BoolVar(&f.resume, "resume", false, "go on from the checkpoint in the run directory")
	p.IntVar(&f.workers, "workers", 0, "threads (run.workers), 0 for all cores; results do not depend on them")
	p.Uint64Var(&f.seed, "seed", 1, "seed of every random number (run.seed)")
	p.StringVar(&f.ledgerKey, "ledger-key", "",
		"file with a secret key for the ledger (run.ledger_key): without the key no change of the ledger goes unseen")
	p.BoolVar(&f.json, "json", false, "results as JSON")
	p.BoolVarP(&f.quiet, "quiet", "q", false, "no progress, warnings only")
	p.Var((*logForm)(&f.log), "log",
		"write what each epoch comes to in another form too: tensorboard, an event file in the run directory")
}

// ownFlag declares a flag of a task.
func ownFlag(p *pflag.FlagSet, own run.Flag) *[]string {
	usage := own.Usage + " (" + own.Key + ")"
	if own.List {
		return p.StringArray(own.Name, nil, usage)
	}
	given := new([]string)
	if own.Switch {
		p.Var((*onOff)(given), own.Name, usage)
		p.Lookup(own.Name).NoOptDefVal = "true"
		return given
	}
	p.Var((*single)(given), own.Name, usage)
	return given
}

// logForm is the form of a log beside the program's own.
type logForm string

// String implements pflag.Value.
func (l *logForm) String() string { return string(*l) }

// Set implements pflag.Value.
func (l *logForm) Set(text string) error {
	if text != "tensorboard" {
		return usagef("tensorboard is known", "--log %q: unknown form", text)
	}
	*l = logForm(text)
	return nil
}

// Type implements pflag.Value.
func (l *logForm) Type() string { return "string" }

// onOff is the value of a flag without a word, true or false, in a slice of one.
type onOff []string

// String implements pflag.Value.
func (s *onOff) String() string { return strings.Join(*s, "") }

// Set implements pflag.Value.
func (s *onOff) Set(text string) error {
	on, err := strconv.ParseBool(text)
	*s = onOff{strconv.FormatBool(on)}
	return err
}

// Type implements pflag.Value.
func (s *onOff) Type() string { return "bool" }

// single is the value of a flag that is a string, in a slice of one.
type single []string

// String implements pflag.Value.
func (s *single) String() string { return strings.Join(*s, "") }

// Set implements pflag.Value.
func (s *single) Set(text string) error {
	*s = single{text}
	return nil
}

// Type implements pflag.Value.
func (s *single) Type() string { return "string" }

// ownOverrides returns the overrides that a task's own flags stand for.
func (f *taskFlags) ownOverrides(c *cobra.Command, t run.Task) (sets []string, err error) {
	for _, own := range t.Flags {
		if !c.Flags().Changed(own.Name) {
			continue
		}
		if own.With != "" && c.Flags().Changed(own.With) {
			own.Key = own.WithKey
		}
		var value any = *f.own[own.Name]
		switch {
		case own.Switch:
			value = (*f.own[own.Name])[0] == "true"
		case own.Number: // as it is written: the configuration says what is wrong with it
			sets = append(sets, own.Key+"="+(*f.own[own.Name])[0])
			continue
		case !own.List:
			value = (*f.own[own.Name])[0]
		}
		set, err := override(own.Key, value)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	return sets, nil
}

// override returns the text that sets a key to a string or a list of strings, quoted, or to a bool.
func override(key string, value any) (string, error) {
	quoted, err := json.Marshal(value) // JSON's quoting is YAML's too
	return key + "=" + string(quoted), err
}

// cited returns a citation and an empty line, or nothing where there is no citation.
func cited(cite string) string {
	if cite == "" {
		return ""
	}
	return cite + "\n\n"
}

// runTask runs a task as its flags say, and tells how to resume it where it was stopped.
func (a *App) runTask(c *cobra.Command, t run.Task, f *taskFlags) error {
	if err := refuseEmpty(c); err != nil {
		return err
	}
	if f.defaults && f.json {
		return usagef("leave out --json; privrec list schema prints JSON",
			"%s: --defaults prints YAML", c.CommandPath())
	}
	if f.defaults {
		b, err := t.Explained()
		if err != nil {
			return err
		}
		_, err = a.Stdout.Write(b)
		return err
	}
	r := newReporter(a.Stderr, f.quiet)
	r.Phase(t.String())
	sets := append([]string(nil), f.sets...)
	if c.Flags().Changed("seed") {
		sets = append(sets, fmt.Sprintf("run.seed=%d", f.seed))
	}
	if c.Flags().Changed("workers") {
		sets = append(sets, fmt.Sprintf("run.workers=%d", f.workers))
	}
	own, err := f.ownOverrides(c, t)
	if err != nil {
		return err
	}
	sets = append(sets, own...)
	for _, given := range []struct{ key, path string }{{"run.out", f.out}, {"run.ledger_key", f.ledgerKey}} {
		if given.path == "" {
			continue
		}
		set, err := override(given.key, given.path)
		if err != nil {
			return err
		}
		sets = append(sets, set)
	}
	dir, err := t.Start(c.Context(), run.Options{
		Config: f.config, Sets: sets, Resume: f.resume,
		Stdout: a.Stdout, JSON: f.json, Events: f.log != "", Log: screen.NewLogger(r, f.quiet), Progress: r,
	})
	switch {
	case run.WasInterrupted(err):
		if _, gone := os.Stat(dir); gone != nil {
			return run.WithHint(err, "nothing was saved yet")
		}
		return run.WithHint(err, "resume with: "+resumeLine(c, t, *f, dir))
	case hint(err) == hintDiskFull && kept(dir):
		return run.WithHint(err, "the disk is full: make room, then resume with: "+resumeLine(c, t, *f, dir))
	case err == nil && dir != "":
		r.Phase("written to " + dir)
	}
	return a.nameOwner(err, t, f.config)
}

// kept reports whether a run left files to resume from.
func kept(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "manifest.json"))
	return dir != "" && err == nil
}

// resumeLine returns the command that resumes a run that was interrupted.
func resumeLine(c *cobra.Command, t run.Task, f taskFlags, dir string) string {
	words := []string{"privrec", t.Verb, t.Name}
	if f.config != "" {
		words = append(words, "--config", f.config)
	}
	for _, s := range f.sets {
		words = append(words, "--set", s)
	}
	for _, own := range t.Flags {
		for _, value := range *f.own[own.Name] {
			if own.Switch { // its value is not a word of its own
				words = append(words, "--"+own.Name+"="+value)
				continue
			}
			words = append(words, "--"+own.Name, value)
		}
	}
	if f.log != "" {
		words = append(words, "--log", f.log)
	}
	if c.Flags().Changed("seed") { // 1 too: the file may say otherwise
		words = append(words, "--seed", fmt.Sprint(f.seed))
	}
	if f.ledgerKey != "" {
		words = append(words, "--ledger-key", f.ledgerKey)
	}
	words = append(words, "--out", dir, "--resume")
	for i, w := range words {
		words[i] = system.ShellQuote(w)
	}
	return strings.Join(words, " ")
}
