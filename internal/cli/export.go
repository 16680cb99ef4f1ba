package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"privrec/internal/export"
	"privrec/internal/progress"
	"privrec/internal/run"
	"privrec/internal/vectors"
)

// vectors makes the command that takes the vectors out of a finished run.
func (a *App) vectors() *cobra.Command {
	var q export.VectorQuestion
	var form string
	c := &cobra.Command{
		Use:   "vectors RUN --out DIR|FILE [--format NAME]",
		Short: "write the vectors of a finished run for other programs",
		Long: `Writes the vectors of all users and items of a finished run, as float32, and the ids of
their rows in text files beside, one a line. The forms: npz and safetensors hold both in one
file under the names users and items, npy and parquet are a file for each. In Parquet the ids
are in the column id, and the vectors in the column vector.

about.json says what the files are, how the model ranks by them, and what the account of the
run covers: a warning names what no noise protects, and noise that a seed takes off again.

` + exitCodes,
		Args: wants("RUN"),
		RunE: func(c *cobra.Command, args []string) error {
			if args[0] == "" {
				return usagef("name a run directory", "%s: RUN is empty", c.CommandPath())
			}
			q.Form = vectors.Form(form)
			return a.takeOut(c, args[0], func(ctx context.Context, s *export.Source) (*export.Exported, error) {
				return s.Vectors(ctx, q)
			})
		},
	}
	p := c.Flags()
	p.StringVarP(&q.Out, "out", "o", "", "folder to write to; of npz and safetensors also the name of the file")
	p.StringVar(&form, "format", "",
		"npy, npz, safetensors or parquet; without it, what the name of --out says, and else npz")
	p.StringVar(&q.Release, "release", "", "which of the run's releases")
	p.BoolVar(&q.Force, "force", false, "replace files that are there")
	p.Bool("json", false, "as JSON")
	return c
}

// scores makes the command of the old name of recommend --k all, which with --k N titles the best items as scores.
func (a *App) scores() *cobra.Command {
	var q export.ListQuestion
	c := &cobra.Command{
		Use:   "scores RUN --all|--user ID [--user ID]... --out FILE [--k N]",
		Short: "write the scores of items for users, from a finished run",
		Long: `Writes the scores of items for users, from a finished run. Without --k they are the scores of
all items that could be recommended to a user, in the order of the data; with --k those of
the best, with their ranks. What is left out is what recommend leaves out: items that a
user has already, and nothing of models of sessions. Models of two domains and imported
lists show the scores of the best alone. The end of the file's name says its form: .tsv,
.csv or .parquet, and .trec with --k.

` + exitCodes,
		Args:   wants("RUN"),
		Hidden: true,
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().Changed("k") && q.K < 1 {
				return usagef("leave it out for all items", "--k %d: want at least 1", q.K)
			}
			return a.takeOut(c, args[0],
				func(ctx context.Context, s *export.Source) (*export.Exported, error) { return s.Scores(ctx, q) })
		},
	}
	listFlags(c, &q)
	p := c.Flags()
	p.IntVar(&q.K, "k", 0, "only the best items of each user; without it, all")
	p.Bool("json", false, "as JSON")
	return c
}

// listFlags declares the flags of commands that write lists of users to a file.
func listFlags(c *cobra.Command, q *export.ListQuestion) {
	p := c.Flags()
	p.StringArrayVar(&q.Users, "user", nil, "a user; may be repeated")
	p.BoolVar(&q.All, "all", false, "all users")
	p.StringVarP(&q.Out, "out", "o", "", "file to write: .tsv, .csv, .trec or .parquet, text also .gz or .zst")
	p.BoolVar(&q.Force, "force", false, "replace a file that is there")
	p.StringVar(&q.Release, "release", "", "which of the run's releases ranks the items")
}

// takeOut opens a run, writes what is asked for, shows what was written, and warns of what its account does not cover.
func (a *App) takeOut(c *cobra.Command, dir string,
	write func(context.Context, *export.Source) (*export.Exported, error)) error {
	r := newReporter(a.Stderr, false)
	ctx := progress.With(c.Context(), r)
	s, err := export.Open(ctx, a.Tasks, dir)
	if err != nil {
		return err
	}
	defer s.Close()
	e, err := write(ctx, s)
	if err != nil {
		return err
	}
	for _, w := range e.Cover.Warnings {
		fmt.Fprintln(r, "warning: "+w)
	}
	asJSON, err := c.Flags().GetBool("json")
	if err != nil {
		return err
	}
	return run.Show(a.Stdout, asJSON, e)
}
