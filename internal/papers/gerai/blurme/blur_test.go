package blurme

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// byMeans takes for an item's weight the mean rating of positive users, 0 where they have none,
// minus that of the others.
func byMeans(_ context.Context, rows [][]int32, ratings [][]float32, items int, positive []bool) ([]float64, error) {
	w, n := make([]float64, items), [2]float64{}
	for _, p := range positive {
		if p {
			n[1]++
		} else {
			n[0]++
		}
	}
	for u, list := range rows {
		for k, i := range list {
			if positive[u] {
				w[i] += float64(ratings[u][k]) / n[1]
			} else {
				w[i] -= float64(ratings[u][k]) / n[0]
			}
		}
	}
	return w, nil
}

// drawn makes users with random rows of at least one item, and their classes. Classes and items
// may be without users.
func drawn(rt *rapid.T) (*dataset.Interactions, *dataset.Column) {
	users, items := rapid.IntRange(4, 12).Draw(rt, "users"), rapid.IntRange(3, 30).Draw(rt, "items")
	classes := rapid.IntRange(2, 4).Draw(rt, "classes")
	d := &dataset.Interactions{Name: "drawn", Users: users, Items: items}
	class := &dataset.Column{Name: "class"}
	for c := range classes {
		class.Levels = append(class.Levels, fmt.Sprint(c))
	}
	s := rng.Seed(rapid.Uint64().Draw(rt, "rows")).Stream("rows")
	for u := range users {
		parts := [3][]int32{}
		for i := range int32(items) {
			if k := s.IntN(6); k < 3 {
				parts[k] = append(parts[k], i)
			}
		}
		if len(parts[0]) == 0 {
			parts = [3][]int32{{0}}
		}
		var ratings []float32
		for range parts[0] {
			ratings = append(ratings, float32(1+s.IntN(5)))
		}
		d.Train, d.Valid, d.Test = append(d.Train, parts[0]), append(d.Valid, parts[1]), append(d.Test, parts[2])
		d.Ratings = append(d.Ratings, ratings)
		class.Codes = append(class.Codes, int32(u%classes))
	}
	return d, class
}

// Users add as many items as they are to, each once, from the list of one other class, none
// that they have, and all greedy ones before any that is left.
func TestAdditions(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d, class := drawn(rt)
		length := rapid.IntRange(0, 8).Draw(rt, "length")
		lists, err := typical(context.Background(), d, class, 1, length, 3, byMeans)
		if err != nil {
			rt.Fatal(err)
		}
		choose := rapid.SampledFrom([]string{Greedy, Random, Ranked}).Draw(rt, "choose")
		share := rapid.Float64Range(0.01, 1).Draw(rt, "share")
		a := add(d, class, lists, share, choose, 5)
		short := 0
		for u, items := range a.items {
			var from []int32 // the list that all of them are of
			for c, list := range lists {
				if int32(c) != class.Codes[u] && !slices.ContainsFunc(items, func(i int32) bool { return !slices.Contains(list, i) }) {
					from = list
				}
			}
			if from == nil {
				rt.Fatalf("user %d of class %d adds %v, of no other class's list in %v", u, class.Codes[u], items, lists)
			}
			for k, i := range items {
				if slices.Contains(items[:k], i) || slices.Contains(d.Train[u], i) {
					rt.Fatalf("user %d adds %v to %v", u, items, d.Train[u])
				}
			}
			if want := number(share, len(d.Train[u])); len(items) > want {
				rt.Fatalf("user %d adds %d items, want %d", u, len(items), want)
			} else if len(items) < want {
				short++
			}
		}
		if short != a.short {
			rt.Fatalf("%d users are short, %d counted", short, a.short)
		}
	})
}

// What is learned from is what users had and added. What is measured is the rest of what was
// held out. Nothing else changes, and no row is lost or there twice.
func TestBlurredRows(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d, class := drawn(rt)
		lists, err := typical(context.Background(), d, class, 1, 0, 3, byMeans)
		if err != nil {
			rt.Fatal(err)
		}
		a := add(d, class, lists, rapid.Float64Range(0.01, 1).Draw(rt, "share"), Random, 5)
		x, n := blur(d, a)
		sum, count := make([]float64, d.Items), make([]float64, d.Items)
		for u, items := range d.Train {
			for k, i := range items {
				sum[i], count[i] = sum[i]+float64(d.Ratings[u][k]), count[i]+1
			}
		}
		rows, test, valid := 0, 0, 0
		for u := range d.Users {
			rows += len(a.items[u])
			want := slices.Sorted(slices.Values(slices.Concat(d.Train[u], a.items[u])))
			if !slices.Equal(x.Train[u], want) || len(x.Ratings[u]) != len(want) {
				rt.Fatalf("user %d has %v with %d ratings, want %v", u, x.Train[u], len(x.Ratings[u]), want)
			}
			for k, i := range x.Train[u] {
				rating := float32(sum[i] / count[i])
				if at, had := slices.BinarySearch(d.Train[u], i); had {
					rating = d.Ratings[u][at]
				}
				if x.Ratings[u][k] != rating {
					rt.Fatalf("user %d rates %d %v, want %v", u, i, x.Ratings[u][k], rating)
				}
			}
			for _, part := range []struct {
				was, is [][]int32
				lost    *int
			}{{d.Test, x.Test, &test}, {d.Valid, x.Valid, &valid}} {
				left := slices.Clone(part.was[u])
				left = slices.DeleteFunc(left, func(i int32) bool { return slices.Contains(a.items[u], i) })
				*part.lost += len(part.was[u]) - len(left)
				if !slices.Equal(part.is[u], left) {
					rt.Fatalf("user %d is tested on %v of %v, adding %v", u, part.is[u], part.was[u], a.items[u])
				}
			}
		}
		if n.Rows != rows || n.Test != test || n.Valid != valid || n.Short != a.short {
			rt.Fatalf("counted %+v, want %d rows, %d of test, %d of validation", n, rows, test, valid)
		}
	})
}

// A tenth of 70 rows is 7 rows, of 71 it is 8.
func TestNumber(t *testing.T) {
	for _, c := range []struct {
		share float64
		n     int
		want  int
	}{{0.1, 70, 7}, {0.1, 71, 8}, {0.01, 5, 1}, {0.05, 20, 1}, {0.05, 100, 5}, {0.07, 100, 7}, {1, 9, 9}, {0.1, 0, 0}} {
		if got := number(c.share, c.n); got != c.want {
			t.Errorf("%v of %d rows are %d, want %d", c.share, c.n, got, c.want)
		}
	}
}

// The first of the items drawn in proportion to weights is each with the probability of its
// weight, and the second is so among the rest. The sum of squares is compared with the quantile
// that 1e-9 of true draws exceed.
func TestInProportion(t *testing.T) {
	weight, items := []float64{4, 3, 2, 1}, []int32{10, 11, 12, 13}
	const draws = 40_000
	var counts [4][4]float64
	for k := range draws {
		out := inProportion(items, weight, rng.Seed(9).Stream("draw", uint64(k)))
		counts[out[0]-10][out[1]-10]++
	}
	sum := 0.0
	for a := range 4 {
		for b := range 4 {
			if a == b {
				continue
			}
			want := draws * weight[a] / 10 * weight[b] / (10 - weight[a])
			sum += (counts[a][b] - want) * (counts[a][b] - want) / want
		}
	}
	if most := (distuv.ChiSquared{K: 11}).Quantile(1 - 1e-9); sum > most {
		t.Errorf("sum of squares %v, above %v: %v", sum, most, counts)
	}
}

// The other class is uniform among the others, with the same error rate.
func TestOther(t *testing.T) {
	var counts [4]float64
	const draws = 30_000
	for k := range draws {
		counts[other(2, 4, rng.Seed(4).Stream("class", uint64(k)))]++
	}
	sum := 0.0
	for _, c := range []int{0, 1, 3} {
		sum += (counts[c] - draws/3) * (counts[c] - draws/3) / (draws / 3)
	}
	if most := (distuv.ChiSquared{K: 2}).Quantile(1 - 1e-9); counts[2] != 0 || sum > most {
		t.Errorf("%v", counts)
	}
	if c := other(1, 2, rng.Seed(1).Stream("class")); c != 0 {
		t.Errorf("the other class than 1 of two is %d", c)
	}
}

// Equal weights share their ranks, as in scipy.stats.rankdata.
func TestAddRanks(t *testing.T) {
	score := make([]float64, 6)
	addRanks(score, []float64{0.5, -1, 0.5, 9, 2, 0.5}, []int32{0, 1, 2, 4, 5})
	if want := []float64{3, 1, 3, 0, 5, 3}; !slices.Equal(score, want) {
		t.Errorf("%v, want %v", score, want)
	}
}

// Each fold leaves out its share of the users of every class.
func TestFoldsAreStratified(t *testing.T) {
	class := &dataset.Column{Levels: []string{"a", "b", "c"}}
	for u := range 100 {
		class.Codes = append(class.Codes, int32(min(2, u%7)))
	}
	fold := assign(class, 10, 3)
	var counts [3][10]int
	var all [3]int
	for u, f := range fold {
		counts[class.Codes[u]][f]++
		all[class.Codes[u]]++
	}
	for c := range counts {
		for f, n := range counts[c] {
			if exact := float64(all[c]) / 10; math.Abs(float64(n)-exact) >= 1 {
				t.Errorf("class %d has %d of %d users in fold %d", c, n, all[c], f)
			}
		}
	}
}

// Every fit sees the users outside its fold, and all users where there is one fold.
func TestFitsLeaveTheirFoldOut(t *testing.T) {
	d, class := planted(20)
	for _, folds := range []int{1, 5} {
		var sizes []int
		_, err := typical(t.Context(), d, class, folds, 0, 3, func(ctx context.Context, rows [][]int32, ratings [][]float32, items int, y []bool) ([]float64, error) {
			sizes = append(sizes, len(rows))
			return byMeans(ctx, rows, ratings, items, y)
		})
		want := slices.Repeat([]int{16}, 5)
		if folds == 1 {
			want = []int{20}
		}
		if err != nil || !slices.Equal(sizes, want) {
			t.Errorf("%d folds fit %v users (%v), want %v", folds, sizes, err, want)
		}
	}
}

// planted makes users of two classes, each with the items of its class and one of all.
func planted(users int) (*dataset.Interactions, *dataset.Column) {
	d := &dataset.Interactions{Name: "planted", Users: users, Items: 8}
	class := &dataset.Column{Name: "class", Levels: []string{"a", "b"}}
	for u := range users {
		c := int32(u % 2)
		d.Train = append(d.Train, []int32{3 * c, 3*c + 1, 3*c + 2, 6})
		d.Ratings = append(d.Ratings, []float32{5, 4, 3, 2})
		d.Test = append(d.Test, []int32{})
		class.Codes = append(class.Codes, c)
	}
	return d, class
}

// The lists of a class begin with its own items, by how much they tell, and have no item
// without a rating.
func TestTypical(t *testing.T) {
	d, class := planted(20)
	for _, folds := range []int{1, 10} {
		lists, err := typical(t.Context(), d, class, folds, 3, 3, byMeans)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(lists[0], []int32{0, 1, 2}) || !slices.Equal(lists[1], []int32{3, 4, 5}) {
			t.Errorf("%d folds: %v", folds, lists)
		}
	}
	lists, err := typical(t.Context(), d, class, 1, 100, 3, byMeans)
	if err != nil || len(lists[0]) != 7 || slices.Contains(lists[0], 7) {
		t.Errorf("%v, %v", lists, err)
	}
}

func TestOneClassOutsideAFold(t *testing.T) {
	d, class := planted(6)
	class.Codes = []int32{0, 0, 0, 1, 0, 0}
	if _, err := typical(t.Context(), d, class, 6, 0, 3, byMeans); err == nil {
		t.Error("no error for a fold with the only user of a class")
	}
}
