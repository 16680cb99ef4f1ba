package gram

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"privrec/internal/dataset/registry"
	"privrec/internal/private/release"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
)

// ErrReleased ends a run of Elsewhere: everything is released, and the model is not computed yet.
var ErrReleased = fmt.Errorf("released, and the model is not computed yet: %w", run.ErrInterrupted)

// Elsewhere returns the tasks of Tasks for a program that sums rows where they are stored and does not load them. Runs
// have the same configurations and make the same releases under the same ledger, to the bit if noise is seeded. They
// end with ErrReleased after ReleasedFile is written. The task of Tasks then continues the run: it reads the releases
// and computes the model.
//
// source is called before anything is released. It records the rows that it sums, for the noise (run.Env.Private) and
// in the manifest (RowsName).
func Elsewhere(source func(env *run.Env) Source) []run.Task {
	return tasks(func(w *work, ctx context.Context, protocol string, m topn.Method, theorem string) (run.Work, error) {
		if w.env.Rehearsing() {
			return nil, run.ErrNoForecast
		}
		if _, finished := w.env.Finished(); finished {
			return nil, errors.New("rows elsewhere answer no questions")
		}
		if w.stream != nil {
			return nil, errors.New("stream: a stream adds up its rows itself, not where they are stored")
		}
		w.source, w.keeps = source(w.env), true
		a := w.account(theorem)
		s, err := registry.Foreseen(ctx, m.Data.Name, m.Data.Recipe, m.Data.Public)
		if err != nil {
			return nil, err
		}
		return &elsewhere{w, a}, w.declareOn(a, s)
	})
}

// elsewhere is work that makes the releases and stops. It implements run.Work.
type elsewhere struct {
	*work
	account *release.Account
}

// Run implements run.Work.
func (e *elsewhere) Run(ctx context.Context) error {
	r, err := e.obtain(ctx)
	if err != nil {
		return err
	}
	if err := e.account.Compose(e.releaser.Ledger); err != nil {
		return err
	}
	if err := e.env.WritePrivacy(e.account); err != nil {
		return err
	}
	e.env.AppendLog("released", "items", len(r.items))
	return ErrReleased
}

// keptCounts adds noise to the counts, or returns those that the run released before it was stopped. A lost release
// cannot be made again.
func (w *work) keptCounts(s release.Sum, exact []float64) ([]float64, error) {
	if w.env.Resume {
		r, err := readFile(filepath.Join(w.env.Dir, CountsFile), w.env.ConfigHash, len(exact))
		if err != nil {
			return nil, err
		}
		if r != nil {
			return r.counts, w.releaser.Repeat(s)
		}
	}
	if err := w.releaser.Release(s, exact, len(exact)); err != nil {
		return nil, err
	}
	return exact, (&released{counts: exact}).write(w.env, CountsFile)
}

// notLost fails if a release is in the ledger but in no file: the run was stopped between the two.
func (w *work) notLost() error {
	purpose := ""
	switch {
	case w.matrix != nil && w.env.ReleasedOf(Purpose):
		purpose = Purpose
	case w.env.ReleasedOf(release.CountsPurpose):
		_, err := os.Stat(filepath.Join(w.env.Dir, CountsFile))
		if err == nil {
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		purpose = release.CountsPurpose
	default:
		return nil
	}
	return run.WithHint(fmt.Errorf("the run in %s was stopped after its ledger had the release of %s and before that "+
		"was on file: to draw its noise again would be a second release", w.env.Dir, purpose),
		"start again with another --out, whose releases then come on top")
}
