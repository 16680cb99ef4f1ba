package forgetting

import (
	"context"
	"fmt"

	"privrec/internal/attack/detect"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/tensor"
)

// Name is the protocol in results, and the name of the task.
const Name = "forgetting"

// Outcome holds the results of a comparison as metrics.json stores them. Its evaluations are the ways, the first
// model's first, and the attack whose numbers they have is the first one. Its floors see no model: they rank by chance
// and by popularity, and tell the forgotten from strangers by nothing and by the popularity of their items. Intervals
// hold for all attacks on a way together.
type Outcome struct {
	experiment.Outcome[DataSummary]
	Ways     []Way     `json:"ways"`
	Outside  []Found   `json:"without_model"`      // what tells the forgotten from strangers without a model
	Requests []Request `json:"requests,omitempty"` // of shards
}

// DataSummary identifies the data and counts the users of each kind.
type DataSummary struct {
	experiment.Data
	Forgotten int `json:"forgotten"`
	Strangers int `json:"strangers"`
	Remaining int `json:"remaining"`
	Lost      int `json:"forgotten_rows"` // training rows of the forgotten
	Rows      int `json:"remaining_rows"`
}

// Way says how a way forgets, which strengths were tried, and what each attack finds of the forgotten in it.
type Way struct {
	Name    string  `json:"name"`
	How     string  `json:"how"`
	Pairs   int64   `json:"pairs"` // that were read for it
	Tries   []Try   `json:"tries,omitempty"`
	Attacks []Found `json:"attacks"`
}

// Found holds what one attack finds of the forgotten.
type Found struct {
	Attack string     `json:"attack"`
	AUC    float64    `json:"auc"`
	In     [2]float64 `json:"interval"`
	TPR    float64    `json:"tpr"` // at 1 % false positives
	TPRIn  [2]float64 `json:"tpr_interval"`

	over   string // the best floor of the AUC
	floor  float64
	left   float64 // beyond it
	leftIn [2]float64
}

// tells reports whether the attack tells the forgotten from strangers, in either direction.
func (f Found) tells() bool { return f.In[0] > 0.5 || f.In[1] < 0.5 }

// found returns the number of attacks that tell the forgotten from strangers.
func (w Way) found() (n int) {
	for _, f := range w.Attacks {
		if f.tells() {
			n++
		}
	}
	return n
}

// told is what the attacks tell: who was a member of the first training, and is forgotten, or a stranger.
const told = "member users"

// Metrics of a way, by name.
var (
	metricAUC = metrics.DetectMetric{Score: metrics.DetectAUC, Of: told}.String()
	metricTPR = metrics.DetectMetric{Score: metrics.TPRAtHundredth, Of: told}.String()
)

// Further metrics of a way, by name.
const (
	metricTold  = "attacks that tell"
	metricApart = "distance"
	metricLost  = "distance of forgotten"
	metricWork  = "work"
)

// define adds the definitions of the metrics.
func define(of map[string]string) {
	for _, score := range []metrics.DetectScore{metrics.DetectAUC, metrics.TPRAtHundredth} {
		m := metrics.DetectMetric{Score: score, Of: told}
		of[m.String()] = m.Definition()
	}
	of[metricTold] = "number of attacks whose interval of the AUC is without one half"
	of[metricApart] = "1 less the correlation of a remaining user's scores of all items with those of a model that " +
		"was trained from the start with another seed, mean over users"
	of[metricLost] = "likewise, of forgotten users, by vectors that are fitted to their rows"
	of[metricWork] = "pairs that were read to forget, over those of training from the start"
}

// outcome measures every way.
func (s *study) outcome(ctx context.Context, x *compared) (*Outcome, error) {
	defer s.env.Stage("measure")()
	o := &Outcome{Outcome: experiment.NewOutcome("forgetting, "+s.Model.Name, Name, s.standing.Text, DataSummary{
		Data:      experiment.DataOf(s.data.Name, s.data.Recipe, s.data.Source, s.data.Ladder, s.data.InPlace),
		Forgotten: len(s.forgotten), Strangers: len(s.strangers), Remaining: len(s.remaining), Rows: s.rest.Edges(),
	}, []metrics.Metric{recall, gain})}
	o.Trained = experiment.Trained{Epochs: []experiment.Epoch{}}
	define(o.Definitions)
	for _, u := range s.forgotten {
		o.Data.Lost += len(s.data.Train[u])
	}
	if err := s.detect(x, o); err != nil {
		return nil, err
	}
	if err := s.floors(ctx, o); err != nil {
		return nil, err
	}
	for k, w := range x.ways {
		values, err := s.rank(ctx, w.shown, s.data.Test, s.data.Valid)
		if err != nil {
			return nil, err
		}
		row, f := experiment.NewScores(w.name, "", values), o.Ways[k].Attacks[mainAttack]
		apart, lost, err := s.apart(w.shown, x.references[0].shown)
		if err != nil {
			return nil, err
		}
		row.Values[metricAUC], row.Values[metricTPR], row.Values[metricTold] = f.AUC, f.TPR, float64(o.Ways[k].found())
		row.Values[metricApart], row.Values[metricLost] = apart, lost
		if w.name != wayBefore && w.name != waySharded {
			row.Values[metricWork] = float64(w.pairs) / float64(x.ways[1].pairs)
		}
		row.Intervals = map[string][2]float64{metricAUC: f.In, metricTPR: f.TPRIn}
		o.Evaluations = append(o.Evaluations, row)
	}
	if x.sharded {
		o.Requests = s.requests(1, 5, len(s.forgotten))
	}
	return o, nil
}

// detect measures every attack on every way, and the floors, over the same resamples of users. The level of the
// intervals is such that all attacks on a way are within theirs together.
func (s *study) detect(x *compared, o *Outcome) error {
	c := detect.Candidates{Positive: s.positive()}
	c.Count = len(c.Positive)
	for k := range c.Count {
		c.Cluster = append(c.Cluster, int32(k))
	}
	var all []detect.Attack
	number := 0
	for _, w := range x.ways {
		attacks := x.attacks(w.evidence)
		number = len(attacks)
		for _, a := range attacks {
			all = append(all, detect.Attack{Name: a.name, Score: a.score})
		}
	}
	for _, a := range s.outside() {
		all = append(all, detect.Attack{Name: a.name, Score: a.score, Floor: true})
	}
	results, err := detect.Compare(c, all, detect.Options{Measure: detect.Detections(1),
		Resamples: s.Eval.Resamples, Confidence: 1 - (1-s.Eval.Confidence)/float64(number),
		Seed: s.env.Seed.Stream("forgetting resamples")})
	if err != nil {
		return err
	}
	const auc, tpr = metrics.DetectAUC, metrics.TPRAtHundredth
	for k, w := range x.ways {
		y := Way{Name: w.name, How: w.how, Pairs: w.pairs, Tries: w.tries}
		for _, r := range results[k*number:][:number] {
			y.Attacks = append(y.Attacks, Found{Attack: r.Name, AUC: r.Values[auc], In: r.Interval[auc],
				TPR: r.Values[tpr], TPRIn: r.Interval[tpr], over: results[r.Best[auc]].Name,
				floor: results[r.Best[auc]].Values[auc], left: r.Beyond[auc], leftIn: r.Left[auc]})
		}
		o.Ways = append(o.Ways, y)
	}
	for _, r := range results[len(x.ways)*number:] {
		o.Outside = append(o.Outside, Found{Attack: r.Name, AUC: r.Values[auc], In: r.Interval[auc], TPR: r.Values[tpr],
			TPRIn: r.Interval[tpr]})
	}
	return nil
}

// floors adds the floors: lists and membership by chance, and by popularity.
func (s *study) floors(ctx context.Context, o *Outcome) error {
	counts := make(eval.Same, s.data.Items)
	for i := range counts {
		counts[i] = tensor.Float(s.rest.ItemDegree(i))
	}
	popular, err := s.rank(ctx, counts, s.data.Test, s.data.Valid)
	if err != nil {
		return err
	}
	random := make([]metrics.Value, len(popular))
	for k, v := range popular {
		random[k] = metrics.Value{Metric: v.Metric, Count: v.Count}
		for _, u := range s.remaining {
			if n := len(s.data.Test[u]); n > 0 {
				seen := len(s.data.Train[u]) + len(s.data.Valid[u])
				random[k].Value += v.Metric.Random(s.data.Items-seen, n) / float64(v.Count)
			}
		}
	}
	for k, values := range [][]metrics.Value{random, popular} {
		row, f := experiment.NewScores([]string{"random", "popularity"}[k], "", values), o.Outside[k]
		row.Values[metricAUC], row.Values[metricTPR] = f.AUC, f.TPR
		row.Intervals = map[string][2]float64{metricAUC: f.In, metricTPR: f.TPRIn}
		o.Floors = append(o.Floors, row)
	}
	return nil
}

// cells returns what the first attack finds of the forgotten in every way, beyond the best floor.
func (o *Outcome) cells() (all []experiment.Cell) {
	for _, w := range o.Ways {
		f := w.Attacks[mainAttack]
		c := experiment.Beyond(w.Name, metricAUC, f.over, f.floor, f.left, &f.leftIn)
		c.Sees, c.Budget = "vectors of items", "a score for each user"
		c.About = fmt.Sprintf("%d users, %d of them forgotten", o.Data.Forgotten+o.Data.Strangers, o.Data.Forgotten)
		all = append(all, c)
	}
	return all
}
