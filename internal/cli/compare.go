package cli

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/compare"
	"privrec/internal/run"
)

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
