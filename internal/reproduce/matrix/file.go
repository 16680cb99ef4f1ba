package matrix

import (
	"fmt"
	"io/fs"
	"slices"

	"privrec/internal/config"
	"privrec/internal/reproduce"
	"privrec/internal/run"
)

// Matrix says which models are attacked, and how.
type Matrix struct {
	Name    string           `yaml:"name"` // of the files that are written
	Title   string           `yaml:"title"`
	Data    []reproduce.Data `yaml:"data"` // rows that name none have the first
	Sizes   reproduce.Sizes  `yaml:"profiles"`
	HoldOut []string         `yaml:"hold_out"` // overrides of every training: what is kept from it, to be asked about
	Utility string           `yaml:"utility"`  // metric of the models themselves, as in Recall@20; a model may lack it
	Attacks []Attack         `yaml:"attacks"`
	Rows    []Row            `yaml:"rows"`
	Notes   []string         `yaml:"notes"`

	doc   *config.Document
	tree  fs.FS
	file  string
	tasks []run.Task
}

// Attack is one column.
type Attack struct {
	Name    string `yaml:"name"`    // a word, for files
	Heading string `yaml:"heading"` // of the column
	About   string `yaml:"about"`   // a sentence: what the attacker wants and sees
	Metric  string `yaml:"metric"`  // whose gain counts, as the attack's result names it
	Row     string `yaml:"row"`     // of the attack's result: which way to attack counts, chosen before anything is measured
	// Sequences takes the place of Row in results on models of sequences, which are attacked in other ways; empty: Row.
	Sequences string   `yaml:"sequences,omitempty"`
	Needs     []string `yaml:"needs"` // of the attacked run: attributes, vectors, held-out rows, held-out users

	reproduce.Setting `yaml:",inline"`
}

// Row is one trained model.
type Row struct {
	Model   string `yaml:"model"`
	Defence string `yaml:"defence"` // none where there is none
	Twin    string `yaml:"twin"`    // model without a defence that stands for this one without its own; empty: the model's own name
	About   string `yaml:"about"`   // a sentence, for the notes
	Data    string `yaml:"data"`    // one of Matrix.Data; empty: the first
	Unit    string `yaml:"unit"`    // of privacy whose accounted epsilon is shown, as user or edge; empty: the worst
	Whole   bool   `yaml:"whole"`   // trained on all rows: hold_out does not count
	// Attack has overrides of attacks on this row.
	Attack []Override `yaml:"attack"`
	// Without says of attacks why there is nothing to attack. Such cells are not made.
	Without []Without `yaml:"without"`

	reproduce.Setting `yaml:",inline"`

	finished string // directory of a run that was made elsewhere, in place of Setting
}

// Override changes an attack on one row.
type Override struct {
	Name string   `yaml:"name"` // of the attack
	Set  []string `yaml:"set"`
}

// Without is why a row has no cell of an attack.
type Without struct {
	Name string `yaml:"name"` // of the attack; empty: of all
	Why  string `yaml:"why"`
}

// None is the name of no defence.
const None = "none"

// without returns why a row has no cell of an attack, "" where it may have one.
func (r *Row) without(attack string) string {
	for _, w := range r.Without {
		if w.Name == "" || w.Name == attack {
			return w.Why
		}
	}
	return ""
}

// label names a row as the runner does.
func (r *Row) label() string { return r.Model + " (" + r.Defence + ")" }

// Load reads a file of the disk. Configurations are found relative to it.
func Load(file string, tasks []run.Task) (*Matrix, error) {
	m, doc, err := config.Load(file, nil, Matrix{})
	if err != nil {
		return nil, err
	}
	m.doc, m.file, m.tasks = doc, file, tasks
	return &m, m.check()
}

// BuiltIn reads a file that comes with the program, by its name, such as "ml-100k".
func BuiltIn(tree fs.FS, name string, tasks []run.Task) (*Matrix, error) {
	file := "matrix/" + name + ".yaml"
	text, err := fs.ReadFile(tree, file)
	if err != nil {
		return nil, fmt.Errorf("matrix: %w", err)
	}
	m, doc, err := config.Parse("built-in configs/"+file, text, nil, Matrix{})
	if err != nil {
		return nil, err
	}
	m.doc, m.tree, m.file, m.tasks = doc, tree, file, tasks
	return &m, m.check()
}

// check reports every problem of a file by its line, and lets all tasks check their configurations.
func (m *Matrix) check() error {
	v := config.NewChecker(m.doc)
	v.Check(len(m.Attacks) > 0, "attacks", "must name at least one")
	v.Check(len(m.Rows) > 0, "rows", "must name at least one")
	v.Check(len(m.Data) > 0, "data", "must name at least one")
	for i := range m.Attacks {
		m.checkAttack(v, i)
	}
	for i := range m.Rows {
		m.checkRow(v, i)
	}
	if err := v.Err(); err != nil {
		return err
	}
	_, err := m.grids()
	return err
}

func (m *Matrix) checkAttack(v *config.Checker, i int) {
	a, at := &m.Attacks[i], func(key string) string { return fmt.Sprintf("attacks.%d.%s", i, key) }
	v.Check(word(a.Name), at("name"), "must be a word of letters, digits and -, got %q", a.Name)
	v.NotEmpty(at("heading"), a.Heading)
	v.NotEmpty(at("about"), a.About)
	if err := reproduce.CheckMetric(a.Metric); err != nil {
		v.Check(false, at("metric"), "%v", err)
	}
	v.NotEmpty(at("row"), a.Row)
	v.NotEmpty(at("config"), a.Config)
	v.Check(slices.ContainsFunc(m.tasks, func(t run.Task) bool { return t.String() == a.Task && t.Verb == "attack" }), at("task"), "there is no attack %q", a.Task)
	for _, n := range a.Needs {
		v.OneOf(at("needs"), n, needs()...)
	}
	twice := slices.ContainsFunc(m.Attacks[:i], func(o Attack) bool { return o.Name == a.Name })
	v.Check(!twice, at("name"), "%s is there already", a.Name)
}

func (m *Matrix) checkRow(v *config.Checker, i int) {
	r, at := &m.Rows[i], func(key string) string { return fmt.Sprintf("rows.%d.%s", i, key) }
	v.NotEmpty(at("model"), r.Model)
	v.NotEmpty(at("defence"), r.Defence)
	twice := slices.ContainsFunc(m.Rows[:i], func(o Row) bool { return o.label() == r.label() })
	v.Check(!twice, at("model"), "%s with defence %s is there already", r.Model, r.Defence)
	v.Check(r.Twin == "" || r.Defence != None && m.twin(r) != nil, at("twin"), "no row has the model %q with defence %s", r.Twin, None)
	if r.Data == "" && len(m.Data) > 0 {
		r.Data = m.Data[0].Name
	}
	known := func(name string) bool {
		return slices.ContainsFunc(m.Attacks, func(a Attack) bool { return a.Name == name })
	}
	for k, o := range r.Attack {
		v.Check(known(o.Name), at(fmt.Sprintf("attack.%d.name", k)), "there is no attack %q here", o.Name)
	}
	for k, w := range r.Without {
		v.Check(w.Name == "" || known(w.Name), at(fmt.Sprintf("without.%d.name", k)), "there is no attack %q here", w.Name)
		v.Check(w.Why != "", at(fmt.Sprintf("without.%d.why", k)), "must say why there is nothing to attack")
	}
}

// word reports whether a name can be part of the name of a file.
func word(s string) bool {
	return s != "" && !slices.ContainsFunc([]byte(s), func(c byte) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-')
	})
}

// twin returns the row without a defence that a row is held against; nil: there is none.
func (m *Matrix) twin(r *Row) *Row {
	name := r.Twin
	if name == "" {
		name = r.Model
	}
	for i := range m.Rows {
		if t := &m.Rows[i]; t != r && t.Model == name && t.Defence == None && (t.Data == r.Data || t.Data == "" || r.Data == "") {
			return t
		}
	}
	return nil
}
