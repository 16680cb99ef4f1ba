package standin_test

import (
	"math"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/rng"
)

// Below 1e-9 of all standard normal numbers are above sixSigma.
const sixSigma = 6.0

// orderZ compares hits at 20 of transition counts with those counted after the rows of
// every user in train were shuffled. Users are independent, so the sum of their
// differences over the root of the sum of squares is about standard normal when the
// order says nothing.
func orderZ(s *dataset.Sequential, seed rng.Seed) float64 {
	samples := dataset.Prefixes(s.Test)
	ordered := transitions(s, s.Train)
	shuffled := transitions(s, shuffledOrder(s.Train, seed.Stream("test/order")))
	scores := make([]float32, s.Items+1)
	hit := func(score func(prefix []int32, scores []float32), prefix []int32, target int32) float64 {
		score(prefix, scores)
		above := 0
		for i, v := range scores[1:] {
			if s := scores[target]; v > s || v == s && int32(i+1) < target {
				above++
			}
		}
		if above < 20 {
			return 1
		}
		return 0
	}
	perUser := make([]float64, s.Users)
	for i := range samples.Len() {
		prefix, target := samples.At(s.Test, i)
		perUser[samples.User[i]] += hit(ordered, prefix, target) - hit(shuffled, prefix, target)
	}
	var total, square float64
	for _, d := range perUser {
		total += d
		square += d * d
	}
	return total / math.Sqrt(square)
}

// TestStandInOrderNotJustTaste asks for six standard deviations between counts of what
// follows what and the same counts without the order, which chance reaches once in 1e9,
// and for less than that once the order of the stand-in itself is shuffled.
func TestStandInOrderNotJustTaste(t *testing.T) {
	for _, name := range []string{"tiny", "demo"} {
		s, err := registry.Load(t.Context(), "standin-"+name, "dipsgnn", dataset.View{Seed: 11}, registry.Options{})
		if err != nil {
			t.Fatal(err)
		}
		z := orderZ(s, 1)
		mixed := *s
		mixed.Train = shuffledOrder(s.Train, rng.Seed(2).Stream("test/train"))
		mixed.Test = shuffledOrder(s.Test, rng.Seed(2).Stream("test/test"))
		without := orderZ(&mixed, 3)
		t.Logf("%s: z %.1f, of shuffled rows %.1f", name, z, without)
		if z < sixSigma {
			t.Errorf("%s: order is not learnable, z %.2f", name, z)
		}
		if math.Abs(without) > sixSigma {
			t.Errorf("%s: shuffled rows still have an order, z %.2f", name, without)
		}
	}
}

// handedOut gives the values out anew, in that order.
func handedOut(y, order []int32) []int32 {
	out := make([]int32, len(y))
	for i, from := range order {
		out[i] = y[from]
	}
	return out
}

// TestStandInAttributesNotByChance infers gender and age, 35 and above, from the items of
// users that were not counted. The AUC of chance, and of the majority, is 1/2 with
// variance (n+1)/(12 n0 n1), so six deviations come by chance once in 1e9; users' values
// handed out anew must stay below that.
func TestStandInAttributesNotByChance(t *testing.T) {
	_, l, f := generate(t, "ml-1m", 12)
	s := rng.Seed(4).Stream("test/attributes")
	for _, c := range []struct {
		name string
		is   map[string]bool
	}{{"gender", map[string]bool{"M": true}}, {"age", map[string]bool{"35": true, "45": true, "50": true, "56": true}}} {
		col, err := f.Column(c.name)
		if err != nil {
			t.Fatal(err)
		}
		y := make([]int32, len(col.Codes))
		n := [2]float64{} // of the users inferred
		for u, code := range col.Codes {
			if c.is[col.Levels[code]] {
				y[u] = 1
			}
			if u%2 == 1 {
				n[y[u]]++
			}
		}
		deviation := math.Sqrt((n[0] + n[1] + 1) / (12 * n[0] * n[1]))
		z := (inferAUC(l, y) - 0.5) / deviation
		chance := (inferAUC(l, handedOut(y, s.Perm(len(y)))) - 0.5) / deviation
		t.Logf("%s: z %.1f, handed out anew %.1f", c.name, z, chance)
		if z < sixSigma {
			t.Errorf("%s is not learnable, z %.2f", c.name, z)
		}
		if math.Abs(chance) > sixSigma {
			t.Errorf("%s handed out anew is still learnable, z %.2f", c.name, chance)
		}
	}
}

// popularity counts the rows of every item in train.
func popularity(s *dataset.Sequential) []float32 {
	pop := make([]float32, s.Items+1)
	for _, seq := range s.Train {
		for _, i := range seq {
			pop[i]++
		}
	}
	return pop
}

// transitions returns the scores of items by a prefix: it counts how often an item comes right after the last one of
// the prefix.
func transitions(s *dataset.Sequential, train [][]int32) func(prefix []int32, scores []float32) {
	n := s.Items + 1
	follows, pop := make([]float32, n*n), popularity(s)
	for i := range n {
		for j, p := range pop { // counts are whole numbers, so this only decides ties
			follows[i*n+j] = p / float32(2*(len(train)+1))
		}
	}
	for _, seq := range train {
		for k := 1; k < len(seq); k++ {
			follows[int(seq[k-1])*n+int(seq[k])]++
		}
	}
	return func(prefix []int32, scores []float32) {
		last := int(prefix[len(prefix)-1])
		copy(scores, follows[last*n:last*n+n])
	}
}

// shuffledOrder returns the sequences, each in random order.
func shuffledOrder(seqs [][]int32, stream rng.Stream) [][]int32 {
	out := make([][]int32, len(seqs))
	for u, seq := range seqs {
		s := stream.Sub(uint64(u))
		out[u] = make([]int32, len(seq))
		for i, from := range s.Perm(len(seq)) {
			out[u][i] = seq[from]
		}
	}
	return out
}
