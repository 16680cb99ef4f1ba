package imported

import (
	"cmp"
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/protocol/topn"
	"privrec/internal/report"
)

// Outcome holds the results of an import as metrics.json stores them. Without truth it has neither floors nor scores.
type Outcome struct {
	experiment.Outcome[topn.DataSummary]
	Imported Summary `json:"imported"`
}

// Summary describes the data of an imported model.
type Summary struct {
	Program string `json:"program,omitempty"` // that trained it, as the user says
	Shows   string `json:"shows"`             // lists, or the form's own word
	Hash    string `json:"sha256"`            // of what it shows
	Ordered string `json:"order_of_histories"`
	Counts  Counts `json:"counts"`
}

// setting returns a one-line description of the model.
func (m *Model) setting() string {
	return fmt.Sprintf("%s of a model that another program trained (%s)", m.Shown.What(),
		cmp.Or(m.Program, "it is not said which"))
}

// order returns a sentence about what the order of histories rests on.
func (r *Rows) order() string {
	if r.Timed {
		return "behaviours are in the order of time"
	}
	return "the training rows have no times: behaviours are in the order of the file"
}

// metrics returns the metrics of the tables.
func (m *Model) metrics() []metrics.Metric {
	return Metrics(m.K)
}

// judged lists the users with truth.
func (r *Rows) judged() (users []int32) {
	for u, items := range r.Data.Test {
		if len(items) > 0 {
			users = append(users, int32(u))
		}
	}
	return users
}

// outcome measures the model against the truth, beside random order and popularity. ranks holds the ranks of the truth,
// by user of judged; nil without truth.
func (m *Model) outcome(ctx context.Context) (o *Outcome, ranks [][]int32, err error) {
	d, rows := m.Rows.Data, 0
	for _, items := range d.Train {
		rows += len(items)
	}
	judged := m.Rows.judged()
	ms := m.metrics()
	s := topn.DataSummary{Data: experiment.DataOf(d.Name, folder, d.Source, d.Ladder, dataset.TestRows),
		Users: d.Users, Items: d.Items, TrainRows: rows, TestUsers: len(judged)}
	for _, u := range judged {
		s.TestRows += len(d.Test[u])
	}
	s.UnseenUsers, s.UnseenItems = d.Only()
	o = newOutcome(m.Name, m.setting(), s, ms)
	o.Imported = Summary{Program: m.Program, Shows: m.Shown.What(), Hash: m.Shown.Hash(), Ordered: m.Rows.order(),
		Counts: m.Counts}
	if len(judged) == 0 {
		return o, nil, nil
	}
	o.Floors = m.floors(judged)
	best, err := m.Shown.Best(ctx, judged, deepest(m.K))
	if err != nil {
		return nil, nil, err
	}
	for j, u := range judged {
		var list []int32
		for _, e := range best[j] {
			list = append(list, e.Item)
		}
		ranks = append(ranks, metrics.RanksIn(list, d.Test[u]))
	}
	o.Evaluations = append(o.Evaluations, experiment.NewScores(m.Name, "", metrics.SummarySet(ms, ranks)))
	return o, ranks, nil
}

// newOutcome returns an outcome without floors and evaluations.
func newOutcome(name, setting string, s topn.DataSummary, ms []metrics.Metric) *Outcome {
	o := &Outcome{Outcome: experiment.NewOutcome(name, topn.Name, setting, s, ms)}
	o.Floors, o.Evaluations, o.Epochs = []experiment.Scores{}, []experiment.Scores{}, []experiment.Epoch{}
	return o
}

// RankedElsewhere returns the outcome of vectors that another program ranked, for rows too large for one machine.
func RankedElsewhere(name string, s topn.DataSummary, n Counts, ms []metrics.Metric, floors []experiment.Scores,
	own experiment.Scores) *Outcome {
	o := newOutcome(name, "vectors of a model that another program trained, ranked in shards of users", s, ms)
	o.Imported = Summary{Shows: "vectors", Ordered: "the order of rows has no part in it", Counts: n}
	o.Floors, o.Evaluations = floors, []experiment.Scores{own}
	return o
}

// deepest returns the largest cutoff.
func deepest(cutoffs []int) (k int) {
	for _, c := range cutoffs {
		k = max(k, c)
	}
	return k
}

// floors returns the scores of random order, in expectation, and of popularity in training, each without the user's own
// training items except those of the truth.
func (m *Model) floors(judged []int32) []experiment.Scores {
	d := m.Rows.Data
	count := make([]int64, d.Items)
	for _, items := range d.Train {
		for _, i := range items {
			count[i]++
		}
	}
	f := NewFloors(m.metrics(), count)
	sums := make([]float64, len(f.Metrics))
	var ranks [][]int32
	for _, u := range judged {
		random, popular := f.Of(d.Train[u], d.Test[u])
		for k, v := range random {
			sums[k] += v
		}
		ranks = append(ranks, popular)
	}
	var random []metrics.Value
	for k, metric := range f.Metrics {
		random = append(random, metrics.Value{Metric: metric, Value: sums[k] / float64(len(judged)),
			Count: len(judged)})
	}
	return []experiment.Scores{experiment.NewScores(RandomFloor, "", random),
		experiment.NewScores(PopularityFloor, "", metrics.SummarySet(f.Metrics, ranks))}
}

// Document returns an outcome as a report.
func (o *Outcome) Document(level dataset.Level) (*report.Document, error) {
	d, n := o.Data, o.Imported.Counts
	doc := &report.Document{
		Title: fmt.Sprintf("%s, imported", o.Method), Subtitle: o.Setting, Level: level,
		Facts: []report.Fact{
			{Label: "shows", Value: o.Imported.Shows, Note: fmt.Sprintf("of %d users, at most %d items each", n.Listed,
				n.Longest)},
			{Label: "training rows", Value: fmt.Sprintf("%d of %d users, %d items in all files", d.TrainRows, d.Users,
				d.Items), Note: o.Imported.Ordered},
		},
		Notes: n.notes(),
	}
	if len(o.Evaluations) == 0 {
		doc.Notes = append(doc.Notes, "no truth was given: nothing is measured, and attacks work all the same")
		return doc, nil
	}
	doc.Facts = append(doc.Facts,
		report.Fact{Label: "truth", Value: fmt.Sprintf("%d rows of %d users", d.TestRows, d.TestUsers)})
	for _, m := range o.Metrics {
		if m.K > n.Longest {
			doc.Notes = append(doc.Notes,
				fmt.Sprintf("a cut-off above %d reads no further than the lists do, while the floors read on",
					n.Longest))
			break
		}
	}
	t, err := o.table(level)
	doc.Tables = []*report.Table{t}
	return doc, err
}

// table returns the scores of the model beside its floors.
func (o *Outcome) table(level dataset.Level) (*report.Table, error) {
	c := report.Comparison{Name: "ranking", Title: "Rows of the truth found in the first K items", Level: level,
		Metrics: o.Metrics,
		Floors:  experiment.Rows(o.Floors, o.Metrics), Ours: experiment.Rows(o.Evaluations, o.Metrics)}
	return c.Table()
}
