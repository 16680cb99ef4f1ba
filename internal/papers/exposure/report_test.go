package exposure

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/protocol/slates"
)

// Training that its cap ended says so, unless the loss on validation had risen for as long as the
// setting waits.
func TestUnfinished(t *testing.T) {
	for _, c := range []struct {
		name                    string
		ran, selected, patience int
		stopped                 bool
		want                    string
	}{
		{"two epochs of two hundred", 2, 2, 10, false, "trained for 2 epochs, 38 steps, and not until more would not help: a lower bound"},
		{"one epoch", 1, 1, 10, false, "trained for 1 epoch, 38 steps,"},
		{"risen once where ten are waited for", 2, 1, 10, false, "trained for 2 epochs, 38 steps,"},
		{"the last one, nothing waited for", 9, 9, 0, false, "trained for 9 epochs, 38 steps,"},
		{"risen, nothing waited for", 200, 3, 0, false, ""},
		{"risen as long as is waited for", 4, 2, 2, false, ""},
		{"stopped by validation", 12, 2, 10, true, ""},
		{"never trained", 0, 0, 10, false, "random weights: a lower bound"},
	} {
		o := &Outcome{}
		o.Trained = experiment.Trained{Epochs: make([]experiment.Epoch, c.ran), Selected: c.selected, Stopped: c.stopped, Steps: 38}
		if got := o.unfinished(TrainConfig{Patience: c.patience}); got != c.want && (c.want == "" || !strings.Contains(got, c.want)) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A run says in its headline what counts find, and keeps it: where the trained attack finds less,
// that is the leak.
func TestHeadlineOfRun(t *testing.T) {
	dir := t.TempDir()
	text := start(t, dir, "train.epochs=1", "train.sample=0.05", "train.rate=1e-9", "eval.vocabulary=[full]")
	o := result[Outcome](t, dir, "metrics.json")
	p := o.Protocols[0]
	if len(p.Counts) != 2 || p.Counts[0].Name != "co-occurrence" || p.Counts[1].Name != "co-occurrence of the sample" {
		t.Fatalf("counts %+v", p.Counts)
	}
	for _, c := range p.Counts {
		if len(c.Gains) != 3*len(o.Metrics) {
			t.Errorf("%s: %d gains", c.Name, len(c.Gains))
		}
		for _, f := range p.Floors {
			for _, g := range c.Gains {
				if f.Name == c.Name && math.Abs(g.Floor+g.Value-f.Values[g.Metric]) > 1e-12 {
					t.Errorf("%s: %+v, its row says %v", c.Name, g, f.Values[g.Metric])
				}
			}
		}
	}
	line := ""
	for l := range strings.Lines(text) {
		if strings.HasPrefix(l, "leak ") {
			line = l
		}
	}
	own, found := slates.Best(p.Gains, "Recall@10", false), slates.Best(p.Counts[0].Gains, "Recall@10", false)
	if own.Value >= found.Value {
		t.Fatalf("the attack finds %v, counts %v: no test", own.Value, found.Value)
	}
	for _, want := range []string{fmt.Sprintf("%+.2f", 100*found.Value), "by co-occurrence", "trained for 1 epoch,", "a lower bound"} {
		if !strings.Contains(line, want) {
			t.Errorf("headline %q does not say %q", line, want)
		}
	}
}

// Data without the users' clicks leave the accuracy unknown: the sweep is drawn without it, and its
// table says why.
func TestPlotsWithoutAccuracy(t *testing.T) {
	unknown := share(math.NaN())
	point := func(mechanism string, ratio, found float64) FigurePoint {
		return FigurePoint{Mechanism: mechanism, Ratio: ratio, Accuracy: unknown, Distinct: unknown,
			Attackers: []Attacker{{Name: "clean", Found: slates.Found{Values: map[string]float64{"Recall@10": found}}}}}
	}
	f := &Figures{Accuracy: unknown, Points: []FigurePoint{point("as they are", 0, .2), point("random, uniform", .4, .1), point("random, uniform", .8, .05)}}
	plots := f.plots([]string{"Recall@10"})
	if len(plots) != 2 {
		t.Errorf("%d figures, want scores and gains by ratio", len(plots))
	}
	for _, g := range plots {
		if _, err := g.SVG(); err != nil {
			t.Errorf("%s: %v", g.Title, err)
		}
	}
	if notes := strings.Join(f.tables([]string{"Recall@10"}, "Recall@10")[0].Notes, "\n"); !strings.Contains(notes, "the accuracy is not known") {
		t.Errorf("notes of the table: %s", notes)
	}
}

// The strongest attack of the study is what runs where none is named.
func TestDefaultDecoder(t *testing.T) {
	if a := Default().Attack; a.Encoder != "mean" || a.Decoder != "point" {
		t.Errorf("the default is %s encoder, %s decoder", a.Encoder, a.Decoder)
	}
}

// A run says where it trained for fewer epochs than its profile states, for tables that would
// set it against the paper; one on a run's recommendations has no paper.
func TestShortTraining(t *testing.T) {
	c := Default()
	standing, err := c.standing()
	if err != nil {
		t.Fatal(err)
	}
	if got := standing.Stated.Short(c.Train.length(), 2, false); got != "trained for 2 of the 200 epochs stated, ended by the cap" {
		t.Error(got)
	}
	if got := standing.Stated.Short(c.Train.length(), 20, true); got != "" {
		t.Error(got)
	}
	if o := startOutcome(t, "profile=paper", "train.epochs=1", "eval.vocabulary=[full]"); !strings.Contains(o.Short, "trained for 1 of the 200 epochs stated") {
		t.Errorf("short %q", o.Short)
	}
}
