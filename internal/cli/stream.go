package cli

import (
	"errors"

	"github.com/spf13/cobra"

	"privrec/internal/privacy/correlated"
	"privrec/internal/private/stream"
	"privrec/internal/report"
	"privrec/internal/run"
)

// stream makes the commands of a private stream.
func (a *App) stream() *cobra.Command {
	c := &cobra.Command{
		Use:   "stream",
		Short: "release counts and pairs of items again and again, at one epsilon for a user",
		Long: `A stream takes files of new rows, day after day, and releases counts of items and of pairs
of items after each of them. All its releases together have one epsilon for a user: a user who
comes every day costs as much as one who came once. A model of the last release is trained by
train dp-ease, dp-itemknn or dp-popularity with --from DIR.`,
		Args: cobra.ArbitraryArgs,
		RunE: group("command"),
	}
	c.AddCommand(a.streamCreate(), a.streamAdd(), a.streamRelease(), a.streamShow())
	return c
}

// streamCreate makes the command that makes a stream.
func (a *App) streamCreate() *cobra.Command {
	s, o := stream.Default(), stream.Start{}
	var items, strategy string
	var buffers, bands int
	var start, weight float64
	c := &cobra.Command{
		Use:   "create DIR --items FILE",
		Short: "make a stream in a new folder",
		Long: `Makes a stream in a new folder and fixes all that is public: epsilon, the number of
releases, the catalogue, which of its items are in the matrix, and their weights. The ledger
of the whole stream is written before its first release.

--items names a table with item_id and, if they are public, count. Without public counts the
matrix has all items, or those that noisy counts of the rows in --start choose, which take a
share of the budget. These rows are not added to the stream: add them as its first file.

--secure draws discrete noise from cryptographic bits. Its strategy is banded.`,
		Args: wants("a folder"),
	}
	a.shows(c, func(c *cobra.Command, args []string) (run.Result, error) {
		if items == "" {
			return nil, usagef("--items FILE has a line for each item", "--items is missing")
		}
		changed := c.Flags().Changed
		if s.Secure && !changed("strategy") {
			strategy = correlated.NameBanded
		}
		number := 0
		switch strategy {
		case correlated.NameBuffered:
			number = buffers
			if changed("bands") {
				return nil, usagef("add --strategy banded", "--bands is given with --strategy %s", strategy)
			}
		case correlated.NameBanded:
			number = min(bands, s.Horizon)
			if changed("buffers") {
				return nil, usagef("leave it out", "--buffers is given with --strategy %s", strategy)
			}
		default:
			return nil, usagef("blt has a constant memory", "--strategy is %q, want blt or banded", strategy)
		}
		if s.Secure && o.NoiseSeed != 0 {
			return nil, usagef("leave one of them out", "--noise-seed is given with --secure, whose noise has no seed")
		}
		if o.Rows != "" {
			s.Start = start
		} else if changed("start-share") {
			return nil, usagef("leave it out, or name rows with --start", "--start-share is given without --start")
		}
		var err error
		if s.Design, err = stream.Design(strategy, s.Horizon, number, s.Secure); err != nil {
			return nil, usagef("--horizon is the number of steps", "%v", err)
		}
		ids, public, err := stream.ReadItems(c.Context(), items)
		if err != nil {
			return nil, err
		}
		if o.Rows != "" {
			public = nil
		}
		o.Public, o.Power = public, weight/2
		if err := stream.Create(c.Context(), args[0], s, ids, o); err != nil {
			return nil, err
		}
		return onStream(c, args[0], false, (*stream.Folder).Document)
	})
	p := c.Flags()
	p.StringVar(&items, "items", "", "table of all items: item_id, and count where it is public")
	p.Float64VarP(&s.Epsilon, "epsilon", "e", s.Epsilon, "epsilon of all releases together, for one user more or less")
	p.Float64VarP(&s.Delta, "delta", "d", s.Delta, "delta")
	p.IntVar(&s.Horizon, "horizon", s.Horizon, "the most releases")
	p.StringVar(&o.Rows, "start", "", "table of rows whose noisy counts choose the matrix")
	p.Float64Var(&start, "start-share", 0.05, "share of the budget (of mu²) for these counts")
	p.Float64Var(&s.Counts, "counts", s.Counts, "share of the budget (of mu²) for the counts of all steps")
	p.IntVar(&o.Most, "matrix", 1000, "the most items of the matrix, if counts choose them")
	p.Float64Var(&weight, "item-weight", 0.4, "an item has the weight count^(-item-weight/2), if there are counts")
	p.IntVar(&s.Items, "user-items", s.Items, "the most items that a user contributes to the matrix")
	p.IntVar(&s.CountItems, "count-items", s.CountItems, "the most items that a user contributes to the counts")
	p.IntVar(&s.Expected, "expected", s.Expected, "items that use up the share of a user who begins with few")
	p.StringVar(&strategy, "strategy", correlated.NameBuffered,
		"how the noise of the steps is correlated: blt or banded")
	p.IntVar(&buffers, "buffers", stream.DefaultBuffers, "blt: the most buffers")
	p.IntVar(&bands, "bands", 32, "banded: bands")
	p.BoolVar(&s.Secure, "secure", false, "discrete noise from cryptographic bits")
	p.Uint64Var(&s.Seed, "seed", s.Seed, "seed of the choice among a user's items")
	p.Uint64Var(&o.NoiseSeed, "noise-seed", 0, "seed of noise that can be repeated, for research; 0: a secret key")
	return c
}

// onStream opens a stream, does something with it, and closes it.
func onStream(c *cobra.Command, dir string, moved bool,
	do func(*stream.Folder) (*report.Document, error)) (run.Result, error) {
	f, err := stream.Open(c.Context(), dir, moved)
	if err != nil {
		return nil, err
	}
	d, err := do(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	return d, nil
}

// streamAdd makes the command that adds rows.
func (a *App) streamAdd() *cobra.Command {
	var day string
	var late, moved bool
	c := &cobra.Command{
		Use:   "add DIR FILE",
		Short: "add a file of new rows to a stream",
		Long: `Adds a table with user_id and item_id. The next release shows its rows first. A file that
was added before is refused; rows of items outside the catalogue, rows that their user has
already, and rows beyond a user's share are counted and left out.`,
		Args: wants("a folder", "a file of rows"),
	}
	a.shows(c, func(c *cobra.Command, args []string) (run.Result, error) {
		return onStream(c, args[0], moved, func(f *stream.Folder) (*report.Document, error) {
			added, err := f.Add(c.Context(), args[1], day, late)
			if err != nil {
				return nil, err
			}
			return added.Document(args[1]), nil
		})
	})
	c.Flags().StringVar(&day, "day", "", "the day of the rows, such as 2026-11-29; it must be after all released ones")
	c.Flags().BoolVar(&late, "late", false, "the rows are of a day that was released already")
	movedFlag(c, &moved)
	return c
}

// streamRelease makes the command that releases.
func (a *App) streamRelease() *cobra.Command {
	var moved bool
	c := &cobra.Command{
		Use:   "release DIR",
		Short: "release what a stream holds, and begin its next step",
		Long: `Draws the noise of the step, writes the release into the folder released, and begins the
next step. A step without new rows is released too.`,
		Args: wants("a folder"),
	}
	a.shows(c, func(c *cobra.Command, args []string) (run.Result, error) {
		return onStream(c, args[0], moved, func(f *stream.Folder) (*report.Document, error) {
			r, err := f.Release()
			if err != nil {
				return nil, err
			}
			return r.Document(f), nil
		})
	})
	movedFlag(c, &moved)
	return c
}

// movedFlag adds the flag for a stream in a folder that was moved.
func movedFlag(c *cobra.Command, moved *bool) {
	c.Flags().BoolVar(moved, "moved", false, "the folder was moved, and no copy of it goes on")
}

// streamShow makes the command that shows a stream.
func (a *App) streamShow() *cobra.Command {
	var moved bool
	c := &cobra.Command{
		Use:   "show DIR",
		Short: "show what a stream is, holds and has released",
		Args:  wants("a folder"),
	}
	a.shows(c, func(c *cobra.Command, args []string) (run.Result, error) {
		return onStream(c, args[0], moved, (*stream.Folder).Document)
	})
	movedFlag(c, &moved)
	return c
}
