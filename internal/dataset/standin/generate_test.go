package standin_test

import (
	"math"
	"reflect"
	"slices"
	"sort"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/standin"
	"privrec/internal/rng"
	"privrec/internal/stats"
)

func generate(t testing.TB, name string, seed uint64) (standin.Profile, *dataset.Log, *dataset.Features) {
	t.Helper()
	p, err := standin.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	l, f, err := p.Generate(t.Context(), rng.Seed(seed))
	if err != nil {
		t.Fatal(err)
	}
	return p, l, f
}

// recipeOf is the recipe that a profile's aggregates are of.
func recipeOf(t *testing.T, p standin.Profile) dataset.Recipe {
	t.Helper()
	set, err := registry.Find("standin-" + p.Name)
	if err != nil {
		t.Fatal(err)
	}
	return set.Recipes[0]
}

// within reports |got-want| <= share*want.
func within(got, want, share float64) bool { return math.Abs(got-want) <= share*math.Abs(want) }

// matchesWithin generates a stand-in and reports every statistic that is more than 1 %
// off its target, except for those named.
func matchesWithin(t *testing.T, name string, least int, but ...string) (standin.Profile, *dataset.Log) {
	t.Helper()
	p, l, f := generate(t, name, 1)
	matches, err := p.Matches(l, f, recipeOf(t, p))
	if err != nil {
		t.Fatal(err)
	}
	if len(matches) < least {
		t.Errorf("%s: only %d statistics compared", name, len(matches))
	}
	for _, m := range matches {
		if !m.Within(0.01) && !slices.Contains(but, m.What) {
			t.Errorf("%s: more than 1 %% off: %v", name, m)
		}
	}
	st := l.Stats()
	if st.Users != p.Users || st.Items != p.Items || st.Rows != p.Rows {
		t.Errorf("%s: counts are %d users, %d items, %d rows", name, st.Users, st.Items, st.Rows)
	}
	return p, l
}

// TestStandInMatchesStatistics checks stand-ins against the aggregates of the real data,
// computed once from the real rows: all within 1 %.
func TestStandInMatchesStatistics(t *testing.T) {
	p, l := matchesWithin(t, "ml-1m", 70)
	if p.Users != 6040 || p.Items != 3706 || p.Rows != 1000209 {
		t.Errorf("the profile has %d users, %d items, %d rows", p.Users, p.Items, p.Rows)
	}
	lengths, _ := l.Counts()
	slices.Sort(lengths)
	for _, q := range p.Lengths {
		if got := stats.Quantile(lengths, q.P); math.Abs(got-q.V) > max(1, 0.01*q.V) {
			t.Errorf("length at %.3f is %g, want %g within 1 %% or one row", q.P, got, q.V)
		}
	}
	// Its shortest users meet rarer items than real ones do, and the core takes those away.
	matchesWithin(t, "ml-100k", 120, "rows per user at 0 % after recipe dipsgnn", "rows per user at 5 % after recipe dipsgnn")
}

// TestImplicitStandIn has no ratings, and knows which rows are not its own.
func TestImplicitStandIn(t *testing.T) {
	p, err := standin.Find("gowalla")
	if err != nil {
		t.Fatal(err)
	}
	p.Users, p.Items, p.Rows, p.Clusters, p.Gini = 400, 500, 12000, 10, [4]float64{}
	l, f, err := p.Generate(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	_, items := l.Counts()
	if l.Values != nil || l.Len() != p.Rows || slices.Min(items) < p.MinItem {
		t.Errorf("ratings %v, %d rows, least frequent item %d", l.Values != nil, l.Len(), slices.Min(items))
	}
	if _, err := p.Matches(l, f, recipeOf(t, p)); err != nil {
		t.Error(err)
	}
	l.Values = make([]float32, l.Len())
	if _, err := p.Matches(l, f, recipeOf(t, p)); err == nil {
		t.Error("rows with ratings were taken for rows without")
	}
	set, err := registry.Find("standin-" + p.Name)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"lightgcn", "rdpgcf"} {
		r, err := set.Recipe(name)
		if err != nil {
			t.Fatal(err)
		}
		l.Values = nil
		s, err := r.Apply(l, f)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(s.Valid) > 0; got != (name == "rdpgcf") {
			t.Errorf("%s: validation part: %v", name, got)
		}
	}
}

// TestMatchesNoticeOtherRows compares rows with another profile's targets.
func TestMatchesNoticeOtherRows(t *testing.T) {
	p, l, f := generate(t, "tiny", 1)
	p.Users, p.Ratings[4] = p.Users*2, p.Ratings[4]*2
	p.Attributes[0].Counts = []int{1, 1}
	matches, err := p.Matches(l, f, recipeOf(t, p))
	if err != nil {
		t.Fatal(err)
	}
	off := map[string]bool{}
	for _, m := range matches {
		off[m.What] = !m.Within(0.01)
	}
	for _, what := range []string{"users", "mean rows per user", "rows of rating 5", "users of gender F"} {
		if !off[what] {
			t.Errorf("%s: the difference went unnoticed", what)
		}
	}
	if off["items"] || off["rows"] {
		t.Error("equal counts are said to differ")
	}
}

func TestStandInRows(t *testing.T) {
	for _, name := range []string{"tiny", "demo"} {
		p, l, f := generate(t, name, 7)
		_, again, _ := generate(t, name, 7)
		if !reflect.DeepEqual(l, again) {
			t.Errorf("%s: the same seed gave other rows", name)
		}
		_, other, _ := generate(t, name, 8)
		if reflect.DeepEqual(l.Items, other.Items) || l.Hash == other.Hash {
			t.Errorf("%s: another seed gave the same rows", name)
		}
		st := l.Stats()
		t.Log(name, st)
		if st.Users != p.Users || st.Items != p.Items || st.Rows != p.Rows || len(f.UserIDs) != p.Users {
			t.Errorf("%s: %v", name, st)
		}
		off := l.Offsets()
		for u := range l.UserIDs {
			seen := map[int32]bool{}
			for row := off[u]; row < off[u+1]; row++ {
				if seen[l.Items[row]] {
					t.Fatalf("%s: user %d meets item %d twice", name, u, l.Items[row])
				}
				seen[l.Items[row]] = true
				if row > off[u] && l.Times[row] <= l.Times[row-1] {
					t.Fatalf("%s: user %d goes back in time", name, u)
				}
			}
		}
	}
}

// recallAt20 ranks the items of every test sample by scores, ties by lower id, and
// returns the share of targets among the first 20.
func recallAt20(s *dataset.Sequential, scores func(prefix []int32) []float64) float64 {
	test := dataset.Prefixes(s.Test)
	hits := 0
	for i := range test.Len() {
		prefix, target := test.At(s.Test, i)
		sc := scores(prefix)
		rank := 1
		for j := 1; j <= s.Items; j++ {
			if sc[j] > sc[target] || sc[j] == sc[target] && int32(j) < target {
				rank++
			}
		}
		if rank <= 20 {
			hits++
		}
	}
	return float64(hits) / float64(test.Len())
}

// orderSignal returns recall@20 of popularity and of first-order transition counts
// (popularity breaking ties), both counted in train.
func orderSignal(s *dataset.Sequential) (popularity, markov float64) {
	pop := make([]float64, s.Items+1)
	follows := make([]map[int32]float64, s.Items+1)
	for _, seq := range s.Train {
		for k, i := range seq {
			pop[i]++
			if k > 0 {
				if follows[seq[k-1]] == nil {
					follows[seq[k-1]] = map[int32]float64{}
				}
				follows[seq[k-1]][i]++
			}
		}
	}
	byLast := map[int32][]float64{}
	return recallAt20(s, func([]int32) []float64 { return pop }),
		recallAt20(s, func(prefix []int32) []float64 {
			last := prefix[len(prefix)-1]
			if byLast[last] == nil {
				sc := make([]float64, len(pop))
				for j := range sc {
					sc[j] = pop[j]/1e6 + follows[last][int32(j)]
				}
				byLast[last] = sc
			}
			return byLast[last]
		})
}

func TestStandInOrderIsLearnable(t *testing.T) {
	for _, c := range []struct {
		name   string
		factor float64 // markov over popularity at least
	}{{"standin-tiny", 1.3}, {"standin-demo", 2}} {
		s, err := registry.Load(t.Context(), c.name, "dipsgnn", dataset.View{Seed: 3}, registry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range s.Ladder {
			t.Logf("%+v", r)
		}
		pop, markov := orderSignal(s)
		t.Logf("%s: recall@20 popularity %.3f, markov %.3f", c.name, pop, markov)
		if markov < c.factor*pop {
			t.Errorf("%s: recall@20 of transitions %.3f is not %g times that of popularity %.3f", c.name, markov, c.factor, pop)
		}
		if s.Source.Level != dataset.LevelD || !s.Source.StandIn {
			t.Errorf("%s: level %v", c.name, s.Source.Level)
		}
	}
}

// TestStandInAttributesAreLearnable infers gender from the items of a user by naive
// Bayes, counts from one half of the users, AUC on the other half.
func TestStandInAttributesAreLearnable(t *testing.T) {
	for _, c := range []struct {
		name  string
		least float64
	}{{"tiny", 0.6}, {"demo", 0.7}} {
		_, l, f := generate(t, c.name, 5)
		auc := genderAUC(l, f)
		t.Logf("%s: AUC of gender %.3f", c.name, auc)
		if auc < c.least {
			t.Errorf("%s: AUC of gender %.3f, want at least %.2f", c.name, auc, c.least)
		}
	}
}

func genderAUC(l *dataset.Log, f *dataset.Features) float64 {
	col, _ := f.Column("gender")
	return inferAUC(l, col.Codes)
}

// inferAUC infers a binary value of odd users by naive Bayes over the items of even ones.
func inferAUC(l *dataset.Log, value []int32) float64 {
	var n [2][]float64
	var sum [2]float64
	for k := range n {
		n[k] = slices.Repeat([]float64{0.5}, len(l.ItemIDs))
		sum[k] = 0.5 * float64(len(l.ItemIDs))
	}
	for row, u := range l.Users {
		if u%2 == 0 {
			n[value[u]][l.Items[row]]++
			sum[value[u]]++
		}
	}
	type scored struct {
		score float64
		y     int32
	}
	score := make([]float64, len(l.UserIDs))
	for row, u := range l.Users {
		i := l.Items[row]
		score[u] += math.Log(n[1][i]/sum[1]) - math.Log(n[0][i]/sum[0])
	}
	var s []scored
	for u := 1; u < len(score); u += 2 {
		s = append(s, scored{score[u], value[u]})
	}
	sort.Slice(s, func(i, j int) bool { return s[i].score < s[j].score })
	var ranks, pos float64
	for i, x := range s {
		if x.y == 1 {
			ranks += float64(i + 1)
			pos++
		}
	}
	return (ranks - pos*(pos+1)/2) / (pos * (float64(len(s)) - pos))
}

// A multiple of the users keeps what a user has and what share of the rows an item has.
func TestTimes(t *testing.T) {
	one, err := standin.Find("tiny")
	if err != nil {
		t.Fatal(err)
	}
	three, err := standin.Find("standin-tiny-x3")
	if err != nil {
		t.Fatal(err)
	}
	if again := one.Times(1); again.Name != one.Name || again.Users != one.Users {
		t.Errorf("once the users: %+v", again)
	}
	if three.Users != 3*one.Users || three.Items != one.Items || three.Rows != 3*one.Rows || three.Name != "tiny-x3" {
		t.Fatalf("%+v", three)
	}
	var shares [2][]float64
	for k, p := range []standin.Profile{one, three} {
		l, _, err := p.Generate(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		users, items := l.Counts()
		if len(users) != p.Users || l.Len() != p.Rows {
			t.Fatalf("%d users and %d rows", len(users), l.Len())
		}
		slices.Sort(users)
		slices.Sort(items)
		for q := 0.0; q <= 1; q += 0.125 {
			shares[k] = append(shares[k], float64(users[int(q*float64(len(users)-1))]), float64(items[int(q*float64(len(items)-1))])/float64(p.Users/one.Users))
		}
	}
	for q, v := range shares[0] {
		if off := math.Abs(shares[1][q] - v); off > 1+0.05*v {
			t.Errorf("number %d of the distributions is %g with three times the users, %g with the users", q, shares[1][q], v)
		}
	}
	for _, bad := range []string{"tiny-x1", "tiny-x0", "tiny-x03", "tiny-x1001", "tiny-xx", "tiny-x-3", "other-x3"} {
		if _, err := standin.Find(bad); err == nil {
			t.Errorf("%s was found", bad)
		}
	}
}
