package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/privacy"
	"privrec/internal/private/gram"
	"privrec/internal/progress"
	"privrec/internal/run"
)

// smallRows writes the training rows of a small data set to files, with a bad row in each, and the ids of its
// items. It returns the flags of them.
func smallRows(t *testing.T, files int) []string {
	t.Helper()
	d, err := registry.LoadInteractions(t.Context(), "standin-tiny", "gerai", dataset.View{Seed: 1}, registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return rowsOf(t, d, files)
}

func rowsOf(t *testing.T, d *dataset.Interactions, files int) []string {
	t.Helper()
	dir := t.TempDir()
	texts := make([]strings.Builder, files)
	n := 0
	for u := range d.Users {
		for _, i := range slices.Backward(d.Train[u]) { // their order is none of the result
			fmt.Fprintf(&texts[n%files], "%s\t%s\n", d.UserIDs[u], d.ItemIDs[i])
			n++
		}
	}
	for k := range texts {
		writeGzip(t, filepath.Join(dir, fmt.Sprintf("in-%d.tsv.gz", k)), "user_id\titem_id\n"+texts[k].String()+"u\tno such item\n")
	}
	catalogue := filepath.Join(dir, "items.txt")
	if err := os.WriteFile(catalogue, []byte(strings.Join(d.ItemIDs, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return []string{"--input", filepath.Join(dir, "in-*"), "--catalogue", catalogue}
}

// smallSets are the settings of small runs.
var smallSets = []string{"data.name=standin-tiny", "data.recipe=gerai", "run.workers=1", "eval.k=[5,20]"}

// countsErr runs the command.
func countsErr(ctx context.Context, args ...string) error {
	flags := flag.NewFlagSet("counts", flag.ContinueOnError)
	work := counts(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	return work(ctx, io.Discard, io.Discard)
}

// onOneMachine runs the task of one machine.
func onOneMachine(t *testing.T, name, dir string, resume bool, sets ...string) error {
	t.Helper()
	for _, task := range gram.Tasks() {
		if task.Name == name {
			_, err := task.Start(t.Context(), run.Options{NoiseSeed: 1, Config: "../../configs/private/smoke-" + name + ".yaml", Sets: slices.Concat(smallSets, sets, []string{"run.out=" + dir}),
				Resume: resume, Stdout: io.Discard, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Progress: progress.Silent{}})
			return err
		}
	}
	t.Fatalf("no task %s", name)
	return nil
}

// releasing returns the arguments of a release.
func releasing(rows []string, task, out, shards string, more ...string) []string {
	args := slices.Concat(rows, []string{"--release", task, "--config", "../../configs/private/smoke-" + task + ".yaml", "--output", out, "--shards", shards}, more)
	if !slices.Contains(more, "--secure") {
		args = append(args, "--noise-seed", "1")
	}
	for _, s := range smallSets {
		args = append(args, "--set", s)
	}
	return args
}

// What pipelines release is what one machine releases under the same configuration and seed, byte for byte,
// for any number of shards, and so is the run that goes on from it: model, metrics, account, ledger.
func TestReleaseIsThatOfOneMachine(t *testing.T) {
	for k, task := range []string{"dp-ease", "dp-itemknn", "dp-popularity"} {
		want := filepath.Join(t.TempDir(), "run")
		if err := onOneMachine(t, task, want, false); err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(t.TempDir(), "run")
		if err := countsErr(t.Context(), releasing(smallRows(t, 3), task, out, []string{"4", "1", "90"}[k])...); err != nil {
			t.Fatal(err)
		}
		same(t, filepath.Join(out, gram.ReleasedFile), filepath.Join(want, gram.ReleasedFile))
		same(t, filepath.Join(out, "privacy.json"), filepath.Join(want, "privacy.json"))
		bad, err := os.ReadFile(filepath.Join(out, "job.bad.tsv"))
		if err != nil || strings.Count(string(bad), "\n") != 4 {
			t.Errorf("%s: bad rows %q (%v)", task, bad, err)
		}
		if err := onOneMachine(t, task, out, true); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"metrics.json", "privacy.json", "result.txt", run.LedgerName} {
			same(t, filepath.Join(out, name), filepath.Join(want, name))
		}
		left, err := filepath.Glob(out + ".work-*")
		if err != nil || len(left) > 0 {
			t.Errorf("%s: left behind %v (%v)", task, left, err)
		}
	}
}

// With cryptographic bits a release is made once: a second start is refused, and --resume returns what was
// released. Other rows are refused by the run that goes on from it. The ledger has each release once.
func TestReleaseSecure(t *testing.T) {
	rows, out := smallRows(t, 2), filepath.Join(t.TempDir(), "run")
	args := releasing(rows, "dp-ease", out, "3", "--secure", "--epsilon", "4")
	if err := countsErr(t.Context(), args...); err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(filepath.Join(out, gram.ReleasedFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := countsErr(t.Context(), args...); err == nil {
		t.Error("a second release in the same directory")
	}
	if err := countsErr(t.Context(), append(args, "--resume")...); err != nil {
		t.Error(err)
	}
	now, err := os.ReadFile(filepath.Join(out, gram.ReleasedFile))
	if err != nil || string(now) != string(was) {
		t.Errorf("released again (%v)", err)
	}
	if err := onOneMachine(t, "dp-ease", out, true, "privacy.secure=true", "privacy.epsilon=4"); err != nil {
		t.Fatal(err)
	}
	l, err := privacy.Reading{}.File(filepath.Join(out, run.LedgerName))
	if err != nil {
		t.Fatal(err)
	}
	if l.Noise() != privacy.Secure || len(l.Entries()) != 2 || l.Entries()[0].Count != 1 || l.Entries()[1].Count != 1 {
		t.Errorf("%v: %+v", l.Noise(), l.Entries())
	}
	other := filepath.Join(t.TempDir(), "run")
	d, err := registry.LoadInteractions(t.Context(), "standin-tiny", "gerai", dataset.View{Seed: 1}, registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d.Train[7] = d.Train[7][1:]
	if err := countsErr(t.Context(), releasing(rowsOf(t, d, 1), "dp-ease", other, "2")...); err != nil {
		t.Fatal(err)
	}
	if err := onOneMachine(t, "dp-ease", other, true); err == nil || !strings.Contains(err.Error(), "other rows") {
		t.Errorf("the run on other rows: %v", err)
	}
}

// What cannot be released is refused.
func TestReleaseRefuses(t *testing.T) {
	rows, out := smallRows(t, 1), filepath.Join(t.TempDir(), "run")
	for want, args := range map[string][]string{
		"want one of dp-popularity":  releasing(rows, "dp-ease", out, "2", "--release", "ease"),
		"privacy.epsilon":            releasing(rows, "dp-ease", out, "2", "--epsilon", "-1"),
		"of a release with noise":    append(slices.Clone(rows), "--output", out, "--epsilon", "3"),
		"a release is not replaced":  releasing(rows, "dp-ease", out, "2", "--force"),
		"run directory":              releasing(rows, "dp-ease", filepath.Join(out, "..", ".."), "2"),
		"one of --items and --catal": {"--output", out, "--release", "dp-ease"},
	} {
		if err := countsErr(t.Context(), args...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
