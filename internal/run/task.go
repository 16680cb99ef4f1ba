package run

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"privrec/internal/config"
	"privrec/internal/config/explain"
	"privrec/internal/config/schema"
	"privrec/internal/dataset"
	"privrec/internal/jsonschema"
	"privrec/internal/privacy"
	"privrec/internal/rng"
)

// Task is one command of the program that runs under a configuration, such as "train dipsgnn". It is data: the command
// line is built from a list of tasks.
type Task struct {
	Verb    string // train, perturb, attack
	Name    string // dipsgnn
	Summary string // one line, lower case, no full stop
	Cite    string // the publication
	Flags   []Flag // of the command line, besides those of every task
	Secure  bool   // runs can have secure noise
	Noisy   bool   // runs draw noise, under some settings at least
	Action  Action // made by Spec.Task
}

// Flag is a command-line flag that sets one key of the configuration.
type Flag struct {
	Name  string // without dashes
	Key   string // key that it sets, such as "data.name"; a string, a list of strings, a number, or a bool
	Usage string
	List  bool // the key is a list: the flag may be repeated, once an entry
	// Switch says that the flag takes no word and sets the key to true.
	Switch bool
	// Number says that the key is a number.
	Number bool
	// With names another flag of the task. Where that flag is given too, this one sets WithKey in place of Key.
	With, WithKey string
}

// String returns the verb and the name, such as "train dipsgnn".
func (t Task) String() string { return t.Verb + " " + t.Name }

// wholeFile is a configuration file: the run's part and the task's keys.
type wholeFile[C any] struct {
	// Of names the task that the configuration is for, as in "train lightgcn". A file may leave it out if the command
	// names the task; privrec run FILE needs it.
	Of   string   `yaml:"task,omitempty"`
	Run  Settings `yaml:"run"`
	Task C        `yaml:",inline"`
}

// hashed holds what the results depend on.
type hashed[C any] struct {
	Verb   string `yaml:"task"`
	Seed   uint64 `yaml:"run_seed"`
	Config C      `yaml:"config"`
	// HoldOut is absent where nothing is held out: runs are found by the hash. So is Plant.
	HoldOut HoldOut `yaml:"hold_out,omitempty"`
	Secure  bool    `yaml:"secure,omitempty"` // absent where it is false, as above
	Plant   Plant   `yaml:"plant,omitempty"`
	// NoiseSeed is absent where it is 0, as above.
	NoiseSeed uint64 `yaml:"noise_seed,omitempty"`
	// Forgotten is absent where nobody is, as above.
	Forgotten []string `yaml:"forgotten,omitempty"`
}

// Action is a task's work with the type of its configuration erased. Spec.Task makes it.
type Action struct {
	defaults func() ([]byte, error)
	keys     func() []config.Key
	fields   func() []config.Field
	recorded func() *config.Checker // knows what the checks of the defaults allow
	load     func(task Task, from source, sets []string) (*bound, error)
	shape    func() *config.Shape
	probe    func() config.Probed
	answers  bool // finished runs can be asked
}

// source says where a configuration is read from: a file, or text with a name.
type source struct {
	path string
	text []byte // nil: read the file

	noiseSeed uint64 // that a program gives noise that has none, see Options.NoiseSeed; 0: none
	effective bool   // of a run that was made: every setting stands as it is
}

// bound is an Action with its configuration.
type bound struct {
	settings Settings
	hash     string
	key      *privacy.Key             // of the ledger, read when the run starts
	yaml     func() ([]byte, error)   // makes the effective configuration
	parent   string                   // file of the budget that the run spends from; "": none
	secure   bool                     // noise is from cryptographic bits
	told     bool                     // a program set the seed of the noise
	found    func(ids []string) error // see Options.Found
	open     func(ctx context.Context, env *Env) (Work, error)
}

// Defaults returns the task's complete default configuration as YAML.
func (t Task) Defaults() ([]byte, error) { return t.Action.defaults() }

// Explained returns the default configuration as YAML, with the meaning and the allowed values of each key.
func (t Task) Explained() ([]byte, error) {
	text, err := t.Defaults()
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("# privrec %s: %s.\n# Source: %s.\n\n", t, t.Summary, strings.TrimSuffix(t.Cite, "."))
	return append([]byte(head), explain.YAML(text, t.Fields(), t.Limits(), explain.BuiltIn())...), nil
}

// Fields lists the keys of the task's configuration and their groups.
func (t Task) Fields() []config.Field { return t.Action.fields() }

// Schema returns the JSON Schema of the task's configuration.
func (t Task) Schema() *jsonschema.Schema {
	return schema.Of(schema.Source{
		ID: t.SchemaFile(), Title: "privrec " + t.String(),
		About: fmt.Sprintf("Configuration of privrec %s: %s. Source: %s.", t, t.Summary,
			strings.TrimSuffix(t.Cite, ".")),
		Shape:    t.Action.shape(),
		Probed:   t.Action.probe(),
		Comments: explain.BuiltIn(),
	})
}

// Rules lists the checks of the configuration that its JSON Schema cannot express.
func (t Task) Rules() []config.Rule { return t.Action.probe().Rules }

// SchemaFile returns the name of the JSON Schema file that privrec list schema --out writes for the task.
func (t Task) SchemaFile() string { return t.Verb + "-" + t.Name + ".json" }

// Limits describes in words the allowed values of the keys. It knows the checks of the default configuration.
func (t Task) Limits() map[string]string { return t.Action.recorded().Limits() }

// Keys lists the keys of the task's configuration.
func (t Task) Keys() []config.Key { return t.Action.keys() }

// Choices returns the allowed words of a key, nil if any word may be right. It knows the checks of the default
// configuration.
func (t Task) Choices(k config.Key) []string { return t.Action.recorded().Choices(k.Path) }

// Check loads and validates a configuration without running it.
func (t Task) Check(path string, sets []string) error {
	_, err := t.Action.load(t, source{path: path}, sets)
	return err
}

// Options says how to start a task: its configuration, output and purpose.
type Options struct {
	Config   string   // file; empty: defaults
	Text     []byte   // the file's content, for one that is not on disk; Config is then its name
	Sets     []string // overrides "a.b=c"
	Resume   bool
	Notes    []string  // for the manifest
	Stdout   io.Writer // results
	JSON     bool      // results as JSON
	Events   bool      // write an event file for TensorBoard too
	Log      *slog.Logger
	Progress Progress
	// Withhold makes the run a trial of a search for settings: test rows cannot be loaded, and validation rows are
	// measured in their place. Its hash differs from that of a run, so no run continues from it or takes its result.
	// Nil: an ordinary run.
	Withhold *dataset.Withholding
	// NoiseSeed stands in for run.noise_seed where the configuration has none and the task draws repeatable noise.
	// Programs that make many runs set it, so that their tables are the same every time. 0: none.
	NoiseSeed uint64
	// Found is called once the data are loaded, with the ids of the users whom run.forgotten lists and the data have.
	// An error of it ends the run before anything is done with the data.
	Found func(ids []string) error
	// From names a finished run whose last checkpoint this run begins with, where it has none of its own. The caller
	// vouches that both train on equal rows (Rows) under equal settings, and that training releases nothing.
	From string
	// Corrects lets a task correct what the run in From kept, within an error that it states, in place of computing
	// anew.
	Corrects bool
	// OnNoise is called with every noise stream that the run asks for. Tests compare them.
	OnNoise func(paper, purpose string, s rng.Stream)
}

// bind loads and validates the configuration.
func (t Task) bind(o Options) (*bound, error) {
	b, err := t.Action.load(t, source{path: o.Config, text: o.Text, noiseSeed: o.NoiseSeed}, o.Sets)
	if err != nil {
		return nil, err
	}
	if b.found = o.Found; o.Withhold == nil {
		return b, nil
	}
	trial := struct {
		Of    string  `yaml:"trial_of"`
		Seed  uint64  `yaml:"rows_seed"`
		Share float64 `yaml:"share"`
	}{b.hash, uint64(o.Withhold.Seed), o.Withhold.Share}
	b.hash, err = config.Hash(trial)
	return b, err
}
