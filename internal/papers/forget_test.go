//go:build !f64

package papers

import (
	"bytes"
	"context"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/forget"
	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

var requests = flag.Int("requests", 0, "requests of TestForget, over all tasks; 0: one for each of some settings")

// forgetful are the settings under which users are forgotten without the flag: one of each way of loading and training.
var forgetful = []string{"train ease, defaults", "train itemknn, next item", "train lightgcn, nothing chosen",
	"train sasrec, windows", "train hrnn, init", "train pricdsr, other users' rows", "train gerai, one draw",
	"train dipsgnn, no noise", "train dp-ease, matrix", "train dp-als, next item"}

// quiet returns options for a run in a directory.
func quiet(o run.Options, dir string) run.Options {
	o.Sets = append(slices.Clone(o.Sets), "run.out="+dir)
	o.Log, o.Stdout, o.Progress = slog.New(slog.DiscardHandler), new(bytes.Buffer), run.Silent{}
	return o
}

// idsOf returns the ids of the users of generated data that a setting trains on.
func idsOf(t *testing.T, s stopped) []string {
	v := dataset.View{Seed: 1}
	if slices.Contains(s.sets, "data.name=standin-cross") {
		d, err := registry.LoadCross(t.Context(), "standin-cross", "left", "right", v, registry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return d.UserIDs
	}
	l, _, err := registry.LoadLog(t.Context(), "standin-tiny", v, registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return l.UserIDs
}

// trainable returns the settings of all tasks that train on rows of users, by name.
func trainable() (names []string, tasks []run.Task, settings []stopped) {
	for _, task := range All() {
		if task.Verb != "train" {
			continue
		}
		for _, s := range settingsOf(task) {
			names, tasks, settings = append(names, task.String()+", "+s.name), append(tasks, task), append(settings, s)
		}
	}
	return names, tasks, settings
}

// A run that forgets users, stopped at a random moment and asked for again, has the bytes of a training with the same
// configuration that never stopped, for every task. The request is in the folder of the new run from its first moment.
func TestForget(t *testing.T) {
	names, tasks, settings := trainable()
	for _, name := range forgetful {
		if !slices.Contains(names, name) {
			t.Errorf("no setting is called %q", name)
		}
	}
	draw := rng.Seed(7).Stream("test requests")
	per := max(1, *requests/len(names)+1)
	left := *requests
	for k, name := range names {
		if *requests == 0 && !slices.Contains(forgetful, name) {
			continue
		}
		task, s := tasks[k], settings[k]
		t.Run(name, func(t *testing.T) {
			o := run.Options{Sets: slices.Clone(s.sets)}
			if s.config != "" {
				o.Config = filepath.Join(configs, s.config)
			}
			if task.Noisy {
				o.Sets = append(o.Sets, "run.noise_seed=1")
			}
			old := filepath.Join(t.TempDir(), "run")
			if _, err := task.Start(t.Context(), quiet(o, old)); err != nil {
				t.Fatal(err)
			}
			ids := idsOf(t, s)
			for range per {
				if left--; *requests > 0 && left < 0 {
					return
				}
				some := map[string]bool{}
				for range 1 + draw.IntN(min(50, len(ids)/10)) {
					some[ids[draw.IntN(len(ids))]] = true
				}
				var users []string
				for id := range some {
					users = append(users, id)
				}
				slices.Sort(users)
				once(t, task, old, users, 1+draw.IntN(40))
			}
		})
	}
}

// once forgets users of a run, stopped at a look at the context, and compares the run with a training of its own.
func once(t *testing.T, task run.Task, old string, users []string, stop int) {
	t.Helper()
	dir := t.TempDir()
	r := forget.Request{Run: old, Users: users, Out: filepath.Join(dir, "new"), Again: true, Workers: 1,
		Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}}
	_, err := forget.Make(runtest.NewFuse(t, stop, nil), All(), r)
	if run.WasInterrupted(err) {
		m, bad := run.ReadManifest(r.Out)
		if bad == nil && !slices.Equal(m.Forgotten, dataset.Forgotten(nil).With(users...)) {
			t.Errorf("stopped, the new run forgets %v", m.Forgotten)
		}
		_, err = forget.Make(t.Context(), All(), r)
	}
	if err != nil {
		t.Fatal(err)
	}
	again := filepath.Join(dir, "again")
	o := run.Options{Config: filepath.Join(r.Out, "config.yaml")}
	if _, err := task.Start(t.Context(), quiet(o, again)); err != nil {
		t.Fatal(err)
	}
	got := runtest.Artefacts(t, r.Out)
	delete(got, forget.CertificateName)
	delete(got, forget.PageName)
	runtest.Same(t, strings.Join(users, " "), got, runtest.Artefacts(t, again))
}

// aboutFile finds what metrics.json says of a data file.
var aboutFile = regexp.MustCompile(`"(bytes|sha256)": [^\n]*\n`)

// A run that forgets a user of own data has the bytes of a run on files without that user's rows, but for the hash of
// the files and the words that users are forgotten. It holds for every task that releases nothing with noise; noise is
// keyed by the configuration too.
func TestForgottenWasNeverThere(t *testing.T) {
	shop := runtest.SmallShop(false)
	whole := t.TempDir()
	shop.Write(t, whole)
	t.Setenv("PRIVREC_DATA", whole) // and back at the end
	names, tasks, settings := trainable()
	compared := 0
	for k, name := range names {
		if *requests == 0 && !slices.Contains(forgetful, name) && !strings.Contains(name, "knn") {
			continue
		}
		for _, user := range []string{"b", "5", "30"} {
			less := t.TempDir()
			shop.Without(user).Write(t, less)
			start := func(data string, more ...string) (map[string]string, error) {
				os.Setenv("PRIVREC_DATA", data)
				dir := filepath.Join(t.TempDir(), "run")
				o := options(tasks[k], settings[k], "ratio", dir)
				o.Sets = append(o.Sets, more...)
				if _, err := tasks[k].Start(context.Background(), quiet(o, dir)); err != nil {
					return nil, err
				}
				x, err := (privacy.Reading{}).Extent(filepath.Join(dir, run.LedgerName))
				if err != nil || x.Releases > 0 {
					return nil, err
				}
				m, err := run.ReadManifest(dir)
				if err != nil || len(m.Data) != 1 {
					t.Fatalf("%s: %v, data %v", name, err, m.Data)
				}
				files := runtest.Artefacts(t, dir)
				delete(files, run.NoiseFile)
				for file, text := range files {
					if strings.HasSuffix(file, ".safetensors") && (strings.Contains(text, m.ConfigHash) ||
						strings.Contains(text, m.Data[0].SHA256)) {
						delete(files, file) // its checksum is over that too; scores come from the same parameters
						continue
					}
					sum := m.Data[0].SHA256
					text = strings.NewReplacer(data, "", sum, "", sum[:12], "", ", users forgotten", "",
						m.ConfigHash, "", m.ConfigHash[:12], "").Replace(text)
					files[file] = aboutFile.ReplaceAllString(text, "")
				}
				return files, nil
			}
			got, err := start(whole, "run.forgotten=["+dataset.ForgottenID(user)+"]")
			if err != nil || got == nil {
				continue // the setting is not for these data, or draws noise
			}
			want, err := start(less)
			if err != nil {
				t.Errorf("%s: without user %s: %v", name, user, err)
				continue
			}
			compared++
			runtest.Same(t, name+", user "+user, got, want)
		}
	}
	t.Logf("%d runs compared", compared)
	if compared < 9 {
		t.Errorf("%d runs were compared", compared)
	}
}

// A user whose rows the recipe drops is forgotten from the last checkpoint, to the bytes of a training.
func TestForgetDropped(t *testing.T) {
	shop, data := runtest.SmallShop(false), t.TempDir()
	shop.Write(t, data)
	t.Setenv("PRIVREC_DATA", data)
	for name, recipe := range map[string]string{
		"train lightgcn, nothing chosen": "distinct+users-3+ratio", "train hrnn, init": "distinct+users-3+ratio",
		"train sasrec, windows": "distinct+users-3+leave-one-out", "train ials, defaults": "distinct+users-3+ratio",
	} {
		names, tasks, settings := trainable()
		k := slices.Index(names, name)
		if k < 0 {
			t.Fatalf("no setting is called %q", name)
		}
		old := filepath.Join(t.TempDir(), "run")
		if _, err := tasks[k].Start(t.Context(), quiet(options(tasks[k], settings[k], recipe, old), old)); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		once(t, tasks[k], old, []string{"5"}, 1000)
		for user, how := range map[string]forget.How{"5": forget.Unchanged, "9": forget.Trained} {
			if _, err := os.Stat(filepath.Join(old, "checkpoint")); err != nil {
				how = forget.Trained // computed at once
			}
			c, err := forget.Make(t.Context(), All(), forget.Request{Run: old, Users: []string{user},
				Out: filepath.Join(t.TempDir(), "new"), Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}})
			if err != nil {
				t.Fatal(err)
			}
			if c.How != how {
				t.Errorf("%s, user %s: made %q, want %q", name, user, c.How, how)
			}
		}
	}
}
