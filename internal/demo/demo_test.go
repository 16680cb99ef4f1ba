package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"privrec/internal/run"
)

// quick makes the demo one of a second.
var quick = []string{"data.name=standin-tiny", "train.epochs=1", "model.dim=8", "model.user_dim=4"}

func options(out string) (Options, *bytes.Buffer) {
	var stdout bytes.Buffer
	return Options{Out: out, Seed: 1, Stdout: &stdout, Progress: run.Silent{}, sets: quick}, &stdout
}

func page(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// What the page and the terminal must show: both models, both floors, what is
// claimed beside what is accounted, why the account has no bound, and that the
// data are generated.
var shown = []string{
	"claimed epsilon", "accounted epsilon", "infinity", "theorem 4.2", "random (floor)", "popularity (floor)",
	"test noise on", "test noise off", "the same network without any noise", "labels", "readout", "backward",
	"evidence level D", "the data are generated", "Recall@20", "MRR@20",
}

func TestDemo(t *testing.T) {
	out := filepath.Join(t.TempDir(), "a", "demo")
	o, stdout := options(out)
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	html := page(t, out)
	for _, want := range append(shown, "Training loss") {
		if !strings.Contains(html, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, want := range shown {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the terminal does not say %q", want)
		}
	}
	for _, outside := range []string{`src="http`, `href="http`, "@import", "<script src"} {
		if strings.Contains(html, outside) {
			t.Errorf("the page refers to something outside: %s", outside)
		}
	}
	for _, name := range []string{"private/privacy.json", "private/ledger.jsonl", "non-private/metrics.json"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}

	// Again over the same directory: the same seed gives the same page, another
	// seed another one.
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if page(t, out) != html {
		t.Error("the same demo gives another page")
	}
	o.Seed, o.JSON = 2, true
	stdout.Reset()
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if page(t, out) == html {
		t.Error("another seed gives the same page")
	}
	if !json.Valid(stdout.Bytes()) {
		t.Errorf("not JSON: %.100s", stdout)
	}
}

// stopper ends a context at a place of the demo.
type stopper struct {
	run.Silent
	at     string
	cancel context.CancelFunc
}

func (s stopper) Phase(text string)        { s.pass(text) }
func (s stopper) Begin(what string, _ int) { s.pass(what) }
func (s stopper) pass(place string) {
	if place == s.at {
		s.cancel()
	}
}

// A demo that is interrupted says so and how to go on, shows nothing, keeps the page of
// the demo before it, leaves no lock and nothing running, and starts again from the
// beginning.
func TestInterrupted(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	out := t.TempDir()
	var before string
	for _, at := range []string{"train the private model", "epoch 1/1", "evaluate", "train the non-private model"} {
		o, stdout := options(out)
		ctx, cancel := context.WithCancel(t.Context())
		o.Progress = stopper{at: at, cancel: cancel}
		err := Run(ctx, o)
		cancel()
		if !run.WasInterrupted(err) {
			t.Errorf("interrupted at %q: %v", at, err)
		}
		var h interface{ Hint() string }
		if !errors.As(err, &h) || !strings.Contains(h.Hint(), "starts it again, from the beginning") {
			t.Errorf("interrupted at %q: %v does not say how to go on", at, err)
		} else if kept := strings.Contains(h.Hint(), "still the page of the earlier demo"); kept != (before != "") {
			t.Errorf("interrupted at %q: hint %q, page before: %v", at, h.Hint(), before != "")
		}
		if stdout.Len() > 0 {
			t.Errorf("interrupted at %q: it shows %s", at, stdout)
		}
		for _, name := range []string{"lock", "private/lock", "non-private/lock"} {
			if _, err := os.Stat(filepath.Join(out, name)); err == nil {
				t.Errorf("interrupted at %q: %s is there", at, name)
			}
		}
		if b, _ := os.ReadFile(filepath.Join(out, "index.html")); string(b) != before {
			t.Errorf("interrupted at %q: the page is not that of the demo before", at)
		}
		if at == "epoch 1/1" { // the others have a demo before them
			o, _ := options(out)
			if err := Run(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			before = page(t, out)
		}
	}
	o, _ := options(out)
	if err := Run(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	if page(t, out) != before {
		t.Error("after interruptions the same demo gives another page")
	}
}

// A demo that fails leaves the page of the one before.
func TestFailureKeepsThePage(t *testing.T) {
	out := t.TempDir()
	first, _ := options(out)
	if err := Run(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	before := page(t, out)
	second, _ := options(out)
	second.Seed, second.sets = 2, append(quick[:len(quick):len(quick)], "train.rate=-1")
	if err := Run(t.Context(), second); err == nil {
		t.Error("a rate of -1 is accepted")
	}
	if page(t, out) != before {
		t.Error("a demo that failed changed the page of the one before")
	}
}

// What the demo did not make it does not delete, nor a run that is being written.
func TestDeletesOnlyItsOwn(t *testing.T) {
	diary := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name, "diary.txt"), []byte("mine"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, dir string)
		keeps   string
	}{
		{"a user's folder", diary("private"), "private/diary.txt"},
		{"another folder of a user", diary("non-private"), "non-private/diary.txt"},
		{"a file", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "private"), []byte("mine"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "private"},
		{"a run of another task", func(t *testing.T, dir string) {
			diary("private")(t, dir)
			if err := os.WriteFile(filepath.Join(dir, "private/manifest.json"), []byte(`{"task":"train other"}`), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "private/diary.txt"},
		{"a run of the same task that is not the demo's", func(t *testing.T, dir string) {
			diary("private")(t, dir)
			if err := os.WriteFile(filepath.Join(dir, "private/manifest.json"), []byte(`{"task":"train dipsgnn","config_sha256":"ab","notes":["mine"]}`), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "private/diary.txt"},
		{"another process's lock", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "lock"), []byte("mine"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "lock"},
		{"a user's page over the demo's runs", func(t *testing.T, dir string) {
			o, _ := options(dir)
			if err := Run(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("mine"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "index.html"},
		{"a user's page", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, "index.html"), []byte("mine"), 0o644); err != nil {
				t.Fatal(err)
			}
		}, "index.html"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.prepare(t, dir)
			o, _ := options(dir)
			err := Run(t.Context(), o)
			var usage *run.UsageError
			if !errors.As(err, &usage) || usage.Hint() == "" || !strings.Contains(err.Error(), filepath.Join(dir, strings.Split(c.keeps, "/")[0])) {
				t.Errorf("%v", err)
			}
			if b, err := os.ReadFile(filepath.Join(dir, c.keeps)); string(b) != "mine" {
				t.Errorf("it is gone: %v", err)
			}
		})
	}
}

// A second demo into the directory of one that runs is refused at any moment,
// between its runs too, and the first goes on.
func TestSecondWriter(t *testing.T) {
	dir := t.TempDir()
	for _, at := range []string{"train the private model", "evaluate", "train the non-private model"} {
		o, _ := options(dir)
		second, _ := options(dir)
		refused := errors.New("not tried")
		o.Progress = onPhase{do: map[string]func(){at: func() { refused = Run(t.Context(), second) }}}
		if err := Run(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		var usage *run.UsageError
		if !errors.As(refused, &usage) || !strings.Contains(refused.Error(), "is being written by process") {
			t.Errorf("the second demo at %q: %v", at, refused)
		}
		page(t, dir)
	}
}

// onPhase does something once when a phase begins.
type onPhase struct {
	run.Silent
	do map[string]func()
}

func (p onPhase) Phase(text string) {
	if f := p.do[text]; f != nil {
		delete(p.do, text)
		f()
	}
}

// Output that cannot be shown is an error.
func TestClosedOutput(t *testing.T) {
	o, _ := options(t.TempDir())
	r, w := io.Pipe()
	r.Close()
	o.Stdout = w
	if err := Run(t.Context(), o); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("output without a reader: %v", err)
	}
}
