package cli

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"privrec/configs"
	"privrec/internal/calculator"
	"privrec/internal/epsilons"
	"privrec/internal/papers"
	"privrec/internal/privacy"
	"privrec/internal/privacy/budget"
	"privrec/internal/progress"
	"privrec/internal/report"
	"privrec/internal/run"
)

// epsilonFlags are the flags of privrec account epsilon.
type epsilonFlags struct {
	paper, unit, config, task, on, keyFile string
	sets                                   []string
	markdown                               bool
}

// epsilon makes the command that sets claimed epsilons beside accounts.
func (a *App) epsilon() *cobra.Command {
	var f epsilonFlags
	c := &cobra.Command{
		Use:   "epsilon [--paper NAME|all] | --config FILE [--set key=value]... | --on RUN",
		Short: "claimed epsilons beside what the releases come to",
		Long: `Sets claimed epsilons beside what the releases come to, a line a setting.

For a paper: what it claims, and the account of what it writes, of what its authors'
program does, and of a repair; by the paper's own formula where it has one, exactly, and
with a certified bracket. What is left without noise is named, with the reason: it makes
the epsilon of the whole run infinite. The settings are files in configs/epsilon, which
hold no result: every number is computed.

For a configuration (--config): the account that its run would have. It loads the data,
and trains nothing. For a finished run (--on): the account that it wrote, beside a
certified bracket of its ledger.

` + exitCodes,
		Args: wants(),
	}
	a.answers(c, func(c *cobra.Command, _ []string) (run.Result, error) {
		if c.Flags().Changed("paper") && f.config+f.on != "" || f.config != "" && f.on != "" {
			return nil, usagef("leave out all but one", "--paper, --config and --on exclude each other")
		}
		if f.config == "" && (len(f.sets) > 0 || f.task != "") {
			return nil, usagef("name a configuration with --config", "--set and --task belong to --config")
		}
		rows, err := a.epsilonRows(c, f)
		if err != nil {
			return nil, err
		}
		if rows, err = epsilons.OfUnit(rows, f.unit); err != nil {
			return nil, err
		}
		return &epsilons.Answer{Rows: rows, Run: f.config+f.on != "", Markdown: f.markdown}, nil
	})
	p := c.Flags()
	p.StringVar(&f.paper, "paper", epsilons.All, "a paper, or all")
	p.StringVarP(&f.config, "config", "c", "", "configuration file: forecast the account of its run")
	p.StringVar(&f.task, "task", "",
		`task of the configuration, as in "train dipsgnn", where the file does not name it`)
	p.StringArrayVar(&f.sets, "set", nil, "override one key of the configuration; may be repeated")
	p.StringVar(&f.on, "on", "", "a finished run: the account that it wrote")
	p.StringVar(&f.keyFile, "ledger-key", "", "file of the secret key that the ledger of the run was written with")
	p.StringVar(&f.unit, "unit", "", "rows about this unit only: edge, interaction, user or another that the rows have")
	p.BoolVar(&f.markdown, "markdown", false, "as Markdown")
	c.MarkFlagsMutuallyExclusive("json", "markdown")
	return c
}

// epsilonRows computes the rows that are asked for.
func (a *App) epsilonRows(c *cobra.Command, f epsilonFlags) ([]epsilons.Row, error) {
	switch {
	case f.on != "":
		key, err := ledgerKey(f.keyFile)
		if err != nil {
			return nil, err
		}
		return epsilons.OfRun(f.on, key)
	case f.config == "":
		return epsilons.Papers(configs.Files(), papers.Epsilons(), f.paper)
	}
	t, err := a.taskOf(f)
	if err != nil {
		return nil, err
	}
	ctx := progress.With(c.Context(), newReporter(a.Stderr, false))
	account, err := t.PlannedAccount(ctx, run.Options{Config: f.config, Sets: f.sets})
	if errors.Is(err, run.ErrNoPlan) {
		return nil, run.WithHint(err, "run it, and ask with --on RUN")
	}
	if err != nil {
		return nil, err
	}
	return epsilons.Planned(t.String()+" under "+f.config, account)
}

// epsilonTables makes the panels of papers, by name. A paper without settings has none.
func epsilonTables(names []string) (map[string]*report.Table, error) {
	tables := map[string]*report.Table{}
	for _, p := range papers.Epsilons() {
		if !slices.Contains(names, p.Name) {
			continue
		}
		rows, err := p.Rows(configs.Files())
		if err != nil {
			return nil, err
		}
		tables[p.Name] = epsilons.Table(p.Name, rows)
	}
	return tables, nil
}

// taskOf returns the task of a configuration: the one that --task names, or that the file names.
func (a *App) taskOf(f epsilonFlags) (run.Task, error) {
	if f.task != "" {
		return a.taskCalled(f.task)
	}
	return a.taskOfFile(f.config)
}

// accountBudget makes the commands for a budget that several runs spend from.
func (a *App) accountBudget() *cobra.Command {
	parent := &cobra.Command{
		Use:   "budget",
		Short: "one budget that several runs on the same data spend from",
		Long: `A budget is a file. A run with --set privacy.parent=FILE reserves there what it will
release at most, before its first release. One that would overdraw the budget, is on
other data, or has no finite epsilon, stops before it starts, with exit code 4. What a
run reserved stays spent, however it ends, unless it ended without a release.

Costs add up by a filter, which is fixed when the budget is made: runs are chosen after
the results of those before, and theorems of composition do not cover that.

  sum          epsilons add up, and deltas do
  approximate  as advanced composition, for many runs of small epsilon
  renyi        Rényi divergences at one --order add up`,
		Args: cobra.ArbitraryArgs,
		RunE: group("command"),
	}
	var (
		t                        budget.Terms
		unit, neighbouring, rule string
	)
	create := &cobra.Command{
		Use:   "create FILE --epsilon e --delta d --data NAME",
		Short: "make a budget",
		Long: `Makes a budget. Its data are those of the first run that spends from it, by their
digest, or those of --sha256, as manifest.json of a run has it.`,
		Args: wants("a file to make"),
	}
	a.shows(create, func(c *cobra.Command, args []string) (run.Result, error) {
		var names []string
		for _, name := range []string{"epsilon", "delta", "data"} {
			if !c.Flags().Changed(name) {
				names = append(names, name)
			}
		}
		if err := missing(c, names); err != nil {
			return nil, err
		}
		t.Unit, t.Neighbouring, t.Rule = privacy.Unit(unit), privacy.Neighbouring(neighbouring), budget.Rule(rule)
		return calculator.CreateBudget(args[0], t)
	})
	p := create.Flags()
	p.Float64Var(&t.Epsilon, "epsilon", 0, "epsilon of all runs together")
	p.Float64Var(&t.Delta, "delta", 0, "delta of all runs together; 0 with --filter sum")
	p.StringVar(&unit, "unit", string(privacy.User), "unit that the guarantee is about: "+words(privacy.Units()))
	p.StringVar(&neighbouring, "neighbouring", string(privacy.AddRemove),
		"relation of neighbouring data sets: add-remove, replace, zero-out")
	p.StringVar(&t.Data, "data", "", "name of the data set, for readers")
	p.StringVar(&t.SHA256, "sha256", "", "digest of the data")
	p.StringVar(&rule, "filter", string(budget.Sum), "how costs add up: "+words(budget.Rules()))
	p.Float64Var(&t.Order, "order", 0, "Rényi order of --filter renyi")
	p.Float64Var(&t.Slack, "slack", 0, "part of delta that --filter approximate takes for itself (default a tenth)")
	show := &cobra.Command{
		Use:   "show FILE",
		Short: "what was spent by which run",
		Args:  wants("the file of a budget"),
	}
	a.shows(show, func(_ *cobra.Command, args []string) (run.Result, error) { return calculator.ShowBudget(args[0]) })
	parent.AddCommand(create, show)
	return parent
}
