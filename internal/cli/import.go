package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/run"
)

// verbImport is the verb whose tasks can be named by their files alone.
const verbImport = "import"

// importedBy are the flags that say what is imported, with the task of each.
var importedBy = []struct{ flag, task string }{{"recs", "lists"}, {"vectors", "vectors"}}

// importModel makes the command that holds the forms of imported models take their flags itself: the file that is named
// says which form is meant.
func (a *App) importModel(c *cobra.Command) {
	f := &taskFlags{own: map[string]*[]string{}}
	c.Use = "import --recs FILE|--vectors FILE[,FILE] --train FILE [--truth FILE] [--non-members FILE] --out DIR"
	c.Long = `Makes a run directory of a model that another program trained, of its files alone:
evaluate, recommend, compare, attack --on, attack matrix --runs and report work on it. It keeps
copies of what was read. Its account says that nothing is known or claimed.

With --recs the model shows lists and nothing else: tables with tabs or commas and a header
(user_id, item_id, rank, score), TREC runs and Parquet. --train names the rows that the
model was trained on, --truth what it should find, --non-members rows that it was not
trained on, for attacks on membership. docs/bring-your-own-model.md has an example.

With --vectors items are ranked here, by the vectors of users and items: .npy, .npz,
.safetensors or Parquet, with files of ids (--ids). docs/vectors.md has an example.

` + exitCodes
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return group("form")(c, args)
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error {
		t, err := a.importTask(c)
		if err != nil {
			return err
		}
		return a.runTask(c, t, f)
	}
	p := c.Flags()
	f.declare(p)
	for _, t := range a.Tasks {
		for _, own := range t.Flags {
			if t.Verb == verbImport && p.Lookup(own.Name) == nil {
				f.own[own.Name] = ownFlag(p, own)
			}
		}
	}
}

// importTask returns the form that the flags of a command name, and refuses flags of another.
func (a *App) importTask(c *cobra.Command) (t run.Task, err error) {
	var flags []string
	found := ""
	for _, by := range importedBy {
		if c.Flags().Lookup(by.flag) == nil {
			continue
		}
		flags = append(flags, "--"+by.flag)
		if !c.Flags().Changed(by.flag) {
			continue
		}
		if found != "" {
			return t, usagef("a run is of one form: import the other into a directory of its own",
				"--%s and --%s exclude each other", found, by.flag)
		}
		found = by.flag
		for _, x := range a.Tasks {
			if x.Verb == verbImport && x.Name == by.task {
				t = x
			}
		}
	}
	if found == "" {
		return t, usagef(fmt.Sprintf("name it with %s", strings.Join(flags, " or ")), "%s: no model is named",
			c.CommandPath())
	}
	for _, x := range a.Tasks {
		for _, own := range x.Flags {
			if x.Verb == verbImport && c.Flags().Changed(own.Name) && !has(t, own.Name) {
				return t, usagef("leave it out", "--%s does not belong to --%s", own.Name, found)
			}
		}
	}
	return t, nil
}

// has reports whether a task has a flag of its own.
func has(t run.Task, name string) bool {
	for _, own := range t.Flags {
		if own.Name == name {
			return true
		}
	}
	return false
}
