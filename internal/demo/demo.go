// Package demo shows the program at work: a private recommender and its non-private twin on
// generated data, with floors, and the claimed privacy budget beside the accounted one. It
// needs no network, no data and less than a minute.
package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/papers/dipsgnn"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Options says where the demo writes.
type Options struct {
	Out      string // directory for its runs and its page; made if missing
	Seed     uint64
	Stdout   io.Writer
	JSON     bool
	Progress run.Progress

	sets []string // more settings of both runs, for tests: the demo itself has none
}

// The task of the demo and the names that it uses in its directory.
const (
	private    = "private"
	nonPrivate = "non-private"
	pageName   = "index.html"
	task       = "train dipsgnn"

	title = "privrec demo: what a private recommender keeps, and what its epsilon means" // of the page
	note  = "of privrec demo"                                                            // in the manifests of its runs
)

// data is the stand-in that both runs learn on.
const data = "standin-demo"

// small makes a run of seconds: enough to learn from, but not to compare with printed numbers.
// Many small steps at a high rate learn as much in three epochs as the paper's batch of 100 and
// rate of 0.01 in ten.
var small = []string{
	"profile=demo", "data.name=" + data, "model.dim=16", "model.user_dim=8",
	"train.batch=50", "train.rate=0.02", "train.epochs=3", "train.refit=false",
	"train.patience=0", "train.tick_before=false", "eval.every=false",
	"run.workers=1", // steps so small gain less from a second worker than it costs
}

// clear switches off both mechanisms.
var clear = []string{
	"privacy.features.epsilon=.inf", "privacy.transitions.epsilon=.inf", `eval.noise=["off"]`,
}

// outcome holds the result of one run, read from its directory.
type outcome struct {
	nextitem.Outcome
	privacy dipsgnn.Privacy
}

// Run trains both models, prints the comparison and writes it as a page, index.html in the
// directory. It first removes the runs of an earlier demo; the earlier page stays until the new
// one replaces it.
func Run(ctx context.Context, o Options) (err error) {
	release, err := run.Hold(o.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	page := filepath.Join(o.Out, pageName)
	kept, err := discard(o.Out)
	if err != nil {
		return err
	}
	if err := produce(ctx, o, page); err != nil {
		if !run.WasInterrupted(err) {
			return err
		}
		hint := "the same command starts it again, from the beginning"
		if kept {
			hint += "; " + page + " is still the page of the earlier demo"
		}
		return run.WithHint(err, hint)
	}
	o.Progress.Phase("page written to " + page)
	return nil
}

// produce trains both models, writes the page and prints the comparison.
func produce(ctx context.Context, o Options, page string) error {
	ours, err := train(ctx, o, private, nil)
	if err != nil {
		return err
	}
	twin, err := train(ctx, o, nonPrivate, clear)
	if err != nil {
		return err
	}
	d, err := compare(ours, twin, o.Seed)
	if err != nil {
		return err
	}
	if err := system.WriteFile(page, d.HTML); err != nil {
		return err
	}
	return run.Show(o.Stdout, o.JSON, d)
}

// train makes one run below the demo's directory.
func train(ctx context.Context, o Options, name string, sets []string) (*outcome, error) {
	dir := filepath.Join(o.Out, name)
	sets = slices.Concat([]string{fmt.Sprintf("run.seed=%d", o.Seed), "run.out=" + dir}, small, sets, o.sets)
	o.Progress.Phase("train the " + name + " model")
	if _, err := dipsgnn.Task().Start(ctx, run.Options{Sets: sets, NoiseSeed: run.NoiseSeedOf(o.Seed),
		Notes: []string{note}, Stdout: io.Discard, Log: slog.New(slog.DiscardHandler),
		Progress: o.Progress}); err != nil {
		return nil, err
	}
	out := &outcome{}
	for file, v := range map[string]any{"metrics.json": &out.Outcome, "privacy.json": &out.privacy} {
		b, err := system.ReadFile(filepath.Join(dir, file), system.MostOfRun)
		if err != nil {
			return nil, fmt.Errorf("demo: %w", err)
		}
		if err := json.Unmarshal(b, v); err != nil {
			return nil, fmt.Errorf("demo: %s: %w", file, err)
		}
	}
	return out, nil
}

// compare returns a report that compares both models with the floors, and claims with accounts.
func compare(private, twin *outcome, seed uint64) (*report.Document, error) {
	c := report.Comparison{
		Name: "ranking", Title: "Does the private recommender work? (test samples, all items)",
		Level: dataset.LevelD, Metrics: private.Metrics,
	}
	for _, f := range private.Floors {
		c.Floors = append(c.Floors, f.Row(c.Metrics))
	}
	for _, e := range append(private.Evaluations, twin.Evaluations...) {
		c.Ours = append(c.Ours, e.Row(c.Metrics))
	}
	c.Ours[len(c.Ours)-1].Label = "the same network without any noise"
	table, err := c.Table()
	if err != nil {
		return nil, err
	}
	d := &report.Document{
		Title: title,
		Subtitle: fmt.Sprintf("DIPSGNN (arXiv 2309.11515) and its non-private twin on generated sequences of %d "+
			"users, seed %d", private.Data.Users, seed),
		Level:   dataset.LevelD,
		Tables:  []*report.Table{table},
		Figures: []report.Figure{losses(private, twin)},
		Notes: []string{
			"the data are generated: the comparison shows how the parts work and says nothing about the paper's " +
				"numbers",
			"claimed is the paper's theorem; accounted is the budget of the mechanism that ran, for the named unit",
		},
	}
	private.privacy.Show(d)
	d.Conclusion = conclude(c) + "; of its privacy: " + d.Conclusion + "."
	return d, nil
}

// conclude returns a sentence on how much of the ranking quality remains under noise, by the last metric of the
// comparison.
func conclude(c report.Comparison) string {
	last := len(c.Metrics) - 1
	floor := slices.MaxFunc(c.Floors, func(a, b report.Row) int { return cmp.Compare(a.Values[last], b.Values[last]) })
	twin := c.Ours[len(c.Ours)-1].Values[last]
	return fmt.Sprintf("With noise the recommender has %s %.1f %%, the same network without any has %.1f %%, and %s, "+
		"which learns nothing, has %.1f %%",
		c.Metrics[last], 100*c.Ours[0].Values[last], 100*twin, floor.Label, 100*floor.Values[last])
}

func losses(private, twin *outcome) report.Figure {
	f := report.Figure{Title: "Training loss", X: "epoch", Y: "mean cross-entropy (nats)"}
	for _, o := range []*outcome{private, twin} {
		line := report.Line{Name: map[*outcome]string{private: "private", twin: "non-private"}[o]}
		for _, e := range o.Epochs {
			line.X, line.Y = append(line.X, float64(e.Epoch+1)), append(line.Y, e.Loss)
		}
		f.Lines = append(f.Lines, line)
	}
	return f
}

// discard removes the runs of an earlier demo in the directory, so that this one starts afresh. page says whether the
// earlier page is there; it stays. discard fails before it removes anything if the directory holds something that the
// demo did not make, or a run that is being written. The caller holds the directory.
func discard(out string) (page bool, err error) {
	path := filepath.Join(out, pageName)
	text, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil || !bytes.Contains(text, []byte("<title>"+html.EscapeString(title)+"</title>")):
		return false, &run.UsageError{Message: fmt.Sprintf("%s exists and is not a page of the demo", path),
			Fix: "choose another --out"}
	}
	page = err == nil
	return page, run.Discard(note, filepath.Join(out, private), filepath.Join(out, nonPrivate))
}
