package tune

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"privrec/internal/config"
	"privrec/internal/metrics"
	"privrec/internal/run"
)

// Study says which tasks to search, how, and how much each may spend.
type Study struct {
	Name  string `yaml:"name"`
	About string `yaml:"about,omitempty"` // a sentence that the results print
	Seed  uint64 `yaml:"seed"`            // seed of the drawn settings, of the rows and of the runs
	// number of trials of every task; their mean number if the choice is private
	Trials    int     `yaml:"trials" limit:"1..100000"`
	Objective string  `yaml:"objective"`                     // metric on validation rows to maximise, such as NDCG@20
	Search    string  `yaml:"search" limit:"random|halving"` // how settings are searched: random or halving
	Halving   Halving `yaml:"halving,omitempty" when:"search=halving"`
	// share of every user's training rows to choose by, if a recipe holds out none
	Cut float64 `yaml:"cut" limit:"(0,1)"`
	// whose rows choose the setting: public or private
	Rows      string    `yaml:"rows" limit:"public|private"`
	Selection Selection `yaml:"selection,omitempty" when:"rows=private"` // choice by private rows
	// keys to change in all tasks, as in data.name=ml-100k
	Set   []string `yaml:"set,omitempty"`
	Tasks []Task   `yaml:"tasks" limit:"some"`
}

// Halving sets the rungs of successive halving.
type Halving struct {
	Key   string `yaml:"key" limit:"filled"`      // the resource, an integer of the configuration, such as train.epochs
	Least int    `yaml:"least" limit:"1..100000"` // resource of a trial on the first rung
	// resource of a trial on the last rung; trials times this is the most that a task spends
	Most int `yaml:"most"`
	// one of so many settings goes on to the next rung, with so many times the resource
	Keep int `yaml:"keep" limit:"2..100"`
}

// Selection sets how a choice by private rows is made and what it costs.
type Selection struct {
	// distribution of the number of trials: 0 is logarithmic, 1 geometric
	Eta   float64 `yaml:"eta"`
	Sigma float64 `yaml:"sigma" limit:"[1e-6,1e9]"`  // standard deviation of the noise on the sum of the users' scores
	Delta float64 `yaml:"delta" limit:"[1e-15,0.1]"` // delta of the guarantee
}

// Task names a method and the space of its settings.
type Task struct {
	Name string `yaml:"name,omitempty"` // name in results; default: the task's own
	Task string `yaml:"task"`           // task to tune, as in "train bprmf"
	// configuration file, relative to the study's; its setting is the first trial
	Config string   `yaml:"config"`
	Set    []string `yaml:"set,omitempty"`
	Search string   `yaml:"search,omitempty"` // random, for a model that is computed at once, in a study by halving
	// which release counts, for a method that ranks by several; default: the first
	Release string `yaml:"release,omitempty"`
	// keys to change in the winning configuration; {epoch} stands for the best trial's epoch
	Final []string         `yaml:"final,omitempty"`
	Space map[string]Space `yaml:"space,omitempty"` // values to search, by key

	task run.Task
}

// Values of Study.Search and Study.Rows.
const (
	Random      = "random"
	HalvingName = "halving"
	Public      = "public"
	Private     = "private"
)

// Default returns a study without tasks.
func Default() Study {
	return Study{Seed: 1, Trials: 16, Objective: "NDCG@20", Search: Random, Cut: 0.1}
}

// Load reads a study file. Configurations are found relative to it.
func Load(file string, tasks []run.Task) (*Study, error) {
	s, doc, err := config.Load(file, nil, Default())
	if err != nil {
		return nil, err
	}
	for i := range s.Tasks {
		if c := s.Tasks[i].Config; c != "" {
			if c = filepath.FromSlash(c); !filepath.IsAbs(c) {
				c = filepath.Join(filepath.Dir(file), c)
			}
			s.Tasks[i].Config = c
		}
	}
	return &s, s.Form(doc, tasks)
}

var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]*$`)

// Form reports by its line in doc everything that cannot be searched, and finds the tasks. It does not look at the
// configurations that the study names. doc is nil for a study that was made without a file.
func (s *Study) Form(doc *config.Document, tasks []run.Task) error {
	v := config.NewChecker(doc)
	s.form(v, tasks)
	return v.Err()
}

// Probe returns what the checks of studies say about the values of their keys, found by trying values.
func Probe(tasks []run.Task) config.Probed {
	one := Default()
	one.Name, one.Rows = "study", Public
	one.Tasks = []Task{{Task: "train bprmf", Space: map[string]Space{"model.dim": {Integer: []int{8, 64}}}}}
	rungs, private := one, one
	rungs.Search, rungs.Halving = HalvingName, Halving{Key: "train.epochs", Least: 1, Most: 8, Keep: 2}
	private.Rows, private.Selection = Private, Selection{Sigma: 1, Delta: 1e-6}
	return config.ProbeAll(func(v *config.Checker, s Study) {
		s.Tasks = slices.Clone(s.Tasks)
		s.form(v, tasks)
	}, Default(), one, rungs, private)
}

// form is Form, into a checker.
func (s *Study) form(v *config.Checker, tasks []run.Task) {
	v.Declared(s)
	v.Matches("name", s.Name, plainName, "letters, digits, '.' and '-'")
	m, err := metrics.Parse(s.Objective)
	v.CheckAs(err == nil, "objective", "must be a metric of rankings with its cut-off, such as NDCG@20", "%v", err)
	if s.Search == HalvingName {
		v.CheckAs(s.Halving.Most >= s.Halving.Least, "halving.most", "must be at least halving.least",
			"must be at least halving.least %d, got %d", s.Halving.Least, s.Halving.Most)
	}
	if s.Rows == Private {
		v.Check(s.Search == Random, "search",
			"must be random where rows are private: what later rungs see of earlier ones has no account")
		v.Limited(config.Limit{Lo: -1, Hi: 100, OpenLo: true}, s.Selection.Eta > -1 && s.Selection.Eta <= 100,
			"selection.eta", "must be above -1 and at most 100, got %v", s.Selection.Eta)
		v.CheckAs(!m.Sampled(), "objective", "must be a mean over users where rows are private",
			"must be a mean over users where rows are private: %s is one over rows, of which one user has any number",
			m)
	}
	var names []string
	for i := range s.Tasks {
		t, key := &s.Tasks[i], func(name string) string { return fmt.Sprintf("tasks.%d.%s", i, name) }
		t.find(v, key, tasks, s)
		v.CheckAs(!slices.Contains(names, t.Name), key("name"), "no two tasks have one name", "%q names two tasks",
			t.Name)
		names = append(names, t.Name)
	}
}

// find finds the task and checks its space.
func (t *Task) find(v *config.Checker, key func(string) string, tasks []run.Task, s *Study) {
	var known []string
	for _, x := range tasks {
		if x.Verb == "train" {
			known = append(known, x.String())
		}
	}
	if !v.OneOf(key("task"), t.Task, known...) {
		return
	}
	t.task = tasks[slices.IndexFunc(tasks, func(x run.Task) bool { return x.String() == t.Task })]
	if t.Name == "" {
		t.Name = t.task.Name
	}
	v.Limited(config.OrLimit(config.PatternLimit(plainName.String()), ""), plainName.MatchString(t.Name), key("name"),
		"must be letters, digits, '.' and '-', got %q", t.Name)
	if t.Search != "" {
		v.OneOf(key("search"), t.Search, Random)
	} else if s.Search == HalvingName {
		v.CheckAs(t.has(s.Halving.Key), key("search"),
			"must be random, in a study by halving, for a task without the key of the rungs",
			"%s has no key %s to give rungs by: search: random gives it %d whole trials", t.Task, s.Halving.Key,
			s.Trials)
		_, twice := t.Space[s.Halving.Key]
		v.CheckEntry(!twice, key("space"), s.Halving.Key, "cannot have the resource of the rungs",
			"is the resource of the rungs, and cannot be searched too")
	}
	if s.Rows == Private {
		v.Check(!slices.ContainsFunc(t.Final, func(f string) bool { return strings.Contains(f, epochWord) }),
			key("final"),
			"cannot have %s where rows are private: which epoch was best has no noise", epochWord)
		for _, k := range []string{"privacy.epsilon", "privacy.delta"} {
			_, drawn := t.Space[k]
			v.CheckEntry(!drawn, key("space"), k,
				"cannot have privacy.epsilon and privacy.delta where rows are private",
				"cannot be searched where rows are private: the price is that of the most expensive setting, whether "+
					"it was drawn or not")
		}
	}
	for _, k := range t.keys() {
		if !v.EntryOneOf(key("space"), k, "its keys are those of the task's configuration", t.known()...) {
			continue
		}
		for _, fixed := range []string{"run.", "data.", "eval."} {
			v.CheckEntry(!strings.HasPrefix(k, fixed), key("space"), k,
				"keys run.*, data.* and eval.* are the same in all trials, and cannot be searched",
				"keys %s* are the same in all trials, and cannot be searched", fixed)
		}
		err := t.Space[k].check()
		v.CheckEntry(err == nil, key("space"), k,
			"must be one of choice, uniform, log and integer, the last three with two finite ends, the lower one "+
				"first, and log above 0", "%v", err)
	}
}

// epochWord stands for the best trial's epoch in Task.Final.
const epochWord = "{epoch}"

// keys lists the keys of the space in ascending order.
func (t *Task) keys() []string {
	var keys []string
	for k := range t.Space {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// has reports whether the task's configuration has a key.
func (t *Task) has(key string) bool {
	return slices.ContainsFunc(t.task.Keys(), func(k config.Key) bool { return k.Path == key })
}

// known lists the keys of the task's configuration.
func (t *Task) known() (keys []string) {
	for _, k := range t.task.Keys() {
		keys = append(keys, k.Path)
	}
	return keys
}

// Only keeps the named tasks of a study, or all if none is named.
func (s *Study) Only(names []string) error {
	if len(names) == 0 {
		return nil
	}
	var kept []Task
	for _, n := range names {
		at := slices.IndexFunc(s.Tasks, func(t Task) bool { return t.Name == n || t.Task == n })
		if at < 0 {
			var known []string
			for _, t := range s.Tasks {
				known = append(known, t.Name)
			}
			return run.Usagef("it has "+strings.Join(known, ", "), "study %s has no task %q", s.Name, n)
		}
		kept = append(kept, s.Tasks[at])
	}
	s.Tasks = kept
	return nil
}
