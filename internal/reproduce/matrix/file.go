package matrix

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"

	"privrec/internal/config"
	"privrec/internal/reproduce/grid"
	"privrec/internal/run"
)

// Matrix says which models are attacked, and how.
type Matrix struct {
	Name  string      `yaml:"name"` // name of the files that are written
	Title string      `yaml:"title"`
	Data  []grid.Data `yaml:"data" limit:"some"` // data sets; rows that name none have the first
	Sizes grid.Sizes  `yaml:"profiles"`
	// keys to change in every training, so that it holds out what attacks ask about
	HoldOut []string `yaml:"hold_out"`
	Utility string   `yaml:"utility"` // metric of the models themselves, as in Recall@20; a model may lack it
	Attacks []Attack `yaml:"attacks" limit:"some"`
	Rows    []Row    `yaml:"rows" limit:"some"`
	Notes   []string `yaml:"notes"`

	// Attributes is a table of attributes of users, for the attacks that need some on imported runs.
	Attributes string `yaml:"-"`

	doc   *config.Document
	tree  fs.FS
	file  string
	tasks []run.Task
}

// Attack sets one column.
type Attack struct {
	Name    string `yaml:"name"`                   // name of the attack in files, one word
	Heading string `yaml:"heading" limit:"filled"` // heading of the column
	About   string `yaml:"about" limit:"filled"`   // a sentence: what the attacker wants and sees
	Metric  string `yaml:"metric"`                 // metric whose gain counts, as the attack's result names it
	// row of the attack's result that counts, chosen before anything is measured
	Row string `yaml:"row" limit:"filled"`
	// Sequences takes the place of row for models of sequences, which are attacked in other ways; empty: row.
	Sequences string `yaml:"sequences,omitempty"`
	// what the attacked run must have: attributes, vectors, held-out rows, held-out users
	Needs []string `yaml:"needs"`

	grid.Setting `yaml:",inline"`
}

// Row sets one trained model.
type Row struct {
	Model   string `yaml:"model" limit:"filled"`
	Defence string `yaml:"defence" limit:"filled"` // name of the defence; none if there is none
	Twin    string `yaml:"twin"`                   // model without defence to compare with; empty: the model's own name
	About   string `yaml:"about"`                  // a sentence for the notes
	Data    string `yaml:"data"`                   // a data set of the matrix; empty: the first
	// unit of privacy whose accounted epsilon is shown, as user or edge; empty: the worst
	Unit  string `yaml:"unit"`
	Whole bool   `yaml:"whole"` // true: train on all rows, without hold_out
	// Attack changes keys of attacks on this row.
	Attack []Override `yaml:"attack"`
	// Without says why an attack has nothing to attack here. Such cells are not made.
	Without []Without `yaml:"without"`

	grid.Setting `yaml:",inline"`

	imported bool   // finished is a run of a model that another program trained
	finished string // directory of a run that was made elsewhere, in place of Setting
}

// Override changes an attack on one row.
type Override struct {
	Name string   `yaml:"name"` // name of the attack
	Set  []string `yaml:"set"`
}

// Without says why a row has no cell of an attack.
type Without struct {
	Name string `yaml:"name"` // name of the attack; empty: all attacks
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

// Probe tries what the checks of matrices say of their keys.
func Probe(tasks []run.Task) config.Probed {
	full := Matrix{
		Data: []grid.Data{{Name: "ml-1m", StandIn: "standin-tiny"}},
		Attacks: []Attack{{Name: "one", Heading: "heading", About: "about", Metric: "AUC member users", Row: "row",
			Needs: []string{needVectors}, Setting: grid.Setting{Task: "attack membership", Config: "file.yaml"}}},
		Rows: []Row{{Model: "model", Defence: "defence", Attack: []Override{{Name: "one"}},
			Without: []Without{{Name: "one", Why: "why"}}, Setting: grid.Setting{Task: "train bprmf",
				Config: "file.yaml"}},
			{Model: "other", Defence: None, Setting: grid.Setting{Task: "train bprmf", Config: "file.yaml"}}},
	}
	return config.ProbeAll(func(v *config.Checker, m Matrix) {
		m.Rows, m.tasks = slices.Clone(m.Rows), tasks
		m.form(v)
	}, Matrix{}, full)
}

// Form reports every problem of a matrix by its line in doc, but for the grids that are made of it.
func (m *Matrix) Form(doc *config.Document, tasks []run.Task) error {
	m.tasks = tasks
	v := config.NewChecker(doc)
	m.form(v)
	return v.Err()
}

// form is Form, into a checker.
func (m *Matrix) form(v *config.Checker) {
	v.Declared(m)
	for i := range m.Attacks {
		m.checkAttack(v, i)
	}
	for i := range m.Rows {
		m.checkRow(v, i)
	}
}

func (m *Matrix) checkAttack(v *config.Checker, i int) {
	a, at := &m.Attacks[i], func(key string) string { return fmt.Sprintf("attacks.%d.%s", i, key) }
	v.Matches(at("name"), a.Name, word, "a word of letters, digits and -")
	err := grid.CheckMetric(a.Metric)
	v.CheckAs(err == nil, at("metric"), "must be a metric of an attack, such as AUC member users or micro F1 gender",
		"%v", err)
	var known []string
	for _, t := range m.tasks {
		if t.Verb == "attack" {
			known = append(known, t.String())
		}
	}
	v.Limited(config.OneOfLimit(known...), slices.Contains(known, a.Task), at("task"), "there is no attack %q", a.Task)
	for _, n := range a.Needs {
		v.OneOf(at("needs"), n, needs()...)
	}
	twice := slices.ContainsFunc(m.Attacks[:i], func(o Attack) bool { return o.Name == a.Name })
	v.CheckAs(!twice, at("name"), "no attack is there twice", "%s is there already", a.Name)
}

func (m *Matrix) checkRow(v *config.Checker, i int) {
	r, at := &m.Rows[i], func(key string) string { return fmt.Sprintf("rows.%d.%s", i, key) }
	twice := slices.ContainsFunc(m.Rows[:i], func(o Row) bool { return o.label() == r.label() })
	v.CheckAs(!twice, at("model"), "no model is there twice with the same defence",
		"%s with defence %s is there already", r.Model, r.Defence)
	v.CheckAs(r.Twin == "" || r.Defence != None && m.twin(r) != nil, at("twin"),
		"must be the model of a row with defence none, for a row with another",
		"no row has the model %q with defence %s", r.Twin, None)
	if r.Data == "" && len(m.Data) > 0 {
		r.Data = m.Data[0].Name
	}
	known := func(name string) bool {
		return slices.ContainsFunc(m.Attacks, func(a Attack) bool { return a.Name == name })
	}
	const among = "must be among the attacks of the file"
	for k, o := range r.Attack {
		v.CheckAs(known(o.Name), at(fmt.Sprintf("attack.%d.name", k)), among, "there is no attack %q here", o.Name)
	}
	for k, w := range r.Without {
		v.CheckAs(w.Name == "" || known(w.Name), at(fmt.Sprintf("without.%d.name", k)), among,
			"there is no attack %q here", w.Name)
		v.Limited(config.FilledLimit(), w.Why != "", at(fmt.Sprintf("without.%d.why", k)),
			"must say why there is nothing to attack")
	}
}

// word is what can be part of the name of a file.
var word = regexp.MustCompile(`^[A-Za-z0-9-]+$`)

// twin returns the row without a defence that a row is held against; nil: there is none.
func (m *Matrix) twin(r *Row) *Row {
	name := r.Twin
	if name == "" {
		name = r.Model
	}
	for i := range m.Rows {
		if t := &m.Rows[i]; t != r && t.Model == name && t.Defence == None &&
			(t.Data == r.Data || t.Data == "" || r.Data == "") {
			return t
		}
	}
	return nil
}

// What an attack may need of the attacked run.
const (
	needAttributes = "attributes"
	needVectors    = "vectors"
	needRows       = "held-out rows"
	needUsers      = "held-out users"
	needInputs     = "inputs"
	needScores     = "scores"
)

func needs() []string {
	return []string{needAttributes, needVectors, needRows, needUsers, needInputs, needScores}
}
