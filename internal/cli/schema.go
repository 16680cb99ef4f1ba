package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"privrec/internal/claims"
	"privrec/internal/config"
	"privrec/internal/config/schema"
	"privrec/internal/dataset/registry"
	"privrec/internal/jsonschema"
	"privrec/internal/papers"
	"privrec/internal/printed"
	"privrec/internal/reproduce"
	"privrec/internal/reproduce/matrix"
	"privrec/internal/run"
	"privrec/internal/tune"
)

// schemaFiles lists the YAML files with a schema that are no configurations of tasks.
func schemaFiles() []schema.File {
	out := []schema.File{
		schema.FileOf("grid", "A printed table or figure, or a study, for privrec reproduce --grid.", reproduce.Grid{}),
		schema.FileOf("matrix", "Attacks against models under defences, for privrec matrix --grid.", matrix.Matrix{}),
		schema.FileOf("study", "A search for settings, for privrec tune --study.", tune.Default()),
		schema.FileOf("columns", "Which columns of data of your own are what: columns.yaml beside them.", registry.Columns{}),
		schema.FileOf("claims", "Claims of a paper, for privrec reproduce --claims.", claims.Paper{}),
		schema.FileOf("causes", "Why printed numbers differ from ours.", reproduce.CauseFile{}),
		schema.FileOf("printed", "The numbers that a paper prints, for privrec lint.", printed.File{}),
	}
	for _, p := range papers.Epsilons() {
		out = append(out, p.File())
	}
	return out
}

// schema makes the command that prints the JSON Schema of a file that users write.
func (a *App) schema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema VERB NAME | schema FILE",
		Short: "print the JSON Schema of a configuration, for editors",
		Long: `Prints the JSON Schema, draft 2020-12, of the configuration of a task, as in
privrec schema train lightgcn, or of another YAML file: ` + join(fileNames()) + `.
Editors complete and check YAML by it. This line, the first of a file, names it:

  # yaml-language-server: $schema=train-lightgcn.json

A schema says types, ranges and words, and refuses keys that are not known. What it cannot
say the program checks when it reads the file; the description of the schema lists that.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			s, err := a.findSchema(c, args)
			if err != nil {
				return err
			}
			text, err := s.Text()
			if err != nil {
				return err
			}
			_, err = a.Stdout.Write(text)
			return err
		},
	}
}

// fileNames lists the words that name a file.
func fileNames() (out []string) {
	for _, f := range schemaFiles() {
		out = append(out, f.Name)
	}
	return out
}

// findSchema returns the schema that words name: a verb and a name, a name that one task has, or a
// file.
func (a *App) findSchema(c *cobra.Command, args []string) (*jsonschema.Schema, error) {
	if len(args) == 0 || len(args) > 2 {
		return nil, usagef("as in privrec schema train lightgcn, or one of "+join(fileNames()), "%s: name a task or a file", c.CommandPath())
	}
	if len(args) == 1 {
		for _, f := range schemaFiles() {
			if f.Name == args[0] {
				return f.Schema(), nil
			}
		}
	}
	var known []string
	var found []run.Task
	for _, t := range a.Tasks {
		known = append(known, t.String())
		if slices.Equal(args, []string{t.Verb, t.Name}) || slices.Equal(args, []string{t.Name}) || slices.Equal(args, []string{t.String()}) {
			found = append(found, t)
		}
	}
	if len(found) == 1 {
		return found[0].Schema(), nil
	}
	word := args[0]
	if len(args) == 2 {
		word += " " + args[1]
	} else {
		known = append(known, fileNames()...)
		for _, t := range a.Tasks {
			known = append(known, t.Name)
		}
	}
	fix := "privrec list names the tasks"
	if best := config.Nearest(word, known); best != "" {
		fix = "did you mean " + c.CommandPath() + " " + best + "?"
	}
	return nil, usagef(fix, "%s: there is no task and no file %q", c.CommandPath(), word)
}
