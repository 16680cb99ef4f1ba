package standin

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/dataset"
)

// Profile holds the targets of a stand-in: published or aggregate statistics of a real data set, and the strength of
// the planted structure. It holds no row of real data.
type Profile struct {
	Name, Title string
	Users       int
	Items       int
	Rows        int
	Like        string     // the real set whose recipes are used; "" for DIPSGNN's steps with Core
	MinLength   int        // rows of the shortest user
	MinItem     int        // rows of the least frequent item; 0 is 1
	Implicit    bool       // rows say that a user used an item, without a rating; every row is liked
	Lengths     []Quantile // rows per user; the curve is scaled to give Rows in all
	Popularity  []Quantile // rows per item; the curve is scaled likewise
	Likes       []Quantile // rows of rating 4 and 5 per user; nil: a user's share of them varies around the mean
	ItemLikes   []Quantile // the same per item; nil: the share rises with popularity
	UserRank    float64    // rank correlation of a user's likes with the user's rows, in (0,1]; with Likes
	ItemRank    float64    // the same for items; with ItemLikes
	Gini        [4]float64 // of rows per user, rows per item, likes per user, likes per item; zeros are not known
	Ratings     [5]int     // relative frequencies of the ratings 1..5
	Attributes  []Attribute
	Clusters    int     // latent taste factors
	Taste       float64 // spread of users' log-weights over clusters
	Markov      float64 // probability that a liked item follows from the one liked before
	Successors  int     // items that may follow an item
	Decay       float64 // of the probabilities along that list, in (0,1)
	Crowd       float64 // how much more than in proportion long users get popular items, see quotas; 0: no more
	// how much sooner users get popular items: 0 not at all, 1 as strongly as chance acts, more above
	Early   float64
	After   Aggregates // of the real data after the recipe; zero fields are not known
	Core    int        // k-core of the recipe for this size
	Assumed []string   // guesses that no source states, for the card
}

// Quantile is one point of a distribution: a share P of the values is at most V.
type Quantile struct{ P, V float64 }

// Attribute describes a categorical user feature with the number of users at each value.
type Attribute struct {
	Name    string
	Kind    dataset.Kind
	Values  []string  // Categorical
	Numbers []float64 // Numeric
	Counts  []int     // a value; relative, scaled to the users of the profile
	Effect  float64   // spread of the attribute's effect on log taste; ordered values act through their order
	Order   bool      // values are ordered, as ages are
}

// label returns the v-th value as text.
func (a Attribute) label(v int) string {
	if a.Kind == dataset.Numeric {
		return strconv.FormatFloat(a.Numbers[v], 'g', -1, 64)
	}
	return a.Values[v]
}

// Aggregates of MovieLens 1M: rows per user and per item at 29 quantiles.
var (
	ml1mP = []float64{0, .025, .05, .1, .15, .2, .25, .3, .35, .4, .45, .5, .55, .6, .65, .7, .75, .8, .85, .9,
		.925, .95, .965, .98, .99, .995, .9975, .999, 1}
	ml1mLengths = []float64{20, 21, 23, 27, 32, 38, 44, 51, 60, 70, 81, 96, 109, 126, 148, 173, 208, 253, 309, 400, 467,
		556, 647.5, 784, 907, 1045, 1239, 1343, 2314}
	// Rows of rating 4 and 5 per user and per item. The points around 9 and 10 decide a
	// 10-core, those around 99 and 100 a cut at 100.
	ml1mLikes = []float64{0, 11, 13, 17, 20, 23, 27, 32, 38, 44, 51, 58, 67, 78, 91, 105, 124, 145, 176, 225, 252,
		299, 343.6, 413.2, 494.4, 577.4, 691.8, 816.9, 1435}
	ml1mItemLikes = []float64{0, 0, 1, 2, 4, 7, 10, 14, 19, 25, 32, 44, 57, 77, 101, 131, 170, 230, 313, 436.5, 536.1,
		680, 829.3, 1040.6, 1421, 1820.3, 2073.2, 2260, 2853}
	ml1mItems = []float64{1, 1, 2, 7, 14, 23, 33, 44, 58, 74, 97, 123.5, 154, 188, 228, 280, 350, 429, 553, 729.5,
		862, 1051.5, 1206, 1447, 1785, 2283, 2567, 2734, 3428}
)

// curve returns the curve of values at the shares ml1mP, with the exact points inserted.
func curve(values []float64, exact ...Quantile) []Quantile {
	q := make([]Quantile, len(values), len(values)+len(exact))
	for i, v := range values {
		q[i] = Quantile{ml1mP[i], v}
	}
	q = append(q, exact...)
	slices.SortFunc(q, func(a, b Quantile) int { return cmp.Compare(a.P, b.P) })
	return q
}

// step returns a curve's two points around a threshold v: below of n values are less than v.
func step(n, below int, v float64) []Quantile {
	last := float64(n - 1)
	return []Quantile{{float64(below-1) / last, v - 1}, {float64(below) / last, v}}
}

// upper returns the exact points at a curve's upper end: rank[k] of n values are above value[k].
func upper(n int, rank []int, value []float64) []Quantile {
	out := make([]Quantile, len(rank))
	for k, above := range rank {
		out[k] = Quantile{float64(n-1-above) / float64(n-1), value[k]}
	}
	return out
}

// Profiles returns the stand-ins: those at the size of a real set, then the small ones.
func Profiles() []Profile {
	ml1m := Profile{
		Name: "ml-1m", Title: "stand-in for MovieLens 1M (synthetic)",
		Users: 6040, Items: 3706, Rows: 1000209, MinLength: 20,
		Lengths: curve(ml1mLengths), Popularity: curve(ml1mItems),
		Likes: curve(ml1mLikes, slices.Concat(step(6040, 2, 1), step(6040, 90, 10), step(6040, 384, 15),
			step(6040, 860, 20), step(6040, 4119, 100))...),
		ItemLikes: curve(ml1mItemLikes, slices.Concat(step(3706, 173, 1), step(3706, 895, 10))...),
		UserRank:  0.955, ItemRank: 0.952,
		Gini:    [4]float64{0.5286, 0.6336, 0.5071, 0.7129},
		Ratings: [5]int{56174, 107557, 261197, 348971, 226310},
		Attributes: []Attribute{
			{Name: "gender", Values: []string{"F", "M"}, Counts: []int{1709, 4331}, Effect: 0.5},
			{Name: "age", Values: []string{"1", "18", "25", "35", "45", "50", "56"},
				Counts: []int{222, 1103, 2096, 1193, 550, 496, 380}, Effect: 0.4, Order: true},
			{Name: "occupation", Counts: []int{711, 528, 267, 173, 759, 112, 236, 679, 17, 92, 195, 129, 388, 142, 302,
				144, 241, 502, 70, 72, 281}, Effect: 0.2},
		},
		Clusters: 30, Taste: 2, Markov: 0.46, Successors: 80, Decay: 0.96, Crowd: 60, Early: 6, Core: 10,
		After: Aggregates{Users: 5949, Items: 2810, Rows: 365535, TestItems: 2751, Gini: 0.6379, AtCap: 0.3211,
			Lengths: [7]float64{10, 15, 28, 59, 100, 100, 100}},
	}
	for i := range ml1m.Attributes[2].Counts {
		ml1m.Attributes[2].Values = append(ml1m.Attributes[2].Values, strconv.Itoa(i))
	}
	return []Profile{ml1m, ml100kProfile(), gowallaProfile(), yelp2018Profile(), yelpProfile(), tmallProfile(),
		ml1m.scaled("demo", 1500, 1200, 120000, 14, 10, 0.55, 10, 0.65),
		ml1m.scaled("tiny", 200, 300, 9000, 8, 5, 0.7, 6, 0.5)}
}

// scaled returns a profile of the same kind of data at another size: the curves keep their shape.
func (p Profile) scaled(name string, users, items, rows, clusters, core int, markov float64, successors int,
	decay float64) Profile {
	p.Name, p.Title = name, fmt.Sprintf("synthetic data of the kind of %s, %d users", p.Name, users)
	p.Users, p.Items, p.Rows, p.Clusters, p.Core = users, items, rows, clusters, core
	p.Markov, p.Successors, p.Decay = markov, successors, decay
	p.Likes, p.ItemLikes, p.Crowd, p.Early = nil, nil, 0, 0 // thresholds and a cut at 100 belong to the full size
	p.After, p.Gini = Aggregates{}, [4]float64{}
	p.Attributes = slices.Clone(p.Attributes)
	p.Attributes[0].Effect, p.Taste = 0.35, 0.7 // fewer rows show less of subtle tastes
	p.Ratings = [5]int{5616, 10754, 26114, 34890, 22626}
	return p
}

// Times returns the profile with n times the users, of the same items: users' rows keep their
// distribution, and every item has n times the rows. n is at least 1.
func (p Profile) Times(n int) Profile {
	if n == 1 {
		return p
	}
	p.Name, p.Title = fmt.Sprintf("%s%s%d", p.Name, times, n), fmt.Sprintf("%s, with %d times the users", p.Title, n)
	p.Users, p.Rows, p.MinItem = n*p.Users, n*p.Rows, n*p.MinItem
	p.Popularity, p.ItemLikes = raised(p.Popularity, n), raised(p.ItemLikes, n)
	p.After = Aggregates{} // what is left after a recipe was counted at the real size
	return p
}

// raised returns a curve with n times its values.
func raised(q []Quantile, n int) []Quantile {
	q = slices.Clone(q)
	for i := range q {
		q[i].V *= float64(n)
	}
	return q
}

// times separates the name of a profile from a multiple of its users.
const times = "-x"

// mostTimes is the largest multiple.
const mostTimes = 1000

// Find returns the profile with a name, with or without "standin-" before it. The suffix "-x10" gives the profile ten
// times the users; any number from 2 to 1000 is allowed.
func Find(name string) (Profile, error) {
	var names []string
	of := strings.TrimPrefix(name, "standin-")
	for _, p := range Profiles() {
		if p.Name == of {
			return p, nil
		}
		if rest, ok := strings.CutPrefix(of, p.Name+times); ok {
			n, err := strconv.Atoi(rest)
			if err != nil || n < 2 || n > mostTimes || strconv.Itoa(n) != rest {
				return Profile{}, &dataset.Error{File: name,
					Msg: fmt.Sprintf("%q is no multiple of the users, want a number from 2 to %d", rest, mostTimes)}
			}
			return p.Times(n), nil
		}
		names = append(names, p.Name)
	}
	return Profile{}, &dataset.Error{File: name, Msg: "unknown stand-in", Hint: "known are " +
		strings.Join(names, ", ") + ", and each with -xN for N times the users"}
}

// spread returns n values of a quantile curve, its ends included, ascending, each in [lo, hi], scaled to sum to total.
func spread(q []Quantile, n, total, lo, hi int) ([]int, error) {
	if err := ascends(q); err != nil {
		return nil, err
	}
	if total < n*lo || total > n*hi {
		return nil, fmt.Errorf("dataset: %d values between %d and %d cannot sum to %d", n, lo, hi, total)
	}
	base := make([]float64, n)
	for i := range base {
		base[i] = at(q, float64(i)/float64(max(1, n-1)))
	}
	sum := func(scale float64) float64 {
		s := 0.0
		for _, v := range base {
			s += clamp(v*scale, float64(lo), float64(hi))
		}
		return s
	}
	low, high := 0.0, 1.0
	for sum(high) < float64(total) && high < 1e12 {
		high *= 2
	}
	for range 80 {
		if mid := (low + high) / 2; sum(mid) < float64(total) {
			low = mid
		} else {
			high = mid
		}
	}
	out := make([]int, n)
	got := 0
	for i, v := range base {
		out[i] = int(math.Round(clamp(v*high, float64(lo), float64(hi))))
		got += out[i]
	}
	for i := n - 1; got != total; i-- { // rounding left a few too many or too few: largest first
		switch {
		case i < 0:
			i = n
		case got < total && out[i] < hi:
			out[i]++
			got++
		case got > total && out[i] > lo:
			out[i]--
			got--
		}
	}
	slices.Sort(out)
	return out, nil
}

// ascends returns an error for a curve that cannot be interpolated: its shares must rise from 0 to 1, and its values
// must not fall.
func ascends(q []Quantile) error {
	if len(q) < 2 || q[0].P != 0 || q[len(q)-1].P != 1 || !(q[0].V >= 0) || math.IsInf(q[len(q)-1].V, 0) {
		return fmt.Errorf("dataset: a curve must go from share 0 to share 1 with values from 0 on, got %d points: %v",
			len(q), q)
	}
	for i := 1; i < len(q); i++ {
		if !(q[i].P > q[i-1].P && q[i].V >= q[i-1].V) {
			return fmt.Errorf("dataset: point %d of a curve, %v, does not follow %v", i, q[i], q[i-1])
		}
	}
	return nil
}

// at returns the value of a curve at share p. It interpolates the logarithm, or the curve itself where it starts from
// 0.
func at(q []Quantile, p float64) float64 {
	for i := 1; i < len(q); i++ {
		if p <= q[i].P {
			w := (p - q[i-1].P) / (q[i].P - q[i-1].P)
			if q[i-1].V == 0 { // has no logarithm
				return w * q[i].V
			}
			return math.Exp((1-w)*math.Log(q[i-1].V) + w*math.Log(q[i].V))
		}
	}
	return q[len(q)-1].V
}

func clamp(v, lo, hi float64) float64 { return max(lo, min(hi, v)) }

// share returns n divided in proportion to weights by largest remainder, so that shares are as exact as whole users
// allow.
func share(n int, weights []int) []int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	out, rest := make([]int, len(weights)), make([]int, len(weights))
	left := n
	for i, w := range weights {
		out[i] = n * w / sum
		rest[i] = n * w % sum
		left -= out[i]
	}
	for ; left > 0; left-- {
		best := 0
		for i := range rest {
			if rest[i] > rest[best] {
				best = i
			}
		}
		out[best]++
		rest[best] = -1
	}
	return out
}

// logNormal returns the curve of low + exp(mu + sigma z) over n values, z standard normal, with
// one point in ten of the upper tail.
func logNormal(n int, low, mu, sigma float64) []Quantile {
	var out []Quantile
	at := func(above float64) { // of n values, this many are larger
		p := 1 - (above+0.5)/float64(n)
		out = append(out, Quantile{(float64(n-1) - above) / float64(n-1),
			low + math.Exp(mu+sigma*math.Sqrt2*math.Erfinv(2*p-1))})
	}
	for above := float64(n - 1); above >= 1; above = math.Floor(above * 0.9) {
		if above > 0.05*float64(n) { // the bulk in steps of a fortieth
			for k := 40.0; k > 2; k-- {
				at(k / 40 * float64(n-1))
			}
			above = 0.05 * float64(n)
		}
		at(above)
	}
	at(0)
	return out
}

// pareto returns the curve of a Pareto law from low on with the given mean, cut at most.
func pareto(low, mean, most float64) []Quantile {
	alpha := mean / (mean - low)
	q := make([]Quantile, len(ml1mP))
	for i, p := range ml1mP {
		q[i] = Quantile{p, min(most, low*math.Pow(max(1-p, 1e-12), -1/alpha))}
	}
	return q
}
