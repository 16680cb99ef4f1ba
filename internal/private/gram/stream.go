package gram

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"privrec/internal/config"
	"privrec/internal/privacy"
	"privrec/internal/privacy/correlated"
	"privrec/internal/private/release"
	"privrec/internal/private/stream"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// StreamConfig takes counts and matrix from a stream in place of releases of the run's own: from one that is kept in a
// folder, or a simulated one of the training rows.
type StreamConfig struct {
	From string `yaml:"from,omitempty"` // the folder of a stream, or the file of one of its releases

	Days int `yaml:"days,omitempty" limit:"0..10000"` // simulated: users come on days 1 to days, and each is released
	Day  int `yaml:"day,omitempty" limit:"0..10000"`  // the model is that of this day
	// how noise is correlated: blt, banded, tree or composed; single: this day's release is the only one
	Strategy string `yaml:"strategy,omitempty" limit:"|blt|banded|tree|composed|single"`
	Number   int    `yaml:"number,omitempty" limit:"0..10000"` // of bands, or of buffers at most
	// Known is the share of users who come on day 1 and whose counts choose the items of the matrix.
	Known    float64 `yaml:"known,omitempty" limit:"[0,1]"`
	Start    float64 `yaml:"start,omitempty" limit:"[0,1)"`        // share of mu² that these counts take
	Expected int     `yaml:"expected,omitempty" limit:"0..100000"` // items that use up a user's share, at least
	Copies   int     `yaml:"copies,omitempty" limit:"0..1000"`     // how often each user is counted; 0: once
}

// FromKey is the key of StreamConfig.From in configurations that have StreamConfig under "stream".
const FromKey = "stream.from"

// check reports every setting that cannot be run.
func (c StreamConfig) check(v *config.Checker) {
	if c == (StreamConfig{}) {
		return
	}
	if c.From != "" {
		from := c
		from.From = ""
		v.Check(from == (StreamConfig{}), FromKey, "is a stream that is kept: leave out the other keys of stream")
		return
	}
	v.Between("stream.days", c.Days, 1, correlated.MaxHorizon)
	v.Between("stream.day", c.Day, 1, max(1, c.Days))
	v.Check(c.Strategy != "", "stream.strategy", "is missing")
	numbered := c.Strategy == correlated.NameBuffered || c.Strategy == correlated.NameBanded
	v.Check(numbered == (c.Number > 0), "stream.number", "is for blt and banded, and they need it, got %d", c.Number)
	v.Check(c.Known > 0 && c.Start > 0, "stream.known", "and stream.start must be above 0: they choose the matrix")
	v.Between("stream.expected", c.Expected, 1, 100_000)
}

// streamed is a stream that a run takes its releases from.
type streamed struct {
	settings   stream.Settings
	statement  string // of its release, as JSON
	entries    []privacy.Entry
	kept       *stream.Released // of a stream in a folder; nil where the run's own file has it
	simulation *stream.Simulation
}

// follow makes the work take its releases from a stream, if the configuration names one.
func (w *work) follow(c StreamConfig, p release.Privacy) error {
	if c == (StreamConfig{}) {
		return nil
	}
	s := &streamed{}
	if c.From != "" {
		if v := w.env.View(); v.Planted != nil || v.HoldOut != nil {
			return run.Usagef("audit a simulated stream: stream.days", "%s: rows that are planted or left out here "+
				"have no part in what a stream released, so an audit or an attack by training again would find nothing",
				FromKey)
		}
		if err := s.keep(w.env, c.From); err != nil {
			return err
		}
	} else if err := s.simulate(c, p, w.matrix, uint64(w.env.Seed)); err != nil {
		return err
	}
	terms, err := s.settings.Terms()
	if err != nil {
		return err
	}
	s.entries, w.stream, w.privacy = terms.Entries, s, s.settings.Privacy()
	return nil
}

// keep reads a stream that is kept in a folder. A run that has its release already reads it in its own.
func (s *streamed) keep(env *run.Env, from string) error {
	if _, finished := env.Finished(); finished || env.Resume {
		_, meta, err := run.ReadSafetensors(filepath.Join(env.Dir, ReleasedFile))
		if err == nil && meta["stream"] != "" {
			var st stream.Statement
			s.statement = meta["stream"]
			err := json.Unmarshal([]byte(s.statement), &st)
			s.settings = st.Settings
			return err
		}
	}
	r, err := stream.Read(from)
	if err != nil {
		return fmt.Errorf("%s: %w", FromKey, err)
	}
	text, err := json.Marshal(r.Statement)
	s.settings, s.kept, s.statement = r.Settings, r, string(text)
	return err
}

// simulate states a stream of the training rows.
func (s *streamed) simulate(c StreamConfig, p release.Privacy, m *MatrixConfig, seed uint64) error {
	if p.Secure {
		return run.Usagef("take a secure stream that is kept, with --from", "a simulated stream has no secure noise")
	}
	name, steps := c.Strategy, c.Days
	if name == "single" {
		name, steps = correlated.NameComposed, 1
	}
	design, err := stream.Design(name, steps, c.Number, false)
	if err != nil {
		return fmt.Errorf("stream.strategy: %w", err)
	}
	s.settings = stream.Settings{Epsilon: p.Epsilon, Delta: p.Delta, Horizon: steps, Start: c.Start, Counts: p.Counts,
		Items: p.Items, CountItems: p.PerCount(), Expected: c.Expected, Design: design, Seed: seed}
	s.simulation = &stream.Simulation{Settings: s.settings, Days: c.Days, Day: c.Day, Known: c.Known,
		Copies: max(1, c.Copies), Most: m.Items, Power: m.ItemWeight / 2}
	text, err := json.Marshal(stream.Statement{Step: min(c.Day, steps), Settings: s.settings})
	s.statement = string(text)
	return errors.Join(err, s.settings.Check())
}

// public returns what the guarantee of a stream takes as public, beside what that of a run does.
func (s *streamed) public() []privacy.Assumption {
	if s.simulation == nil || s.simulation.Copies == 1 {
		return nil
	}
	return []privacy.Assumption{{What: fmt.Sprintf("users are counted %d times", s.simulation.Copies),
		Why: "a stand-in for a service with so many times the users: the epsilon is for one of the copies, and for a " +
			"user of these data it is that of a group of all copies"}}
}

// record records all releases of the stream. They are those of the stream, and not made again by each run on it.
func (s *streamed) record(l *privacy.Ledger) error {
	for _, e := range s.entries {
		if err := l.Record(e.Purpose, e.Event, e.Count); err != nil {
			return err
		}
	}
	return l.Flush(period)
}

// streamedRelease returns what the stream released, for the catalogue of the rows.
func (w *work) streamedRelease() (*released, error) {
	s := w.stream
	if err := s.record(w.releaser.Ledger); err != nil {
		return nil, err
	}
	from, number := s.kept, map[string]int32{}
	if s.simulation != nil {
		var err error
		if from, err = s.simulation.Release(w.rows.UserIDs, w.rows.Train, w.rows.Items,
			func(purpose string) (rng.Stream, error) { return w.env.Noise("private.stream", purpose) }); err != nil {
			return nil, err
		}
	} else {
		for i, id := range w.rows.ItemIDs {
			number[id] = int32(i)
		}
	}
	// of each item of the stream its number in the rows, or -1
	at := make([]int32, len(from.IDs))
	for i, id := range from.IDs {
		at[i] = int32(i)
		if s.simulation == nil {
			var ok bool
			if at[i], ok = number[id]; !ok {
				at[i] = -1
			}
		}
	}
	r := &released{counts: make([]float64, w.rows.Items), statement: s.statement}
	for i, n := range at {
		if n >= 0 {
			r.counts[n] = from.Counts[i]
		}
	}
	if err := w.note(at, from); err != nil || w.matrix == nil {
		return r, err
	}
	terms, err := s.settings.Terms()
	if err != nil {
		return nil, err
	}
	if r.deviation, err = terms.Matrix.At(from.Step); err != nil {
		return nil, err
	}
	type row struct {
		item int32
		from int
	}
	var rows []row
	for k, i := range from.Rows {
		if at[i] >= 0 {
			rows = append(rows, row{at[i], k})
		}
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("%s: %d items of the stream's matrix are in the data, want at least 2", FromKey,
			len(rows))
	}
	slices.SortFunc(rows, func(a, b row) int { return int(a.item) - int(b.item) })
	for k, a := range rows {
		r.items, r.weights = append(r.items, a.item), append(r.weights, from.Weights[a.from])
		for _, b := range rows[k:] {
			i, j := min(a.from, b.from), max(a.from, b.from)
			r.triangle = append(r.triangle, from.Matrix[start(len(from.Rows), i)+j-i])
		}
	}
	return r, nil
}

// note says of which stream the run is, and what of the configuration it does not read.
func (w *work) note(at []int32, from *stream.Released) error {
	if w.stream.simulation != nil {
		return nil
	}
	missing := 0
	for _, n := range at {
		if n < 0 {
			missing++
		}
	}
	text := fmt.Sprintf("counts and matrix are those of step %d of the stream %s, whose guarantee stands here; of the "+
		"keys of privacy none is read, and of those of model not items, floor, item_weight and user_weight", from.Step,
		from.ID)
	if missing > 0 {
		text += fmt.Sprintf("; %d of the stream's %d items are not in the data", missing, len(at))
	}
	return w.env.Note(text)
}

// plan returns the form of the matrix of a stream.
func (r *released) plan() *Plan {
	return &Plan{Items: r.items, Weights: r.weights,
		Sum: release.Sum{Purpose: Purpose, Sensitivity: 1, Multiplier: r.deviation}}
}
