package exposure

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/dataset"
	"privrec/internal/metrics"
	"privrec/internal/privacy"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/train"
)

// SASRecOutcome is what a run measured: metrics.json. It holds no times. Scores are
// shares.
type SASRecOutcome struct {
	Method      string              `json:"method"`
	Setting     string              `json:"setting"` // what differs from the defaults
	Data        SASRecSummary       `json:"data"`
	Ranking     string              `json:"ranking"` // what the candidates are, a sentence
	Metrics     []metrics.Metric    `json:"metrics"`
	Definitions map[string]string   `json:"definitions"`
	Floors      []SASRecScores      `json:"floors"`
	Evaluations []SASRecScores      `json:"evaluations"`
	Selected    int                 `json:"selected_epoch"` // from 1
	Steps       int                 `json:"steps"`
	Stopped     bool                `json:"stopped_early"`
	Short       string              `json:"short,omitempty"` // why the training is shorter than the published one, and not set beside it
	Epochs      []train.EpochRecord `json:"epochs"`
}

// SASRecScores is one row of results.
type SASRecScores struct {
	Name   string             `json:"name"`
	Values map[string]float64 `json:"values"`
	// Paper is what others published for this data, split, ranking and loss, of the metrics
	// that they print; nil where nothing comparable is known.
	Paper map[string]float64 `json:"paper,omitempty"`
}

// SASRecSummary identifies the data of a run.
type SASRecSummary struct {
	Name      string         `json:"name"`
	Recipe    string         `json:"recipe"`
	Level     dataset.Level  `json:"evidence_level"`
	Users     int            `json:"users"`
	Items     int            `json:"items"`   // ranked: those with a training row
	Learned   int            `json:"learned"` // users with two training rows or more
	ValidRows int            `json:"valid_rows"`
	TestRows  int            `json:"test_rows"`
	Unknown   [2]int         `json:"unknown"` // of validation and test, rows of items without a training row: misses
	Source    dataset.Source `json:"source"`
	Ladder    dataset.Ladder `json:"ladder"`
}

// sasrecMethod is the method's name in results.
func (c SASRecConfig) method() string {
	if c.Train.Loss == LossSampled {
		return "SASRec, one negative"
	}
	return "SASRec, all items"
}

// measure ranks the test items by the selected model, beside the floors.
func (f *sasrecFit) measure(ctx context.Context, env *run.Env, r *train.Result) (*SASRecOutcome, error) {
	defer env.Stage("evaluate")()
	setting, err := f.config.standing()
	if err != nil {
		return nil, err
	}
	valid, test := sasrecHeldOut(f.data, false), sasrecHeldOut(f.data, true)
	o := &SASRecOutcome{
		Method: f.config.method(), Setting: setting, Ranking: f.candidates(), Metrics: f.config.metrics(), Definitions: map[string]string{},
		Selected: r.Best + 1, Steps: r.Steps, Stopped: r.Stopped, Epochs: r.Epochs,
		Data: SASRecSummary{
			Name: f.data.Name, Recipe: f.data.Recipe, Level: f.data.Source.Level, Users: f.data.Users, Items: f.data.Items,
			Learned: len(f.learnable()), ValidRows: len(valid.users) + valid.unknown, TestRows: len(test.users) + test.unknown,
			Unknown: [2]int{valid.unknown, test.unknown}, Source: f.data.Source, Ladder: f.data.Ladder,
		},
	}
	for _, m := range o.Metrics {
		o.Definitions[m.String()] = m.Definition()
	}
	counts := f.rankingBy(test, newSASRecCounts(f.data.Train, f.data.Items))
	o.Floors = append(o.Floors, newSASRecScores("random", counts.random(o.Metrics)))
	popular, err := counts.ranks(ctx)
	if err != nil {
		return nil, err
	}
	o.Floors = append(o.Floors, newSASRecScores("popularity", metrics.Summary(o.Metrics, popular)))
	ranks, err := f.ranking(test).ranks(ctx)
	if err != nil {
		return nil, err
	}
	s := newSASRecScores(fmt.Sprintf("%s, epoch %d", o.Method, o.Selected), metrics.Summary(o.Metrics, ranks))
	if s.Paper = f.config.published(f.data.Source.Level); s.Paper != nil {
		if o.Short = f.config.rerun().Short(train.Length{Epochs: f.config.Train.Epochs, Patience: f.config.Train.Patience}, len(r.Epochs), r.Stopped); o.Short != "" {
			s.Paper = nil
		}
	}
	o.Evaluations = append(o.Evaluations, s)
	ids := make([]string, len(test.users))
	for i, u := range test.users {
		ids[i] = f.data.UserIDs[u]
	}
	columns := []run.Column{{Name: "user_id", Values: ids}, {Name: "rank", Values: ranks[:len(ids)]}}
	for _, m := range o.Metrics {
		columns = append(columns, run.Column{Name: m.String(), Values: m.Each(ranks[:len(ids)])})
	}
	return o, env.WriteScores("scores", columns...)
}

// candidates says what test items are ranked among.
func (f *sasrecFit) candidates() string {
	if f.config.Eval.MaskSeen {
		return "all items but those of the user's history; an item that comes again is ranked all the same"
	}
	return "all items, those of the user's history included"
}

func newSASRecScores(name string, values []metrics.Value) SASRecScores {
	s := SASRecScores{Name: name, Values: map[string]float64{}}
	for _, v := range values {
		s.Values[v.Metric.String()] = v.Value
	}
	return s
}

// row is the row in the order of the metrics, for a comparison.
func (s SASRecScores) row(ms []metrics.Metric) report.Row {
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

// comparison sets the evaluations beside the floors and what others published.
func (o *SASRecOutcome) comparison() report.Comparison {
	c := report.Comparison{Name: "ranking", Title: "Test items among " + o.Ranking, Level: o.Data.Level, Metrics: o.Metrics}
	for _, f := range o.Floors {
		c.Floors = append(c.Floors, f.row(o.Metrics))
	}
	for _, e := range o.Evaluations {
		c.Ours = append(c.Ours, e.row(o.Metrics))
		if e.Paper != nil {
			c.Notes = append(c.Notes, "paper: "+publishedSource)
		}
	}
	return c
}

// account says that nothing is protected.
func (f *sasrecFit) account() *Account {
	return &Account{Noise: "none", Units: []Unit{}, Total: privacy.Number(math.Inf(1)), Unbounded: []Open{
		{"sequences", "the model trains on and recommends from the sequences in the clear; its item vectors and parameters tell of them too"},
		{"selection", "the validation items decide, in the clear, when training ends or which epoch is reported"},
	}}
}

// write keeps metrics and account, and shows both.
func (f *sasrecFit) write(env *run.Env, o *SASRecOutcome, a *Account) error {
	if err := env.WriteMetrics(o); err != nil {
		return err
	}
	if err := env.WritePrivacy(a); err != nil {
		return err
	}
	d, err := f.document(o, uint64(env.Seed))
	if err != nil {
		return err
	}
	a.show(d)
	return env.Print(d)
}

func (f *sasrecFit) document(o *SASRecOutcome, seed uint64) (*report.Document, error) {
	table, err := o.comparison().Table()
	if err != nil {
		return nil, err
	}
	ended := "all run"
	if o.Stopped {
		ended = "stopped early"
	}
	facts := []report.Fact{
		{Label: "epochs", Value: fmt.Sprintf("%d of at most %d, %s", len(o.Epochs), f.config.Train.Epochs, ended),
			Note: fmt.Sprintf("that of epoch %d is reported, the best by %v on the validation items", o.Selected, sasrecPrimary)},
		{Label: "out of reach", Value: fmt.Sprintf("%d of %d test items", o.Data.Unknown[1], o.Data.TestRows), Note: "no training row has them: misses"},
	}
	return &report.Document{
		Title:    fmt.Sprintf("%s on %s", o.Method, f.data.Source.Title),
		Subtitle: fmt.Sprintf("%s; seed %d, %d items, %d test items", o.Setting, seed, o.Data.Items, o.Data.TestRows),
		Level:    o.Data.Level,
		Facts:    append(facts, report.ShortTraining(o.Short)...),
		Tables:   []*report.Table{table}, Figures: o.figures(), Notes: f.data.Source.Notes,
	}, nil
}

// figures draw the loss and the validation scores of every epoch, beside what was
// published of the test items.
func (o *SASRecOutcome) figures() []report.Figure {
	loss, score := report.Line{Name: o.Method}, report.Line{Name: "validation"}
	for _, e := range o.Epochs {
		loss.X, loss.Y = append(loss.X, float64(e.Epoch+1)), append(loss.Y, e.Loss)
		for _, s := range e.Scores {
			if s.Name == "valid "+sasrecPrimary.String() {
				score.X, score.Y = append(score.X, float64(e.Epoch+1)), append(score.Y, 100*s.Value)
			}
		}
	}
	ranking := report.Figure{Title: "Ranking by epoch", X: "epoch", Y: sasrecPrimary.String() + " in percent", Lines: []report.Line{score}}
	for _, e := range o.Evaluations {
		if v, ok := e.Paper[sasrecPrimary.String()]; ok {
			flat := report.Line{Name: "published, test", Dashed: true, X: score.X}
			for range score.X {
				flat.Y = append(flat.Y, 100*v)
			}
			ranking.Lines = append(ranking.Lines, flat)
		}
	}
	return []report.Figure{{Title: "Training loss", X: "epoch", Y: "mean over steps (nats)", Lines: []report.Line{loss}}, ranking}
}
