package exposure

import (
	"fmt"
	"sort"

	"privrec/internal/dataset/slate"
	"privrec/internal/tensor"
)

// best holds the best tokens of one row so far, best first. Of equal scores the lower token comes first.
type best struct {
	score []tensor.Float
	token []int32
}

// offer adds a token if it is among the best depth tokens.
func (b *best) offer(token int32, score tensor.Float, depth int) {
	n := len(b.token)
	if n == depth && !(score > b.score[n-1] || score == b.score[n-1] && token < b.token[n-1]) {
		return
	}
	at := sort.Search(n, func(k int) bool {
		return b.score[k] < score || b.score[k] == score && b.token[k] > token
	})
	if n < depth {
		b.score, b.token = append(b.score, 0), append(b.token, 0)
	}
	copy(b.score[at+1:], b.score[at:])
	copy(b.token[at+1:], b.token[at:])
	b.score[at], b.token[at] = score, token
}

// Sizes of ranking over the whole vocabulary.
const (
	rankRows = 256  // pairs at a time
	rankWide = 8192 // tokens at a time: at most 8 MiB of scores, for any vocabulary
	rankScan = 64   // scores that are skipped together if their greatest is not good enough
)

// output is the output layer W h + a, for ranking.
type output struct {
	w      tensor.Matrix // (V, d)
	a      []tensor.Float
	first  int // tokens below it are not ranked
	scores []tensor.Float
}

func (m *Model) output() *output {
	o := &output{w: m.out.Value, a: tensor.Row(m.a.Value, 0), first: int(slate.FirstItem)}
	if m.Specials {
		o.first = 0
	}
	return o
}

// top fills into with the depth best tokens of every row of h (n, d), without the tokens banned for the row. It holds
// the scores of rankWide tokens at a time.
func (o *output) top(h tensor.Matrix, depth int, banned [][]int32, into []best) {
	n := h.Rows
	for i := range into[:n] {
		into[i].score, into[i].token = into[i].score[:0], into[i].token[:0]
	}
	for lo := o.first; lo < o.w.Rows; lo += rankWide {
		hi := min(o.w.Rows, lo+rankWide)
		if need := n * (hi - lo); len(o.scores) < need {
			o.scores = make([]tensor.Float, need)
		}
		z := tensor.From(n, hi-lo, o.scores)
		for i := range n {
			copy(tensor.Row(z, i), o.a[lo:hi])
		}
		tensor.Gemm(false, true, 1, h, tensor.RowsView(o.w, lo, hi), 1, z)
		tensor.Parallel(n, 8, func(_, from, to int) {
			for i := from; i < to; i++ {
				var skip []int32
				if banned != nil {
					skip = banned[i]
				}
				into[i].scan(tensor.Row(z, i), int32(lo), depth, skip)
			}
		})
	}
}

// scan offers z, the scores of the tokens from first on, except those in skip.
func (b *best) scan(z []tensor.Float, first int32, depth int, skip []int32) {
	for at := 0; at < len(z); at += rankScan {
		part := z[at:min(len(z), at+rankScan)]
		if n := len(b.token); n == depth && tensor.Max(part) <= b.score[n-1] {
			continue
		}
		for j, v := range part {
			if n := len(b.token); n == depth && v <= b.score[n-1] {
				continue
			}
			if token := first + int32(at+j); !contains(skip, token) {
				b.offer(token, v, depth)
			}
		}
	}
}

// among fills into as top does, from the candidates of every row. It reads only their rows of the output layer.
func (o *output) among(h tensor.Matrix, depth int, candidates, banned [][]int32, into []best) {
	tensor.Parallel(h.Rows, 8, func(_, from, to int) {
		for i := from; i < to; i++ {
			b := &into[i]
			b.score, b.token = b.score[:0], b.token[:0]
			for _, x := range candidates[i] {
				if int(x) >= o.first && (banned == nil || !contains(banned[i], x)) {
					b.offer(x, o.of(tensor.Row(h, i), x), depth)
				}
			}
		}
	})
}

// of returns the score of one token.
func (o *output) of(h []tensor.Float, token int32) tensor.Float {
	return tensor.Dot(h, tensor.Row(o.w, int(token))) + o.a[token]
}

// decoding holds the buffers for ranking some pairs, kept from chunk to chunk.
type decoding struct {
	m          *Model
	out        *output
	depth      int
	candidates [][]int32 // of the rows of the chunk; nil: all tokens
	fed        []int32
	banned     [][]int32
	stopped    []bool
	lead       []best   // the best token of all, where only candidates are ranked
	lists      [][]best // by list and row
}

// run ranks n pairs. For a point-wise decoder w is nil and h is the only state.
func (d *decoding) run(n int, h tensor.Matrix, w walk) error {
	m, lists := d.m, d.m.Lists()
	d.fed, d.stopped = extend(d.fed, n), make([]bool, n)
	for len(d.lists) < lists {
		d.lists = append(d.lists, make([]best, rankRows))
	}
	if m.Ban {
		d.banned = make([][]int32, n)
	}
	for i := range d.fed {
		d.fed[i] = slate.Start
	}
	for k := range lists {
		if w != nil {
			h = w.next(d.fed).V
		}
		for i := range n {
			if j, ok := tensor.Finite(tensor.Row(h, i)); !ok {
				return fmt.Errorf("exposure attack: the state of list %d holds %v", k+1, tensor.Row(h, i)[j])
			}
		}
		d.rank(h, d.lists[k][:n])
		if w != nil {
			d.feed(h, d.lists[k][:n])
		}
	}
	return nil
}

// rank fills a list of every row.
func (d *decoding) rank(h tensor.Matrix, into []best) {
	if d.candidates != nil {
		d.out.among(h, d.depth, d.candidates, d.banned, into)
		return
	}
	d.out.top(h, d.depth, d.banned, into)
}

// feed chooses the next input of each pair. It stops pairs that reached the end, and empties their lists.
func (d *decoding) feed(h tensor.Matrix, list []best) {
	m, lead := d.m, list
	if m.FeedAll && d.candidates != nil {
		if d.lead == nil {
			d.lead = make([]best, rankRows)
		}
		lead = d.lead[:len(list)]
		d.out.top(h, 1, d.banned, lead)
	}
	for i := range list {
		d.fed[i] = slate.Start // nothing is left to guess
		if len(lead[i].token) > 0 {
			d.fed[i] = lead[i].token[0]
			if m.Ban {
				d.banned[i] = append(d.banned[i], d.fed[i])
			}
			if m.StopAtEnd && (d.fed[i] == slate.End || d.out.of(tensor.Row(h, i), slate.End) > lead[i].score[0]) {
				d.stopped[i] = true
			}
		}
		if d.stopped[i] {
			list[i].score, list[i].token = list[i].score[:0], list[i].token[:0]
		}
	}
}
