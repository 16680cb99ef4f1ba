package stream

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"privrec/internal/privacy/correlated"
	"privrec/internal/rng"
)

// days and things are the steps and the items of the streams that are tried one by one.
const days, things = 5, 3

// visits says of each item on which day a user adds it, from 1; 0: never.
type visits [things]int

// allVisits lists every assignment of the items to days.
func allVisits() (all []visits) {
	const ways = days + 1
	for n := range ways * ways * ways {
		all = append(all, visits{n % ways, n / ways % ways, n / ways / ways})
	}
	return all
}

// on returns the items of a day, or of it and all days before, in an order that differs from day to day.
func (v visits) on(day int, before bool) (items []int32) {
	for k := range things {
		i := (k + day) % things
		if v[i] == day || before && v[i] > 0 && v[i] < day {
			items = append(items, int32(i))
		}
	}
	return items
}

// moved holds what the sums gain on each day, the counts first.
type moved [days][things + things*(things+1)/2]int64

func (a moved) minus(b moved) moved {
	for t := range a {
		for j := range a[t] {
			a[t][j] -= b[t][j]
		}
	}
	return a
}

// person is a user with the days of the items.
type person struct {
	id string
	visits
}

// gains adds people's items day after day, in the order of the list. again: on every day also the items of all days
// before.
func gains(t *testing.T, s Settings, weights []float64, again bool, people ...person) (all moved) {
	x := NewSums(s, &Catalogue{IDs: []string{"a", "b", "c"}, Rows: []int32{0, 1, 2}, Weights: weights})
	var sum Tally
	before := slices.Concat(x.Counts, x.Matrix)
	for day := range days {
		for _, p := range people {
			if items := p.on(day+1, again); len(items) > 0 {
				sum = sum.Plus(x.Add(p.id, items))
			}
		}
		now := slices.Concat(x.Counts, x.Matrix)
		for j := range now {
			all[day][j] = now[j] - before[j]
		}
		before = now
	}
	counted, entered := int64(0), 0
	for _, n := range x.Counts {
		counted += n
	}
	for _, u := range x.users {
		entered += len(u.rows)
	}
	if sum.Counted != int(counted) || sum.Entered != entered || sum.Rows < sum.Repeated+sum.Over ||
		!again && (sum.Repeated > 0 || sum.Entered+sum.Over != sum.Rows) || sum.Unknown != 0 {
		t.Fatalf("%+v for counts %v and %d rows of users", sum, x.Counts, entered)
	}
	return all
}

// drawWeights returns positive weights: those of a small table, or drawn ones that differ by up to a factor of 1000.
func drawWeights(n int) []float64 {
	table := [][]float64{{1, 1, 1}, {1. / 128, 64, 1}, {1, 1e-9, 1}, {1e-7, 4999, 1e-7}, {1e-30, 1e12, 1}}
	if n < len(table) {
		return table[n]
	}
	s := rng.Seed(7).Stream("weights", uint64(n))
	w := make([]float64, things)
	for i := range w {
		w[i] = math.Pow(1000, s.Float64()-0.5)
	}
	return w
}

// settings of the small streams, every one of them.
func smallSettings(do func(s Settings)) {
	for n := range 27 {
		do(Settings{Expected: 1 + n%3, Items: 1 + n/3%3, CountItems: 1 + n/9, Seed: uint64(n)})
	}
}

// strategy is a strategy of the days with its matrix.
type strategy struct {
	c [][]float64
	correlated.Strategy
}

// matrices returns the matrix C of some strategies of the days, by its definition.
func matrices(t *testing.T) map[string]strategy {
	t.Helper()
	all := map[string]strategy{}
	for _, of := range []struct {
		name   string
		number int
		secure bool
	}{{"blt", 2, false}, {"banded", 1, false}, {"banded", 3, false}, {"banded", 4, true}, {"composed", 0, false},
		{"tree", 0, false}} {
		d, err := Design(of.name, days, of.number, of.secure)
		if err != nil {
			t.Fatal(err)
		}
		s, err := d.Strategy()
		if err != nil {
			t.Fatal(err)
		}
		c := dense(s.Column(), days)
		if of.name == "tree" { // a row for each node of 1, 2 and 4 steps
			c = append(dense([]float64{1}, days), []float64{1, 1, 0, 0, 0}, []float64{0, 0, 1, 1, 0},
				[]float64{1, 1, 1, 1, 0})
		}
		all[fmt.Sprint(of)] = strategy{c, s}
	}
	return all
}

// dense returns the lower triangle whose columns are one column, moved down.
func dense(column []float64, n int) [][]float64 {
	c := make([][]float64, n)
	for i := range c {
		c[i] = make([]float64, n)
		for j := max(0, i-len(column)+1); j <= i; j++ {
			c[i][j] = column[i-j]
		}
	}
	return c
}

// times returns C x of rows x.
func times(c, x [][]float64) [][]float64 {
	out := make([][]float64, len(c))
	for i := range c {
		out[i] = make([]float64, len(x[0]))
		for k, v := range c[i] {
			for j := range out[i] {
				out[i][j] += v * x[k][j]
			}
		}
	}
	return out
}

// The theorem of the package for every way in which a user's items come: each entry is set on one day alone, what a
// user adds has a norm of at most 1 (of sqrt(k) for the counts), C of it is no longer than the strategy's sensitivity,
// and items that come again change nothing.
func TestUserAddsAtMostOnce(t *testing.T) {
	strategies := matrices(t)
	longest := 0.0
	for n := range 20 {
		weights := drawWeights(n)
		smallSettings(func(s Settings) {
			for _, v := range allVisits() {
				p := person{fmt.Sprint("user", n), v}
				x := gains(t, s, weights, false, p)
				if again := gains(t, s, weights, true, p); again != x {
					t.Fatalf("%v %v %+v: %v, and %v if rows come again", weights, v, s, x, again)
				}
				var counts, matrix int64
				rows := make([][]float64, days)
				for j := range x[0] {
					set := 0
					for d := range x {
						g := x[d][j]
						if g != 0 {
							set++
						}
						switch {
						case g < 0 || j < things && g > 1 || g > 1<<20:
							t.Fatalf("%v %v %+v: %v", weights, v, s, x)
						case j < things:
							counts += g
						default:
							matrix += g * g
							rows[d] = append(rows[d], float64(g)*grid)
						}
					}
					if set > 1 {
						t.Fatalf("%v %v %+v: value %d is set on %d days", weights, v, s, j, set)
					}
				}
				if counts > int64(s.CountItems) || matrix > limit {
					t.Fatalf("%v %v %+v: %d counts, squares of %d", weights, v, s, counts, matrix)
				}
				longest = math.Max(longest, float64(matrix)/limit)
				for name, of := range strategies {
					sum := 0.0
					for _, row := range times(of.c, rows) {
						for _, y := range row {
							sum += y * y
						}
					}
					if reach, err := of.Sensitivity(once); err != nil || math.Sqrt(sum) > reach*(1+1e-12) {
						t.Fatalf("%s: |C x| is %v, above %v (%v)", name, math.Sqrt(sum), reach, err)
					}
				}
			}
		})
	}
	if longest < 1-1e-5 {
		t.Errorf("nobody uses up the share: %v of it", longest)
	}
}

// What up to four users add is the sum of what each of them adds alone, in any order of the users: one user more or
// less changes that user's part and nothing else. A user's part is one of TestUserAddsAtMostOnce.
func TestOthersDoNotMove(t *testing.T) {
	all := allVisits()
	smallSettings(func(s Settings) {
		weights := drawWeights(5 + int(s.Seed))
		names := []string{"u", "v", "w", "x"}
		alone := map[string][]moved{}
		for _, id := range names {
			for _, v := range all {
				alone[id] = append(alone[id], gains(t, s, weights, false, person{id, v}))
			}
		}
		draw := rng.Seed(s.Seed).Stream("others")
		for a := range all {
			for b := int(s.Seed) % 27; b < len(all); b += 27 { // over all settings each pair of the first two, once
				at := []int{a, b, draw.IntN(len(all)), draw.IntN(len(all))}[:2+(a+b)%3]
				var people []person
				for k, n := range at {
					people = append(people, person{names[k], all[n]})
				}
				rest := gains(t, s, weights, false, people...)
				slices.Reverse(people)
				if rest != gains(t, s, weights, false, people...) {
					t.Fatalf("%v %+v: the order of %v counts", weights, s, people)
				}
				for k, n := range at {
					rest = rest.minus(alone[names[k]][n])
				}
				if rest != (moved{}) {
					t.Fatalf("%v %+v: %v move each other", weights, s, people)
				}
			}
		}
	})
}

// The state of users is packed and read again whole, and a damaged list is refused.
func TestPack(t *testing.T) {
	c := &Catalogue{IDs: make([]string, 300), Rows: []int32{0, 7, 299}, Weights: []float64{1, 2, 3}}
	s := Settings{Items: 3, CountItems: 200, Expected: 1, Seed: 3}
	x := NewSums(s, c)
	for _, id := range []string{"", "a", "日本", "a\x00b"} {
		x.Add(id, []int32{299, 7, 0, 130, 131})
	}
	b := x.pack()
	y := NewSums(s, c)
	if err := y.unpack(b); err != nil || !slices.Equal(y.pack(), b) {
		t.Fatal(err)
	}
	if got := y.Add("a", []int32{0, 130, 5}); got != (Tally{Rows: 3, Repeated: 2, Counted: 1}) {
		t.Errorf("%+v", got)
	}
	for n := range b {
		cut := NewSums(s, c)
		if err := cut.unpack(b[:n]); err == nil && !slices.Equal(cut.pack(), b[:n]) { // the end of a user is no damage
			t.Errorf("%d of %d bytes", n, len(b))
		}
	}
	if err := NewSums(s, &Catalogue{IDs: make([]string, 8)}).unpack(b); err == nil {
		t.Error("users of a larger catalogue")
	}
}

// A catalogue whose numbers no stream has is refused.
func TestCatalogueCheck(t *testing.T) {
	for _, c := range []Catalogue{{IDs: []string{"a"}}, {IDs: []string{"a", "b"}, Rows: []int32{0}},
		{IDs: []string{"a", "a"}, Rows: []int32{0, 1}}, {IDs: []string{"a", ""}, Rows: []int32{0, 1}},
		{IDs: []string{"a", "b"}, Rows: []int32{0, 1}, Weights: []float64{1, 0}},
		{IDs: []string{"a", "b"}, Rows: []int32{0, 1}, Weights: []float64{1, 1e9}},
		{IDs: []string{"a", "b"}, Rows: []int32{1, 0}, Weights: []float64{1, 1}},
		{IDs: []string{"a", "b"}, Rows: []int32{0, 2}, Weights: []float64{1, 1}}} {
		if c.Check() == nil {
			t.Errorf("%+v", c)
		}
	}
}
