package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/privacy"
	"privrec/internal/train"
)

// onFile is what the ledger file of a run says while the run goes on.
func onFile(t *testing.T, dir string, k *privacy.Key) []privacy.Entry {
	t.Helper()
	l, err := privacy.Reading{Key: k, Unfinished: true}.File(filepath.Join(dir, LedgerName))
	if err != nil {
		t.Fatal(err)
	}
	list := l.Entries()
	for i := range list {
		if list[i].Period == "now" {
			list[i].Period = ""
		}
	}
	return list
}

// Everything that a run shows comes after its releases are on file, in the middle of
// a period too: checkpoint, artefacts, log, the line of an epoch.
func TestWhatIsShownIsOnFileBefore(t *testing.T) {
	release := toySum
	var hooks train.Hooks
	for name, show := range map[string]func(e *Env) error{
		"checkpoint": func(e *Env) error { return e.SaveCheckpoint(Checkpoint{State: []byte("{}")}) },
		"metrics":    func(e *Env) error { return e.WriteMetrics(map[string]int{"a": 1}) },
		"privacy":    func(e *Env) error { return e.WritePrivacy(map[string]int{"a": 1}) },
		"scores":     func(e *Env) error { return e.WriteScores("s", Column{"user", []string{"a"}}) },
		"result":     func(e *Env) error { return e.Print(text("shown")) },
		"log":        func(e *Env) error { e.AppendLog("epoch", "loss", 1); return nil },
		"epoch":      func(e *Env) error { hooks.OnEpoch(train.EpochInfo{}); return nil },
		"stage":      func(e *Env) error { e.Stage("train")(); return nil },
	} {
		task := Task{Verb: "train", Name: "show", Action: Bind(func() toy { return toy{} }, nil, func(ctx context.Context, env *Env, c toy) error {
			hooks = env.TrainHooks()
			l, err := env.Ledger(privacy.Research, privacy.Declaration{WithoutNoise: []privacy.Unprotected{toySum}})
			if err != nil {
				return err
			}
			for i := range 3 {
				if err := l.Record("toy", release, 1); err != nil {
					return err
				}
				if i == 1 {
					if err := l.Flush("epoch 1"); err != nil {
						return err
					}
				}
				if err := show(env); err != nil {
					return err
				}
				if d := cmp.Diff(l.Entries(), onFile(t, env.Dir, nil)); d != "" {
					t.Errorf("%s is shown after %d releases, and the file differs:\n%s", name, i+1, d)
				}
			}
			return nil
		})}
		if _, err := task.Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + filepath.Join(t.TempDir(), "r")}})); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A run that is done closes its ledger and repeats the closing line in its manifest;
// one that was interrupted or failed does neither.
func TestManifestRepeatsTheEndOfTheLedger(t *testing.T) {
	for _, c := range []struct {
		at   int // step that does not come to pass; 99: none
		stop error
		want string
	}{{99, nil, StatusDone}, {5, errBoom, StatusFailed}, {5, ErrInterrupted, StatusInterrupted}} {
		dir := filepath.Join(t.TempDir(), "r")
		task := toyTask(func(step int) error {
			if step == c.at {
				return c.stop
			}
			return nil
		})
		task.Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + dir}}))
		m, err := ReadManifest(dir)
		if err != nil || m.Status != c.want {
			t.Fatalf("%+v, %v", m, err)
		}
		l, err := privacy.Reading{}.File(filepath.Join(dir, LedgerName))
		if c.want != StatusDone {
			if !errors.Is(err, privacy.ErrCut) || m.Ledger != nil || len(onFile(t, dir, nil)) != 6 {
				t.Errorf("%s: %v, manifest %v", c.want, err, m.Ledger)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if s, closed := l.Seal(); !closed || m.Ledger == nil || *m.Ledger != s || s.Entries != 21 {
			t.Errorf("closed %v by %+v, the manifest has %+v", closed, s, m.Ledger)
		}
	}
}

// gone is the number of a process that has ended.
func gone(t *testing.T) int {
	t.Helper()
	c := exec.Command("true")
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	return c.Process.Pid
}

// A process that is killed cannot say so: the reader of its run finds that no process
// holds the lock, and a run that continues writes that down. The bytes of the results
// are those of one uninterrupted run.
func TestKilledAttempts(t *testing.T) {
	base := t.TempDir()
	whole := filepath.Join(base, "whole")
	if _, err := toyTask(nil).Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + whole}})); err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	for name, lock := range map[string]string{
		"no lock": "", "dead": fmt.Sprintf(`{"pid":%d,"host":%q}`, gone(t), host), "elsewhere": `{"pid":1,"host":"another"}`,
	} {
		dir, copied := filepath.Join(base, name), filepath.Join(base, name+" killed")
		task := toyTask(func(step int) error {
			if step != 7 {
				return nil
			}
			if m, err := ReadManifest(dir); err != nil || m.Status != StatusRunning || m.Attempts[0].Status != StatusRunning {
				t.Errorf("%s: a run at work is %+v, %v", name, m, err)
			}
			return os.CopyFS(copied, os.DirFS(dir)) // what a SIGKILL leaves
		})
		if _, err := task.Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + dir}})); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(copied, lockName)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if lock != "" {
			if err := os.WriteFile(path, []byte(lock), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want := StatusKilled
		if name == "elsewhere" { // it may run there
			want = StatusRunning
		}
		if m, err := ReadManifest(copied); err != nil || m.Status != want || m.Attempts[0].Status != want {
			t.Errorf("%s: %s, %+v, %v", name, m.Status, m.Attempts, err)
		}
		if b, err := os.ReadFile(filepath.Join(copied, manifestName)); err != nil || !strings.Contains(string(b), `"status": "running"`) {
			t.Errorf("%s: reading the manifest changed it: %s, %v", name, b, err)
		}
		sets := []string{"run.out=" + copied}
		if _, err := toyTask(nil).Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: sets})); err == nil || !strings.Contains(err.Error(), "already holds a run (train toy, killed)") {
			t.Errorf("%s: begun again: %v", name, err)
		}
		if _, err := toyTask(nil).Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: sets, Resume: true})); err != nil {
			t.Fatal(err)
		}
		m, err := ReadManifest(copied)
		if err != nil || m.Status != StatusDone || len(m.Attempts) != 2 || m.Attempts[0].Status != StatusKilled || m.Attempts[1].Status != StatusDone {
			t.Errorf("%s: resumed to %s, %+v, %v", name, m.Status, m.Attempts, err)
		}
		same(t, name, readAll(t, whole), readAll(t, copied))
	}
}

// A run under a key goes on under it alone, results and configuration hash do not
// depend on it, and a key that cannot be used is refused before anything is written.
func TestLedgerKeyOfARun(t *testing.T) {
	base := t.TempDir()
	file := func(name, secret string) string {
		path := filepath.Join(base, name)
		if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	mine, other, short := file("mine", strings.Repeat("m", 20)), file("other", strings.Repeat("o", 20)), file("short", "s")
	start := func(dir string, at int, sets ...string) error {
		_, err := toyTask(func(step int) error {
			if step == at {
				return ErrInterrupted
			}
			return nil
		}).Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: append(sets, "run.out="+filepath.Join(base, dir)), Resume: true}))
		return err
	}
	for _, err := range []error{start("plain", 99), start("whole", 99, "run.ledger_key="+mine)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var usage *UsageError
	for path, want := range map[string]string{short: "short: a ledger key of 1 bytes", filepath.Join(base, "none"): "none: no such file"} {
		if err := start("refused", 99, "run.ledger_key="+path); !errors.As(err, &usage) || !strings.Contains(err.Error(), "run.ledger_key: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(base, "refused")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a refused run left its directory: %v", err)
	}
	if err := start("parts", 8, "run.ledger_key="+mine); !WasInterrupted(err) {
		t.Fatal(err)
	}
	if err := start("unkeyed", 8); !WasInterrupted(err) {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		err        error
		want, hint string
	}{
		"no key":      {start("parts", 99), "it was written under a key", "resume with the key file that the run began with: --ledger-key FILE"},
		"another key": {start("parts", 99, "run.ledger_key="+other), "it was written under another key", "resume with the key file"},
		"a key now":   {start("unkeyed", 99, "run.ledger_key="+mine), "it was written without a key", "resume without --ledger-key"},
	} {
		if !errors.As(c.err, &usage) || !strings.Contains(c.err.Error(), c.want) || !strings.Contains(usage.Hint(), c.hint) {
			t.Errorf("%s: %v", name, c.err)
		}
	}
	moved := filepath.Join(base, "moved")
	if err := os.Rename(mine, moved); err != nil {
		t.Fatal(err)
	}
	if err := start("parts", 99, "run.ledger_key="+moved); err != nil {
		t.Fatal(err)
	}
	plain, whole, parts := readAll(t, filepath.Join(base, "plain")), readAll(t, filepath.Join(base, "whole")), readAll(t, filepath.Join(base, "parts"))
	same(t, "resumed under a key", whole, parts)
	for _, keyed := range []string{LedgerName, checkpointFile} { // its state of the ledger
		if plain[keyed] == whole[keyed] {
			t.Errorf("%s is the same under a key and without", keyed)
		}
		delete(plain, keyed)
	}
	same(t, "under a key", plain, whole)
	k, err := privacy.ReadKey(moved)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(onFile(t, filepath.Join(base, "parts"), k)); n != 21 {
		t.Errorf("%d entries", n)
	}
	a, b := must(t, filepath.Join(base, "plain")), must(t, filepath.Join(base, "whole"))
	if a.ConfigHash != b.ConfigHash {
		t.Error("the key entered the configuration hash")
	}
}

func must(t *testing.T, dir string) Manifest {
	t.Helper()
	m, err := ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A run that is killed before its first checkpoint and goes on begins again; what it
// showed stays on file until it was released again. Under another mark there is
// nothing to go on with.
func TestLedgerOfARunThatBeginsAgain(t *testing.T) {
	dir := t.TempDir()
	open := func(resume bool, noise privacy.Noise) (*Env, *privacy.Ledger) {
		t.Helper()
		e := newEnv(dir, "h", resume)
		l, err := e.Ledger(noise, privacy.Declaration{WithoutNoise: []privacy.Unprotected{toySum}})
		if err != nil {
			t.Fatal(err)
		}
		return e, l
	}
	noise := privacy.Laplace{Scale: 1, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	e, l := open(false, privacy.Research)
	if err := errors.Join(l.Record("p", noise, 3), l.Flush("epoch 1"), l.Record("p", noise, 2)); err != nil {
		t.Fatal(err)
	}
	e.books.show() // and the kill
	said := onFile(t, dir, nil)
	e, l = open(true, privacy.Research)
	if once, err := e.Once(); err != nil || once != l {
		t.Errorf("a run that begins again releases what it releases once elsewhere: %v", err)
	}
	if d := cmp.Diff(said, onFile(t, dir, nil)); d != "" {
		t.Errorf("gone on, the file says something else: %s", d)
	}
	if err := errors.Join(l.Record("p", noise, 3), l.Flush("epoch 1")); err != nil {
		t.Fatal(err)
	}
	if _, err := e.books.close(true); err != nil {
		t.Fatal(err)
	}
	if whole, err := (privacy.Reading{}).File(filepath.Join(dir, LedgerName)); err != nil || len(whole.Entries()) != 2 {
		t.Errorf("%v, want the declaration and one release", err)
	}
	// What another program, or this one with other noise, has listed is not dropped.
	path := filepath.Join(dir, LedgerName)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(name string) {
		t.Helper()
		before, _ := os.ReadFile(path)
		_, err := newEnv(dir, "h", true).Ledger(privacy.Secure, privacy.Declaration{WithoutNoise: []privacy.Unprotected{toySum}})
		if now, _ := os.ReadFile(path); err == nil || !bytes.Equal(now, before) {
			t.Errorf("%s: %v, and the ledger holds %q", name, err, now)
		}
	}
	refused("other noise")
	for name, text := range map[string][]byte{"cut in its first line": whole[:20], "empty": nil} {
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		e, _ = open(true, privacy.Secure)
		if l := onFile(t, dir, nil); len(l) != 1 || l[0].Event != privacy.Event(toySum) {
			t.Errorf("begun again where the ledger was %s: %v", name, l)
		}
		e.books.close(false)
	}
}

// long is a toy whose periods are four steps, with a checkpoint every second one.
func long(hook func(step int, dir string) error) Task {
	noise := privacy.Laplace{Scale: 1, Sensitivity: 1, Unit: privacy.User, Neighbouring: privacy.AddRemove}
	return Task{Verb: "train", Name: "long", Action: Bind(func() toy { return toy{Steps: 14} }, nil, func(ctx context.Context, env *Env, c toy) error {
		cp, ok, err := env.LoadCheckpoint()
		if err != nil {
			return err
		}
		var st toyState
		if ok {
			if err := json.Unmarshal(cp.State, &st); err != nil {
				return err
			}
		}
		l, err := env.Ledger(privacy.Research, privacy.Declaration{WithoutNoise: []privacy.Unprotected{toySum}})
		if err != nil {
			return err
		}
		for ; st.Step < c.Steps; st.Step++ {
			if err := errors.Join(l.Record("sum", noise, 3), hook(st.Step, env.Dir)); err != nil {
				return err
			}
			if st.Step%4 == 3 {
				if err := l.Flush(fmt.Sprint("epoch ", st.Step/4)); err != nil {
					return err
				}
			}
			if st.Step%2 == 1 {
				state, _ := json.Marshal(toyState{st.Step + 1})
				if err := env.SaveCheckpoint(Checkpoint{State: state}); err != nil {
					return err
				}
			}
		}
		return env.WriteMetrics(map[string]int{"steps": st.Step})
	})}
}

// A run whose checkpoints fall within periods is interrupted, killed and gone on with,
// in every order and at every pair of steps: its ledger ends with the bytes of one go,
// and says at every stop no less than at the stop before.
func TestInterruptedAndKilledWithinAPeriod(t *testing.T) {
	base := t.TempDir()
	start := func(dir string, hook func(step int, dir string) error) error {
		_, err := long(hook).Start(t.Context(), quiet(new(bytes.Buffer), Options{Sets: []string{"run.out=" + dir}, Resume: true}))
		return err
	}
	through := func(int, string) error { return nil }
	read := func(dir string) string {
		b, err := os.ReadFile(filepath.Join(dir, LedgerName))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	released := func(dir string) (n int64) {
		for _, e := range onFile(t, dir, nil) {
			n += e.Count
		}
		return n
	}
	whole := filepath.Join(base, "whole")
	if err := start(whole, through); err != nil {
		t.Fatal(err)
	}
	want := read(whole)
	for _, first := range []int{2, 5, 10} {
		for second := first + 1; second < 14; second += 3 {
			for _, killedFirst := range []bool{false, true} {
				dir := filepath.Join(base, fmt.Sprint(first, " ", second, " ", killedFirst))
				said := int64(0)
				for i, at := range []int{first, second} {
					killed, copied := killedFirst == (i == 0), fmt.Sprint(dir, " copy ", i)
					err := start(dir, func(step int, dir string) error {
						switch {
						case step != at:
							return nil
						case killed: // what a SIGKILL leaves; the process here goes on elsewhere
							return errors.Join(os.CopyFS(copied, os.DirFS(dir)), errBoom)
						}
						return ErrInterrupted
					})
					if err == nil { // it had come further
						t.Fatalf("%s: step %d did not come", dir, at)
					}
					if killed {
						if err := errors.Join(os.RemoveAll(dir), os.Rename(copied, dir), os.Remove(filepath.Join(dir, lockName))); err != nil {
							t.Fatal(err)
						}
					}
					if now := released(dir); now < said {
						t.Errorf("%s: %d releases on file after stop %d, %d before", dir, now, i+1, said)
					} else {
						said = now
					}
				}
				if err := start(dir, through); err != nil {
					t.Fatal(err)
				}
				if got := read(dir); got != want {
					t.Fatalf("%s:\n%s\nwant\n%s", dir, got, want)
				}
			}
		}
	}
}
