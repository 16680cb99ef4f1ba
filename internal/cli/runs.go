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

// recommend makes the command that lists items for users of a finished run.
func (a *App) recommend() *cobra.Command {
	var o experiment.Question
	var asJSON bool
	c := &cobra.Command{
		Use:   "recommend RUN --user ID [--user ID]... [--k N]",
		Short: "list the best items for users, from a finished run",
		Long: `Lists the best items for users, from a finished run. RUN is a run directory. Users and
items have the names of the data files, which must still be there: items that a user has
already are left out. A run that kept several releases ranks by its first one, or by the
one that --release names.

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
	p.IntVar(&o.K, "k", 20, "number of items for each user")
	p.StringVar(&o.Release, "release", "", "which of the run's releases ranks the items")
	p.BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// evaluate makes the command that ranks the test part of a finished run again.
func (a *App) evaluate() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "evaluate RUN",
		Short: "rank the test part of a finished run again",
		Long: `Ranks the test part of a finished run again, beside its floors, and says whether the
metrics are those that the run reported. RUN is a run directory; its data must still be
there.

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

// compare makes the command that compares finished runs user by user.
func (a *App) compare() *cobra.Command {
	c := &cobra.Command{
		Use:   "compare RUN[,RUN]... RUN[,RUN]...",
		Short: "say whether finished runs differ by more than chance, user by user",
		Long: `Says whether finished runs differ by more than chance, user by user. Each argument is a
method: a run directory, or several with commas between them, which are its seeds and are
averaged. All others are compared with the first. NAME=RUN,RUN gives a method a name. Of a
run with several tables of scores RUN:TABLE takes one, as in runs/rdpgcf:noisy.

Differences are paired by user. Intervals are Student's, of 95 %, over users; p is
two-sided, and adjusted by Holm for all the differences shown.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
	}
	a.shows(c, func(c *cobra.Command, args []string) (run.Result, error) {
		if len(args) < 2 {
			return nil, usagef("name two: privrec compare RUN RUN", "%s: %d runs to compare", c.CommandPath(), len(args))
		}
		var groups []compare.Group
		for _, arg := range args {
			g, err := runsOf(arg)
			if err != nil {
				return nil, err
			}
			groups = append(groups, g)
		}
		r, err := compare.Compare(groups)
		if err != nil {
			return nil, refused(err)
		}
		return r, nil
	})
	return c
}

// runsOf reads the runs that an argument names.
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

// refused turns an error about the runs that were named into one of usage.
func refused(err error) error {
	if e := (*compare.Error)(nil); errors.As(err, &e) {
		return usagef(e.Hint, "%s", e.Error())
	}
	return err
}
