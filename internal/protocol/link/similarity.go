package link

import (
	"context"
	"math"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/protocol/target"
	"privrec/internal/tensor"
)

// scores returns the attacks by the scores of items for the user.
func (p *plan) scores(ctx context.Context, a experiment.Scoring) ([]target.Way, error) {
	on := p.on
	names := dataset.IDsAt(p.Given.UserIDs, on.users)
	score, place := make([]float64, on.count()), make([]float64, on.count())
	err := target.Scores(ctx, a, p.On.Release, p.Given.Items, names, func(k int, s []tensor.Float) {
		sorted := slices.Sorted(slices.Values(s))
		for j, i := range on.items[k] {
			lo, _ := slices.BinarySearch(sorted, s[i])
			hi := lo
			for hi < len(sorted) && sorted[hi] == s[i] {
				hi++
			}
			score[on.at[k]+j], place[on.at[k]+j] = float64(s[i]), float64(lo+hi)/2/float64(len(sorted))
		}
	})
	return []target.Way{
		target.By("score", SeesScores, "score of the item for the user: higher for edges", score),
		target.By("place", SeesScores,
			"place of the item among all items, by the user's scores: higher for edges", place),
	}, err
}

// distances lists the distances of He et al., Table 11, without the squared Euclidean one. A term with denominator 0 is
// 0.
var distances = []struct {
	name string
	of   func(a, b []tensor.Float) float64
}{
	{"cosine", func(a, b []tensor.Float) float64 { return 1 - target.Cosine(a, b) }},
	{"Euclidean", func(a, b []tensor.Float) float64 {
		sum := 0.0
		for i := range a {
			sum += float64(a[i]-b[i]) * float64(a[i]-b[i])
		}
		return math.Sqrt(sum)
	}},
	{"correlation", func(a, b []tensor.Float) float64 { return 1 - target.Cosine(centred(a), centred(b)) }},
	{"Chebyshev", func(a, b []tensor.Float) float64 {
		most := 0.0
		for i := range a {
			most = max(most, math.Abs(float64(a[i]-b[i])))
		}
		return most
	}},
	{"Bray-Curtis", func(a, b []tensor.Float) float64 {
		var differ, sum float64
		for i := range a {
			differ, sum = differ+math.Abs(float64(a[i]-b[i])), sum+math.Abs(float64(a[i]+b[i]))
		}
		return ratio(differ, sum)
	}},
	{"Canberra", func(a, b []tensor.Float) float64 {
		sum := 0.0
		for i := range a {
			sum += ratio(math.Abs(float64(a[i]-b[i])), math.Abs(float64(a[i]))+math.Abs(float64(b[i])))
		}
		return sum
	}},
	{"city block", func(a, b []tensor.Float) float64 {
		sum := 0.0
		for i := range a {
			sum += math.Abs(float64(a[i] - b[i]))
		}
		return sum
	}},
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// centred returns the vector minus its mean.
func centred(a []tensor.Float) []tensor.Float {
	mean := 0.0
	for _, x := range a {
		mean += float64(x) / float64(len(a))
	}
	out := make([]tensor.Float, len(a))
	for i, x := range a {
		out[i] = tensor.Float(float64(x) - mean)
	}
	return out
}

// vectors returns the attacks by the distances between the vectors of user and item.
func (p *plan) vectors(v experiment.Vectors) []target.Way {
	out := make([]target.Way, len(distances))
	for d, x := range distances {
		score := make([]float64, p.on.count())
		for k, u := range p.on.users {
			for j, i := range p.on.items[k] {
				score[p.on.at[k]+j] = -x.of(tensor.Row(v.Users, int(u)), tensor.Row(v.Items, int(i)))
			}
		}
		how := "He et al.: " + x.name + " distance of the vectors of user and item: lower for edges"
		out[d] = target.By(x.name+" distance", SeesVectors, how, score)
	}
	return out
}
