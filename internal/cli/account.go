package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/calculator"
	"privrec/internal/calculator/eventlog"
	"privrec/internal/privacy"
	"privrec/internal/run"
)

// account makes the command that says which epsilon noisy releases amount to.
func (a *App) account() *cobra.Command {
	parent := &cobra.Command{
		Use:   "account",
		Short: "what noisy releases cost in privacy",
		Long: `The privacy calculator. It says which epsilon noisy releases amount to, at a delta and
under a named relation of neighbouring data sets.

Accountants:

  exact     integrates the privacy loss, checked against a bound from above and one from below
  pld       computes a bound from above and one from below: a certified bracket
  rdp       bounds epsilon by Rényi differential privacy
  analytic  has the closed formula of normal noise without sampling

Where exact does not apply, pld answers, and the answer says so. Printed numbers are
rounded up; --json has every digit.

An answer also says what an attacker reaches who tells members from outsiders: how many
members are found at most where 0.1 %, 1 % or 10 % of the outsiders are taken for members.
That is from the whole trade-off curve, with every rounding towards the attacker.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
		RunE: group("command"),
	}
	for _, m := range append(calculator.Mechanisms(), calculator.Dipsgnn()) {
		q := calculator.AskAccount(m)
		c := a.questionCommand(q, m.Summary, func() (run.Result, error) { return q.Account() })
		accountantFlag(c, q)
		parent.AddCommand(c)
	}
	parent.AddCommand(a.accountRDP(), a.accountBudget(), a.accountLedger(), a.accountEvents(), a.accountCurve(),
		a.accountSelection(), a.calibrate(), a.epsilon())
	return parent
}

// accountRDP makes the command that shows one point of a Rényi curve.
func (a *App) accountRDP() *cobra.Command {
	parent := &cobra.Command{
		Use:   "rdp",
		Short: "one point of a Rényi curve",
		Long: `The Rényi divergence of order --alpha between the outputs of one release on
neighbouring data sets, in nats: the larger of its two directions, or a bound on
it where no closed form is known. Orders need not be whole.`,
		Args: cobra.ArbitraryArgs,
		RunE: group("mechanism"),
	}
	for _, m := range calculator.Single() {
		q := calculator.AskDivergence(m)
		parent.AddCommand(a.questionCommand(q, "Rényi divergence of one release with "+m.Summary,
			func() (run.Result, error) { return q.Divergence() }))
	}
	return parent
}

// accountSelection makes the command that says what the best of several runs costs.
func (a *App) accountSelection() *cobra.Command {
	parent := &cobra.Command{
		Use:   "selection",
		Short: "what it costs to release the best of several runs",
		Long: `What it costs to train with several settings on private data and to release the best
run alone, as privrec tune does for private rows. The number of runs is random, with
mean --trials, and the runs are ordered by what they release. Source: Papernot and
Steinke, Hyperparameter Tuning with Rényi Differential Privacy, ICLR 2022, theorem 2.`,
		Args: cobra.ArbitraryArgs,
		RunE: group("mechanism"),
	}
	for _, m := range calculator.Single() {
		q := calculator.AskSelection(m)
		parent.AddCommand(a.questionCommand(q, "the best of several runs with "+m.Summary,
			func() (run.Result, error) { return q.Selected() }))
	}
	return parent
}

// calibrate makes the command that finds the least noise for an epsilon.
func (a *App) calibrate() *cobra.Command {
	parent := &cobra.Command{
		Use:   "calibrate",
		Short: "the least noise for a privacy guarantee",
		Long: `The least noise with which releases stay within an epsilon at a delta, or within what an
attacker may reach: --advantage, or --tpr at --fpr, in place of --epsilon. --find looks
for the most steps, epochs or records in a batch instead. The answer is never above what
is asked for: it is accounted at exactly the number that is printed.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
		RunE: group("mechanism"),
	}
	for _, m := range append(calculator.Noisy(), calculator.Dipsgnn()) {
		q := calculator.AskCalibration(m)
		c := a.questionCommand(q, "the least --"+m.Noise+" for a guarantee: "+m.Summary,
			func() (run.Result, error) { return q.Calibrate() })
		accountantFlag(c, q)
		if finds := m.Finds(); len(finds) > 1 {
			c.Flags().StringVar(&q.Find, "find", "",
				fmt.Sprintf("number to find, whose own flag is left out: the least noise, or the most of another: %s "+
					"(default %s)", join(finds), m.Noise))
		}
		parent.AddCommand(c)
	}
	return parent
}

// accountCurve makes the command that draws epsilon against delta, noise or steps.
func (a *App) accountCurve() *cobra.Command {
	parent := &cobra.Command{
		Use:   "curve",
		Short: "draw epsilon against delta, noise or steps, or the trade-off curve of an attack",
		Long: `Draws epsilon against delta, the noise or the number of steps, with all else fixed: a
line for each accountant, on a logarithmic axis. Over fpr it draws the trade-off curve:
the members that an attacker finds at most against the outsiders taken for members. Writes an SVG or PNG file, whole or
not at all, and prints the values.`,
		Args: cobra.ArbitraryArgs,
		RunE: group("mechanism"),
	}
	for _, m := range calculator.Single() {
		parent.AddCommand(a.curveOf(m))
	}
	return parent
}

// curveOf makes the command that draws the curve of one mechanism.
func (a *App) curveOf(m *calculator.Mechanism) *cobra.Command {
	k := calculator.AskCurve(m)
	c := &cobra.Command{
		Use:   m.Name + " --over delta|noise|steps|fpr --from A --to B --out FILE",
		Short: "draw epsilon for " + m.Summary,
		Long:  m.Long,
		Args:  wants(),
	}
	a.reports(c, func(c *cobra.Command, _ []string, r reporter) (run.Result, error) {
		names, err := k.Missing()
		if err != nil {
			return nil, err
		}
		if err := missing(c, names); err != nil {
			return nil, err
		}
		if err := k.Check(); err != nil {
			return nil, err
		}
		return k.Draw(c.Context(), r)
	})
	questionFlags(c, k.Question)
	p := c.Flags()
	p.StringVar(&k.Over, "over", "",
		"what is on the axis: delta, noise or steps, without its own flag, or fpr: the trade-off curve of an attack")
	p.StringVar(&k.From, "from", "", "first value on the axis, in the range of its flag")
	p.StringVar(&k.To, "to", "", "last value on the axis")
	p.Var(k.Points, k.Points.Name(), k.Points.Usage())
	p.StringSliceVar(&k.Accountants, "accountants", nil,
		fmt.Sprintf("lines to draw: %s (default rdp,exact; rdp,pld where exact does not apply)", words(m.Accountants)))
	p.StringVarP(&k.Out, "out", "o", "", "file to write, .svg or .png")
	p.BoolVar(&k.Force, "force", false, "replace a file of the same name")
	return c
}

// questionCommand makes a command without arguments. It asks one question and shows the
// answer.
func (a *App) questionCommand(q *calculator.Question, short string, answer func() (run.Result, error)) *cobra.Command {
	m := q.Of()
	use := m.Name
	for _, n := range q.Numbers() {
		use += " --" + n.Name() + " " + n.Letter()
	}
	c := &cobra.Command{
		Use:   use,
		Short: short,
		Long:  m.Long,
		Args:  wants(),
	}
	a.answers(c, func(c *cobra.Command, _ []string) (run.Result, error) {
		if err := ready(c, q); err != nil {
			return nil, err
		}
		run.RoomyHeap()
		return answer()
	})
	questionFlags(c, q)
	return c
}

// ready refuses a question that lacks numbers, or with choices that do not fit together. The answer will end
// when the command is interrupted.
func ready(c *cobra.Command, q *calculator.Question) error {
	if err := missing(c, q.Missing()); err != nil {
		return err
	}
	return q.During(c.Context()).Check()
}

// missing returns one error that names all required flags that were not given.
func missing(c *cobra.Command, names []string) error {
	if len(names) == 0 {
		return nil
	}
	fix := fmt.Sprintf("see %s --help", c.CommandPath())
	if len(names) == 1 && names[0] == "delta" {
		fix = "give --delta well below one over the number of users or records, such as 1e-6; " + fix
	}
	return usagef(fix, "%s: missing --%s", c.CommandPath(), strings.Join(names, ", --"))
}

// questionFlags declares the numbers and choices of a question.
func questionFlags(c *cobra.Command, q *calculator.Question) {
	p, m := c.Flags(), q.Of()
	for _, n := range append(q.Numbers(), q.Optional()...) {
		p.Var(n, n.Name(), n.Usage())
	}
	if m.Sampled {
		p.StringVar(&q.Sampling, "sampling", q.Sampling, "how batches are drawn: "+m.Samplings())
	}
	if names := m.Strategies(); names != "" {
		p.StringVar(&q.Strategy, "strategy", "", "how noise is correlated: "+names+" (default banded)")
	}
	if len(m.Relations) > 0 {
		usage := "relation of neighbouring data sets that --sensitivity is for: add-remove, replace, zero-out " +
			"(default add-remove)"
		if m.Sampled {
			usage = "relation of neighbouring data sets: add-remove, replace, zero-out (default add-remove; replace " +
				"without replacement)"
		}
		p.StringVar(&q.Neighbouring, "neighbouring", "", usage)
	}
}

// accountantFlag declares --accountant where there is a choice.
func accountantFlag(c *cobra.Command, q *calculator.Question) {
	m := q.Of()
	if len(m.Accountants) == 0 {
		return
	}
	usage := fmt.Sprintf("%s (default %s)", words(m.Accountants), m.Accountants[0])
	if m.Sampled {
		usage = fmt.Sprintf("%s (default %s; pld without replacement)", words(m.Accountants), m.Accountants[0])
	}
	c.Flags().StringVar(&q.Accountant, "accountant", "", usage)
}

// words joins the values of a flag for its help.
func words[S ~string](all []S) string {
	names := make([]string, len(all))
	for i, w := range all {
		names[i] = string(w)
	}
	return join(names)
}

// accountLedger makes the command that accounts for what a run recorded.
func (a *App) accountLedger() *cobra.Command {
	q := calculator.AskLedger()
	var (
		unit, keyFile string
		g             gate
	)
	c := &cobra.Command{
		Use:   "ledger FILE|RUN --delta d [--ledger-key FILE]",
		Short: "what the ledger of a run amounts to",
		Long: `Composes all releases that a ledger (ledger.jsonl of a run directory) lists, for each
unit that they are about. A user contains their edges, cells and everything else: a
release about users is charged to an edge too, and a user is accounted as a group of as
many cells as the ledger says that one user holds. A release that is unprotected, or
that has no known cost for a unit, makes the epsilon of that unit infinite. Feature
vectors are other data than edges, interactions, cells and positions, whose accounts
leave them out.

A finished ledger ends in a line that closes it, and the manifest of its run repeats
that line. A ledger with an unknown event, a changed byte, or a line that is cut or lost
is refused. Of a run that is not done the releases so far are accounted, and the answer
says "at least". Changes by accident are found without a key. Changes on purpose are
found where the ledger was written with --ledger-key and is read with the same key.`,
		Args: wants("a ledger file or a run directory"),
	}
	a.answers(c, func(c *cobra.Command, args []string) (run.Result, error) {
		if err := ready(c, q); err != nil {
			return nil, err
		}
		if err := g.ready(); err != nil {
			return nil, err
		}
		key, err := ledgerKey(keyFile)
		if err != nil {
			return nil, err
		}
		l, err := q.Ledger(args[0], unit, key)
		if err != nil {
			return nil, err
		}
		var all []promised
		for _, u := range l.Guarantees {
			all = append(all, promised{string(u.Unit), u.Epsilon})
		}
		return l, g.hold(all, l.Doubts())
	})
	questionFlags(c, q)
	accountantFlag(c, q)
	g.flags(c)
	c.Flags().StringVar(&unit, "unit", "", "account for this unit only: "+words(privacy.Units()))
	c.Flags().StringVar(&keyFile, "ledger-key", "", "file of the secret key that the ledger was written with")
	return c
}

// accountEvents makes the command that accounts for the releases of another program.
func (a *App) accountEvents() *cobra.Command {
	q := calculator.AskEvents()
	var example bool
	var g gate
	c := &cobra.Command{
		Use:   "events FILE [--delta d]",
		Short: "what the releases of another program amount to, from a file of events",
		Long: `Composes the noisy releases of another program, such as a training with DP-SGD by Opacus or TF
Privacy, noisy counts and randomised responses. FILE is YAML or JSON Lines, written by hand or
exported. It says whose guarantee is wanted (unit), what the accountant was told (noise
multiplier, sampling rate, steps) and, under log, what the training did. Where the two do not
fit, or what was done is not what the guarantee needs, there is a warning with a name, a place and what
to ask: batches that were shuffled and are called Poisson, a sum divided by the drawn batch, a
clipping norm taken from the data, settings chosen by private rows, too few steps, and others.
The epsilon is that of the releases as the log shows them; beside it stand the one as
stated, a certified bracket and the Rényi bound. ` + "docs/account-events.md" + ` has the form, with
what to export from Opacus and TF Privacy.

` + exitCodes,
		Args: func(c *cobra.Command, args []string) error {
			if example && len(args) == 0 {
				return nil
			}
			return wants("a file of events")(c, args)
		},
	}
	a.answers(c, func(c *cobra.Command, args []string) (run.Result, error) {
		if example {
			return eventlog.Example{}, nil
		}
		if err := ready(c, q); err != nil {
			return nil, err
		}
		if err := g.ready(); err != nil {
			return nil, err
		}
		e, err := q.Events(args[0])
		if err != nil {
			return nil, err
		}
		return e, g.hold([]promised{{string(e.Unit), e.Epsilon}}, e.Doubts())
	})
	questionFlags(c, q)
	accountantFlag(c, q)
	g.flags(c)
	c.Flags().BoolVar(&example, "example", false, "print a file to start from, with every key")
	return c
}

// ledgerKey reads the key file that a flag names. Without a name there is no key.
func ledgerKey(path string) (*privacy.Key, error) {
	if path == "" {
		return nil, nil
	}
	k, err := privacy.ReadKey(path)
	if err != nil {
		return nil, usagef("name a file of at least 16 secret bytes", "--ledger-key: %v", err)
	}
	return k, nil
}
