package imported

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/eval"
	"privrec/internal/experiment"
	"privrec/internal/model/bpr"
	"privrec/internal/run"
	"privrec/internal/tensor"
)

// embedded holds one vector for each user and item of the rows. It implements Shown.
type embedded struct {
	rows   *Rows
	users  tensor.Matrix // (users, d); zero for users without a vector
	items  tensor.Matrix // (items, d)
	has    [2][]bool     // users and items with a vector
	barred []int32       // items without one, which are never listed
	scorer *bpr.Ranking
}

// Number implements Parsed. It refuses training rows and non-members of users or items without a vector, since the
// model's scores for them are unknown. It counts users and items of the truth without one.
func (p *parsedVectors) Number(rows *Rows, to, item []int32, n *Counts) (Shown, error) {
	d := rows.Data
	s := &embedded{rows: rows, has: [2][]bool{make([]bool, d.Users), make([]bool, d.Items)}}
	width := p.sides[0].rows.Cols
	s.users, s.items = tensor.New(d.Users, width), tensor.New(d.Items, width)
	for k, m := range []tensor.Matrix{s.users, s.items} {
		of := [2][]int32{to, item}[k]
		for i, id := range p.sides[k].of {
			at := of[id]
			copy(tensor.Row(m, int(at)), tensor.Row(p.sides[k].rows, i))
			s.has[k][at] = !p.without[k][p.sides[k].ids[i]]
		}
	}
	if err := s.match(p, rows); err != nil {
		return nil, err
	}
	for u, items := range d.Test {
		if len(items) > 0 && !s.has[0][u] {
			n.Unlisted++
		}
	}
	for i, has := range s.has[1] {
		if !has {
			s.barred = append(s.barred, int32(i))
		}
	}
	n.Vectorless = len(s.barred)
	for _, has := range s.has[0] {
		if has {
			n.Listed++
		}
	}
	n.Longest = s.Longest()
	n.Left = append(n.Left, p.left...)
	s.scorer = &bpr.Ranking{Users: s.users, Goods: s.items}
	return s, s.finite()
}

// match fails on rows of users and items without a vector.
func (s *embedded) match(p *parsedVectors, rows *Rows) error {
	d := rows.Data
	for _, part := range []struct {
		what string
		of   [][]int32
	}{{"training rows", d.Train}, {"rows of non-members", rows.Others}} {
		var lack, all [2]int
		var example [2]string
		seen := make([]bool, d.Items)
		for u, items := range part.of {
			if len(items) == 0 {
				continue
			}
			all[0]++
			if !s.has[0][u] {
				lack[0]++
				example[0] = d.UserIDs[u]
			}
			for _, i := range items {
				if seen[i] {
					continue
				}
				seen[i] = true
				all[1]++
				if !s.has[1][i] {
					lack[1]++
					example[1] = d.ItemIDs[i]
				}
			}
		}
		for k, name := range sides {
			if lack[k] > 0 {
				return &dataset.Error{File: p.sides[k].path, Field: name,
					Msg: fmt.Sprintf("%d of the %d %ss of the %s have no vector, such as %s; a row here is of %s",
						lack[k], all[k], name, part.what, dataset.Quote([]byte(example[k])),
						dataset.Quote([]byte(p.sides[k].ids[0]))),
					Hint: "ids are text, the same in all files: 7 and 7.0 are two; programs that number users and " +
						"items anew keep the ids elsewhere"}
			}
		}
	}
	return nil
}

// finite fails if inner products are too large or too small for tensor.Float.
func (s *embedded) finite() error {
	var most [2]float64
	for k, m := range []tensor.Matrix{s.users, s.items} {
		for i := range m.Rows {
			most[k] = max(most[k], norm(tensor.Row(m, i)))
		}
	}
	if product := most[0] * most[1]; product > math.MaxFloat32 {
		return &dataset.Error{File: "vectors",
			Msg:  fmt.Sprintf("an inner product may come to %.3g, which is too large for 32 bits", product),
			Hint: "scale users or items: the order of items stays"}
	}
	if product := most[0] * most[1]; product > 0 && product < leastProduct {
		return &dataset.Error{File: "vectors",
			Msg: fmt.Sprintf("an inner product comes to at most %.3g, which is too small for 32 bits: products would "+
				"become 0, and all items equal", product), Hint: "scale users or items: the order of items stays"}
	}
	return nil
}

// leastProduct bounds the largest inner product from below. A product 2^24 times smaller still differs from it in 32
// bits, and is then a normal number.
const leastProduct = 0x1p-102

// norm returns the length of a vector.
func norm(row []tensor.Float) float64 {
	sum := 0.0
	for _, x := range row {
		sum += float64(x) * float64(x)
	}
	return math.Sqrt(sum)
}

// What implements Shown.
func (s *embedded) What() string { return "vectors" }

// Longest implements Shown.
func (s *embedded) Longest() int { return s.rows.Data.Items - len(s.barred) }

// leftOut lists the items that a user's ranking leaves out: those of the training rows, and those without a vector.
func (s *embedded) leftOut(user int32) []int32 {
	own := s.rows.Data.Train[user]
	if len(s.barred) == 0 {
		return own
	}
	return append(append(make([]int32, 0, len(own)+len(s.barred)), own...), s.barred...)
}

// Best implements Shown.
func (s *embedded) Best(ctx context.Context, users []int32, k int) ([][]Ranked, error) {
	var known []int32
	for _, u := range users {
		if s.has[0][u] {
			known = append(known, u)
		}
	}
	best, err := eval.Top(ctx, s.scorer, known, min(k, s.rows.Data.Items), eval.Options{Exclude: s.leftOut})
	if err != nil {
		return nil, err
	}
	out := make([][]Ranked, len(users))
	at := 0
	for j, u := range users {
		if !s.has[0][u] {
			continue
		}
		out[j] = []Ranked{}
		for _, x := range best[at] {
			out[j] = append(out[j], Ranked{x.Index, x.Score})
		}
		at++
	}
	return out, nil
}

// Hash implements Shown.
func (s *embedded) Hash() string {
	sum := sha256.New()
	var row []byte
	for k, m := range []tensor.Matrix{s.users, s.items} {
		ids := [2][]string{s.rows.Data.UserIDs, s.rows.Data.ItemIDs}[k]
		for i, has := range s.has[k] {
			if !has {
				continue
			}
			row = fmt.Appendf(row[:0], "%s %q\n", sides[k], ids[i])
			for _, x := range tensor.Row(m, i) {
				row = binary.LittleEndian.AppendUint64(row, math.Float64bits(float64(x)))
			}
			sum.Write(row)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Keep implements Shown. It writes the vectors as the run's model file, like those of a model trained here.
func (s *embedded) Keep(env *run.Env) error {
	for k, ids := range [2][]string{s.rows.Data.UserIDs, s.rows.Data.ItemIDs} {
		has := make([]int32, len(ids))
		for i := range has {
			if s.has[k][i] {
				has[i] = 1
			}
		}
		if err := env.WriteScores(folder+"/"+sides[k]+"s", run.Column{Name: sides[k] + "_id", Values: ids},
			run.Column{Name: "has_vector", Values: has}); err != nil {
			return err
		}
	}
	return experiment.KeepVectors(env, []experiment.Vectors{{Users: s.users, Items: s.items}})
}

// holders tells which ids have vectors.
type holders struct {
	ids     []string
	without map[string]bool
}

// readHolders reads the file of a side that Keep wrote.
func readHolders(ctx context.Context, path string) (h holders, err error) {
	rows, err := format.OpenRows(ctx, path, format.TSV)
	if err != nil {
		return h, err
	}
	defer rows.Close()
	h.without = map[string]bool{}
	for rows.Next() {
		id := string(rows.Fields[0])
		h.ids = append(h.ids, id)
		has, err := rows.Int(1)
		if err != nil {
			return h, err
		}
		if has == 0 {
			h.without[id] = true
		}
	}
	return h, rows.Err()
}

// Answers implements Shown.
func (s *embedded) Answers(a *Answers) run.Answers { return &vectorAnswers{a, s} }

// vectorAnswers answers from vectors. It implements experiment.Scoring, Embedded and Peopled.
type vectorAnswers struct {
	*Answers
	shown *embedded
}

var (
	_ experiment.Scoring  = (*vectorAnswers)(nil)
	_ experiment.Embedded = (*vectorAnswers)(nil)
	_ experiment.Peopled  = (*vectorAnswers)(nil)
)

// People implements experiment.Peopled: the users with vectors.
func (a *vectorAnswers) People() (users []string) {
	for u, id := range a.Model.Rows.Data.UserIDs {
		if a.shown.has[0][u] {
			users = append(users, id)
		}
	}
	return users
}

// Embedding implements experiment.Embedded.
func (a *vectorAnswers) Embedding(_ context.Context, release string) (*experiment.Embedding, error) {
	if release != "" {
		return nil, experiment.NoRelease(a.Dir, release)
	}
	d := a.Model.Rows.Data
	return &experiment.Embedding{Vectors: experiment.Vectors{Users: a.shown.users, Items: a.shown.items},
		UserIDs: d.UserIDs, ItemIDs: d.ItemIDs, Scores: experiment.InnerProduct}, nil
}

// Ranking implements experiment.Scoring.
func (a *vectorAnswers) Ranking(_ context.Context, release string) (experiment.Ranking, error) {
	if release != "" {
		return experiment.Ranking{}, experiment.NoRelease(a.Dir, release)
	}
	rows := a.Model.Rows
	return experiment.Ranking{
		Head: a.head("Recommendations"), Notes: []string{"items that the user has in the training rows are left out; " +
			"anyone who sees the list can guess them from what is missing"},
		Data: "the imported run", Scorer: a.shown.scorer, Options: eval.Options{Exclude: a.shown.leftOut},
		Items: rows.Data.Items,
		Item:  func(i int32) string { return rows.Data.ItemIDs[i] },
		Sample: func(user string) (int32, bool) {
			u, ok := rows.User(user)
			return u, ok && a.shown.has[0][u]
		},
		Without: " with a vector",
	}, nil
}

// Recommend implements experiment.Answers: items that a user has in the training rows are left out.
func (a *vectorAnswers) Recommend(ctx context.Context, o experiment.Question) (*experiment.Recommendations, error) {
	return o.By(ctx, a.Ranking)
}
