package run

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"

	"privrec/internal/config"
)

// Spec describes one method as the program offers it. C is its configuration, which must not use the key "run".
type Spec[C any] struct {
	Verb    string // train, perturb, attack
	Name    string // dipsgnn
	Summary string // one line, lower case, no full stop
	Cite    string // the publication
	Flags   []Flag // of the command line, beside those of every task

	Default func() C
	Check   func(v *config.Checker, c C) // reports every setting that cannot be run
	// Suit replaces Suited.Suit for the configurations of this task. Nil: C's own method is used, where it has one.
	Suit func(c *C, doc *config.Document) error
	// Open prepares a configuration for everything that can be asked of it: a run, a rehearsal
	// for a forecast, a finished run that answers. env says which one; in the last two it
	// writes nothing, and its ledger is in memory. Work that has a method Close is closed when
	// it is no longer needed, also after an error of its other methods.
	Open func(ctx context.Context, env *Env, c C) (Work, error)
	// Answers says that finished runs can be asked: Open then returns an Answerer.
	Answers bool
	// Secure says that runs can have secure noise. Open obeys Env.Secure then, or refuses with
	// NoSecure the settings that have none.
	Secure bool
	// Noisy says that runs draw noise, under some settings at least: Env.Noise.
	Noisy bool
	// NotSecure says why runs have no secure noise, where Secure is false and the usual reason is not why.
	NotSecure string
}

// Task returns the method as a task, with the type of its configuration erased, so that it fits a list of tasks.
func (s Spec[C]) Task() Task {
	name := strings.TrimSpace(s.Verb + " " + s.Name) // "" of a task that has no name, which no file can say
	whole := func() wholeFile[C] {
		return wholeFile[C]{Of: name, Run: Settings{Seed: 1, SaveSeconds: 20}, Task: s.Default()}
	}
	return Task{Verb: s.Verb, Name: s.Name, Summary: s.Summary, Cite: s.Cite, Flags: s.Flags, Secure: s.Secure,
		Noisy: s.Noisy, Action: Action{
			defaults: func() ([]byte, error) { return config.Encode(whole()) },
			keys:     config.Keys[wholeFile[C]],
			fields:   config.Fields[wholeFile[C]],
			recorded: func() *config.Checker {
				v, c := config.NewRecorder(), whole()
				v.Declared(c)
				if s.Check != nil {
					s.Check(v, c.Task)
				}
				return v
			},
			shape: func() *config.Shape { return config.ShapeOf(whole()) },
			probe: sync.OnceValue(func() config.Probed {
				return config.Probe(whole(), func(v *config.Checker, c wholeFile[C]) {
					c.check(v, name, s.Check)
					if !s.Secure { // load refuses it
						v.Limited(config.OnlyLimit(false), true, "run.secure", "")
					}
				})
			}),
			answers: s.Answers,
			load: func(task Task, from source, sets []string) (*bound, error) {
				c, doc, err := read(from, sets, whole())
				if err != nil {
					return nil, err
				}
				var unsuited error
				if !from.effective {
					unsuited = s.suit(&c.Task, doc)
				}
				v := config.NewChecker(doc)
				c.check(v, name, s.Check)
				if err := v.Err(); err != nil {
					return nil, err
				}
				if unsuited != nil {
					return nil, unsuited
				}
				if c.Run.Secure && !s.Secure {
					return nil, NoSecure(task.String(),
						cmp.Or(s.NotSecure, "its releases are in floating point, or it makes none"))
				}
				if err := checkNoiseSeed(c.Run, secretly(c)); err != nil {
					return nil, err
				}
				told := from.noiseSeed != 0 && s.Noisy && !secretly(c) && c.Run.NoiseSeed == 0
				if told {
					c.Run.NoiseSeed = from.noiseSeed
				}
				hash, err := config.Hash(hashed[C]{task.String(), c.Run.Seed, c.Task, c.Run.HoldOut, c.Run.Secure,
					c.Run.Plant, c.Run.NoiseSeed, c.Run.Forgotten})
				if err != nil {
					return nil, err
				}
				parent := ""
				if p, ok := any(c.Task).(Spender); ok {
					parent = p.SpendsFrom()
				}
				return &bound{
					settings: c.Run, hash: hash, parent: parent, secure: secretly(c), told: told,
					yaml: func() ([]byte, error) { return saved(c, whole(), s.suit) },
					open: func(ctx context.Context, env *Env) (Work, error) { return s.Open(ctx, env, c.Task) },
				}, nil
			},
		}}
}

// suit sets the settings that the user did not give to values that suit the data.
func (s Spec[C]) suit(c *C, doc *config.Document) error {
	if s.Suit != nil {
		return s.Suit(c, doc)
	}
	if c, ok := any(c).(Suited); ok {
		return c.Suit(doc)
	}
	return nil
}

// check reports every setting that cannot be run.
func (c wholeFile[C]) check(v *config.Checker, task string, own func(v *config.Checker, c C)) {
	v.Declared(c)
	v.OneOf("task", c.Of, task)
	c.Run.check(v)
	c.Run.HoldOut.check(v)
	c.Run.Plant.check(v)
	if own != nil {
		own(v, c.Task)
	}
}

// read reads a configuration over the defaults. It reads the configuration of a finished run as it stands: an absent
// key means zero.
func read[C any](from source, sets []string, def wholeFile[C]) (c wholeFile[C], doc *config.Document, err error) {
	if from.effective {
		of := def.Of
		def = config.Bare(def)
		def.Of = of
	}
	if from.text != nil {
		c, doc, err = config.Parse(from.path, from.text, sets, def)
	} else {
		c, doc, err = config.Load(from.path, sets, def)
	}
	return c, doc, err
}

// saved returns YAML that reads back as c, also over the defaults. It writes a zero value where the default is another
// one.
func saved[C any](c, def wholeFile[C], suit func(c *C, doc *config.Document) error) ([]byte, error) {
	c.Of, def.Of = "", "" // the manifest of a run names its task
	text, err := config.Encode(c)
	if err != nil {
		return nil, err
	}
	over, doc, err := read(source{path: configName, text: text}, nil, def)
	if err == nil {
		_ = suit(&over.Task, doc) // c counts: it was suited, or stands as a run has it
	}
	if err != nil {
		return nil, fmt.Errorf("read the effective configuration again: %w", err)
	}
	return config.EncodeOver(c, over)
}

// secretly reports whether a configuration asks for secure noise.
func secretly[C any](c wholeFile[C]) bool {
	s, ok := any(c.Task).(Secret)
	return c.Run.Secure || ok && s.Secretly()
}

// Secret is a configuration that can ask for secure noise by a key of its own, besides run.secure.
type Secret interface {
	// Secretly reports whether the configuration asks for secure noise.
	Secretly() bool
}
