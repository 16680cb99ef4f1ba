package experiment

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/metrics"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/train"
)

// Version is the version of metrics.json and privacy.json that this program writes. Files
// without a version have version 0: they count epochs from 0, and each protocol has its own
// names and order of fields.
const Version = 2

// Outcome holds the measurements of a run as metrics.json stores them. It has no times, so a resumed run writes the
// same bytes. Scores are shares, not percent; epochs count from 1. D identifies the data: Data, and the counts of a
// protocol. Protocols embed an Outcome and add measurements of their own.
type Outcome[D any] struct {
	Version     int               `json:"version"`
	Method      string            `json:"method"`
	Protocol    string            `json:"protocol"` // next-item, top-n, cross-domain or slates
	Setting     string            `json:"setting"`  // the profile, and what differs from it
	Data        D                 `json:"data"`
	Metrics     []metrics.Metric  `json:"metrics"`
	Definitions map[string]string `json:"definitions"` // by metric name
	Floors      []Scores          `json:"floors"`
	Evaluations []Scores          `json:"evaluations"`
	Trained
}

// NewOutcome returns the outcome of a method under a protocol, without scores. setting is the text of its standing.
func NewOutcome[D any](method, protocol, setting string, data D, ms []metrics.Metric) Outcome[D] {
	return Outcome[D]{Version: Version, Method: method, Protocol: protocol, Setting: setting, Data: data, Metrics: ms,
		Definitions: Define(ms, metrics.Metric.Definition)}
}

// CheckCutoffs fails if a cutoff is above the number of ranked items. what completes "than the 3 items", such as
// "ranked".
func CheckCutoffs(ks []int, items int, what string) error {
	for _, k := range ks {
		if k > items {
			message := fmt.Sprintf("eval.k: cutoff %d is more than the %d items %s", k, items, what)
			return &run.UsageError{Message: message, Fix: "leave that cutoff out"}
		}
	}
	return nil
}

// Data identifies the data of a run.
type Data struct {
	Name   string         `json:"name"`
	Recipe string         `json:"recipe,omitempty"`
	Level  dataset.Level  `json:"evidence_level"`
	Source dataset.Source `json:"source"`
	Ladder dataset.Ladder `json:"ladder"`
	// Candidates is the number of sampled items that each test row is ranked among, apart from the other test rows. 0:
	// no sampling.
	Candidates int `json:"sampled_candidates,omitempty"`
	// InPlace names the rows that replace test rows, which are withheld while settings are chosen. Empty: test rows are
	// measured.
	InPlace string `json:"measured_rows,omitempty"`
}

// DataOf returns the identity of data. inPlace says which rows take the place of test rows.
func DataOf(name, recipe string, s dataset.Source, l dataset.Ladder, inPlace dataset.InPlace) Data {
	d := Data{Name: name, Recipe: recipe, Level: s.Level, Source: s, Ladder: l}
	if inPlace != dataset.TestRows {
		d.InPlace = Validation
	}
	return d
}

// Named returns the name of the data set, with its recipe if it has one.
func (d Data) Named() string { return dataset.Named(d.Name, d.Recipe) }

// Validation is the value of Data.InPlace for rows held out of training.
const Validation = "validation"

// Measured returns the name of the measured rows.
func (d Data) Measured() string { return cmp.Or(d.InPlace, "test") }

// Scores holds one row of results.
type Scores struct {
	Name string `json:"name"`
	// of a run that ranks several: noisy, avg, clean; noise on or off
	Release string             `json:"release,omitempty"`
	Values  map[string]float64 `json:"values"` // by metric name
	// means over users of their means, where Values are over samples
	Users     map[string]float64    `json:"users,omitempty"`
	Intervals map[string][2]float64 `json:"intervals,omitempty"`
	Guesses   map[string]float64    `json:"guesses,omitempty"` // mean number of distinct items named, by cutoff
	// what is printed for the same setting; absent where nothing is
	Paper   map[string]float64 `json:"paper,omitempty"`
	Printed string             `json:"printed,omitempty"` // where
}

// NewScores returns a row of means.
func NewScores(name, release string, values []metrics.Value) Scores {
	s := Scores{Name: name, Release: release, Values: map[string]float64{}}
	for _, v := range values {
		s.Values[v.Metric.String()] = v.Value
	}
	return s
}

// Row returns the scores in the order of the metrics, for a comparison.
func (s Scores) Row(ms []metrics.Metric) report.Row {
	r := report.Row{Label: s.Name}
	for _, m := range ms {
		r.Values = append(r.Values, s.Values[m.String()])
		if s.Paper == nil {
			continue
		}
		v, ok := s.Paper[m.String()]
		if !ok {
			v = report.Missing
		}
		r.Paper = append(r.Paper, v)
	}
	return r
}

// Rows returns the rows of a comparison.
func Rows(all []Scores, ms []metrics.Metric) (rows []report.Row) {
	for _, s := range all {
		rows = append(rows, s.Row(ms))
	}
	return rows
}

// PrintedIn returns the source of the printed values of some rows; empty if no row has any.
func PrintedIn(all []Scores) string {
	var where []string
	for _, s := range all {
		if s.Printed != "" && !slices.Contains(where, s.Printed) {
			where = append(where, s.Printed)
		}
	}
	return strings.Join(where, " and ")
}

// UnmarshalJSON reads files of version 0 too. Their printed values had other shapes and are
// left out.
func (s *Scores) UnmarshalJSON(b []byte) error {
	type plain Scores // without this method
	in := struct {
		*plain
		Noise string          `json:"noise"` // version 0, of next-item
		Paper json.RawMessage `json:"paper"`
	}{plain: (*plain)(s)}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	if in.Noise != "" {
		s.Release = in.Noise
	}
	var paper map[string]float64
	if json.Unmarshal(in.Paper, &paper) == nil {
		s.Paper = maps.Clone(paper)
	}
	return nil
}

// Trained holds the length and the epochs of the reported training.
type Trained struct {
	Selected int  `json:"selected_epoch"` // of the evaluated model; 0: nothing was trained by epochs
	Cap      int  `json:"epoch_cap"`
	Steps    int  `json:"steps"` // of all trainings
	Stopped  bool `json:"stopped_early"`
	// why the training is shorter than that of its profile, and not set against the paper
	Short     string  `json:"short,omitempty"`
	Epochs    []Epoch `json:"epochs"`              // of the training that is reported
	Selection []Epoch `json:"selection,omitempty"` // of the one that chose how long it lasts
}

// Epoch holds the results of one pass over the training data.
type Epoch struct {
	Epoch   int           `json:"epoch"` // from 1
	Steps   int           `json:"steps"`
	Samples int           `json:"samples"`
	Loss    float64       `json:"loss"` // mean over the samples
	Rate    float64       `json:"rate"` // of the last step
	Scores  []train.Score `json:"scores,omitempty"`
	Best    bool          `json:"best,omitempty"` // the best so far by the score that selects
}

// TrainedBy returns the description of a fit's trainings. selected says that validation chose among the epochs. cap is
// the largest possible number of epochs, and own the training length of the setting.
func TrainedBy(f *Fitted, selected bool, cap int, own train.Length, s Standing) Trained {
	chose := f.Chose()
	t := Trained{
		Selected: f.Epoch(selected), Cap: cap, Steps: f.Steps, Stopped: chose.Stopped, Epochs: epochs(f.Result),
		Short: s.Stated.Short(own, len(chose.Epochs), chose.Stopped),
	}
	if f.Selection != nil {
		t.Selection, t.Steps = epochs(f.Selection), f.Steps+f.Selection.Steps
	}
	return t
}

// Chose returns the epochs of the training that validation stopped.
func (t Trained) Chose() []Epoch {
	if len(t.Selection) > 0 {
		return t.Selection
	}
	return t.Epochs
}

// BestOnTest returns by metric the best score of an epoch on test, as released programs print it. It is empty if test
// rows were not ranked after epochs.
func (t Trained) BestOnTest(ms []metrics.Metric) map[string]float64 {
	best := map[string]float64{}
	for _, e := range t.Epochs {
		for _, m := range ms {
			for _, s := range e.Scores {
				if s.Name == OnTest+m.String() {
					best[m.String()] = max(best[m.String()], s.Value)
				}
			}
		}
	}
	return best
}

func epochs(r *train.Result) []Epoch {
	out := make([]Epoch, len(r.Epochs))
	for i, e := range r.Epochs {
		out[i] = Epoch{e.Epoch + 1, e.Steps, e.Samples, e.Loss, e.LR, e.Scores, e.Best}
	}
	return out
}

// Define returns the definitions of metrics, by metric name.
func Define(ms []metrics.Metric, definition func(metrics.Metric) string) map[string]string {
	out := make(map[string]string, len(ms))
	for _, m := range ms {
		out[m.String()] = definition(m)
	}
	return out
}

// ReadOutcome reads the fields of metrics.json that all protocols share, of this program and of older ones.
func ReadOutcome(dir string) (*Outcome[Data], error) {
	var o Outcome[Data]
	if err := run.ReadMetrics(dir, &o); err != nil {
		return nil, err
	}
	if o.Version == 0 {
		for _, list := range [][]Epoch{o.Epochs, o.Selection} {
			for i := range list {
				list[i].Epoch++
			}
		}
	}
	return &o, nil
}

// Curves returns figures of the loss of every epoch, in the given unit, and of the validation scores where epochs were
// ranked.
func Curves(method, unit string, epochs []Epoch) []report.Figure {
	if len(epochs) == 0 {
		return nil
	}
	loss := report.Line{Name: method}
	var scores []report.Line
	at := map[string]int{}
	for _, e := range epochs {
		x := float64(e.Epoch)
		loss.X, loss.Y = append(loss.X, x), append(loss.Y, e.Loss)
		for _, s := range e.Scores {
			k, ok := at[s.Name]
			if !ok {
				k = len(scores)
				at[s.Name], scores = k, append(scores, report.Line{Name: s.Name})
			}
			scores[k].X, scores[k].Y = append(scores[k].X, x), append(scores[k].Y, 100*s.Value)
		}
	}
	figures := []report.Figure{{Title: "Training loss", X: "epoch", Y: unit, Lines: []report.Line{loss}}}
	if len(scores) > 0 {
		figures = append(figures, report.Figure{Title: "Ranking by epoch", X: "epoch", Y: "percent", Lines: scores})
	}
	return figures
}
