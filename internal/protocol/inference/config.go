package inference

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/attack/attribute"
	"privrec/internal/config"
	"privrec/internal/dataset/registry"
)

// Config describes an attack: what is attacked, which attributes, what the attacker sees and
// how it predicts.
type Config struct {
	// name of the set of choices, for reports: paper or your own
	Profile    string            `yaml:"profile" limit:"filled"`
	On         OnConfig          `yaml:"on"`
	Files      FilesConfig       `yaml:"files"`
	Data       DataConfig        `yaml:"data"`
	Attributes []AttributeConfig `yaml:"attributes"`
	Attack     AttackConfig      `yaml:"attack"`
	Eval       EvalConfig        `yaml:"eval"`
}

// OnConfig names finished runs of this program. All are attacked under the same splits of the
// same users.
type OnConfig struct {
	Runs []string `yaml:"runs"` // directories of the attacked runs
	// true: runs are relative to the folder that holds this run's own directory
	Beside bool `yaml:"beside,omitempty"`
	// which release of each run to attack, where it kept several; empty: the first one
	Release string `yaml:"release"`
}

// dirs returns the directories of the runs, for an attack in directory own. With Beside a folder of runs can be moved
// as a whole, since the configuration does not say where it is.
func (c OnConfig) dirs(own string) []string {
	if !c.Beside {
		return c.Runs
	}
	out := make([]string, len(c.Runs))
	for i, name := range c.Runs {
		out[i] = filepath.Join(filepath.Dir(own), name)
	}
	return out
}

// FilesConfig names tables with a header line, of tab-separated or comma-separated fields.
type FilesConfig struct {
	// Lists names a table with the columns user, rank and item, as privrec recommend prints it. It is attacked like a
	// run.
	Lists string `yaml:"lists"`
	// table of the items that the users in lists have: columns user and item, one item a row
	Interactions string `yaml:"interactions"`
	// Recs names a file with the lists of a model that another program trained, in any form that privrec evaluate
	// reads. They are attacked like a run.
	Recs  string `yaml:"recs,omitempty"`
	Train string `yaml:"train,omitempty"` // the rows that this model was trained on
	// Attributes names a table with a column of users and one for every attribute. Its users are attacked. Empty: the
	// attributes of the data set.
	Attributes string `yaml:"attributes"`
}

// DataConfig names the data set that interactions and attributes come from, where no run and no file does. Without
// lists the attacker sees interactions alone.
type DataConfig struct {
	Name   string `yaml:"name"`
	Recipe string `yaml:"recipe"` // filters and split: its training rows are the interactions
}

// AttributeConfig sets one attribute of users to predict.
type AttributeConfig struct {
	Name string `yaml:"name" limit:"filled"` // column of the attribute in the table
	// Values lists the allowed values of the column, in the order of the classes. Empty: those that it holds.
	Values []string `yaml:"values,omitempty"`
	// Bands lists at least two borders between ranges of numbers: with 35 and 45 the classes are <35, 35-45 and >45.
	// They are not used with values.
	Bands []float64 `yaml:"bands,omitempty"`
}

// AttackConfig sets what the attackers see and how they are trained.
type AttackConfig struct {
	// what attackers see: interactions+lists, lists, interactions, vectors
	Sees []string `yaml:"sees" limit:"some of interactions+lists|lists|interactions|vectors"`
	// numbers of items in a list; the first is the main one
	K         []int    `yaml:"k" limit:"some length of a list in 1..1000"`
	Attackers []string `yaml:"attackers"` // attackers to train; the first is the main one
	// number of random splits of the users
	Repeats int `yaml:"repeats" limit:"1..1000"`
	// share of the users that the attacker trains on
	Share float64 `yaml:"share" limit:"(0,1)"`
}

// EvalConfig sets the intervals.
type EvalConfig struct {
	Confidence float64 `yaml:"confidence" limit:"(0,1)"` // level of the intervals
}

// What an attacker can see.
const (
	SeesBoth         = "interactions+lists" // the sum of the one-hot vectors of both
	SeesLists        = "lists"
	SeesInteractions = "interactions"
	SeesVectors      = "vectors" // of the users, as the run's model has them
)

// Majority names the attacker that sees nothing.
const Majority = "majority"

// Default returns the paper's attack: a network with a hidden layer of 100, five splits of
// 80 % and 20 %.
func Default() Config {
	return Config{
		Profile: "paper", On: OnConfig{Runs: []string{}},
		Attributes: []AttributeConfig{{Name: "gender"}, {Name: "age", Bands: []float64{35, 45}}, {Name: "occupation"}},
		Attack: AttackConfig{Sees: []string{SeesBoth}, K: []int{5, 10, 15, 20, 25, 30},
			Attackers: []string{"dnn"}, Repeats: 5, Share: 0.8},
		Eval: EvalConfig{Confidence: 0.95},
	}
}

// Check reports every setting that cannot be run.
func Check(v *config.Checker, c Config) {
	c.checkSource(v)
	v.Check(len(c.Attributes) > 0, "attributes", "must name at least one attribute")
	for i, a := range c.Attributes {
		key := fmt.Sprintf("attributes.%d", i)
		v.Check(!strings.ContainsAny(a.Name, "\t\r\n/\\:"), key+".name",
			"must not have a tab, a line break, a slash or a colon, got %q", a.Name)
		twice := slices.ContainsFunc(c.Attributes[:i], func(b AttributeConfig) bool { return b.Name == a.Name })
		v.Check(!twice, key+".name", "names %q twice", a.Name)
		v.Check(len(a.Values) != 1, key+".values", "has one class only, %q: there is nothing to predict",
			strings.Join(a.Values, ""))
		v.Check(len(a.Bands) == 0 || len(a.Values) == 0, key+".bands", "are not used with values")
		v.Check(len(a.Bands) != 1, key+".bands", "must name at least two borders")
		for j, b := range a.Bands {
			v.Check(!math.IsNaN(b) && !math.IsInf(b, 0) && (j == 0 || b > a.Bands[j-1]), key+".bands",
				"must be finite and ascend, got %v", a.Bands)
		}
		for j, x := range a.Values {
			v.Check(x != "", key+".values", "has an empty value")
			v.Check(!slices.Contains(a.Values[:j], x), key+".values", "names %q twice", x)
		}
	}
	v.Check(c.Files.Lists == "" || !slices.Contains(c.Attack.Sees, SeesVectors), "attack.sees",
		"%s: a file of lists has no user vectors", SeesVectors)
	v.Words("attack.attackers", c.Attack.Attackers, attackers()...)
}

// checkSource reports sources that cannot be attacked together. A configuration without a source is valid, since the
// command line may name it.
func (c Config) checkSource(v *config.Checker) {
	f := c.Files
	v.Check(len(c.On.Runs) == 0 || f.Lists == "", "files.lists",
		"is not read with on.runs: attack the runs and the file one after the other")
	v.Check(f.Recs == "" || f.Lists == "" && len(c.On.Runs) == 0 && c.Data.Name == "", "files.recs",
		"is not read with files.lists, on.runs or data.name: attack one after the other")
	v.Check(f.Recs != "" || f.Train == "", "files.train", "is read with files.recs only")
	v.Check(f.Interactions == "" || f.Lists != "", "files.interactions",
		"is read with files.lists only: a run has interactions of its own")
	v.Check(f.Interactions == "" || c.Data.Name == "", "files.interactions",
		"is not read with data.name, which has interactions too")
	v.Check(!c.On.Beside || len(c.On.Runs) > 0, "on.beside", "is read with on.runs only")
	v.Check(c.On.Release == "" || len(c.On.Runs) > 0, "on.release", "is read with on.runs only")
	// a name alone gets its recipe
	v.Check(c.Data.Name != "" || c.Data.Recipe == "" || len(c.On.Runs) > 0, "data.recipe", "needs data.name beside it")
	for i, dir := range c.On.Runs {
		v.Check(dir != "", "on.runs", "names no directory")
		v.Check(!c.On.Beside || !filepath.IsAbs(dir), "on.runs", "names %q, which is not beside this run", dir)
		twice := slices.ContainsFunc(c.On.Runs[:i],
			func(other string) bool { return filepath.Clean(other) == filepath.Clean(dir) })
		v.Check(!twice, "on.runs", "names %q twice", dir)
	}
}

// attackers returns the names of all attackers.
func attackers() (names []string) {
	for _, a := range attribute.Attackers() {
		names = append(names, a.Name())
	}
	return names
}

// lists reports whether any input has lists.
func (a AttackConfig) lists() bool {
	return slices.Contains(a.Sees, SeesBoth) || slices.Contains(a.Sees, SeesLists)
}

// Suit implements run.Suited: it sets the training rows of an attack on interactions to those of comparable models.
func (c *Config) Suit(doc *config.Document) (err error) {
	if len(c.On.Runs) > 0 || c.Data.Name == "" {
		return nil
	}
	need := registry.Need{Cut: registry.Pairs}
	if c.Files.Attributes == "" {
		for _, a := range c.Attributes {
			need.Features = append(need.Features, a.Name)
		}
	}
	c.Data.Recipe, err = registry.Suit(doc, c.Data.Name, c.Data.Recipe, need)
	return err
}
