package cli

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"privrec/internal/cli/screen"
	"privrec/internal/dataset/format"
	"privrec/internal/forget"
	"privrec/internal/run"
	"privrec/internal/system"
)

// forget makes the command that makes a run without some users, and under it the one that checks that.
func (a *App) forget() *cobra.Command {
	var r forget.Request
	var file string
	c := &cobra.Command{
		Use:   "forget RUN --user ID [--user ID]... [--file IDS] --out NEW",
		Short: "make the run that is trained without some users, and check what still has their rows",
		Long: `Makes, from a finished run, the run that the same configuration trains without some users:
byte for byte that of files that never had their rows. A run whose rows after the recipe
stay the same begins with the last checkpoint, EASE with model.keep takes the rows out of its
counts, and any other run trains from the start. --approximate corrects the inverse of EASE
with model.keep instead, and bounds the error. The same command goes on with a run that was
stopped. NEW gets a certificate, ` + forget.CertificateName + ` and
` + forget.PageName + `.

A run that released something with noise is made again only with --release-again: the
old release is not undone, and users who stay are in both.

` + exitCodes,
		Args: wants("RUN"),
	}
	a.reports(c, func(c *cobra.Command, args []string, p reporter) (run.Result, error) {
		if r.Out == "" {
			return nil, usagef("name a directory for the new run", "--out is missing")
		}
		ids, err := listed(c.Context(), file)
		if err != nil {
			return nil, err
		}
		r.Run, r.Users = args[0], append(r.Users, ids...)
		r.Log, r.Progress = screen.NewLogger(p, false), p
		cert, err := forget.Make(c.Context(), a.Tasks, r)
		if run.WasInterrupted(err) {
			return nil, run.WithHint(err, "the same command goes on")
		}
		if err != nil {
			return nil, err
		}
		return cert.Document(), nil
	})
	f := c.Flags()
	f.StringArrayVar(&r.Users, "user", nil, "id of a user to forget; may be repeated")
	f.StringVar(&file, "file", "", "table with a column user_id, or a text file with an id a line")
	f.StringVarP(&r.Out, "out", "o", "", "directory of the new run")
	f.BoolVar(&r.Again, "release-again", false, "make another release where the run made one")
	f.BoolVar(&r.Approximate, "approximate", false,
		"correct the matrices that train ease kept with model.keep, and bound the error")
	f.IntVar(&r.Workers, "workers", 0, "threads, 0 for all cores; results do not depend on them")
	c.AddCommand(a.forgetCheck())
	return c
}

// listed returns the ids in a file; none of "".
func listed(ctx context.Context, path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	form, ok := format.OfInput(path)
	if !ok {
		return nil, usagef("names end in .txt for an id a line, or in .tsv, .csv, .parquet for a table",
			"--file %s: the name does not tell the form", path)
	}
	return format.ReadIDs(ctx, path, form, string(format.User))
}

// forgetCheck makes the command that checks that a run forgot, and names what still has the users' rows.
func (a *App) forgetCheck() *cobra.Command {
	var q forget.Question
	c := &cobra.Command{
		Use:   "check RUN --against NEW [--retrained DIR] [--in DIR]... [--purge]",
		Short: "compare a run that forgot users with a training without them, and name what still has their rows",
		Long: `Trains the configuration of NEW from the start, without the users, and compares all files:
parameters, scores, metrics, pages. Then it names what still has rows of these users: files
of RUN, entries of the cache, the data files, and tables and runs in the folders of --in.
--purge removes those of RUN and of the cache, and says which.

It exits with 4 if a file differs, and then removes nothing.

` + exitCodes,
		Args: wants("RUN"),
	}
	a.reports(c, func(c *cobra.Command, args []string, p reporter) (run.Result, error) {
		if q.Against == "" {
			return nil, usagef("--against NEW names the run that forgot", "--against is missing")
		}
		for _, dir := range q.In {
			if st, err := os.Stat(dir); err != nil || !st.IsDir() {
				return nil, usagef("name a folder", "--in %s: there is no such folder", system.ShellQuote(dir))
			}
		}
		q.Run, q.Progress = args[0], p
		x, err := forget.Look(c.Context(), a.Tasks, q)
		if err != nil {
			return nil, err
		}
		if d := x.Differs(); len(d) > 0 {
			return x.Document(), &notHeld{why: []string{fmt.Sprintf("%d files of %s are not those of a training "+
				"without the users", len(d), q.Against)}}
		}
		return x.Document(), nil
	})
	f := c.Flags()
	f.StringVar(&q.Against, "against", "", "directory of the run that forgot")
	f.StringVar(&q.Trained, "retrained", "",
		"directory of a training without the users; without it, one is made and removed again")
	f.StringArrayVar(&q.In, "in", nil, "folder with tables and runs to look through; may be repeated")
	f.BoolVar(&q.Purge, "purge", false, "remove what is left in RUN and in the cache")
	f.IntVar(&q.Workers, "workers", 0, "threads, 0 for all cores; results do not depend on them")
	return c
}
