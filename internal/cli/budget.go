package cli

import (
	"github.com/spf13/cobra"

	"privrec/internal/calculator"
	"privrec/internal/privacy"
	"privrec/internal/privacy/budget"
	"privrec/internal/run"
)

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
	p.StringVar(&neighbouring, "neighbouring", string(privacy.AddRemove), "relation of neighbouring data sets: add-remove, replace, zero-out")
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
