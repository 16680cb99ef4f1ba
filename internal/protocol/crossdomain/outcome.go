package crossdomain

import (
	"context"
	"errors"
	"fmt"
	"math"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/stats"
	"privrec/internal/train"
)

// Outcome holds the measurements of a run as metrics.json stores them.
type Outcome struct {
	experiment.Outcome[DataSummary]                     // among sampled items; evaluations among all follow
	FullFloors                      []experiment.Scores `json:"full_floors"` // among all items
	Ties                            float64             `json:"ties"`        // share of sampled places that are shared
	OutOfReach                      int                 `json:"out_of_reach"`
}

// DataSummary identifies the data of a run.
type DataSummary struct {
	experiment.Data
	Target    string `json:"target"`
	Auxiliary string `json:"auxiliary"`
	Users     int    `json:"users"`
	Items     [2]int `json:"items"`
	Samples   [2]int `json:"samples"` // of the reported training
	ValidRows int    `json:"valid_rows"`
	TestRows  int    `json:"test_rows"`
	// Left counts the held-out rows that are not ranked, by domain and reason.
	Left      [2]dataset.LeftOut `json:"left_out"`
	Negatives string             `json:"negatives_sha256"` // of the lists that rows are ranked among
}

// level of the intervals.
const confidence = 0.95

// measure ranks the test rows by the trained model and by the floors.
func (x *Experiment) measure(ctx context.Context, f *experiment.Fitted) (*Outcome, error) {
	t := x.on(x.Model, x.rankedOn())
	ms := x.metrics()
	d := x.Data
	o := &Outcome{Outcome: experiment.NewOutcome(x.Method, Name, x.Standing.Text, DataSummary{
		Data:   experiment.DataOf(d.Name, "", d.Source, d.Ladder, dataset.TestRows),
		Target: d.Domains[0].Name, Auxiliary: d.Domains[1].Name,
		Users: d.Users, Items: [2]int{d.Domains[0].Items, d.Domains[1].Items}, Samples: x.Model.Samples(),
		ValidRows: len(x.valid.users), TestRows: len(x.test.users), Negatives: x.lists,
		Left: [2]dataset.LeftOut{d.Domains[0].Left, d.Domains[1].Left},
	}, ms)}
	o.Trained = experiment.TrainedBy(f, x.Training.Select, x.Training.Epochs,
		train.Length{Epochs: x.Training.Epochs, Patience: x.Training.Patience}, x.Standing)
	o.Floors, o.FullFloors = x.floors(t.rows)
	for _, i := range x.test.items {
		if !t.rows.Known[i] {
			o.OutOfReach++
		}
	}
	r, shared, err := t.sampled(ctx, x.test)
	if err != nil {
		return nil, err
	}
	o.Ties = ties(shared, r)
	if err := o.add(fmt.Sprintf("%s, among %d", o.Method, x.eval.Negatives+1), r); err != nil {
		return nil, err
	}
	if x.Standing.Printed && o.Short == "" && len(x.Env.View().Changes()) == 0 &&
		report.AllowsDelta(x.Data.Source.Level) {
		o.Evaluations[0].Paper, o.Evaluations[0].Printed = x.Paper, x.Printed
	}
	columns := []run.Column{{Name: "user_id", Values: dataset.IDsAt(d.UserIDs, x.test.users)},
		{Name: "place", Values: []float64(r)}}
	for _, m := range ms {
		columns = append(columns, run.Column{Name: m.String(), Values: r.each(m)})
	}
	if x.eval.Full {
		all, err := t.full(ctx, x.test)
		if err != nil {
			return nil, err
		}
		if err := o.add(o.Method+", among all", all); err != nil {
			return nil, err
		}
		columns = append(columns, run.Column{Name: "place_among_all", Values: []float64(all)})
		for _, m := range ms {
			columns = append(columns, run.Column{Name: m.String() + " among all", Values: all.each(m)})
		}
	}
	if best := o.BestOnTest(ms); len(best) > 0 { // the numbers that the released program prints
		o.Evaluations = append(o.Evaluations, experiment.Scores{Name: "best epoch on test, by metric", Values: best})
	}
	return o, x.Env.WriteScores("scores", columns...)
}

// rankedOn returns the rows at whose end test users are ranked: those with validation items. Without refit only items
// of the training rows are within reach.
func (x *Experiment) rankedOn() *Rows {
	if x.Training.Refit {
		return x.final
	}
	rows := *x.final
	rows.Known = x.tuning.Known
	return &rows
}

// add records the means of some places and their intervals: Wilson's for a share of hits, Student's for the other
// metrics, and none if all places have the same value.
func (o *Outcome) add(name string, r ranks) error {
	s := newScores(name, o.Metrics, r)
	s.Intervals = map[string][2]float64{}
	for _, m := range o.Metrics {
		values := r.each(m)
		var i stats.Interval
		var err error
		switch {
		case m.Kind == metrics.HR:
			i, err = stats.Wilson(int(math.Round(stats.Mean(values)*float64(len(values)))), len(values), confidence)
		case len(values) > 1:
			i, err = stats.TInterval(values, confidence)
		default:
			continue
		}
		if errors.Is(err, stats.ErrNoSpread) {
			continue
		}
		if err != nil {
			return err
		}
		s.Intervals[m.String()] = [2]float64{i.Lo, i.Hi}
	}
	o.Evaluations = append(o.Evaluations, s)
	return nil
}

// document returns an outcome as a report.
func (x *Experiment) document(o *Outcome) (*report.Document, error) {
	d := &report.Document{
		Title: fmt.Sprintf("%s on %s: %s helped by %s", o.Method, x.Data.Source.Title, o.Data.Target,
			o.Data.Auxiliary),
		Subtitle: fmt.Sprintf("%s; seed %d", x.Standing.Text, uint64(x.Env.Seed)),
		Level:    x.Data.Source.Level,
		Facts:    x.facts(o),
		Notes:    append(append([]string{}, x.Data.Source.Notes...), x.Notes...),
	}
	if x.Single {
		d.Title = fmt.Sprintf("%s on %s: %s alone", o.Method, x.Data.Source.Title, o.Data.Target)
	}
	sampled, full := o.Evaluations[:1:1], []experiment.Scores(nil)
	for _, e := range o.Evaluations[1:] {
		if e.Name == o.Method+", among all" {
			full = append(full, e)
		} else {
			sampled = append(sampled, e)
		}
	}
	for _, v := range []struct {
		name, title  string
		floors, ours []experiment.Scores
		notes        []string
	}{
		{"sampled", fmt.Sprintf("Test rows among %d items drawn by popularity", x.eval.Negatives), o.Floors, sampled,
			[]string{"a place among sampled items is not a place among all: models can change their order (Krichene " +
				"and Rendle, KDD 2020)"}},
		{"full", "Test rows among all items that the user does not have", o.FullFloors, full, nil},
	} {
		if len(v.ours) == 0 {
			continue
		}
		c := report.Comparison{Name: v.name, Title: v.title, Level: d.Level, Metrics: o.Metrics, Notes: v.notes,
			Floors: experiment.Rows(v.floors, o.Metrics)}
		for _, e := range v.ours {
			c.Ours = append(c.Ours, e.Row(o.Metrics))
			if len(e.Intervals) > 0 {
				text := e.Name + ", 95 % over users:"
				for _, m := range o.Metrics {
					if i, ok := e.Intervals[m.String()]; ok {
						text += fmt.Sprintf(" %v %.2f-%.2f", m, 100*i[0], 100*i[1])
					}
				}
				c.Notes = append(c.Notes, text)
			}
		}
		t, err := c.Table()
		if err != nil {
			return nil, err
		}
		d.Tables = append(d.Tables, t)
	}
	d.Figures = experiment.Curves(o.Method, "mean over steps (nats)", o.Chose())
	return d, nil
}

// facts returns facts about the ranking and the length of training.
func (x *Experiment) facts(o *Outcome) []report.Fact {
	ended := "all of them run"
	if o.Stopped {
		ended = "stopped early"
	}
	if n := len(o.Selection); n > 0 {
		ended += fmt.Sprintf(" after %d, then once more on all rows", n)
	}
	facts := []report.Fact{
		{Label: "ranked", Value: fmt.Sprintf("%d test rows of %d users", o.Data.TestRows, o.Data.Users),
			Note: fmt.Sprintf("%d of the ranked rows ask for an item that no row trained on has and count as misses; "+
				"ties count half, %.2g %% of the sampled places are shared", o.OutOfReach, 100*o.Ties)},
		notRanked(o.Data.Target, o.Data.Left[0]),
		{Label: "epochs", Value: fmt.Sprintf("cap %d, %s", o.Cap, ended),
			Note: fmt.Sprintf("the model of epoch %d is reported, %d steps in all", o.Selected, o.Steps)},
	}
	facts = append(facts, report.ShortTraining(o.Short)...)
	if !x.Single {
		facts = append(facts, report.Fact{Label: "samples", Value: fmt.Sprintf("%d of %s, %d of %s", o.Data.Samples[0],
			o.Data.Target, o.Data.Samples[1], o.Data.Auxiliary),
			Note: "noise that replaces padding makes samples"})
	}
	return facts
}

// notRanked returns a fact about the held-out rows of a domain that are not ranked, with the reasons.
func notRanked(domain string, l dataset.LeftOut) report.Fact {
	f := report.Fact{Label: "left out", Value: fmt.Sprintf("%d of %d test rows of %s", l.Test(), l.TestRows, domain)}
	if l.Test() > 0 {
		f.Value += fmt.Sprintf(", %.1f %%", 100*float64(l.Test())/float64(l.TestRows))
		f.Note = fmt.Sprintf("%d ask for an item that no row before them has, %d for a known one and fall only "+
			"because the validation row of their user does; "+
			"%d of %d validation rows ask for an item that no training row has; the program that prepared the "+
			"paper's data leaves the same rows out, which makes the scores those of easier rows",
			l.TestItem, l.TestByValid, l.ValidItem, l.ValidRows)
	}
	return f
}
