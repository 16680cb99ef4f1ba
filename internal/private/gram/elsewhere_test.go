package gram

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/protocol/static"
	"privrec/internal/run"
	"privrec/internal/run/runtest"
)

// far adds up the rows of the small data set, as a program elsewhere does.
type far struct {
	local
	env  *run.Env
	fail error // of the next Triangle
}

func (f *far) Counts(ctx context.Context, d Draws) ([]float64, error) {
	var sum dataset.RowHash
	for u, items := range f.rows.Train {
		sum.Add(f.rows.UserIDs[u], items)
	}
	digest := sum.Digest(f.rows.ItemIDs)
	if err := errors.Join(f.env.Private(digest), f.env.RecordData(RowsName, digest.String())); err != nil {
		return nil, err
	}
	return f.local.Counts(ctx, d)
}

func (f *far) Triangle(ctx context.Context, d Draws, p *Plan) ([]float64, error) {
	if err := f.fail; err != nil {
		f.fail = nil
		return nil, err
	}
	return f.local.Triangle(ctx, d, p)
}

// distant returns the tasks for rows elsewhere; change changes the rows.
func distant(t *testing.T, fail error, change func(r *static.Rows)) []run.Task {
	d, err := registry.LoadInteractions(t.Context(), "standin-tiny", "gerai", dataset.View{Seed: 1}, registry.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := static.Rows{Interactions: d}
	if change != nil {
		change(&r)
	}
	return Elsewhere(func(env *run.Env) Source { return &far{local{r}, env, fail} })
}

// resume continues a run.
var resume = run.Options{Resume: true}

// What is released elsewhere is what one machine releases, to the bit, and so is the run that goes on from it:
// its metrics, its account, its ledger. The account is there before the model is.
func TestElsewhereIsThatOfOneMachine(t *testing.T) {
	for k, task := range suite.Tasks {
		want, got := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "run")
		suite.Start(t, task, want)
		if err := suite.Try(t.Context(), distant(t, nil, nil)[k], got, nil, run.Options{}); !errors.Is(err, ErrReleased) {
			t.Fatalf("%s: %v", task.Name, err)
		}
		for _, file := range []string{ReleasedFile, "privacy.json"} {
			if !slices.Equal(read(t, filepath.Join(got, file)), read(t, filepath.Join(want, file))) {
				t.Errorf("%s: another %s", task.Name, file)
			}
		}
		if err := suite.Try(t.Context(), task, got, nil, run.Options{}); err == nil || !strings.Contains(err.Error(), "--resume") && !strings.Contains(err.Error(), "already holds") {
			t.Errorf("%s from the beginning: %v", task.Name, err)
		}
		if err := suite.Try(t.Context(), task, got, nil, resume); err != nil {
			t.Fatal(err)
		}
		for _, file := range []string{ReleasedFile, "privacy.json", "metrics.json", "result.txt", run.LedgerName} {
			if !slices.Equal(read(t, filepath.Join(got, file)), read(t, filepath.Join(want, file))) {
				t.Errorf("%s: another %s", task.Name, file)
			}
		}
	}
}

// A program that is stopped between the two releases goes on with the counts that it released, also where
// their noise cannot be drawn again. Other rows are refused then, and by the run that goes on from the end.
func TestElsewhereStopped(t *testing.T) {
	for _, secure := range []string{"privacy.secure=true", "privacy.secure=false"} {
		dir, stopped := filepath.Join(t.TempDir(), "run"), errors.New("stopped")
		sets := []string{secure}
		if err := suite.Try(t.Context(), distant(t, stopped, nil)[1], dir, sets, run.Options{}); !errors.Is(err, stopped) {
			t.Fatal(err)
		}
		was := read(t, filepath.Join(dir, CountsFile))
		less := func(r *static.Rows) {
			d := *r.Interactions
			d.Train = slices.Clone(d.Train)
			d.Train[0] = nil
			r.Interactions = &d
		}
		if err := suite.Try(t.Context(), distant(t, nil, less)[1], dir, sets, resume); err == nil || !strings.Contains(err.Error(), "changed since") {
			t.Errorf("%s, with other rows: %v", secure, err)
		}
		if err := suite.Try(t.Context(), distant(t, nil, nil)[1], dir, sets, resume); !errors.Is(err, ErrReleased) {
			t.Fatal(err)
		}
		if !slices.Equal(read(t, filepath.Join(dir, CountsFile)), was) {
			t.Errorf("%s: the counts were released twice", secure)
		}
		hash := runtest.ReadJSON[run.Manifest](t, dir, "manifest.json", false).ConfigHash
		counts, err := readFile(filepath.Join(dir, CountsFile), hash, 300)
		if err != nil {
			t.Fatal(err)
		}
		all, err := readReleased(dir, hash, 300)
		if err != nil || !slices.Equal(all.counts, counts.counts) {
			t.Errorf("%s: the counts are not those that were released first (%v)", secure, err)
		}
		if err := suite.Try(t.Context(), distant(t, nil, nil)[1], dir, sets, resume); !errors.Is(err, ErrReleased) {
			t.Errorf("%s: once more: %v", secure, err)
		}
		if err := suite.Try(t.Context(), suite.Tasks[1], dir, sets, resume); err != nil {
			t.Errorf("%s: %v", secure, err)
		}
	}
	dir := filepath.Join(t.TempDir(), "run")
	turned := func(r *static.Rows) {
		d := *r.Interactions
		d.ItemIDs = slices.Clone(d.ItemIDs)
		d.ItemIDs[0], d.ItemIDs[1] = d.ItemIDs[1], d.ItemIDs[0]
		r.Interactions = &d
	}
	if err := suite.Try(t.Context(), distant(t, nil, turned)[1], dir, nil, run.Options{}); !errors.Is(err, ErrReleased) {
		t.Fatal(err)
	}
	if err := suite.Try(t.Context(), suite.Tasks[1], dir, nil, resume); err == nil || !strings.Contains(err.Error(), "other rows") {
		t.Errorf("with items in another order: %v", err)
	}
}

// A release that is in the ledger and in no file is not made again.
func TestElsewhereLost(t *testing.T) {
	stopped := errors.New("stopped")
	sets := []string{"privacy.secure=true"}
	dir := filepath.Join(t.TempDir(), "run")
	if err := suite.Try(t.Context(), distant(t, stopped, nil)[1], dir, sets, run.Options{}); !errors.Is(err, stopped) {
		t.Fatal(err)
	}
	was := read(t, filepath.Join(dir, CountsFile))
	if err := os.Remove(filepath.Join(dir, CountsFile)); err != nil {
		t.Fatal(err)
	}
	if err := suite.Try(t.Context(), distant(t, nil, nil)[1], dir, sets, resume); err == nil || !strings.Contains(err.Error(), "release of counts") {
		t.Errorf("without the counts: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, CountsFile), was, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := suite.Try(t.Context(), distant(t, nil, nil)[1], dir, sets, resume); !errors.Is(err, ErrReleased) {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, ReleasedFile)); err != nil {
		t.Fatal(err)
	}
	if err := suite.Try(t.Context(), distant(t, nil, nil)[1], dir, sets, resume); err == nil || !strings.Contains(err.Error(), "release of item matrix") {
		t.Errorf("without the matrix: %v", err)
	}
}
