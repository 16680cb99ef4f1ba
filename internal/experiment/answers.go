package experiment

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/eval"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// Question says what to recommend.
type Question struct {
	Users   []string // by their ids in the data
	K       int      // items a user, at least 1
	Release string   // which release of a run that made several; "": the first
}

// History holds the items that a model was given for one user before it recommends, oldest
// first, by their ids in the data.
type History struct {
	User  string
	Items []string
}

// Answers is what the finished run of a method can be asked.
type Answers interface {
	run.Answers
	// Histories lists the users that the model was given items of. order says, as a sentence
	// for a reader of results, what the order of the items rests on.
	Histories(ctx context.Context) (list []History, order string, err error)
	// Recommend lists items for users.
	Recommend(ctx context.Context, q Question) (*Recommendations, error)
	// Evaluate measures again what the run reported.
	Evaluate(ctx context.Context) (*Evaluation, error)
}

// Scoring is Answers that show the scores behind recommendations.
type Scoring interface {
	Answers
	// Ranking returns what a release ranks by; "": the first release. It is valid until the
	// next question.
	Ranking(ctx context.Context, release string) (Ranking, error)
}

// Ask opens the finished run in a directory that one of the tasks made.
func Ask(ctx context.Context, tasks []run.Task, dir string) (Answers, error) {
	a, err := run.Serve(ctx, tasks, dir)
	if err != nil {
		return nil, err
	}
	answers, ok := a.(Answers)
	if !ok {
		a.Close()
		return nil, fmt.Errorf("ask the run in %s: %T gives no recommendations", dir, a)
	}
	return answers, nil
}

// NoRelease returns the error for a user who names a release of a run that has only one.
func NoRelease(dir, release string) error {
	return &run.UsageError{Message: fmt.Sprintf("the run in %s has no release %q", dir, release), Fix: "it has only one: leave out recommend --release and on.release"}
}

// Head is what every answer of a finished run begins with.
type Head struct {
	Title    string
	Subtitle string // one line: the setting and the run
	Level    dataset.Level
}

// HeadOf makes the head of an answer: what ("Recommendations"), of a method, on data.
func HeadOf(what, method string, s dataset.Source, setting, dir string) Head {
	h := Head{Title: fmt.Sprintf("%s of %s on %s", what, method, s.Title), Subtitle: "run " + dir, Level: s.Level}
	if setting != "" {
		h.Subtitle = setting + "; " + h.Subtitle
	}
	return h
}

func (h Head) document() *report.Document {
	return &report.Document{Title: h.Title, Subtitle: h.Subtitle, Level: h.Level}
}

// Scored is one recommended item, under its name in the data.
type Scored struct {
	Item  string
	Score float64
}

// List is what is recommended to one user, best first.
type List struct {
	User  string
	Items []Scored
}

// Recommendations answers a Question.
type Recommendations struct {
	Head
	Lists []List
	Notes []string
}

// Document lays the lists out as one table.
func (r *Recommendations) Document() *report.Document {
	t := &report.Table{Name: "recommendations", Columns: []report.Column{{Name: "user"}, {Name: "rank"}, {Name: "item"}, {Name: "score", Format: "%.6g"}}, Notes: r.Notes}
	for _, l := range r.Lists {
		for k, i := range l.Items {
			t.Add(l.User, k+1, i.Item, i.Score)
		}
	}
	d := r.document()
	d.Tables = []*report.Table{t}
	return d
}

// Text implements run.Result.
func (r *Recommendations) Text(w io.Writer) error { return r.Document().Text(w) }

// MarshalJSON implements run.Result.
func (r *Recommendations) MarshalJSON() ([]byte, error) { return r.Document().MarshalJSON() }

// JSONForms says what MarshalJSON writes.
func (*Recommendations) JSONForms() []any { return []any{&report.Document{}} }

// Ranking is what recommendations are drawn from.
type Ranking struct {
	Data    string // name of the data, for messages
	Scorer  eval.Scorer
	Options eval.Options
	Items   int                                  // that can be recommended
	Item    func(index int32) string             // name of the scorer's item
	Sample  func(user string) (s int32, ok bool) // of the scorer, for a user by name
	Without string                               // completes "has no user ...", such as " with training items"
}

// Check reports what of a question cannot be answered. It needs no Scorer.
func (r Ranking) Check(o Question) error {
	_, err := r.samples(o)
	return err
}

// samples returns the scorer's samples for the users asked about.
func (r Ranking) samples(o Question) ([]int32, error) {
	if o.K < 1 || o.K > r.Items {
		return nil, &run.UsageError{Message: fmt.Sprintf("%d items a user asked for, want 1 to %d", o.K, r.Items)}
	}
	samples := make([]int32, len(o.Users))
	for i, user := range o.Users {
		s, ok := r.Sample(user)
		if !ok {
			return nil, &run.UsageError{Message: fmt.Sprintf("%s has no user %q%s", r.Data, user, r.Without), Fix: "users go by the names in the data files"}
		}
		samples[i] = s
	}
	return samples, nil
}

// Recommend lists the best items for users.
func (r Ranking) Recommend(ctx context.Context, o Question) ([]List, error) {
	samples, err := r.samples(o)
	if err != nil {
		return nil, err
	}
	best, err := eval.Top(ctx, r.Scorer, samples, o.K, r.Options)
	if err := run.Interrupted(ctx, err); err != nil {
		return nil, err
	}
	lists := make([]List, len(best))
	for i, items := range best {
		lists[i].User = o.Users[i]
		for _, x := range items {
			lists[i].Items = append(lists[i].Items, Scored{r.Item(x.Index), x.Score})
		}
	}
	return lists, nil
}

// Scores calls visit with the scores of all items for each user, those that a list leaves out too.
// Calls come from several goroutines, and the scores are valid until visit returns.
func (r Ranking) Scores(ctx context.Context, users []string, visit func(user int, scores []tensor.Float)) error {
	samples, err := r.samples(Question{Users: users, K: 1})
	if err != nil {
		return err
	}
	return run.Interrupted(ctx, eval.Visit(ctx, r.Scorer, samples, eval.Options{Tape: r.Options.Tape}, visit))
}

// HiddenNote says what recommendations without a user's own items tell.
const HiddenNote = "items that the user has in training or validation are left out; anyone who sees the list can guess them from what is missing"

// Evaluation is a finished run measured once more.
type Evaluation struct {
	Head
	Facts   []report.Fact
	Tables  []*report.Table
	Differs float64 // the most that a score differs from what the run reported; NaN: it reported none
	Beneath bool    // what Differs says stands beneath the last table, not at the end
}

// Document lays the evaluation out.
func (e *Evaluation) Document() *report.Document {
	d := e.document()
	d.Facts, d.Tables = e.Facts, e.Tables
	if e.Beneath && len(d.Tables) > 0 {
		last := *d.Tables[len(d.Tables)-1]
		last.Notes = append(slices.Clip(last.Notes), e.agreement())
		d.Tables = append(slices.Clip(d.Tables[:len(d.Tables)-1]), &last)
	} else {
		d.Notes = []string{e.agreement()}
	}
	return d
}

// Text implements run.Result.
func (e *Evaluation) Text(w io.Writer) error { return e.Document().Text(w) }

// MarshalJSON implements run.Result.
func (e *Evaluation) MarshalJSON() ([]byte, error) { return e.Document().MarshalJSON() }

// JSONForms says what MarshalJSON writes.
func (*Evaluation) JSONForms() []any { return []any{&report.Document{}} }

// agreement says whether the scores are those that the run reported.
func (e *Evaluation) agreement() string {
	switch {
	case math.IsNaN(e.Differs):
		return "the run reported nothing"
	case e.Differs == 0:
		return "equal to what the run reported"
	}
	return fmt.Sprintf("differs from what the run reported by up to %.2g", e.Differs)
}

// Apart returns the most that scores by metric name differ from those reported, a share.
func Apart(now, was map[string]float64) float64 {
	worst := 0.0
	for name, v := range now {
		worst = max(worst, math.Abs(v-was[name]))
	}
	return worst
}
