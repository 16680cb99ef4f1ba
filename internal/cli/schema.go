package cli

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"privrec/internal/calculator"
	"privrec/internal/calculator/enumerate"
	"privrec/internal/calculator/eventlog"
	"privrec/internal/claims"
	"privrec/internal/config"
	"privrec/internal/config/schema"
	"privrec/internal/dataset/registry"
	"privrec/internal/doctor"
	"privrec/internal/epsilons"
	"privrec/internal/inventory"
	"privrec/internal/jsonschema"
	"privrec/internal/papers"
	"privrec/internal/printed"
	"privrec/internal/printed/lint"
	"privrec/internal/report"
	"privrec/internal/reproduce"
	"privrec/internal/reproduce/grid"
	"privrec/internal/reproduce/matrix"
	"privrec/internal/review"
	"privrec/internal/run"
	"privrec/internal/system"
	"privrec/internal/tune"
)

// schemaFiles lists the YAML files with a schema that are no configurations of tasks. Some name tasks.
func schemaFiles(tasks []run.Task) []schema.File {
	of := func(probe func(tasks []run.Task) config.Probed) func() config.Probed {
		return func() config.Probed { return probe(tasks) }
	}
	out := []schema.File{
		schema.FileOf("grid", "A printed table or figure, or a study, for privrec reproduce --grid.",
			grid.Grid{}).Checked(of(grid.Probe)),
		schema.FileOf("matrix", "Attacks against models under defences, for privrec attack matrix --grid.",
			matrix.Matrix{}).Checked(of(matrix.Probe)),
		schema.FileOf("study", "A search for settings, for privrec tune --study.",
			tune.Default()).Checked(of(tune.Probe)),
		schema.FileOf("columns", "Which columns of data of your own are what: columns.yaml beside them.",
			registry.Columns{}),
		schema.FileOf("claims", "Claims of a paper, for privrec reproduce --claims.", claims.Paper{}),
		schema.FileOf("causes", "Why printed numbers differ from ours.", grid.CauseFile{}),
		schema.FileOf("printed", "The numbers that a paper prints, for privrec audit tables.", printed.File{}),
	}
	for _, p := range papers.Epsilons() {
		out = append(out, p.File())
	}
	return out
}

// schema makes the command that prints the JSON Schema of a file that users write.
func (a *App) schema() *cobra.Command {
	var out string
	c := &cobra.Command{
		Use:   "schema VERB NAME | schema FILE | schema answer COMMAND... | schema --out DIR",
		Short: "print the JSON Schema of a configuration, for editors, or of what --json prints",
		Long: `Prints the JSON Schema, draft 2020-12, of the configuration of a task, as in
privrec list schema train lightgcn, or of another YAML file: ` + join(fileNames()) + `.
Editors complete and check YAML by it. This line, the first of a file, names it:

  # yaml-language-server: $schema=train-lightgcn.json

A schema says types, ranges and words, and refuses keys that are not known. What it cannot
say the program checks when it reads the file; the description of the schema lists that.

With answer before a command, as in privrec list schema answer account gaussian, it is the schema
of the document that the command prints with --json.

--out writes all of them into a folder. In a checkout make schemas puts them into docs/schemas,
where the first lines of the shipped files look for them.

` + exitCodes,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if out != "" {
				if len(args) > 0 {
					return usagef("leave one of them out", "%s: --out and %q together", c.CommandPath(),
						strings.Join(args, " "))
				}
				return a.writeSchemas(out)
			}
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
	c.Flags().StringVarP(&out, "out", "o", "", "write the schemas of all files and answers into this folder")
	return c
}

// writeSchemas writes the schema of every task, every other file and every answer into a folder.
func (a *App) writeSchemas(dir string) error {
	all := map[string]*jsonschema.Schema{}
	for _, t := range a.Tasks {
		all[t.SchemaFile()] = t.Schema()
	}
	for _, f := range schemaFiles(a.Tasks) {
		all[f.FileName()] = f.Schema()
	}
	for _, x := range printedAnswers() {
		s, err := x.schema()
		if err != nil {
			return err
		}
		all[x.fileName()] = s
	}
	if err := os.MkdirAll(filepath.Join(dir, "answers"), 0o755); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text, err := all[name].Text()
		if err != nil {
			return err
		}
		if err := system.WriteFile(filepath.Join(dir, name),
			func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
	}
	return nil
}

// fileNames lists the words that name a file.
func fileNames() (out []string) {
	for _, f := range schemaFiles(nil) {
		out = append(out, f.Name)
	}
	return out
}

// findSchema returns the schema that words name: a verb and a name, a name that one task has, or a
// file.
func (a *App) findSchema(c *cobra.Command, args []string) (*jsonschema.Schema, error) {
	if len(args) > 0 && args[0] == "answer" {
		return a.answerSchema(c, args[1:])
	}
	if len(args) == 0 || len(args) > 2 {
		return nil, usagef("as in privrec list schema train lightgcn, or one of "+join(fileNames()),
			"%s: name a task or a file", c.CommandPath())
	}
	if len(args) == 1 {
		for _, f := range schemaFiles(a.Tasks) {
			if f.Name == args[0] {
				return f.Schema(), nil
			}
		}
	}
	var known []string
	var found []run.Task
	for _, t := range a.Tasks {
		known = append(known, t.String())
		if slices.Equal(args, []string{t.Verb, t.Name}) || slices.Equal(args, []string{t.Name}) ||
			slices.Equal(args, []string{t.String()}) {
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

// answer is a type of document that commands print with --json.
type answer struct {
	name, about string
	forms       []any    // a value of each type that there is
	commands    []string // without privrec; "account *" is every command in the folder
}

// printedAnswers lists the documents that commands print. The first entry that has a command counts.
func printedAnswers() []answer {
	return []answer{
		{"divergence", "One point of a Rényi curve.", []any{&calculator.Divergence{}}, []string{"account rdp *"}},
		{"curve", "A privacy curve that was drawn.", []any{&calculator.Drawing{}}, []string{"account curve *"}},
		{"selection", "What the best of several runs costs.", []any{&calculator.Selection{}},
			[]string{"account selection *"}},
		{"budget", "A budget that several runs spend from.", []any{calculator.Budget{}}, []string{"account budget *"}},
		{"ledger", "What a ledger amounts to.", []any{&calculator.LedgerAccount{}}, []string{"account ledger"}},
		{"events", "What the releases of another program amount to.",
			[]any{&calculator.EventsAccount{}, eventlog.Example{}}, []string{"account events"}},
		{"noise", "The least noise for a guarantee, or the most of another number.", []any{&calculator.Noise{}},
			[]string{"account calibrate *"}},
		{"law", "The law of a mechanism on a small domain.", []any{&enumerate.Answer{}}, []string{"audit exact *"}},
		{"epsilon", "Claimed epsilons beside accounted ones.", []any{&epsilons.Answer{}}, []string{"account epsilon"}},
		{"guarantee", "What releases amount to.", []any{&calculator.Guarantee{}}, []string{"account *"}},
		{"review", "A page for a review board that was written.", []any{review.Written{}}, []string{"report privacy"}},
		{"doctor", "What a machine is and can do.", []any{&doctor.Report{}}, []string{"list machine"}},
		{"version", "Which program this is.", []any{versionInfo{}}, []string{"version"}},
		{"receipt", "What a fetch brought.", []any{inventory.Receipt{}}, []string{"data fetch"}},
		{"verification", "Which files of data sets are on the disk.", []any{inventory.Verification{}},
			[]string{"data verify"}},
		{"table", "A table.", []any{&report.Table{}}, []string{"data synth"}},
		{"lint", "What printed numbers contradict.", []any{lint.Report{}}, []string{"audit tables"}},
		{"record", "A record that was kept.", []any{recorded{}}, []string{"report record"}},
		{"bench", "Measured speeds.", []any{measurements{}}, []string{"bench *"}},
		{"matrix", "Attacks against models, or a forecast of their runs, or a shard of them.",
			[]any{&matrix.Made{}, &report.Document{}, matrixPart{}}, []string{"attack matrix"}},
		{"reproduce", "Tables that were made or forecast, a list of tables, or verdicts on claims.",
			[]any{reproduce.List{}, verdicts{}, &report.Document{}}, []string{"reproduce"}},
		{"document", "Facts, tables and notes of a result.", []any{&report.Document{}}, []string{
			"list", "data list", "data describe", "data stats", "data prepare", "recommend", "evaluate", "compare",
			"scores", "report vectors", "release dataset", "tune", "demo", "run", "stream *", "forget", "forget *",
			"train *", "attack *", "audit *", "import", "import *", "perturb *"}},
	}
}

// fileName returns the name of the file that privrec list schema --out writes.
func (x answer) fileName() string { return "answers/" + x.name + ".json" }

// schema returns the schema of the document.
func (x answer) schema() (*jsonschema.Schema, error) {
	s, err := jsonschema.Of(x.forms...)
	if err != nil {
		return nil, fmt.Errorf("schema of the answer %s: %w", x.name, err)
	}
	s.ID, s.Title = x.name+".json", "privrec answer "+x.name
	s.Description = x.about + " Printed with --json by privrec " + strings.Join(x.commands, ", ") + "."
	return s, nil
}

// answerOf returns what a command prints, by its words without privrec.
func answerOf(command string) (answer, bool) {
	folder := command[:max(0, strings.LastIndexByte(command, ' '))] + " *"
	for _, x := range printedAnswers() {
		if slices.Contains(x.commands, command) || slices.Contains(x.commands, folder) {
			return x, true
		}
	}
	return answer{}, false
}

// answerSchema returns the schema of what a command prints with --json.
func (a *App) answerSchema(c *cobra.Command, words []string) (*jsonschema.Schema, error) {
	const fix = "as in privrec list schema answer account gaussian"
	words, _ = movedLine(words) // the old name of a command has the schema of the new one
	asked, rest, err := c.Root().Find(words)
	if len(words) == 0 || err != nil || len(rest) > 0 || asked.Flags().Lookup("json") == nil {
		return nil, usagef(fix, "%s answer: name a command that has --json, not %q", c.CommandPath(),
			strings.Join(words, " "))
	}
	x, ok := answerOf(strings.TrimPrefix(asked.CommandPath(), c.Root().Name()+" "))
	if !ok {
		return nil, usagef(fix, "%s answer: %s has no schema yet", c.CommandPath(), asked.CommandPath())
	}
	return x.schema()
}
