package slate

import (
	"slices"
	"strings"
)

// chains returns the clicks of each user of p, oldest first, rebuilt from behaviours, which are windows of them. A
// window follows another if it begins where the other ends, all but one item. Windows that were not published break a
// chain. Chains of a user are in the order of their place in the user's log, or of p if there are no logs, and are
// joined if one ends as the next begins.
func chains(p *Pairs, users int, shown [][]int32) [][]int32 {
	rows := make([][]int32, users)
	for i, u := range p.Users {
		if p.Complete[i] {
			rows[u] = append(rows[u], int32(i))
		}
	}
	out := make([][]int32, users)
	for u, mine := range rows {
		var log []int32
		if shown != nil {
			log = shown[u]
		}
		out[u] = chain(p, mine, log)
	}
	return out
}

// window holds a behaviour, oldest click first.
type window struct {
	clicks []int32
	place  int // place of its latest click in the log
	next   int // window that follows, -1 for none
	led    bool
}

// chain returns the rebuilt clicks of one user.
func chain(p *Pairs, rows []int32, log []int32) []int32 {
	if len(rows) == 0 {
		return nil
	}
	ws := make([]window, len(rows))
	for i, r := range rows {
		b := p.Behaviour(int(r))
		ws[i] = window{clicks: slices.Clone(b), place: i, next: -1}
		slices.Reverse(ws[i].clicks)
		if log != nil {
			ws[i].place = end(log, b)
		}
	}
	slices.SortStableFunc(ws, func(a, b window) int { return a.place - b.place })
	heads := map[string][]int{} // windows by all items but their latest click, in order, not yet followed
	for i, w := range ws {
		k := key(w.clicks[:len(w.clicks)-1])
		heads[k] = append(heads[k], i)
	}
	for i := range ws {
		k := key(ws[i].clicks[1:])
		for n, j := range heads[k] {
			if j != i && !ws[j].led && !leads(ws, j, i) {
				ws[i].next, ws[j].led = j, true
				heads[k] = slices.Delete(heads[k], n, n+1)
				break
			}
		}
	}
	var out []int32
	for i := range ws {
		if ws[i].led {
			continue
		}
		var run []int32
		run = append(run, ws[i].clicks...)
		for j := ws[i].next; j >= 0; j = ws[j].next {
			run = append(run, ws[j].clicks[len(ws[j].clicks)-1])
		}
		shared := min(len(out), p.L-1)
		for ; shared > 0 && !slices.Equal(out[len(out)-shared:], run[:shared]); shared-- {
		}
		out = append(out, run[shared:]...)
	}
	return out
}

// leads reports whether the windows that follow a lead to b, so that a link from b to a would close a circle.
func leads(ws []window, a, b int) bool {
	for ; a >= 0; a = ws[a].next {
		if a == b {
			return true
		}
	}
	return false
}

// key returns a map key of items.
func key(items []int32) string {
	var b strings.Builder
	for _, x := range items {
		b.Write([]byte{byte(x), byte(x >> 8), byte(x >> 16), byte(x >> 24)})
	}
	return b.String()
}
