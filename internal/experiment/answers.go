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

// Question asks for recommendations: for which users, and how many items.
type Question struct {
	Users   []string // by their ids in the data
	K       int      // items a user, at least 1
	Release string   // which release of a run that made several; "": the first
}

// History holds the items that the model knows of one user when it recommends, oldest first, by their ids in the data.
type History struct {
	User  string
	Items []string
}

// HistoriesOf returns the histories of the users with any items. items lists those of the u-th user, oldest first, as
// indices of ids.
func HistoriesOf(users []string, items func(u int) []int32, ids []string) (list []History) {
	for u, user := range users {
		h := History{User: user}
		for _, i := range items(u) {
			h.Items = append(h.Items, ids[i])
		}
		if len(h.Items) > 0 {
			list = append(list, h)
		}
	}
	return list
}

// Answers is a finished run of a method that answers questions.
type Answers interface {
	run.Answers
	// Histories returns the items of each user that the model was given. order is a sentence for readers about what the
	// order of the items rests on.
	Histories(ctx context.Context) (list []History, order string, err error)
	// Recommend returns the items recommended to each user of a question.
	Recommend(ctx context.Context, q Question) (*Recommendations, error)
	// Evaluate repeats the measurement that the run reported.
	Evaluate(ctx context.Context) (*Evaluation, error)
}

// Scoring is Answers that give access to the scores behind recommendations.
type Scoring interface {
	Answers
	// Ranking returns the scores by which a release ranks items; release "" means the first. It is valid until the next
	// question.
	Ranking(ctx context.Context, release string) (Ranking, error)
}

// Ask opens the finished run in a directory, which one of the tasks must have made.
func Ask(ctx context.Context, tasks []run.Task, dir string) (Answers, error) {
	return AskWith(ctx, tasks, dir, "")
}

// AskWith is Ask with the coins that run.Serve takes.
func AskWith(ctx context.Context, tasks []run.Task, dir, coins string) (Answers, error) {
	a, err := run.Serve(ctx, tasks, dir, coins)
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
	return &run.UsageError{Message: fmt.Sprintf("the run in %s has no release %q", dir, release),
		Fix: "it has only one: leave out recommend --release and on.release"}
}

// Release returns the release with a name; "" means the first. releases are those of the run in dir; none: it has only
// one, without a name. which completes an error that says which there are.
func Release(dir, name string, releases []string, which string) (string, error) {
	switch {
	case name == "" && len(releases) > 0:
		return releases[0], nil
	case name != "" && len(releases) == 0:
		return "", NoRelease(dir, name)
	case name != "" && !slices.Contains(releases, name):
		return "", &run.UsageError{Message: fmt.Sprintf("the run in %s has no release %q", dir, name), Fix: which}
	}
	return name, nil
}

// Head holds the fields that every answer of a finished run begins with.
type Head struct {
	Title    string
	Subtitle string // one line: the setting and the run
	Level    dataset.Level
}

// HeadOf returns the head of an answer such as "Recommendations", with the method, the data and the run.
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

// Scored holds one recommended item by its name in the data, with its score.
type Scored struct {
	Item  string
	Score float64
}

// List holds the items recommended to one user, best first.
type List struct {
	User  string
	Items []Scored
}

// Recommendations holds the answer to a Question.
type Recommendations struct {
	Head
	Lists []List
	Notes []string
}

// Document returns the lists as one table.
func (r *Recommendations) Document() *report.Document {
	t := &report.Table{Name: "recommendations", Columns: []report.Column{{Name: "user"}, {Name: "rank"}, {Name: "item"},
		{Name: "score", Format: "%.6g"}}, Notes: r.Notes}
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

// JSONForms returns the types that MarshalJSON writes.
func (*Recommendations) JSONForms() []any { return []any{&report.Document{}} }

// Ranking holds the scorer of a release, with the names of its users and items.
type Ranking struct {
	Head           // of recommendations by it
	Notes []string // on them

	Data    string // name of the data, for messages
	Scorer  eval.Scorer
	Open    func(ctx context.Context) (eval.Scorer, error) // is called where Scorer is nil, after questions are checked
	Options eval.Options
	Items   int                                  // that can be recommended
	Item    func(index int32) string             // name of the scorer's item
	Sample  func(user string) (s int32, ok bool) // of the scorer, for a user by name
	Without string                               // completes "has no user ...", such as " with training items"
}

// Numbered returns a Ranking's Sample for users who are numbered by their place in ids.
func Numbered(ids []string) func(user string) (int32, bool) {
	at := make(map[string]int32, len(ids))
	for i, id := range ids {
		at[id] = int32(i)
	}
	return func(user string) (int32, bool) { s, ok := at[user]; return s, ok }
}

// samples returns the scorer, and its samples for the users asked about.
func (r Ranking) samples(ctx context.Context, o Question) (eval.Scorer, []int32, error) {
	if o.K < 1 || o.K > r.Items {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("%d items a user asked for, want 1 to %d", o.K, r.Items)}
	}
	samples := make([]int32, len(o.Users))
	for i, user := range o.Users {
		s, ok := r.Sample(user)
		if !ok {
			return nil, nil, &run.UsageError{Message: fmt.Sprintf("%s has no user %q%s", r.Data, user, r.Without),
				Fix: "users go by the names in the data files"}
		}
		samples[i] = s
	}
	if r.Scorer != nil {
		return r.Scorer, samples, nil
	}
	s, err := r.Open(ctx)
	return s, samples, err
}

// By answers a question by the release that it names: ranking returns its scores.
func (q Question) By(ctx context.Context,
	ranking func(ctx context.Context, release string) (Ranking, error)) (*Recommendations, error) {
	r, err := ranking(ctx, q.Release)
	if err != nil {
		return nil, err
	}
	lists, err := r.Recommend(ctx, q)
	if err != nil {
		return nil, err
	}
	return &Recommendations{Head: r.Head, Lists: lists, Notes: r.Notes}, nil
}

// Recommend returns the best items of each user of a question.
func (r Ranking) Recommend(ctx context.Context, o Question) ([]List, error) {
	s, samples, err := r.samples(ctx, o)
	if err != nil {
		return nil, err
	}
	best, err := eval.Top(ctx, s, samples, o.K, r.Options)
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

// Scores calls visit with the scores of all items for each user, also of items that lists leave out. Calls come from
// several goroutines, and the scores are valid until visit returns.
func (r Ranking) Scores(ctx context.Context, users []string, visit func(user int, scores []tensor.Float)) error {
	s, samples, err := r.samples(ctx, Question{Users: users, K: 1})
	if err != nil {
		return err
	}
	return run.Interrupted(ctx, eval.Visit(ctx, s, samples, eval.Options{Tape: r.Options.Tape}, visit))
}

// HiddenNote warns that recommendations without a user's own items reveal those items.
const HiddenNote = "items that the user has in training or validation are left out; anyone who sees the list can " +
	"guess them from what is missing"

// Evaluation holds the second measurement of a finished run.
type Evaluation struct {
	Head
	Facts   []report.Fact
	Tables  []*report.Table
	Differs float64 // the most that a score differs from what the run reported; NaN: it reported none
	Beneath bool    // what Differs says stands beneath the last table, not at the end
}

// Document returns the evaluation as a report.
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

// JSONForms returns the types that MarshalJSON writes.
func (*Evaluation) JSONForms() []any { return []any{&report.Document{}} }

// agreement returns a sentence that says whether the scores equal those that the run reported.
func (e *Evaluation) agreement() string {
	switch {
	case math.IsNaN(e.Differs):
		return "the run reported nothing"
	case e.Differs == 0:
		return "equal to what the run reported"
	}
	return fmt.Sprintf("differs from what the run reported by up to %.2g", e.Differs)
}

// Differ returns the largest difference between scores and those that the run reported of the same release, as a
// share. It is NaN if the run reported none of a release.
func Differ(now, was []Scores) float64 {
	worst := 0.0
	for _, s := range now {
		at := slices.IndexFunc(was, func(w Scores) bool { return w.Release == s.Release })
		if at < 0 {
			return math.NaN()
		}
		worst = max(worst, Apart(s.Values, was[at].Values))
	}
	return worst
}

// Apart returns the largest difference between scores and the reported ones of the same metric, as a share.
func Apart(now, was map[string]float64) float64 {
	worst := 0.0
	for name, v := range now {
		worst = max(worst, math.Abs(v-was[name]))
	}
	return worst
}
