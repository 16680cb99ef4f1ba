package inference

import (
	"fmt"
	"math"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/metrics"
	"privrec/internal/stats"
)

// Name is the protocol in results.
const Name = "inference"

// Outcome holds the measurements of a run as metrics.json stores them. Its floors are the majority, then every attacker
// on interactions alone. Its evaluations are every attacker on every input, the main one first.
type Outcome struct {
	experiment.Outcome[DataSummary]
	Targets    []Target     `json:"targets"`
	Attributes []*Attribute `json:"attributes"`
	Rows       []Row        `json:"rows"`
	Gains      []Gain       `json:"gains"`
	Leaks      []Leak       `json:"leaks"`
}

// DataSummary identifies the data of a run.
type DataSummary struct {
	experiment.Data
	Users      int     `json:"users"`       // attacked
	TrainUsers []int   `json:"train_users"` // of a split, by attribute
	TestUsers  []int   `json:"test_users"`
	Items      int     `json:"items"` // columns of the attacker's input
	Repeats    int     `json:"repeats"`
	Share      float64 `json:"share"`
}

// Row identifies an evaluation or a floor.
type Row struct {
	Name     string `json:"name"` // of the evaluation
	Target   string `json:"target,omitempty"`
	Sees     string `json:"sees"`        // what the attacker sees; empty: nothing
	K        int    `json:"k,omitempty"` // items of a list
	Attacker string `json:"attacker"`
	// Unsuitable gives the reason why the attacker cannot work on its input. The row then has no values.
	Unsuitable string `json:"unsuitable,omitempty"`

	target, input, attacker int
}

// Gain holds the mean over splits of paired differences in a metric: an attacker less a floor that was trained and
// tested on the same users.
type Gain struct {
	Row       string      `json:"row"`
	Attribute string      `json:"attribute"`
	Metric    string      `json:"metric"`
	Over      string      `json:"over"` // OverMajority or OverInteractions
	Floor     float64     `json:"floor"`
	Value     float64     `json:"value"`
	Interval  *[2]float64 `json:"interval"` // null: one split has none

	row, attribute int
	score          metrics.ClassScore
}

// Names of the floors of gains.
const (
	OverMajority     = "majority"
	OverInteractions = "the same attacker on interactions alone"
)

// sure returns 1 if the whole interval lies above 0, -1 if below, else 0.
func (g Gain) sure() int {
	switch {
	case g.Interval != nil && g.Interval[0] > 0:
		return 1
	case g.Interval != nil && g.Interval[1] < 0:
		return -1
	}
	return 0
}

// gained lists the metrics with gains. Micro F1 is the paper's. Balanced accuracy and AUC are at chance for any
// attacker without knowledge, however often it answers the majority.
var gained = []metrics.ClassScore{metrics.MicroF1Score, metrics.BalancedScore, metrics.AUCScore}

// metricName returns the name of a score of an attribute.
func metricName(score metrics.ClassScore, attribute string) string {
	return metrics.ClassMetric{Score: score, Of: attribute}.String()
}

// definitions returns the definitions of the metrics by name.
func definitions(all []*Attribute) map[string]string {
	out := map[string]string{}
	for _, a := range all {
		for _, s := range metrics.ClassScores() {
			out[metricName(s, a.Name)] = metrics.ClassMetric{Score: s, Of: a.Name}.Definition()
		}
	}
	return out
}

// result computes means and gains from the cells of a plan.
type result struct {
	*plan
	cells []cell
}

// values returns a score of an attacker on an input, one value a split.
func (r *result) values(input, attribute, attacker int, score metrics.ClassScore) []float64 {
	out := make([]float64, r.cfg.Attack.Repeats)
	for i := range out {
		out[i] = r.cells[r.index(cellOf{input, attribute, i})][attacker].Scores[score]
	}
	return out
}

// interval returns the corrected t interval of a mean over splits; nil for one split, or if a value is not defined. It
// takes the standard deviation to be at least one test user's share.
func (r *result) interval(attribute int, x []float64) (*[2]float64, error) {
	if len(x) < 2 || math.IsNaN(stats.Mean(x)) {
		return nil, nil
	}
	s := r.splits[attribute][0]
	test := float64(len(s.Test))
	i, err := stats.ResampledT(x, test/float64(len(s.Train)), 1/test, r.cfg.Eval.Confidence)
	if err != nil {
		return nil, err
	}
	return &[2]float64{i.Lo, i.Hi}, nil
}

// scoresOf returns the means of an attacker on an input, over all attributes.
func (r *result) scoresOf(row Row) (experiment.Scores, error) {
	s := experiment.Scores{Name: row.Name, Values: map[string]float64{}, Intervals: map[string][2]float64{}}
	for a, attribute := range r.attributes {
		for _, k := range metrics.ClassScores() {
			x := r.values(row.input, a, row.attacker, k)
			mean := stats.Mean(x)
			if math.IsNaN(mean) {
				continue
			}
			s.Values[metricName(k, attribute.Name)] = mean
			i, err := r.interval(a, x)
			if err != nil {
				return s, err
			}
			if i != nil {
				s.Intervals[metricName(k, attribute.Name)] = *i
			}
		}
	}
	return s, nil
}

// gain returns the gains of a row over the same or another attacker on another input.
func (r *result) gain(row Row, at int, over string, input, attacker int) (list []Gain, err error) {
	for a, attribute := range r.attributes {
		for _, k := range gained {
			own, floor := r.values(row.input, a, row.attacker, k), r.values(input, a, attacker, k)
			d := make([]float64, len(own))
			for i := range d {
				d[i] = own[i] - floor[i]
			}
			g := Gain{Row: row.Name, Attribute: attribute.Name, Metric: k.String(), Over: over,
				Floor: stats.Mean(floor), Value: stats.Mean(d), row: at, score: k, attribute: a}
			if math.IsNaN(g.Value) {
				continue
			}
			if g.Interval, err = r.interval(a, d); err != nil {
				return nil, err
			}
			list = append(list, g)
		}
	}
	return list, nil
}

// alone returns the number of the input with the interactions of a target alone; -1 if they are unknown.
func (r *result) alone(target int) int {
	for i, in := range r.inputs {
		if in.sees == SeesInteractions && in.target == r.targets[target].same {
			return i
		}
	}
	return -1
}

// rows lists the floors, then every attacker on every input, target by target. An input shared by several targets gives
// each of them a row.
func (r *result) rows() (floors, rows []Row) {
	name := func(row *Row) {
		in := r.inputs[row.input]
		row.Sees, row.K = in.sees, in.k
		row.Name = fmt.Sprintf("%s, %s", in.text(), row.Attacker)
		if row.Target != "" {
			row.Name = row.Target + ", " + row.Name
		}
		for a := range r.attributes {
			for i := range r.cfg.Attack.Repeats {
				if c := r.cells[r.index(cellOf{row.input, a, i})][row.attacker]; c.Unsuitable != "" {
					row.Unsuitable = c.Unsuitable
				}
			}
		}
	}
	floors = append(floors, Row{Name: Majority, Attacker: Majority})
	for i, in := range r.inputs {
		if in.sees != SeesInteractions {
			continue
		}
		for k, a := range r.attackers {
			row := Row{Attacker: a.Name(), input: i, attacker: k, target: in.target}
			if r.ownInteractions() {
				row.Target = r.targets[in.target].Name
			}
			name(&row)
			floors = append(floors, row)
		}
	}
	for t, target := range r.targets {
		for _, sees := range r.cfg.Attack.Sees {
			for i, in := range r.inputs {
				if in.sees != sees || in.target != t && !(sees == SeesInteractions && in.target == target.same) {
					continue
				}
				for k, a := range r.attackers {
					row := Row{Target: target.Name, Attacker: a.Name(), input: i, attacker: k, target: t}
					name(&row)
					rows = append(rows, row)
				}
			}
		}
	}
	return floors, rows
}

// ownInteractions reports whether targets differ in their interactions.
func (r *result) ownInteractions() bool {
	for _, t := range r.targets {
		if t.same != 0 {
			return true
		}
	}
	return false
}

// outcome computes means, gains and leaks from the cells.
func (r *result) outcome(standing experiment.Standing, printed Printed) (*Outcome, error) {
	o := &Outcome{Attributes: r.attributes, Gains: []Gain{}, Outcome: experiment.Outcome[DataSummary]{
		Version: experiment.Version, Protocol: Name, Method: "attribute inference", Setting: standing.Text,
		Data:    r.summary(),
		Metrics: []metrics.Metric{}, Definitions: definitions(r.attributes),
		Trained: experiment.Trained{Epochs: []experiment.Epoch{}},
	}}
	for _, t := range r.targets {
		o.Targets = append(o.Targets, t.Target)
	}
	floors, rows := r.rows()
	o.Rows = append(floors, rows...)
	for i, row := range o.Rows {
		s, err := r.scoresOf(row)
		if err != nil {
			return nil, err
		}
		if i < len(floors) {
			o.Floors = append(o.Floors, s)
		} else {
			r.print(&s, row, printed)
			o.Evaluations = append(o.Evaluations, s)
		}
		if i == 0 {
			continue
		}
		list, err := r.gain(row, i, OverMajority, 0, 0)
		if err != nil {
			return nil, err
		}
		o.Gains = append(o.Gains, list...)
		if alone := r.alone(row.target); i >= len(floors) && row.Sees != SeesInteractions && alone >= 0 {
			if list, err = r.gain(row, i, OverInteractions, alone, row.attacker); err != nil {
				return nil, err
			}
			o.Gains = append(o.Gains, list...)
		}
	}
	if len(o.Evaluations) == 0 { // the majority alone was asked for
		o.Evaluations = o.Floors[:1]
	}
	o.Leaks = o.leaks(r.cfg)
	return o, nil
}

// cells returns the gains of every attacker over the floors as cells.
func (o *Outcome) cells() (all []experiment.Cell) {
	for _, g := range o.Gains {
		row := o.Rows[g.row]
		name := strings.TrimPrefix(row.Name, row.Target+", ")
		c := experiment.Beyond(name, g.Metric+" "+g.Attribute, g.Over, g.Floor, g.Value, g.Interval)
		c.Of, c.Sees, c.Budget = row.Target, row.Sees, "one guess for each user"
		c.About = fmt.Sprintf("%d users, %d splits", o.Data.Users, o.Data.Repeats)
		all = append(all, c)
	}
	return all
}

// summary returns the description of the data.
func (r *result) summary() DataSummary {
	d := DataSummary{Users: len(r.users), Items: r.items, Repeats: r.cfg.Attack.Repeats, Share: r.cfg.Attack.Share}
	first := r.targets[0]
	d.Name, d.Recipe = first.Data, first.Recipe
	if d.Name == "" {
		d.Name = first.Name
	}
	d.Level = levelOf(r.targets)
	d.Source = dataset.Source{Title: d.Name, StandIn: d.Level == dataset.LevelD, Level: d.Level}
	d.Ladder = dataset.Ladder{{Name: "attacked users", Users: len(r.users), Items: r.items, Rows: first.Had}}
	for a := range r.attributes {
		s := r.splits[a][0]
		d.TrainUsers, d.TestUsers = append(d.TrainUsers, len(s.Train)), append(d.TestUsers, len(s.Test))
	}
	return d
}

// Printed returns a paper's printed value for one attribute of an evaluation, and its place in the paper. ok is false
// if the paper prints nothing for the setting.
type Printed func(t Target, row Row, attribute string) (value float64, where string, ok bool)

// print adds the printed values of a row.
func (r *result) print(s *experiment.Scores, row Row, printed Printed) {
	if printed == nil {
		return
	}
	for _, a := range r.attributes {
		v, where, ok := printed(r.targets[row.target].Target, row, a.Name)
		if !ok {
			continue
		}
		if s.Paper == nil {
			s.Paper = map[string]float64{}
		}
		s.Paper[metricName(metrics.MicroF1Score, a.Name)], s.Printed = v, where
	}
}
