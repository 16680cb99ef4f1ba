package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/rng"
)

// drawConfig is the configuration of a task that releases one word of noise.
type drawConfig struct {
	Rows   int    `yaml:"rows"`             // of which the private input is made
	Stop   string `yaml:"stop"`             // where the run stops: early, released, kept
	Secure bool   `yaml:"secure,omitempty"` // a key of the task's own
}

// Secretly implements Secret.
func (c drawConfig) Secretly() bool { return c.Secure }

// rowsOf is the digest of some private rows.
func rowsOf(n int) dataset.RowDigest {
	var h dataset.RowHash
	h.Add("user", []int32{int32(n)})
	return h.Digest()
}

// drawTask is a task that records its rows, draws, releases, and shows what it drew. drawn gets the word.
func drawTask(drawn *uint64) Task {
	return Spec[drawConfig]{
		Verb: "train", Name: "draw", Summary: "s", Cite: "c", Answers: true, Secure: true, Noisy: true,
		Default: func() drawConfig { return drawConfig{Rows: 1} },
		Open: func(_ context.Context, env *Env, c drawConfig) (Work, error) {
			if err := env.Private(rowsOf(c.Rows)); err != nil {
				return nil, err
			}
			return drawWork{env, c, drawn}, nil
		},
	}.Task()
}

type drawWork struct {
	env   *Env
	c     drawConfig
	drawn *uint64
}

var errStop = errors.New("stopped")

func (w drawWork) draw() (*privacy.Ledger, error) {
	l, err := w.env.Ledger(privacy.Research, privacy.Declaration{Plan: &privacy.Plan{Budget: privacy.Budget{Epsilon: 1, Delta: 1e-6},
		Subject: privacy.Subject{Unit: privacy.User, Neighbouring: privacy.AddRemove}}})
	if err != nil {
		return nil, err
	}
	if w.c.Stop == "early" {
		return nil, errors.Join(w.env.SaveCheckpoint(Checkpoint{State: json.RawMessage("{}")}), errStop)
	}
	s, err := w.env.Noise("paper", "purpose")
	*w.drawn = s.Uint64()
	return l, err
}

func (w drawWork) Run(context.Context) error {
	l, err := w.draw()
	if err != nil {
		return err
	}
	g := privacy.Gaussian{Sigma: 1, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	if w.c.Stop != "quiet" {
		if err := errors.Join(l.Record("purpose", g, 1), l.Flush("period")); err != nil {
			return err
		}
	}
	if w.c.Stop == "released" || w.c.Stop == "kept" {
		if w.c.Stop == "kept" {
			err = w.env.SaveCheckpoint(Checkpoint{State: json.RawMessage("{}")})
		} else {
			err = w.env.WriteArtefact("something", func(io.Writer) error { return nil })
		}
		return errors.Join(err, errStop)
	}
	if err := errors.Join(w.env.WriteMetrics(map[string]int{"rows": 1}), w.env.WritePrivacy(map[string]int{"eps": 1})); err != nil {
		return err
	}
	return w.env.Print(&led{})
}

func (w drawWork) Answer(context.Context) (Answers, error) {
	_, err := w.draw()
	return w, err
}

func (w drawWork) Close() {}

// led is a result that can begin with a line.
type led struct{ line string }

func (l *led) Lead(line string)             { l.line = line }
func (l *led) Text(w io.Writer) error       { _, err := io.WriteString(w, l.line+"\nresult\n"); return err }
func (l *led) MarshalJSON() ([]byte, error) { return json.Marshal(map[string]string{"lead": l.line}) }

// drawIn runs the task in a directory and returns what was drawn.
func drawIn(t *testing.T, dir string, resume bool, sets ...string) (uint64, error) {
	t.Helper()
	var drawn uint64
	_, err := drawTask(&drawn).Start(t.Context(), Options{Sets: append([]string{"run.out=" + dir}, sets...), Resume: resume,
		Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: Silent{}})
	return drawn, err
}

func mustDraw(t *testing.T, dir string, sets ...string) uint64 {
	t.Helper()
	w, err := drawIn(t, dir, false, sets...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func ask(t *testing.T, dir string) (drawn uint64, err error) {
	t.Helper()
	a, err := Serve(t.Context(), []Task{drawTask(&drawn)}, dir, "")
	if err == nil {
		a.Close()
	}
	return drawn, err
}

// Every run has noise of its own; with a seed of the noise it is the same again, and other rows, another
// setting and another seed have other noise. run.seed has no part in it beyond the configuration's hash.
func TestNoiseIsOfTheRun(t *testing.T) {
	seen := map[uint64]string{}
	put := func(what string, w uint64) {
		t.Helper()
		if was, ok := seen[w]; ok {
			t.Errorf("%s has the noise of %s", what, was)
		}
		seen[w] = what
	}
	dir := func() string { return filepath.Join(t.TempDir(), "run") }
	put("a run", mustDraw(t, dir()))
	put("the same run again", mustDraw(t, dir()))
	one := mustDraw(t, dir(), "run.noise_seed=1")
	put("seed 1", one)
	if again := mustDraw(t, dir(), "run.noise_seed=1"); again != one {
		t.Error("noise of a seed is not the same again")
	}
	put("seed 2", mustDraw(t, dir(), "run.noise_seed=2"))
	put("other rows", mustDraw(t, dir(), "run.noise_seed=1", "rows=2"))
	put("other run.seed", mustDraw(t, dir(), "run.noise_seed=1", "run.seed=2"))
}

// Rows alone change the noise, where all else is as it was.
func TestNoiseOfOtherRows(t *testing.T) {
	first := func(rows int, paper, purpose, hash string) uint64 {
		e := Rehearse(1)
		e.noise.seed, e.ConfigHash = 7, hash
		if err := e.Private(rowsOf(rows)); err != nil {
			t.Fatal(err)
		}
		s, err := e.Noise(paper, purpose)
		if err != nil {
			t.Fatal(err)
		}
		return s.Uint64()
	}
	one := first(1, "paper", "purpose", "ab")
	if one != first(1, "paper", "purpose", "ab") {
		t.Error("noise of a seed is not the same again")
	}
	for _, other := range []uint64{first(2, "paper", "purpose", "ab"), first(1, "other", "purpose", "ab"), first(1, "paper", "other", "ab"),
		first(1, "paper", "purpose", "cd"), first(1, "paperp", "urpose", "ab")} {
		if other == one {
			t.Error("two streams are one")
		}
	}
}

func TestNoiseBeforeTheRows(t *testing.T) {
	e := Rehearse(1)
	if _, err := e.Noise("paper", "purpose"); !errors.Is(err, errNoRows) {
		t.Errorf("noise before the rows are recorded: %v", err)
	}
	if err := errors.Join(e.Private(rowsOf(1)), e.Private(rowsOf(2))); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Noise("paper", "purpose"); err != nil {
		t.Fatal(err)
	}
	if err := e.Private(rowsOf(2)); err != nil {
		t.Errorf("the same rows again: %v", err)
	}
	if err := e.Private(rowsOf(1)); err == nil {
		t.Error("other rows after noise was drawn are recorded")
	}
	secure := Rehearse(1)
	secure.noise.kind = NoiseOfSystem
	if _, err := secure.Noise("paper", "purpose"); !errors.Is(err, errSecretNoise) {
		t.Errorf("a secure run: %v", err)
	}
}

// A run that goes on, a copy of it and its answers have its noise.
func TestNoiseOfARunThatGoesOn(t *testing.T) {
	for _, stop := range []string{"released", "kept"} {
		dir := filepath.Join(t.TempDir(), "run")
		was, err := drawIn(t, dir, false, "stop="+stop)
		if !errors.Is(err, errStop) {
			t.Fatal(err)
		}
		info, err := os.Stat(filepath.Join(dir, NoiseFile))
		if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Fatalf("%s: %v, %v", NoiseFile, info, err)
		}
		copied := filepath.Join(t.TempDir(), "copy")
		if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
		for _, d := range []string{dir, copied} {
			if got, err := drawIn(t, d, true, "stop="+stop); !errors.Is(err, errStop) || got != was {
				t.Errorf("%s, on in %s: drew %x, want %x (%v)", stop, filepath.Base(d), got, was, err)
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "run")
	was := mustDraw(t, dir)
	if got, err := ask(t, dir); err != nil || got != was {
		t.Errorf("asked: drew %x, want %x (%v)", got, was, err)
	}
	if err := os.Remove(filepath.Join(dir, NoiseFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, dir); err == nil || !strings.Contains(err.Error(), "noise.key is missing") {
		t.Errorf("asked without the key: %v", err)
	}
}

// Where a run has released something and its key is lost, nothing else is drawn. Before a release a new
// one does no harm.
func TestNoiseKeyIsLost(t *testing.T) {
	lose := map[string]func(path string) error{
		"is missing": os.Remove,
		"is damaged": func(path string) error {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			b[0] ^= 1 // still a hexadecimal digit: 0 and 1, 2 and 3, a and `
			if b[0] == '`' {
				b[0] = 'b'
			}
			return os.WriteFile(path, b, 0o600)
		},
		"is damaged, or of another run": func(path string) error { return os.WriteFile(path, noiseText(rng.NewKey(), "other"), 0o600) },
	}
	for want, break_ := range lose {
		for _, stop := range []string{"released", "kept"} {
			dir := filepath.Join(t.TempDir(), "run")
			if _, err := drawIn(t, dir, false, "stop="+stop); !errors.Is(err, errStop) {
				t.Fatal(err)
			}
			if err := break_(filepath.Join(dir, NoiseFile)); err != nil {
				t.Fatal(err)
			}
			for _, resume := range []bool{true, false} {
				if !resume && stop == "kept" { // it has a result, and is refused for that
					continue
				}
				_, err := drawIn(t, dir, resume, "stop="+stop)
				if u := (*UsageError)(nil); !errors.As(err, &u) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "second release") {
					t.Errorf("%s, %s, resume %v: %v", want, stop, resume, err)
				}
			}
		}
	}
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := drawIn(t, dir, false, "stop=early"); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, NoiseFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a key before noise is asked for: %v", err)
	}
}

// A run that begins anew where one was stopped that kept nothing makes its releases again.
func TestNoiseOfARunThatBeginsAnew(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	was, err := drawIn(t, dir, false, "stop=released")
	if !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	if got, err := drawIn(t, dir, false, "stop=released"); !errors.Is(err, errStop) || got != was {
		t.Errorf("drew %x, want %x (%v)", got, was, err)
	}
}

// Account and result of repeatable noise begin by saying so; those of other noise, and of a run without a
// release, do not.
func TestRepeatableNoiseIsSaid(t *testing.T) {
	for _, c := range []struct {
		sets []string
		said bool
	}{{nil, false}, {[]string{"run.noise_seed=7"}, true}, {[]string{"run.noise_seed=7", "stop=quiet"}, false}} {
		dir := filepath.Join(t.TempDir(), "run")
		mustDraw(t, dir, c.sets...)
		for _, name := range []string{"privacy.json", "result.json", "result.txt"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := bytes.Cut(bytes.TrimPrefix(b, []byte("{\n")), []byte("\n"))
			if got := bytes.Contains(first, []byte("whoever has the data and run.noise_seed, which is 7")); got != c.said {
				t.Errorf("%v: %s begins with %q", c.sets, name, first)
			}
		}
	}
}

// A user who sets a seed on a task that states a finite epsilon is warned; a program that makes many runs
// tells of it itself.
func TestRepeatableNoiseIsWarnedOf(t *testing.T) {
	warned := func(o Options, sets ...string) bool {
		var b bytes.Buffer
		var drawn uint64
		o.Sets, o.Stdout, o.Log, o.Progress = append(sets, "run.out="+filepath.Join(t.TempDir(), "run")), io.Discard, slog.New(slog.NewTextHandler(&b, nil)), Silent{}
		if _, err := drawTask(&drawn).Start(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		return strings.Contains(b.String(), "as if that number were unknown")
	}
	if warned(Options{}) || warned(Options{NoiseSeed: 3}) || !warned(Options{}, "run.noise_seed=3") || !warned(Options{NoiseSeed: 4}, "run.noise_seed=3") {
		t.Error("a warning where none should be, or none where one should")
	}
}

func TestNoiseSeedAndSecureNoise(t *testing.T) {
	for _, key := range []string{"run.secure=true", "secure=true"} {
		dir := filepath.Join(t.TempDir(), "run")
		if _, err := drawIn(t, dir, false, "run.noise_seed=1", key); err == nil || !strings.Contains(err.Error(), "secure noise is drawn from the system") {
			t.Errorf("%s: %v", key, err)
		}
		task := drawTask(new(uint64))
		with, err := task.Plan(Options{Sets: []string{key, "run.out=" + dir}, NoiseSeed: 5})
		if err != nil {
			t.Fatal(err)
		}
		if without, err := task.Plan(Options{Sets: []string{key, "run.out=" + dir}}); err != nil || without.Hash != with.Hash {
			t.Errorf("%s: the seed of a program changes a secure run (%v)", key, err)
		}
	}
}

// The hash of a configuration without the key is what it was, and a seed of 0 is none.
func TestNoiseSeedAndHashes(t *testing.T) {
	hash := func(o Options, sets ...string) string {
		o.Sets = append(sets, "run.out=unused")
		p, err := drawTask(new(uint64)).Plan(o)
		if err != nil {
			t.Fatal(err)
		}
		return p.Hash
	}
	none := hash(Options{})
	if hash(Options{}, "run.noise_seed=0") != none || hash(Options{}, "run.noise_seed=1") == none ||
		hash(Options{NoiseSeed: 1}) != hash(Options{}, "run.noise_seed=1") || hash(Options{NoiseSeed: 2}, "run.noise_seed=1") != hash(Options{}, "run.noise_seed=1") {
		t.Error("hashes do not tell seeds of noise apart")
	}
}

// Runs that an older program began name their streams by run.seed, also where they go on.
func TestNoiseOfAnOldRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	mustDraw(t, dir)
	m, err := ReadManifest(dir)
	if err != nil || m.Noise != NoiseOfKey {
		t.Fatalf("noise %q: %v", m.Noise, err)
	}
	m.Noise = ""
	if err := errors.Join(writeJSON(filepath.Join(dir, "manifest.json"), m), os.Remove(filepath.Join(dir, NoiseFile))); err != nil {
		t.Fatal(err)
	}
	s := rng.Seed(1).Stream("paper." + m.ConfigHash + ".purpose")
	want := s.Uint64()
	if got, err := ask(t, dir); err != nil || got != want {
		t.Errorf("asked: drew %x, want %x (%v)", got, want, err)
	}
	on := filepath.Join(t.TempDir(), "run")
	if _, err := drawIn(t, on, false, "stop=kept"); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	if m, err = ReadManifest(on); err != nil {
		t.Fatal(err)
	}
	m.Noise = ""
	if err := errors.Join(writeJSON(filepath.Join(on, "manifest.json"), m), os.Remove(filepath.Join(on, NoiseFile))); err != nil {
		t.Fatal(err)
	}
	s = rng.Seed(1).Stream("paper." + m.ConfigHash + ".purpose")
	want = s.Uint64()
	if got, err := drawIn(t, on, true, "stop=kept"); !errors.Is(err, errStop) || got != want {
		t.Errorf("on: drew %x, want %x (%v)", got, want, err)
	}
	if m, err = ReadManifest(on); err != nil || m.Noise != "" {
		t.Errorf("a run that goes on has noise %q (%v)", m.Noise, err)
	}
}
