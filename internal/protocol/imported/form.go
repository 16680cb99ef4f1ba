package imported

import (
	"context"
	"path/filepath"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/lists"
	"privrec/internal/run"
)

// Common holds the keys that the configuration of every form has.
type Common struct {
	Name    string      `yaml:"name" limit:"filled"` // name of the model in tables
	Program string      `yaml:"program"`             // program that trained the model, in words; empty: not said
	Rows    FilesConfig `yaml:"rows"`
	K       []int       `yaml:"k" limit:"some cut-off in 1..10000"` // cutoffs of the metrics
}

// DefaultCommon returns no files, and the cut-offs of privrec evaluate.
func DefaultCommon() Common { return Common{Name: "imported", K: []int{5, 10, 20}} }

// Ranked holds one item of a list.
type Ranked struct {
	Item  int32
	Score float64 // NaN where the model shows none
}

// Shown is the visible part of an imported model: its lists or its vectors.
type Shown interface {
	// Keep writes it into the folder "imported" of the run directory, for later questions.
	Keep(env *run.Env) error
	// What returns a word for it, such as lists. Hash returns its SHA-256 under the names of users and items.
	What() string
	Hash() string
	// Best returns the best k items of each user, best first, and nil for a user without known recommendations. Stored
	// lists are returned as they are; a model whose items are ranked here leaves out those of Rows.Data.Train.
	Best(ctx context.Context, users []int32, k int) ([][]Ranked, error)
	// Longest returns the largest number of items that Best gives a user.
	Longest() int
	// Answers adds the answers of the form to those that all imported models give.
	Answers(a *Answers) run.Answers
}

// Parsed is a form's files as read, before users and items have their numbers.
type Parsed interface {
	// Files lists the files that were read.
	Files() []dataset.File
	// Number returns the visible part of the model. to and item give the numbers in rows of the users and items of the
	// ids that Load was handed. It counts what users should know in n, and refuses data that would give wrong answers.
	Number(rows *Rows, to, item []int32, n *Counts) (Shown, error)
}

// Form describes one form of imported model, with a configuration C that has Common.
type Form[C any] struct {
	Name    string // of the task, behind import
	Summary string
	Flags   []run.Flag
	Default func() C
	Check   func(v *config.Checker, c C)
	Common  func(c *C) *Common
	// Load reads the form's own files and numbers their users and items in ids. It fails with a run.UsageError if no
	// file is named.
	Load func(ctx context.Context, c C, ids *lists.IDs) (Parsed, error)
	// Kept sets the form's files to the copies in the folder.
	Kept func(c *C, folder string)
}

// cite is the citation of imported models.
const cite = "another program, as its name in the run says"

// Task returns the task that imports a form.
func (f Form[C]) Task() run.Task {
	return run.Spec[C]{
		Verb: "import", Name: f.Name, Summary: f.Summary, Cite: cite, Flags: append(commonFlags(), f.Flags...),
		Default: f.Default, Check: f.Check, Answers: true,
		Open: func(ctx context.Context, env *run.Env, c C) (run.Work, error) { return f.open(ctx, env, c) },
	}.Task()
}

// commonFlags returns the flags of every form.
func commonFlags() []run.Flag {
	return []run.Flag{
		{Name: "train", Key: "rows.train", Usage: "file of the rows that the model was trained on"},
		{Name: "truth", Key: "rows.truth", Usage: "file of what users took later, which the model should find"},
		{Name: "non-members", Key: "rows.non_members",
			Usage: "file of rows that the model was not trained on, for attacks on membership"},
		{Name: "name", Key: "name", Usage: "name of the model in tables"},
		{Name: "program", Key: "program", Usage: "program that trained it, in words"},
	}
}

// folder names the folder of the input copies in the run directory.
const folder = experiment.ImportedFolder

// open reads the files of a new run, or the copies of a finished one.
func (f Form[C]) open(ctx context.Context, env *run.Env, c C) (run.Work, error) {
	common := *f.Common(&c)
	if _, ok := env.Finished(); ok {
		in := filepath.Join(env.Dir, folder)
		f.Kept(&c, in)
		common.Rows = keptRows(in, common.Rows)
	}
	return open(ctx, env, common, func(ids *lists.IDs) (Parsed, error) { return f.Load(ctx, c, ids) })
}

// keptRows replaces the named files by their copies.
func keptRows(in string, c FilesConfig) FilesConfig {
	for _, f := range []struct {
		path *string
		name string
	}{{&c.Train, "train"}, {&c.Truth, "truth"}, {&c.NonMembers, "others"}} {
		if *f.path != "" {
			*f.path = filepath.Join(in, f.name+".tsv.gz")
		}
	}
	return c
}

// Tasks returns the tasks of all forms that can be imported.
func Tasks() []run.Task { return []run.Task{Lists().Task(), Vectors().Task()} }
