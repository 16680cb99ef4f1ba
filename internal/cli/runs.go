package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/compare"
	"privrec/internal/experiment"
	"privrec/internal/progress"
	"privrec/internal/run"
)

// recommend lists items for users of a finished run.
func (a *App) recommend() *cobra.Command {
	var o experiment.Question
	var asJSON bool
	c := &cobra.Command{
		Use:   "recommend RUN --user ID [--user ID]... [--k N]",
		Short: "list the best items for users, from a finished run",
		Long: `list the best items for users, from a finished run.
RUN is a run directory. Users and items go by the names in the data files, which
must still be there: what a user has already is left out. A run that kept several
releases answers by its first one unless --release names another.

` + exitCodes,
		Args: wants("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(o.Users) == 0 {
				return usagef("name one with --user", "%s: no user is named", c.CommandPath())
			}
			return a.serve(c, args[0], asJSON, func(s experiment.Answers) (run.Result, error) { return s.Recommend(c.Context(), o) })
		},
	}
	p := c.Flags()
	p.StringArrayVar(&o.Users, "user", nil, "a user; may be repeated")
	p.IntVar(&o.K, "k", 20, "items a user")
	p.StringVar(&o.Release, "release", "", "which of the run's releases ranks")
	p.BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// evaluate measures a finished run once more.
func (a *App) evaluate() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "evaluate RUN",
		Short: "rank the test rows of a finished run once more",
		Long: `rank the test rows of a finished run once more, beside its floors, and say whether
the scores are those that it reported. RUN is a run directory; its data must still
be there.

` + exitCodes,
		Args: wants("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.serve(c, args[0], asJSON, func(s experiment.Answers) (run.Result, error) { return s.Evaluate(c.Context()) })
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// serve opens a run, asks it, and shows the answer.
func (a *App) serve(c *cobra.Command, dir string, asJSON bool, ask func(experiment.Answers) (run.Result, error)) error {
	c.SetContext(progress.With(c.Context(), newReporter(a.Stderr, false)))
	s, err := experiment.Ask(c.Context(), a.Tasks, dir)
	if err != nil {
		return err
	}
	defer s.Close()
	r, err := ask(s)
	if err != nil {
		return err
	}
	if err := run.Show(a.Stdout, asJSON, r); err != nil {
		return fmt.Errorf("show the answer: %w", err)
	}
	return nil
}

// compare sets finished runs beside each other, user by user.
func (a *App) compare() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "compare RUN[,RUN]... RUN[,RUN]...",
		Short: "whether finished runs differ by more than chance, user by user",
		Long: `whether finished runs differ by more than chance, user by user. Each argument is a
method: a run directory, or several with commas between, its seeds, which are
averaged; the first is what the others are set against. NAME=RUN,RUN gives it a
name. A run that keeps several tables of scores is written RUN:TABLE, as in
runs/rdpgcf:noisy.

Differences are paired by user. Intervals are Student's, of 95 %, over users;
p is two-sided, and adjusted by Holm for all the differences shown.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return usagef("name two: privrec compare RUN RUN", "%s: %d runs to compare", c.CommandPath(), len(args))
			}
			var groups []compare.Group
			for _, arg := range args {
				g, err := runsOf(arg)
				if err != nil {
					return err
				}
				groups = append(groups, g)
			}
			r, err := compare.Compare(groups)
			if err != nil {
				return refused(err)
			}
			return run.Show(a.Stdout, asJSON, r)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// runsOf reads the runs of an argument.
func runsOf(arg string) (compare.Group, error) {
	g := compare.Group{Name: arg}
	if name, rest, ok := strings.Cut(arg, "="); ok && name != "" && !strings.ContainsAny(name, "/,") {
		g.Name, arg = name, rest
	}
	for ref := range strings.SplitSeq(arg, ",") {
		s, err := compare.ReadScores(ref)
		if err != nil {
			return g, refused(err)
		}
		g.Runs = append(g.Runs, s)
	}
	return g, nil
}

// refused makes what is wrong with the runs named an error of usage.
func refused(err error) error {
	if e := (*compare.Error)(nil); errors.As(err, &e) {
		return usagef(e.Hint, "%s", e.Error())
	}
	return err
}
