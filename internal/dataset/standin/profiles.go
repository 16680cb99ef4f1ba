package standin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// The stand-ins of the other sets. If the real rows were available, curves and shares are their aggregates. If only a
// paper's table was, the counts are the table's and the rest is assumed; the card says which.

// ml100kProfile returns a profile with aggregates of MovieLens 100K.
func ml100kProfile() Profile {
	p := Profile{
		Name: "ml-100k", Title: "stand-in for MovieLens 100K (synthetic)", Like: "ml-100k",
		Users: 943, Items: 1682, Rows: 100000, MinLength: 20,
		Lengths: curve([]float64{20, 20, 21, 23, 26, 29, 33, 38, 43, 50, 57, 65, 75, 93, 108, 127.4, 148, 171.6,
			205.4, 244.4, 275.7, 310.6, 342.3, 388, 442.5, 500.2, 601.9, 688, 737}),
		Popularity: curve([]float64{1, 1, 1, 2, 3, 5, 6, 9, 12, 16, 21, 27, 34, 43, 51.7, 65, 80, 100, 127.8, 169,
			191.9, 229.8, 259, 298.4, 369.1, 430.2, 484.2, 508.3, 583}, upper(1682, []int{1}, []float64{509})...),
		Likes: curve([]float64{0, 8, 10, 12, 14, 17, 19, 22.6, 25, 28, 34, 39, 43, 49, 57.3, 70, 80.5, 96.6, 115,
			138.8, 149, 171, 181.1, 212.3, 257, 270.4, 277.9, 325.2, 378}),
		ItemLikes: curve([]float64{0, 0, 0, 0, 1, 1, 2, 2, 3, 4, 6, 9, 12, 16, 22, 30, 39, 51, 70, 98, 117.9, 152,
			179.2, 220.8, 248.8, 296.4, 347.2, 387.6, 501}, upper(1682, []int{1}, []float64{406})...),
		UserRank: 0.932, ItemRank: 0.953,
		Gini:    [4]float64{0.4719, 0.6290, 0.4703, 0.7115},
		Ratings: [5]int{6110, 11370, 27145, 34174, 21201},
		Attributes: []Attribute{
			{Name: "gender", Values: []string{"F", "M"}, Counts: []int{273, 670}, Effect: 0.5},
			{Name: "age", Kind: dataset.Numeric, Effect: 0.4, Order: true,
				Counts: []int{1, 1, 1, 5, 3, 6, 5, 14, 18, 23, 32, 27, 37, 28, 33, 38, 34, 35, 36, 32, 39, 25, 28, 26,
					17, 27, 21, 19, 17, 22, 21, 10, 21, 13, 23, 15, 12, 14, 20, 19, 20, 20, 6, 12, 4, 11, 6, 9, 3, 3, 9,
					3, 2, 3, 2, 3, 1, 2, 2, 3, 1}},
			{Name: "occupation", Values: []string{"administrator", "artist", "doctor", "educator", "engineer",
				"entertainment", "executive", "healthcare", "homemaker", "lawyer", "librarian",
				"marketing", "none", "other", "programmer", "retired", "salesman", "scientist", "student", "technician",
				"writer"},
				Counts: []int{79, 28, 7, 95, 67, 18, 32, 16, 7, 12, 51, 26, 9, 105, 66, 14, 12, 31, 196, 27, 45},
				Effect: 0.2},
		},
		Clusters: 20, Taste: 1.5, Markov: 0.4, Successors: 40, Decay: 0.95, Crowd: 10,
		After: Aggregates{Users: 943, Items: 1149, Rows: 39774, TestItems: 1077, Gini: 0.4930,
			Lengths: [7]float64{18, 21, 33, 50, 50, 50, 50}},
	}
	for age := 7; age <= 73; age++ { // the ages that occur
		if !slices.Contains([]int{8, 9, 12, 67, 71, 72}, age) {
			p.Attributes[1].Numbers = append(p.Attributes[1].Numbers, float64(age))
		}
	}
	return p
}

var (
	gowallaLengths = []float64{9, 10, 10, 11, 12, 13, 14, 15, 16, 17, 19, 20, 22, 25, 28, 32, 37, 43, 52, 67, 80, 102,
		125, 166, 227.9, 308.7, 413.4, 542.3, 1014}
	gowallaItems = []float64{10, 10, 10, 10, 11, 11, 12, 12, 13, 13, 14, 15, 16, 17, 19, 21, 24, 27, 33, 43, 51, 67,
		83, 116.4, 173, 240.4, 341.1, 532.2, 2310}
	gowallaLongest = upper(29858, []int{1, 3, 5, 8, 12, 20}, []float64{831, 809, 785, 687, 670, 602})
	gowallaTop     = upper(40981, []int{1, 3, 5, 8, 12, 20, 30}, []float64{1978, 1729, 1492, 1315, 904, 769, 592})
)

const assumedTaste = "how strongly tastes and order act; they were not fitted to anything"

// gowallaProfile returns a profile with aggregates of Gowalla as NGCF and LightGCN published
// it.
func gowallaProfile() Profile {
	return Profile{
		Name: "gowalla", Title: "stand-in for Gowalla, the NGCF/LightGCN split (synthetic)", Like: "gowalla",
		Users: 29858, Items: 40981, Rows: 1027370, MinLength: 9, MinItem: 10, Implicit: true,
		Lengths: curve(gowallaLengths, gowallaLongest...), Popularity: curve(gowallaItems, gowallaTop...),
		Gini:     [4]float64{0.4666, 0.4346},
		Clusters: 200, Taste: 2.5, Markov: 0.3, Successors: 40, Decay: 0.95, Crowd: 10,
		Assumed: []string{assumedTaste, "the split, which is drawn at random here where the real one is published"},
	}
}

// yelp2018Profile returns a profile with the counts that LightGCN prints in its table 2.
func yelp2018Profile() Profile {
	return Profile{
		Name: "yelp2018", Title: "stand-in for Yelp2018, the LightGCN split (synthetic)", Like: "yelp2018",
		Users: 31668, Items: 38048, Rows: 1561406, MinLength: 10, MinItem: 10, Implicit: true,
		Lengths: curve(gowallaLengths, gowallaLongest...), Popularity: curve(gowallaItems, gowallaTop...),
		Clusters: 200, Taste: 2.5, Markov: 0.3, Successors: 40, Decay: 0.95, Crowd: 10,
		Assumed: []string{"the shape of both curves, which is that of Gowalla, another 10-core of visits, at these " +
			"counts", assumedTaste,
			"the split, which is drawn at random here where the real one is published"},
	}
}

const assumedPareto = "the curve of rows per item, a Pareto law from 10 rows on with the mean that the counts give"

// yelpProfile returns a profile with the counts of DIPSGNN's table 1: 99,011 users at 27.90
// rows before the cut at 30 and 1,842,418 rows after it. The two sums fix the two parameters of
// a log-normal law of rows per user above 9.5.
func yelpProfile() Profile {
	ladder := func(name string, counts ...int) Attribute {
		return Attribute{Name: name, Kind: dataset.Numeric, Numbers: []float64{0, 1, 3, 10, 30, 100, 300, 1000},
			Counts: counts, Effect: 0.2, Order: true}
	}
	return Profile{
		Name: "yelp", Title: "stand-in for Yelp as DIPSGNN cuts it (synthetic)", Like: "yelp",
		Users: 99011, Items: 56428, Rows: 2762407, MinLength: 10, MinItem: 10, Implicit: true,
		Lengths:    logNormal(99011, 9.5, 1.8644, 1.4477),
		Popularity: pareto(10, 2762407./56428, 3000),
		Attributes: []Attribute{
			ladder("review_count", 0, 1, 4, 20, 40, 25, 8, 2), ladder("useful", 5, 10, 20, 25, 20, 12, 6, 2),
			ladder("funny", 20, 20, 20, 18, 12, 6, 3, 1),
			ladder("cool", 15, 18, 20, 20, 14, 8, 4, 1), ladder("fans", 45, 25, 15, 10, 4, 1, 0, 0),
			{Name: "average_stars", Kind: dataset.Numeric, Numbers: []float64{1, 2, 2.5, 3, 3.5, 4, 4.5, 5},
				Counts: []int{1, 2, 5, 12, 30, 33, 14, 3}, Effect: 0.2, Order: true},
		},
		Clusters: 200, Taste: 2.5, Markov: 0.3, Successors: 40, Decay: 0.95, Crowd: 10,
		After: Aggregates{Users: 99011, Rows: 1842418},
		Assumed: []string{"the law of rows per user, log-normal above 9.5, fitted to the two sums that are printed",
			assumedPareto, "every attribute", "ratings, of which there are none", assumedTaste},
	}
}

// tmallProfile returns a profile with the counts of DIPSGNN's table 1: 132,724 users at 36.18
// rows before the cut at 50 and 3,338,788 rows after it; curves as in yelpProfile.
func tmallProfile() Profile {
	return Profile{
		Name: "tmall", Title: "stand-in for Tmall as DIPSGNN cuts it (synthetic)", Like: "tmall",
		Users: 132724, Items: 98226, Rows: 4801954, MinLength: 10, MinItem: 10, Implicit: true,
		Lengths:    logNormal(132724, 9.5, 2.3084, 1.3977),
		Popularity: pareto(10, 4801954./98226, 5000),
		Attributes: []Attribute{
			{Name: "age_range", Values: []string{"0", "1", "2", "3", "4", "5", "6", "7", "8"},
				Counts: []int{1, 1, 1, 1, 1, 1, 1, 1, 1}, Effect: 0.3, Order: true},
			{Name: "gender", Values: []string{"0", "1", "2"}, Counts: []int{1, 1, 1}, Effect: 0.4},
		},
		Clusters: 300, Taste: 2.5, Markov: 0.3, Successors: 40, Decay: 0.95, Crowd: 10,
		After: Aggregates{Users: 132724, Rows: 3338788},
		Assumed: []string{"the law of rows per user, log-normal above 9.5, fitted to the two sums that are printed",
			assumedPareto, "the shares of age range and gender, even here",
			"that nobody clicks an item twice; the real log repeats pairs and keeps them", assumedTaste},
	}
}

// CrossName is the name of the synthetic pair of domains, left and right.
const CrossName = "standin-cross"

// The synthetic pair of domains is small enough for tests. A model can learn within a domain
// (an item's successors are of its cluster) and across domains (a user has the same cluster in
// both, three times in four).
const (
	crossGenerator = 1
	crossUsers     = 240
	crossClusters  = 6
)

var crossItems = [2]int{300, 200}

// CrossLogs returns both domains and a hash of generator and seed. Users alternate between 6 and 25 rows per domain.
func CrossLogs(seed rng.Seed) (logs []*dataset.Log, hash string) {
	logs = make([]*dataset.Log, len(crossItems))
	for d, items := range crossItems {
		var b dataset.Builder
		b.Times = []int64{}
		for u := range crossUsers {
			s := seed.Stream("standin.cross", uint64(d), uint64(u))
			own := seed.Stream("standin.cross.cluster", uint64(u))
			cluster := own.IntN(crossClusters)
			if s.IntN(4) == 0 {
				cluster = s.IntN(crossClusters)
			}
			had := map[int]bool{}
			for t := range 6 + s.IntN(20) {
				item := 0
				for try := 0; ; try++ {
					c := cluster
					if s.IntN(5) == 0 || try > 20 {
						c = s.IntN(crossClusters)
					}
					// Low numbers of a cluster are popular.
					per := items / crossClusters
					item = c + crossClusters*(s.IntN(per)*(1+s.IntN(per))/per)
					if !had[item] {
						break
					}
				}
				had[item] = true
				b.Add(b.Users.ID(fmt.Appendf(nil, "%d", u)), b.Items.ID(fmt.Appendf(nil, "%c%d", "LR"[d], item)))
				b.Times = append(b.Times, int64(t))
			}
		}
		logs[d] = b.Log("")
		logs[d].Name, logs[d].StandIn = CrossName, true
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "privrec %s %d seed %d", CrossName, crossGenerator, uint64(seed)))
	return logs, hex.EncodeToString(sum[:])
}
