package cli

import (
	"github.com/spf13/cobra"

	"privrec/internal/private/synthetic"
	"privrec/internal/progress"
	"privrec/internal/run"
)

// release makes the commands that make files of what a private run released.
func (a *App) release() *cobra.Command {
	c := &cobra.Command{
		Use:   "release",
		Short: "write what a private run released in a form that any program trains on",
		Args:  cobra.ArbitraryArgs,
		RunE:  group("command"),
	}
	c.AddCommand(a.releaseDataset())
	return c
}

// releaseDataset makes the command that writes synthetic users.
func (a *App) releaseDataset() *cobra.Command {
	var q synthetic.Request
	c := &cobra.Command{
		Use:   "dataset RUN --out DIR",
		Short: "draw synthetic users from the private matrix of a run, as data of your own",
		Long: `Draws synthetic users from the matrix that a finished run of train dp-ease or dp-itemknn
released, and writes them as data of your own, which every command, RecBole and LensKit read.
No row of the data is read, so the epsilon of the run covers the files, and nothing is added
to its ledger: any number of models may be trained on them.

DIR is a folder of $PRIVREC_DATA whose name begins with own-. Beside the rows are card.md and
card.json (what the rows are, epsilon, what is kept and what is not), the ledger of the run,
titles where they are public, and ease.yaml, a configuration that trains on the rows.

Times and orders are not kept: the rows of a user are in random order.

` + exitCodes,
		Args: wants("RUN"),
	}
	a.reports(c, func(c *cobra.Command, args []string, r reporter) (run.Result, error) {
		if args[0] == "" {
			return nil, usagef("name a run directory", "%s: RUN is empty", c.CommandPath())
		}
		q.Run = args[0]
		card, err := synthetic.Release(progress.With(c.Context(), r), q, r)
		if err != nil {
			return nil, err
		}
		return card.Document(q.Out), nil
	})
	p := c.Flags()
	p.StringVarP(&q.Out, "out", "o", "", "folder of the data set, such as data/own-synthetic")
	p.IntVar(&q.Users, "users", 0, "users to draw; 0: five for each user that the released counts tell of")
	p.Uint64Var(&q.Seed, "seed", 1, "seed of every random number")
	p.BoolVar(&q.Force, "force", false, "replace files that are there")
	return c
}
