package stream

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"privrec/internal/private/release"
	"privrec/internal/rng"
)

// grid is the step of which users' entries in the matrix are multiples. Sums of whole steps are exact in any order.
const grid = 1.0 / (1 << 20)

// limit is the most that the squared entries of a user add up to, in squared steps: the square of norm 1.
const limit = 1 << 40

// Catalogue lists the items of a stream, in the order of the counts.
type Catalogue struct {
	IDs []string
	// Rows are the items of the matrix, ascending, and Weights the weight of each, above 0.
	Rows    []int32
	Weights []float64
}

// Sums are what users contributed so far, exact and secret.
type Sums struct {
	Counts []int64 // of all items
	Matrix []int64 // in steps of the grid: on and above the diagonal, row after row

	settings Settings
	weights  []float64
	place    []int32 // by item: its row of the matrix, or -1
	users    map[string]*user
	draw     release.Draw
}

// user is what a user contributed so far.
type user struct {
	factor  float64 // in steps of the grid; 0: the user has no item of the matrix yet
	used    uint64  // sum of the squared entries, in steps
	rows    []int32 // of the matrix, ascending
	counted []int32 // items in the counts, ascending
}

// NewSums returns the sums of no users. They take 4 m² bytes for a matrix of m items.
func NewSums(s Settings, c *Catalogue) *Sums {
	m := len(c.Rows)
	x := &Sums{Counts: make([]int64, len(c.IDs)), Matrix: make([]int64, m*(m+1)/2), settings: s, weights: c.Weights,
		place: make([]int32, len(c.IDs)), users: map[string]*user{},
		draw: release.Draw{Stream: rng.Seed(s.Seed).Stream("private.stream.contributions")}}
	for i := range x.place {
		x.place[i] = -1
	}
	for r, i := range c.Rows {
		x.place[i] = int32(r)
	}
	return x
}

// Tally counts rows by what became of them.
type Tally struct {
	Rows     int `json:"rows"`
	Unknown  int `json:"unknown"`  // of items that are not in the catalogue
	Repeated int `json:"repeated"` // of an item that the user contributed before
	Counted  int `json:"counted"`  // new in the counts
	Entered  int `json:"entered"`  // new in the matrix
	Over     int `json:"over"`     // of an item of the matrix, beyond the user's share
}

// Plus returns the sum of two tallies.
func (t Tally) Plus(x Tally) Tally {
	return Tally{t.Rows + x.Rows, t.Unknown + x.Unknown, t.Repeated + x.Repeated, t.Counted + x.Counted,
		t.Entered + x.Entered, t.Over + x.Over}
}

// Add adds a user's rows of items, which may repeat. What the user contributes of them depends on the user's rows so
// far, the user's id and what is fixed.
func (x *Sums) Add(id string, items []int32) Tally {
	u := x.users[id]
	if u == nil {
		u = &user{}
		x.users[id] = u
	}
	t := Tally{Rows: len(items)}
	fresh := make([]int32, 0, len(items))
	for _, i := range items {
		_, counted := slices.BinarySearch(u.counted, i)
		r := x.place[i]
		_, entered := slices.BinarySearch(u.rows, r)
		if counted && (entered || r < 0) || slices.Contains(fresh, i) {
			t.Repeated++
		} else {
			fresh = append(fresh, i)
		}
	}
	fresh = x.draw.InOrder(id, fresh)
	x.count(u, fresh, &t)
	rows := make([]int32, 0, len(fresh))
	for _, i := range fresh {
		r := x.place[i]
		if _, entered := slices.BinarySearch(u.rows, r); r >= 0 && !entered {
			rows = append(rows, r)
		}
	}
	x.enter(u, rows, &t)
	return t
}

// count adds items to the counts while the user has room.
func (x *Sums) count(u *user, items []int32, t *Tally) {
	for _, i := range items {
		at, had := slices.BinarySearch(u.counted, i)
		if had || len(u.counted) >= x.settings.CountItems {
			continue
		}
		u.counted = slices.Insert(u.counted, at, i)
		x.Counts[i]++
		t.Counted++
	}
}

// enter adds rows of the matrix while they fit into the user's share.
func (x *Sums) enter(u *user, rows []int32, t *Tally) {
	if u.factor == 0 && len(rows) > 0 {
		u.factor = x.factor(rows[:min(len(rows), x.settings.Items)])
	}
	for _, r := range rows {
		at, _ := slices.BinarySearch(u.rows, r)
		all := slices.Insert(slices.Clone(u.rows), at, r)
		cost := uint64(0)
		for _, q := range all {
			v := uint64(x.entry(u.factor, r, q))
			cost += v * v
		}
		if len(all) > x.settings.Items || u.used+cost > limit {
			t.Over++
			continue
		}
		u.rows, u.used = all, u.used+cost
		for _, q := range all {
			x.Matrix[x.at(r, q)] += x.entry(u.factor, r, q)
		}
		t.Entered++
	}
}

// entry returns a user's entry in whole steps, rounded towards 0. One that is above norm 1 fits into no share and is
// cut to twice that, so that no square is too large for a number.
func (x *Sums) entry(factor float64, a, b int32) int64 {
	return int64(math.Min(factor*(x.weights[a]*x.weights[b]), 2/grid))
}

// at returns the place of an entry in the triangle.
func (x *Sums) at(a, b int32) int {
	i, j := int(min(a, b)), int(max(a, b))
	return i*len(x.weights) - i*(i-1)/2 + j - i
}

// factor returns the factor of a user who begins with some rows, in steps of the grid: 1/max(N, N_E), lowered until the
// squares of their entries are within the limit.
func (x *Sums) factor(rows []int32) float64 {
	two, four := 0.0, 0.0
	for _, r := range rows {
		w := x.weights[r] * x.weights[r]
		two, four = two+w, four+w*w
	}
	e := float64(x.settings.Expected)
	f := 1 / (grid * math.Sqrt(math.Max((two*two+four)/2, e*(e+1)/2)))
	for x.squares(f, rows) > limit {
		f *= 1 - 0x1p-40
	}
	return f
}

// squares returns the sum of the squared entries of some rows, in steps.
func (x *Sums) squares(factor float64, rows []int32) (sum uint64) {
	for i, a := range rows {
		for _, b := range rows[i:] {
			v := uint64(x.entry(factor, a, b))
			sum += v * v
		}
	}
	return sum
}

// Users returns the number of users who added a row.
func (x *Sums) Users() int { return len(x.users) }

// Choose chooses the items of the matrix by counts, at most a number of them: those with the largest counts. floor,
// above 0, stands for smaller counts. An item has a weight of its count to the power -power, so that all of them have
// the mean 1.
func (c *Catalogue) Choose(counts []float64, most int, floor, power float64) {
	c.Rows = release.Top(counts, most)
	slices.Sort(c.Rows)
	c.Weights = release.MatrixWeights(counts, c.Rows, floor, power)
}

// Check returns an error for a catalogue that a stream cannot have.
func (c *Catalogue) Check() error {
	switch {
	case len(c.IDs) < 2:
		return fmt.Errorf("%d items, want at least 2", len(c.IDs))
	case len(c.Rows) < 2 || len(c.Rows) > mostRows:
		return fmt.Errorf("%d items in the matrix, want 2 to %d", len(c.Rows), mostRows)
	}
	seen := map[string]bool{}
	for _, id := range c.IDs {
		if id == "" || seen[id] {
			return fmt.Errorf("item %q is there twice, or has no name", id)
		}
		if !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) || strings.Contains(id, "\ufeff") {
			return fmt.Errorf("item %q is no id: it is not UTF-8, or has a tab or another sign of control", id)
		}
		seen[id] = true
	}
	for k, w := range c.Weights {
		if r := c.Rows[k]; r < 0 || int(r) >= len(c.IDs) || k > 0 && cmp.Compare(c.Rows[k-1], r) >= 0 ||
			!(w > 0 && w < mostRows+1) { // of mean 1
			return fmt.Errorf("row %d of the matrix is item %d with weight %v", k, r, w)
		}
	}
	return nil
}

// mostRows is the most items of a matrix, as for a single release: its eigenvalues take 10 m³ operations.
const mostRows = 5000
