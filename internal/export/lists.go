package export

import (
	"context"
	"fmt"
	"io"
	"math"

	"privrec/internal/experiment"
	"privrec/internal/lists"
	"privrec/internal/run"
	"privrec/internal/system"
	"privrec/internal/tensor"
)

// ListQuestion selects lists or scores to write, and their file.
type ListQuestion struct {
	Users   []string // by their ids in the data
	All     bool     // all users
	K       int      // items a user; of Scores 0: all candidates
	Release string
	Out     string // its ending names the form
	Force   bool   // replace a file that is there
}

// atOnce is the number of users asked about at once.
const atOnce = 1 << 14

// Lists writes the K best items of users, best first.
func (s *Source) Lists(ctx context.Context, q ListQuestion) (*Exported, error) {
	return s.rows(ctx, "Recommendations", q, true, func(users []string, w *lists.Writer) (notes []string, err error) {
		for len(users) > 0 {
			some := users[:min(len(users), atOnce)]
			users = users[len(some):]
			r, err := s.Answers.Recommend(ctx, experiment.Question{Users: some, K: q.K, Release: q.Release})
			if err != nil {
				return nil, err
			}
			notes = r.Notes
			for _, l := range r.Lists {
				for k, i := range l.Items {
					if err := w.Row(l.User, i.Item, k+1, i.Score); err != nil {
						return nil, err
					}
				}
			}
		}
		return notes, nil
	})
}

// Scores writes the scores of items for users: of all that could be recommended, in the order of the data, or of the K
// best.
func (s *Source) Scores(ctx context.Context, q ListQuestion) (*Exported, error) {
	if q.K > 0 {
		e, err := s.Lists(ctx, q)
		if e != nil {
			e.Head = s.head("Scores", q.Release)
		}
		return e, err
	}
	scoring, ok := s.Answers.(experiment.Scoring)
	if !ok {
		why := "a model of two domains, which shows the scores of the best"
		if _, lists := s.Answers.(experiment.Listing); lists {
			why = "imported lists, with nothing behind them"
		}
		return nil, run.Usagef("--k 20 takes those of the 20 best items; models of users and items, of sessions, of "+
			"sequences, and imported vectors show the scores of all",
			"the run in %s does not show the scores of all items: it is %s", s.Dir, why)
	}
	return s.rows(ctx, "Scores", q, false, func(users []string, w *lists.Writer) ([]string, error) {
		r, err := scoring.Ranking(ctx, q.Release)
		if err != nil {
			return nil, err
		}
		// which says what is left out
		best, err := s.Answers.Recommend(ctx, experiment.Question{Users: users[:1], K: 1, Release: q.Release})
		if err != nil {
			return nil, err
		}
		size := max(1, heldScores/r.Items)
		held := tensor.New(min(size, len(users)), r.Items)
		for len(users) > 0 {
			some := users[:min(len(users), size)]
			users = users[len(some):]
			if err := r.Scores(ctx, some,
				func(user int, scores []tensor.Float) { copy(tensor.Row(held, user), scores) }); err != nil {
				return nil, err
			}
			for u, user := range some {
				if err := candidates(r, user, tensor.Row(held, u), w); err != nil {
					return nil, err
				}
			}
		}
		return best.Notes, nil
	})
}

// heldScores is the number of scores in memory at once.
const heldScores = 1 << 24

// candidates writes the scores of the items that can be recommended to a user.
func candidates(r experiment.Ranking, user string, scores []tensor.Float, w *lists.Writer) error {
	sample, _ := r.Sample(user)
	hidden := map[int32]bool{}
	if r.Options.Exclude != nil {
		for _, i := range r.Options.Exclude(sample) {
			hidden[i] = true
		}
	}
	for i, v := range scores {
		if hidden[int32(i)] {
			continue
		}
		if x := float64(v); math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("the score of item %q for user %q is %v", r.Item(int32(i)), user, x)
		}
		if err := w.Row(user, r.Item(int32(i)), 0, float64(v)); err != nil {
			return err
		}
	}
	return nil
}

// rows writes a file of users' rows, and the coverage by the run's account.
func (s *Source) rows(ctx context.Context, what string, q ListQuestion, ranked bool,
	write func(users []string, w *lists.Writer) (notes []string, err error)) (*Exported, error) {
	form, kind, err := lists.FormOf(q.Out)
	switch {
	case q.Out == "":
		return nil, run.Usagef("name a file with --out", "no file to write to is named")
	case err != nil:
		return nil, run.Usagef("", "%v", err)
	case form == lists.TREC && !ranked:
		return nil, run.Usagef("write .tsv, .csv or .parquet, or --k best items",
			"%s: a TREC run has ranks, and scores of all candidates have none", q.Out)
	}
	users, err := s.users(ctx, q.Users, q.All)
	if err != nil {
		return nil, err
	}
	if len(users) == 0 {
		return nil, run.Usagef("name one with --user, or take --all", "no user is named")
	}
	beside := aboutPath(q.Out)
	if err := free(q.Force, q.Out, beside); err != nil {
		return nil, err
	}
	if err := folder(q.Out); err != nil {
		return nil, err
	}
	about := s.about(what, q.Release)
	about.Users, about.Files = len(users), []string{q.Out}
	err = system.WriteFile(q.Out, func(f io.Writer) error {
		w, err := lists.NewWriter(f, form, kind, ranked)
		if err != nil {
			return err
		}
		if about.Notes, err = write(users, w); err != nil {
			return err
		}
		about.Rows = w.Rows()
		return w.Close()
	})
	if err := run.Interrupted(ctx, err); err != nil {
		return nil, err
	}
	if err := about.write(beside); err != nil {
		return nil, err
	}
	about.Files = append(about.Files, beside)
	return &Exported{about, s.head(what, q.Release)}, nil
}
