package exposure

import (
	"context"
	"fmt"

	"privrec/internal/autograd"
	"privrec/internal/dataset/slate"
)

// Rank implements [Ranker]. A sequence-wise model is fed its own best guess at each step, as at the end of section
// 3.2.2; there is no beam. Behaviours are not read. Rank asks for candidates from one goroutine. It skips candidates
// that are specials unless Specials is set, and fails on candidates outside the vocabulary. Memory does not grow with
// the number of rows: Rank works on rankRows at a time.
func (m *Model) Rank(ctx context.Context, p *slate.Pairs, rows []int32, depth int, candidates func(row int32) []int32,
	visit func(row int32, lists [][]int32) error) (err error) {
	defer recovered(&err)
	if err := checkRank(p, rows, depth); err != nil {
		return err
	}
	if err := m.fits(p); err != nil {
		return err
	}
	if rows == nil {
		rows = count(nil, p.Len(), 1)
	}
	tape := autograd.NewTape()
	tape.SetTraining(false)
	d := &decoding{m: m, out: m.output(), depth: min(depth, m.vocab)}
	lists := make([][]int32, m.Lists())
	var s slates
	for lo := 0; lo < len(rows); lo += rankRows {
		if ctx.Err() != nil {
			return fmt.Errorf("ranking after %d of %d slates: %w", lo, len(rows), context.Cause(ctx))
		}
		chunk := rows[lo:min(len(rows), lo+rankRows)]
		if candidates != nil {
			if err := d.ask(chunk, candidates); err != nil {
				return err
			}
		}
		if err := m.rankChunk(tape, &s, d, p, chunk); err != nil {
			return err
		}
		for i, r := range chunk {
			for k := range lists {
				lists[k] = d.lists[k][i].token
			}
			if err := visit(r, lists); err != nil {
				return err
			}
		}
	}
	return nil
}

// ask fills the candidates of a chunk.
func (d *decoding) ask(rows []int32, candidates func(row int32) []int32) error {
	d.candidates = d.candidates[:0]
	for _, r := range rows {
		c := candidates(r)
		for _, x := range c {
			if x < 0 || int(x) >= d.m.vocab {
				return fmt.Errorf("ranking slates: row %d: candidate %d is outside the vocabulary of %d", r, x,
					d.m.vocab)
			}
		}
		d.candidates = append(d.candidates, c)
	}
	return nil
}

// rankChunk encodes and decodes at most rankRows slates.
func (m *Model) rankChunk(t *autograd.Tape, s *slates, d *decoding, p *slate.Pairs, rows []int32) error {
	t.Reset()
	t.NoGrad = true
	s.lay(&m.Config, p, rows, m.startsSlate())
	if m.dec == nil {
		return d.run(len(rows), m.enc.vector(t, s, 0).V, nil)
	}
	return d.run(len(rows), t.BufferZero(0, m.Dim), m.dec.begin(t, m.enc.context(t, s, 0, m.Decoder)))
}

// Ranker answers slates with ranked lists of guessed clicks, which [Evaluate] scores. Attack models are Rankers, and so
// are the floors to compare them with.
type Ranker interface {
	// Lists returns J, the number of lists in an answer: 1 (point-wise, or a floor), or one for each click to infer
	// (sequence-wise, or a floor distributed over lists).
	Lists() int
	// Rank answers the given rows of p (nil: all of them, in order): J lists a row, each of at most depth items, best
	// first, without specials and without repeats within a list. A list is shorter than depth if its items run out. If
	// candidates is nil, a list may name every item of the vocabulary. Otherwise it names only items of
	// candidates(row), which must be distinct; Rank may call candidates from several goroutines.
	//
	// Rank calls visit for every row, in the order of rows, from one goroutine. The lists are valid only during the
	// call, may share memory with each other, and must not be changed. An error of visit ends Rank, which returns it as
	// it is.
	Rank(ctx context.Context, p *slate.Pairs, rows []int32, depth int, candidates func(row int32) []int32,
		visit func(row int32, lists [][]int32) error) error
}

// checkRank fails on arguments of Rank out of range: rows are 0 to p.Len()-1, depth is at least 1.
func checkRank(p *slate.Pairs, rows []int32, depth int) error {
	if depth < 1 {
		return fmt.Errorf("ranking slates: a list of depth %d, at least 1 is needed", depth)
	}
	for at, row := range rows {
		if row < 0 || int(row) >= p.Len() {
			return fmt.Errorf("ranking slates: row %d (number %d) is outside the %d pairs", row, at, p.Len())
		}
	}
	return nil
}
