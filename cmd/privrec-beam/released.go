package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/papers/pricdsr"
	"privrec/internal/perturb"
	"privrec/internal/private/gram"
	"privrec/internal/private/release"
	"privrec/internal/progress"
	"privrec/internal/run"
)

// releaseFlags holds the flags of counts for a release with noise.
type releaseFlags struct {
	task, config string
	sets         []string
	resume       bool
}

func (r *releaseFlags) add(flags *flag.FlagSet) {
	flags.StringVar(&r.task, "release", "",
		"release with noise what dp-ease, dp-itemknn or dp-popularity needs; --output is then the run directory, "+
			"which privrec train TASK --resume goes on from")
	flags.StringVar(&r.config, "config", "", "configuration of that task (YAML); without it, the defaults")
	flags.BoolVar(&r.resume, "resume", false, "go on with a release that was stopped")
	flags.Func("set", "override one key of the configuration, as in model.items=500; may be repeated",
		func(text string) error {
			r.sets = append(r.sets, text)
			return nil
		})
	for _, x := range []struct{ name, key, usage string }{
		{"epsilon", "privacy.epsilon", "epsilon of all that is released, for one user more or less"},
		{"delta", "privacy.delta", "and its delta"},
		{"seed", "run.seed", "seed of which of their items users contribute"},
		{"noise-seed", "run.noise_seed", "research noise that whoever has this number and the data can repeat"},
	} {
		flags.Func(x.name, x.usage+" ("+x.key+")", func(text string) error {
			r.sets = append(r.sets, x.key+"="+text)
			return nil
		})
	}
	flags.BoolFunc("secure", "exact discrete noise from cryptographic bits ("+release.SecureKey+")",
		func(string) error {
			r.sets = append(r.sets, release.SecureKey+"=true")
			return nil
		})
}

// alone fails on flags that are only for a release.
func (r *releaseFlags) alone() error {
	if r.config != "" || r.resume || len(r.sets) > 0 {
		return &run.UsageError{Message: "--config, --set, --seed, --noise-seed, --secure, --epsilon, --delta and " +
			"--resume are of a release with noise", Fix: "--release dp-ease, or leave them out for exact counts"}
	}
	return nil
}

// released makes the release. It records in the ledger what is unprotected and what is released before any noise is
// drawn, once: workers only sum.
func (r *releaseFlags) released(ctx context.Context, f *ioFlags, s perturb.Settings, cat *perturb.Catalogue, stdout,
	stderr io.Writer) error {
	if !isLocal(f.output) {
		return &run.UsageError{Message: "--output is the directory of a run, which must be on a file system of this " +
			"machine"}
	}
	if f.force {
		return &run.UsageError{Message: "--force: a release is not replaced",
			Fix: "choose another --output, whose releases then come on top"}
	}
	inputs, err := f.open(ctx, f.input)
	if err != nil {
		return err
	}
	defer f.close()
	src := &farRows{cat: cat, job: job{Kind: countsKind, Histories: &pricdsr.Options{Settings: s}, Inputs: inputs,
		Shards: f.shards, Work: f.work}}
	tasks := gram.Elsewhere(func(env *run.Env) gram.Source { src.env = env; return src })
	var names []string
	for _, t := range tasks {
		if names = append(names, t.Name); t.Name != r.task {
			continue
		}
		dir, err := t.Start(ctx, run.Options{Config: r.config, Sets: append([]string{"run.out=" + f.output}, r.sets...),
			Resume: r.resume,
			Stdout: stdout, Log: slog.New(slog.NewTextHandler(stderr, nil)), Progress: progress.Silent{}})
		if !errors.Is(err, gram.ErrReleased) {
			return err
		}
		if src.all.Files != nil {
			fmt.Fprintf(stdout, "%d users, %d rows, %d bad rows\n", src.counts.Users, src.counts.Rows, src.counts.Bad)
		}
		_, err = fmt.Fprintf(stdout,
			"released: %s, %s\nnext, where the data are: privrec train %s --config %s --out %s --resume\n",
			filepath.Join(dir, gram.ReleasedFile), filepath.Join(dir, run.LedgerName), t.Name,
			filepath.Join(dir, "config.yaml"), dir)
		return err
	}
	return &run.UsageError{Message: fmt.Sprintf("--release is %q, want one of %s", r.task, strings.Join(names, ", "))}
}

// farRows sums users' contributions by pipelines. It implements gram.Source.
type farRows struct {
	job    job
	cat    *perturb.Catalogue
	env    *run.Env
	all    notes
	counts counters
}

// Items implements gram.Source.
func (s *farRows) Items() int { return s.cat.Size }

// Counts implements gram.Source. It records the rows it counted, and fails if a continued run counted others.
func (s *farRows) Counts(ctx context.Context, d gram.Draws) ([]float64, error) {
	s.job.Draws = &d
	var err error
	if s.all, err = runPerturb(ctx, s.job); err != nil {
		return nil, err
	}
	s.counts = countersOf(s.all)
	sums, rows := make([]int64, s.cat.Size), &dataset.RowHash{}
	for _, n := range withUsers(s.all.Shards) {
		if err := addSums(ctx, n.Sums, sums); err != nil {
			return nil, err
		}
		if n.RowHash == nil {
			return nil, fmt.Errorf("the note of shard %d has no hash of its rows", n.Shard)
		}
		rows.Join(n.RowHash)
	}
	if s.counts.Users == 0 {
		return nil, &run.UsageError{Message: fmt.Sprintf("no row of the input can be used: all %d are bad",
			s.counts.Bad)}
	}
	names := make([]string, s.cat.Size)
	for i := range names {
		names[i] = s.cat.Name(int32(i))
	}
	digest := rows.Digest(names)
	if err := errors.Join(s.env.Private(digest), s.env.RecordData(gram.RowsName, digest.String())); err != nil {
		return nil, err
	}
	if err := s.env.WriteArtefact("job.bad.tsv",
		func(w io.Writer) error { return writeBad(ctx, w, s.all) }); err != nil {
		return nil, err
	}
	err = s.env.WriteArtefact("job.counters.json", s.counts.write)
	return release.Exact(sums), err
}

// Triangle implements gram.Source.
func (s *farRows) Triangle(ctx context.Context, d gram.Draws, p *gram.Plan) ([]float64, error) {
	plan := join(s.job.Work, "plan.json")
	if err := writeFile(ctx, plan, func(w io.Writer) error { return json.NewEncoder(w).Encode(p) }); err != nil {
		return nil, err
	}
	made, err := runStep(ctx, step{Name: "terms", Work: s.job.Work, Draws: &d, Plan: plan}, withUsers(s.all.Shards))
	if err != nil {
		return nil, err
	}
	steps := make([]int64, len(p.Items)*(len(p.Items)+1)/2)
	for _, n := range made {
		if err := addSums(ctx, n.Sums, steps); err != nil {
			return nil, err
		}
	}
	return p.Triangle(steps), nil
}
