package cli

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/compare"
	"privrec/internal/evaluation"
	"privrec/internal/experiment"
	"privrec/internal/export"
	"privrec/internal/metrics/definition"
	"privrec/internal/progress"
	"privrec/internal/run"
)

// recommend makes the command that lists items for users of a finished run.
func (a *App) recommend() *cobra.Command {
	var q export.ListQuestion
	k := best{n: 20}
	c := &cobra.Command{
		Use:   "recommend RUN --all|--user ID [--user ID]... [--k N|all] [--out FILE]",
		Short: "list the best items for users, or the scores of all, from a finished run",
		Long: `Lists the best items for users, from a finished run. RUN is a run directory. Users and
items have the names of the data files, which must still be there: items that a user has
already are left out. A run that kept several releases ranks by its first one, or by the
one that --release names.

With --out the lists go to a file: user_id, item_id, rank and score in a table (.tsv, .csv),
in Parquet, or as a TREC run (.trec). A file beside it says what the account of the run
covers. With --k all they are the scores of all items that could be recommended, without
ranks and in the order of the data; models of two domains and imported lists do not have
them.

` + exitCodes,
		Args: wants("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if len(q.Users) == 0 && !q.All {
				return usagef("name one with --user, or take --all", "%s: no user is named", c.CommandPath())
			}
			q.K = k.n
			switch {
			case q.Out != "" && k.all:
				return a.takeOut(c, args[0], func(ctx context.Context, s *export.Source) (*export.Exported, error) {
					return s.Scores(ctx, q)
				})
			case k.all:
				return usagef("name a file with --out", "%s: --k all belongs to --out", c.CommandPath())
			case q.Out != "":
				return a.takeOut(c, args[0],
					func(ctx context.Context, s *export.Source) (*export.Exported, error) { return s.Lists(ctx, q) })
			}
			if q.All || q.Force {
				return usagef("name a file with --out", "%s: --all and --force belong to --out", c.CommandPath())
			}
			asJSON, err := c.Flags().GetBool("json")
			if err != nil {
				return err
			}
			o := experiment.Question{Users: q.Users, K: q.K, Release: q.Release}
			return a.serve(c, args[0], asJSON,
				func(s experiment.Answers) (run.Result, error) { return s.Recommend(c.Context(), o) })
		},
	}
	listFlags(c, &q)
	p := c.Flags()
	p.Var(&k, "k", "number of items for each user; all writes the scores of every item that could be recommended")
	p.Bool("json", false, "as JSON")
	return c
}

// best says how many items of a user are asked for: the n best, or all.
type best struct {
	n   int // 0 with all
	all bool
}

// String implements pflag.Value.
func (b *best) String() string {
	if b.all {
		return "all"
	}
	return strconv.Itoa(b.n)
}

// Set implements pflag.Value.
func (b *best) Set(text string) error {
	n, err := strconv.Atoi(text)
	if text != "all" && err != nil {
		return usagef("as in --k 20, or --k all", "--k %q: want a whole number, or all", text)
	}
	*b = best{n, text == "all"}
	return nil
}

// Type implements pflag.Value.
func (*best) Type() string { return "int|all" }

// evaluate makes the command that measures: the test part of a finished run again, or lists that another program made.
func (a *App) evaluate() *cobra.Command {
	var asJSON bool
	var q evaluation.Question
	c := &cobra.Command{
		Use:   "evaluate RUN | --recs FILE --truth FILE [--train FILE] [--definition NAME]",
		Short: "measure a finished run again, or lists of your own",
		Long: `Ranks the test part of a finished run again, beside its floors, and says whether the
metrics are those that the run reported. RUN is a run directory; its data must still be
there.

With --recs it measures lists that another program made, against the rows of --truth:
tables with tabs or commas and a header (user_id, item_id, rank, score), RecBole's files,
TREC runs and qrels, ratings.dat and Parquet, plain, gzip or zstd. --definition says
whose definitions of the metrics count; docs/metrics.md says where they part. With
--train, the rows that the recommender was trained on, lists of popular and of random
items stand beside them, and coverage, Gini and novelty are measured.

` + exitCodes,
		Args: func(c *cobra.Command, args []string) error {
			if !c.Flags().Changed("recs") {
				return wants("RUN")(c, args)
			}
			return wants()(c, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.evaluateLists(c, q, asJSON)
			}
			for _, name := range []string{"truth", "train", "definition", "k"} {
				if c.Flags().Changed(name) {
					return usagef("name the lists with --recs", "--%s belongs to --recs", name)
				}
			}
			return a.serve(c, args[0], asJSON,
				func(s experiment.Answers) (run.Result, error) { return s.Evaluate(c.Context()) })
		},
	}
	p := c.Flags()
	p.StringVar(&q.Recs, "recs", "", "file of lists")
	p.StringVar(&q.Truth, "truth", "", "file of what users took, which the lists should find")
	p.StringVar(&q.Train, "train", "", "file of the rows that the recommender was trained on")
	p.StringVar(&q.Definition, "definition", "privrec", "whose definitions: "+join(definition.Names()))
	p.IntSliceVar(&q.K, "k", []int{5, 10, 20}, "cut-offs")
	p.BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// evaluateLists shows what lists measure.
func (a *App) evaluateLists(c *cobra.Command, q evaluation.Question, asJSON bool) error {
	answer, err := evaluation.Ask(progress.With(c.Context(), newReporter(a.Stderr, false)), q)
	if err != nil {
		return err
	}
	return run.Show(a.Stdout, asJSON, answer)
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
two-sided, and adjusted by Holm for all the differences shown. Where all users differ by
the same there is no interval, and p is that of an exact sign test; one user has neither.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
	}
	a.answers(c, func(c *cobra.Command, args []string) (run.Result, error) {
		if len(args) < 2 {
			return nil, usagef("name two: privrec compare RUN RUN", "%s: %d runs to compare", c.CommandPath(),
				len(args))
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
