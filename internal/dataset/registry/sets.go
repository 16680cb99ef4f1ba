package registry

import (
	"context"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/standin"
)

// Papers that owners of data ask to cite.
const (
	citeMovieLens = "F. Maxwell Harper and Joseph A. Konstan. The MovieLens Datasets: History and Context. ACM " +
		"Transactions on Interactive Intelligent Systems 5(4), article 19, 2015. https://doi.org/10.1145/2827872"
	citeAmazon = "Ruining He and Julian McAuley. Ups and Downs: Modeling the Visual Evolution of Fashion Trends " +
		"with One-Class Collaborative Filtering. WWW 2016. https://doi.org/10.1145/2872427.2883037"
)

const groupLens = "GroupLens usage licence: research with acknowledgement, no endorsement, no commercial use, no " +
	"redistribution without permission"

// interAndUser returns a reader of a RecBole pair of files.
func interAndUser(kinds map[string]dataset.Kind) func(context.Context,
	[]string) (*dataset.Log, *dataset.Features, error) {
	return pair(format.ReadInter, func(ctx context.Context, path string) (*dataset.Features, error) {
		return format.ReadUserAtomic(ctx, path, kinds)
	})
}

// pair returns a reader of an interaction file and a user file.
func pair(log func(context.Context, string) (*dataset.Log, error),
	users func(context.Context, string) (*dataset.Features, error)) func(context.Context,
	[]string) (*dataset.Log, *dataset.Features, error) {
	return func(ctx context.Context, paths []string) (*dataset.Log, *dataset.Features, error) {
		l, err := log(ctx, paths[0])
		if err != nil {
			return nil, nil, err
		}
		f, err := users(ctx, paths[1])
		return l, f, err
	}
}

func ml1m() Set {
	return Set{
		Name: "ml-1m", Title: "MovieLens 1M", Licence: groupLens, Cite: citeMovieLens,
		Address: "https://grouplens.org/datasets/movielens/1m/",
		Layouts: []Layout{
			{Files: []string{"ratings.dat", "users.dat"}, Read: pair(ReadRatingsDat, ReadUsersDat)},
			{Files: []string{"ml-1m.inter", "ml-1m.user"}, Read: interAndUser(nil)},
		},
		Recipes: append([]dataset.Recipe{{
			Name: "dipsgnn", About: "Hu & Fang, arXiv 2309.11515, section 5.1; rating >= 4 as in the published code",
			MinRating: 4, Core: 10, LastN: 100, Ratings: true, Times: true,
			Split:    dataset.Split{Kind: dataset.SplitFraction, Fraction: 0.8},
			Features: attributes(),
			Wants: []dataset.Want{
				{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 6040, Items: 3706, Rows: 1000209},
					From: "the data set's own README"},
				{Rung: dataset.Rung{Name: "rating >= 4", Users: 6038, Rows: 575281}, From: "histogram of the ratings"},
				{Rung: dataset.Rung{Name: "10-core", Users: 5949}, Paper: true,
					From: "the published code: 5,950 with its padding row"},
				{Rung: dataset.Rung{Name: "10-core", Items: 2810}, Paper: true, From: "table 1"},
				{Rung: dataset.Rung{Name: "10-core", Rows: 571531}, Paper: true,
					From: "table 1: 5,949 users at average length 96.07"},
				{Rung: dataset.Rung{Name: "last 100", Rows: 365535}, Paper: true, From: "table 1"},
				{Rung: dataset.Rung{Name: dataset.RungTrain, Rows: 290812, Samples: 284863},
					From: "an independent run of the paper's rules"},
				{Rung: dataset.Rung{Name: dataset.RungTest, Rows: 74723, Samples: 68774},
					From: "an independent run of the paper's rules"},
			},
			Notes: []string{"table 1 prints 5,945 users; its rules and the published code give 5,949",
				"table 1 counts interactions after truncation and average length before it"},
		}, {
			Name: "rdpgcf", About: "RDP-GCF (Journal of Software 2024), section 4.1: every rating is a positive; the " +
				"rows that its table 1 counts",
			Split: dataset.Split{Kind: dataset.SplitRandom, Fraction: 0.8, ValidShare: 0.1},
			Wants: []dataset.Want{
				{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 6040, Rows: 1000209}, Paper: true, From: "table 1"},
				{Rung: dataset.Rung{Name: dataset.RungRaw, Items: 3706}, Paper: true,
					From: "table 1: its density of 0.04468"},
				{Rung: dataset.Rung{Name: dataset.RungTest, Users: 6040, Rows: 202451},
					From: "floor of 80 % of each user's rows"},
			},
			Notes: []string{"table 1 prints 3,952 items, the largest id; its density needs the 3,706 that were rated",
				"the text filters to a 10-core but table 1 counts the unfiltered file: recipe rdpgcf-core is the text",
				randomSplit},
		}, {
			Name: "rdpgcf-core", About: "RDP-GCF as its text says: 10-core, then 80 % of a user's rows at random",
			Core: 10, Split: dataset.Split{Kind: dataset.SplitRandom, Fraction: 0.8, ValidShare: 0.1},
			Wants: []dataset.Want{
				{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 6040, Items: 3706, Rows: 1000209},
					From: "the data set's own README"},
				{Rung: dataset.Rung{Name: "10-core", Users: 6040, Items: 3260, Rows: 998539},
					From: "an independent run of the steps"},
			},
			Notes: []string{"table 1 does not count this filter", randomSplit},
		}, sasrecML1M(), recboleML1M()}, geraiRecipes([]dataset.Want{
			{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 6040, Items: 3706, Rows: 1000209},
				From: "the data set's own README"},
		}, dataset.Rung{Users: 6040, Rows: 1000209}, 800193, "a fifth of each user's rows, rounded, is test",
			"the paper does not use this set", randomSplit)...),
	}
}

const randomSplit = "the paper does not publish its random split or its rounding: the split is drawn from the seed here"

func ml100k() Set {
	return Set{
		Name: "ml-100k", Title: "MovieLens 100K", Licence: groupLens, Cite: citeMovieLens,
		Address: "https://grouplens.org/datasets/movielens/100k/",
		Layouts: []Layout{
			{Files: []string{"u.data", "u.user"}, Read: pair(ReadUData, ReadUUser)},
			{Files: []string{"ml-100k.inter", "ml-100k.user"},
				Read: interAndUser(map[string]dataset.Kind{"age": dataset.Numeric})},
		},
		Recipes: append([]dataset.Recipe{{
			Name: "dipsgnn", About: "DIPSGNN's steps at a tenth of the size; the paper does not use this set",
			MinRating: 1, Core: 10, LastN: 50, Ratings: true, Times: true,
			Split:    dataset.Split{Kind: dataset.SplitFraction, Fraction: 0.8},
			Features: attributes(),
			Wants: []dataset.Want{
				{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 943, Items: 1682, Rows: 100000},
					From: "the data set's own README"},
				{Rung: dataset.Rung{Name: dataset.RungTrain, Samples: 30730},
					From: "an independent implementation of the steps"},
				{Rung: dataset.Rung{Name: dataset.RungKnownTest, Samples: 7158},
					From: "an independent implementation of the steps"},
			},
		}}, geraiRecipes([]dataset.Want{
			{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 943, Items: 1682}, Paper: true, From: "section 5.1"},
			{Rung: dataset.Rung{Name: dataset.RungRaw, Rows: 100000}, Paper: true,
				From: "section 5.1, with its misprint corrected"},
		}, dataset.Rung{Users: 943, Rows: 100000}, 80000,
			"a fifth of each user's rows, rounded, is test; the paper's noise scales need 80,000",
			"section 5.1 prints 10,000 ratings; the file has 100,000 and the paper's noise scales need 80,000 in train",
			randomSplit)...),
	}
}

func gowalla() Set {
	return Set{
		Name: "gowalla", Title: "Gowalla, the NGCF/LightGCN split",
		Address: "https://github.com/gusye1234/LightGCN-PyTorch (data/gowalla)",
		Licence: "check-ins offered for research by SNAP (Cho, Myers, Leskovec, KDD 2011); the split's repository " +
			"states no licence",
		Layouts: []Layout{{Files: []string{"train.txt", "test.txt"}, Read: readSplitAdjacency}},
		Recipes: publishedSplit(gowallaDigest, dataset.Rung{Name: dataset.RungRaw, Users: 29858, Items: 40981,
			Rows: 1027370}, 810128, 217242),
	}
}

func yelp2018() Set {
	return Set{
		Name: "yelp2018", Title: "Yelp2018, the LightGCN split",
		Address: "https://github.com/gusye1234/LightGCN-PyTorch (data/yelp2018)",
		Licence: "Yelp Dataset Terms of Use on what it was made from (academic use, no redistribution); the split's " +
			"repository states no licence",
		Layouts: []Layout{{Files: []string{"train.txt", "test.txt"}, Read: readSplitAdjacency}},
		Recipes: publishedSplit(yelp2018Digest, dataset.Rung{Name: dataset.RungRaw, Users: 31668, Items: 38048,
			Rows: 1561406}, 1237259, 324147),
	}
}

// The digests ([Log.Digest]) of the published splits of LightGCN's repository. Gowalla's is of
// test.txt and of the training edges in s_adj_mat.npz. Yelp2018's is of test.txt and of the
// training edges in the repository of Turbo-CF, whose test edges are those of test.txt and
// whose counts are the printed ones.
const (
	gowallaDigest  = "4d6c598b633b508fb6fb24f15dd8ecb9b247b50864f8866b3b74ad0e78984f6b"
	yelp2018Digest = "6a1f0050abd2f2d3d0d05bdc50f2026b631e2b53a2e90735022b4a64dd89b78a"
)

// publishedSplit returns the recipes of a set that NGCF and LightGCN published with its split: the split as it is, and
// that of RDP-GCF, which holds out a tenth of the training rows for validation. train and test are the expected rows of
// the split.
func publishedSplit(digest string, raw dataset.Rung, train, test int) []dataset.Recipe {
	return []dataset.Recipe{{
		Name: "lightgcn", About: "the published split as it is; no order in time, item order follows the file",
		Split: dataset.Split{Kind: dataset.SplitFixed}, Digest: digest,
		Wants: []dataset.Want{
			{Rung: raw, Paper: true, From: "LightGCN table 2"},
			{Rung: dataset.Rung{Name: dataset.RungTrain, Users: raw.Users, Rows: train}, Paper: true,
				From: "the published files"},
			{Rung: dataset.Rung{Name: dataset.RungKnownTest, Users: raw.Users, Rows: test}, Paper: true,
				From: "the published files"},
		},
	}, {
		Name: "rdpgcf", About: "RDP-GCF (Journal of Software 2024), section 4.1, on the published split, a random " +
			"tenth of train held out for validation",
		Split: dataset.Split{Kind: dataset.SplitFixed, ValidShare: 0.1}, Digest: digest,
		Wants: []dataset.Want{
			{Rung: raw, Paper: true, From: "table 1"},
			{Rung: dataset.Rung{Name: dataset.RungTest, Users: raw.Users, Rows: test}, From: "the published files"},
		},
		Notes: []string{"the text says 10-core and a random split of its own; its baselines' rows are the published " +
			"numbers of this split, which is not a 10-core any more",
			"which training rows are held out is drawn from the seed here, for each user: about a tenth of all"},
	}}
}

// readSplitAdjacency reads a training file and a test file of adjacency lines.
func readSplitAdjacency(ctx context.Context, paths []string) (*dataset.Log, *dataset.Features, error) {
	train, err := format.ReadAdjacency(ctx, paths[0])
	if err != nil {
		return nil, nil, err
	}
	test, err := format.ReadAdjacency(ctx, paths[1])
	if err != nil {
		return nil, nil, err
	}
	return dataset.Join(train, test), nil, nil
}

// StandIn returns the set of a profile, with the recipes of the real set that it imitates, or with DIPSGNN's steps at a
// k-core that fits its size.
func StandIn(p standin.Profile) Set {
	set := Set{
		Name: "standin-" + p.Name, Title: p.Title, Address: "generated here by privrec",
		Licence: standin.Licence, StandIn: &p,
	}
	raw := []dataset.Want{{Rung: dataset.Rung{Name: dataset.RungRaw, Users: p.Users, Items: p.Items, Rows: p.Rows},
		From: "the profile"}}
	for _, real := range []Set{ml1m(), ml100k(), gowalla(), yelp2018(), yelp(), tmall()} {
		if real.Name != p.Like {
			continue
		}
		for _, r := range real.Recipes {
			r.About, r.Wants, r.Notes = "the steps of "+real.Name+", "+r.Name+", on synthetic rows", raw, nil
			r.Ratings = r.Ratings && !p.Implicit    // rows that are clicks have none
			if r.Split.Kind == dataset.SplitFixed { // the published split has rows that are not here
				r.Split, r.Digest = dataset.Split{Kind: dataset.SplitRandom, Fraction: 0.8, Nearest: true,
					ValidShare: r.Split.ValidShare}, ""
			}
			set.Recipes = append(set.Recipes, r)
		}
	}
	if p.Like == "" {
		set.Recipes = append([]dataset.Recipe{{
			Name: "dipsgnn", About: "DIPSGNN's steps on synthetic rows",
			MinRating: 4, Core: p.Core, LastN: 100, Ratings: true, Times: true,
			Split:    dataset.Split{Kind: dataset.SplitFraction, Fraction: 0.8},
			Features: attributes(),
			Wants:    raw,
		}, {
			Name: "rdpgcf", About: "RDP-GCF's steps on synthetic rows: a random 80 % of a user's rows, minus a tenth " +
				"for validation",
			Split: dataset.Split{Kind: dataset.SplitRandom, Fraction: 0.8, ValidShare: 0.1},
			Wants: raw,
		}, sasrecStandIn(raw)}, geraiStandIn(raw)...)
	}
	return set
}
