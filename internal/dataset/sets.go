package dataset

import "context"

const groupLens = "GroupLens usage licence: research with acknowledgement, no endorsement, no commercial use, no redistribution without permission"

// interAndUser reads a RecBole pair of files.
func interAndUser(kinds map[string]Kind) func(context.Context, []string) (*Log, *Features, error) {
	return pair(ReadInter, func(ctx context.Context, path string) (*Features, error) {
		return ReadUserAtomic(ctx, path, kinds)
	})
}

// pair reads an interaction file and a user file.
func pair(log func(context.Context, string) (*Log, error), users func(context.Context, string) (*Features, error)) func(context.Context, []string) (*Log, *Features, error) {
	return func(ctx context.Context, paths []string) (*Log, *Features, error) {
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
		Name: "ml-1m", Title: "MovieLens 1M", Licence: groupLens,
		Address: "https://grouplens.org/datasets/movielens/1m/",
		Layouts: []Layout{
			{Files: []string{"ratings.dat", "users.dat"}, Read: pair(ReadRatingsDat, ReadUsersDat)},
			{Files: []string{"ml-1m.inter", "ml-1m.user"}, Read: interAndUser(nil)},
		},
		Recipes: []Recipe{{
			Name: "dipsgnn", About: "Hu & Fang, arXiv 2309.11515, section 5.1; rating >= 4 as in the released code",
			MinRating: 4, Core: 10, LastN: 100,
			Split:    Split{Kind: SplitFraction, Fraction: 0.8},
			Features: []string{"gender", "age", "occupation"},
			Wants: []Want{
				{Rung: Rung{Name: RungRaw, Users: 6040, Items: 3706, Rows: 1000209}, From: "the data set's own README"},
				{Rung: Rung{Name: "rating >= 4", Users: 6038, Rows: 575281}, From: "histogram of the ratings"},
				{Rung: Rung{Name: "10-core", Users: 5949}, Paper: true, From: "the released code: 5,950 with its padding row"},
				{Rung: Rung{Name: "10-core", Items: 2810}, Paper: true, From: "table 1"},
				{Rung: Rung{Name: "10-core", Rows: 571531}, Paper: true, From: "table 1: 5,949 users at average length 96.07"},
				{Rung: Rung{Name: "last 100", Rows: 365535}, Paper: true, From: "table 1"},
				{Rung: Rung{Name: RungTrain, Rows: 290812, Samples: 284863}, From: "an independent run of the paper's rules"},
				{Rung: Rung{Name: RungTest, Rows: 74723, Samples: 68774}, From: "an independent run of the paper's rules"},
			},
			Notes: []string{"table 1 prints 5,945 users; its rules and the released code give 5,949",
				"table 1 counts interactions after truncation and average length before it"},
		}},
	}
}

func ml100k() Set {
	return Set{
		Name: "ml-100k", Title: "MovieLens 100K", Licence: groupLens,
		Address: "https://grouplens.org/datasets/movielens/100k/",
		Layouts: []Layout{
			{Files: []string{"u.data", "u.user"}, Read: pair(ReadUData, ReadUUser)},
			{Files: []string{"ml-100k.inter", "ml-100k.user"}, Read: interAndUser(map[string]Kind{"age": Numeric})},
		},
		Recipes: []Recipe{{
			Name: "dipsgnn", About: "DIPSGNN's steps at a tenth of the size; the paper does not use this set",
			MinRating: 1, Core: 10, LastN: 50,
			Split:    Split{Kind: SplitFraction, Fraction: 0.8},
			Features: []string{"gender", "age", "occupation"},
			Wants: []Want{
				{Rung: Rung{Name: RungRaw, Users: 943, Items: 1682, Rows: 100000}, From: "the data set's own README"},
				{Rung: Rung{Name: RungTrain, Samples: 30730}, From: "an independent implementation of the steps"},
				{Rung: Rung{Name: RungKnownTest, Samples: 7158}, From: "an independent implementation of the steps"},
			},
		}},
	}
}

func gowalla() Set {
	return Set{
		Name: "gowalla", Title: "Gowalla, the NGCF/LightGCN split",
		Address: "https://github.com/gusye1234/LightGCN-PyTorch (data/gowalla)",
		Licence: "check-ins offered for research by SNAP (Cho, Myers, Leskovec, KDD 2011); the split's repository states no licence",
		Layouts: []Layout{{Files: []string{"train.txt", "test.txt"}, Read: readSplitAdjacency}},
		Recipes: []Recipe{{
			Name: "lightgcn", About: "the published split as it is; no order in time, item order follows the file",
			Split: Split{Kind: SplitFixed},
			Wants: []Want{
				{Rung: Rung{Name: RungRaw, Users: 29858, Items: 40981, Rows: 1027370}, Paper: true, From: "LightGCN table 2"},
				{Rung: Rung{Name: RungTrain, Users: 29858, Rows: 810128}, Paper: true, From: "the published files"},
				{Rung: Rung{Name: RungKnownTest, Users: 29858, Rows: 217242}, Paper: true, From: "the published files"},
			},
		}},
	}
}

// readSplitAdjacency reads a training and a test file of adjacency lines.
func readSplitAdjacency(ctx context.Context, paths []string) (*Log, *Features, error) {
	train, err := ReadAdjacency(ctx, paths[0])
	if err != nil {
		return nil, nil, err
	}
	test, err := ReadAdjacency(ctx, paths[1])
	if err != nil {
		return nil, nil, err
	}
	return Join(train, test), nil, nil
}

// standIn wraps a profile, with DIPSGNN's steps at a k-core that fits its size.
func standIn(p Profile) Set {
	return Set{
		Name: "standin-" + p.Name, Title: p.Title, Address: "generated here by privrec",
		Licence: "no rights reserved: made of random numbers, holds nobody's data", StandIn: &p,
		Recipes: []Recipe{{
			Name: "dipsgnn", About: "DIPSGNN's steps on synthetic rows",
			MinRating: 4, Core: p.Core, LastN: 100,
			Split:    Split{Kind: SplitFraction, Fraction: 0.8},
			Features: []string{"gender", "age", "occupation"},
			Wants:    []Want{{Rung: Rung{Name: RungRaw, Users: p.Users, Items: p.Items, Rows: p.Rows}, From: "the profile"}},
		}},
	}
}
