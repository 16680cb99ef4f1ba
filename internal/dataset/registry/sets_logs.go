package registry

import (
	"context"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// logOnly returns a reader of a log without user features.
func logOnly(log func(context.Context, string) (*dataset.Log, error)) func(context.Context,
	[]string) (*dataset.Log, *dataset.Features, error) {
	return func(ctx context.Context, paths []string) (*dataset.Log, *dataset.Features, error) {
		l, err := log(ctx, paths[0])
		return l, nil, err
	}
}

func yelp() Set {
	return Set{
		Name: "yelp", Title: "Yelp Open Dataset",
		Address: "https://business.yelp.com/data/resources/open-dataset/",
		Licence: "Yelp Dataset Terms of Use: academic, non-commercial use after agreeing to them in person, no " +
			"redistribution, no display of single reviews",
		Layouts: []Layout{
			{Files: []string{"yelp_academic_dataset_review.json", "yelp_academic_dataset_user.json"}, Read: readYelp},
			{Files: []string{"review.json", "user.json"}, Read: readYelp},
		},
		Recipes: []dataset.Recipe{{
			Name: "dipsgnn", About: "Hu & Fang, arXiv 2309.11515, section 5.1; every review, as in the published code",
			Core: 10, LastN: 30, Ratings: true, Times: true,
			Split:    dataset.Split{Kind: dataset.SplitFraction, Fraction: 0.8},
			Features: yelpUser[1:],
			Wants: []dataset.Want{
				{Rung: dataset.Rung{Name: "10-core", Users: 99011, Items: 56428}, Paper: true, From: "table 1"},
				{Rung: dataset.Rung{Name: "last 30", Rows: 1842418}, Paper: true, From: "table 1"},
			},
			Notes: []string{"the paper does not say which release of the data it used, and each release has other " +
				"counts",
				"99,011 users at the average length of 27.90 that table 1 prints are about 2,762,400 rows before " +
					"truncation",
				"the paper names two of its six numbers a user, how many ratings and their average; the other four " +
					"are our reading"},
		}},
	}
}

func tmall() Set {
	log := TmallLog{Action: "0", From: 1101, To: 1107}
	return Set{
		Name: "tmall", Title: "Tmall, IJCAI-15 repeat buyers log",
		Address: "https://tianchi.aliyun.com/dataset/42",
		Licence: "Tianchi: registered users, research and teaching, no redistribution",
		Layouts: []Layout{
			{Files: []string{"user_log_format1.csv", "user_info_format1.csv"}, Read: pair(log.Read, ReadTmallUsers),
				Steps: strings.Join(log.steps(), ", ")},
		},
		Recipes: []dataset.Recipe{{
			Name: "dipsgnn", About: "Hu & Fang, arXiv 2309.11515, section 5.1: clicks of 1 to 7 November",
			Core: 10, LastN: 50, Times: true,
			Split:    dataset.Split{Kind: dataset.SplitFraction, Fraction: 0.8},
			Features: []string{"age_range", "gender"},
			Wants: []dataset.Want{
				{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 424170, Items: 1090390, Rows: 54925330},
					From: "the statistics published with the competition"},
				{Rung: dataset.Rung{Name: "10-core", Users: 132724, Items: 98226}, Paper: true, From: "table 1"},
				{Rung: dataset.Rung{Name: "last 50", Rows: 3338788}, Paper: true, From: "table 1"},
			},
			Notes: []string{"132,724 users at the average length of 36.18 that table 1 prints are about 4,802,000 " +
				"rows before truncation",
				"the log has days only; rows of a day keep the order of the file, but the released code sorts by a " +
					"column that it does not contain",
				"the text says three features; table 1 and the published code have two"},
		}},
	}
}

// amazonCategory describes one file of the 2014 release.
type amazonCategory struct {
	name string // as the file spells it
	raw  dataset.Rung
}

var amazonCategories = []amazonCategory{
	{"Books", dataset.Rung{Name: dataset.RungRaw, Users: 8026324, Items: 2330066, Rows: 22507155}},
	{"Movies_and_TV", dataset.Rung{Name: dataset.RungRaw, Users: 2088620, Items: 200941, Rows: 4607047}},
	{"CDs_and_Vinyl", dataset.Rung{Name: dataset.RungRaw, Users: 1578597, Items: 486360, Rows: 3749004}},
	{"Toys_and_Games", dataset.Rung{Name: dataset.RungRaw, Users: 1342911, Items: 327698, Rows: 2252771}},
	{"Video_Games", dataset.Rung{Name: dataset.RungRaw, Users: 826767, Items: 50210, Rows: 1324753}},
}

func amazon(c amazonCategory) Set {
	return Set{
		Name:    "amazon-" + strings.ToLower(strings.ReplaceAll(c.name, "_", "-")),
		Title:   "Amazon ratings 2014, " + c.name,
		Address: "http://jmcauley.ucsd.edu/data/amazon/links.html",
		Licence: "no formal licence; offered by J. McAuley (UCSD) for academic research with citation (He and " +
			"McAuley, WWW 2016), do not redistribute",
		Cite:    citeAmazon,
		Layouts: []Layout{{Files: []string{"ratings_" + c.name + ".csv"}, Read: logOnly(ReadAmazonRatings)}},
		Recipes: []dataset.Recipe{{
			Name: "pricdsr-domain", About: "PriCDSR (Lin et al.), one domain before the domains are joined: the " +
				"first of a repeated pair; items with 5 rows, then users with 5 rows, one pass each",
			Dedupe: dataset.KeepFirst, MinItem: 5, MinUser: 5,
			Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true},
			Wants: []dataset.Want{{Rung: c.raw, From: "the statistics of the ratings-only files of 2014"}},
			Notes: []string{"the paper counts users who are left in all three domains; one domain alone has more",
				"the paper does not say whether it takes the release of 2014 or of 2018; the script of its data set " +
					"reads the form of 2014"},
		}},
	}
}

func mindSmall() Set {
	files := []string{"train/behaviors.tsv", "dev/behaviors.tsv"}
	return Set{
		Name: "mind-small", Title: "MIND-small news impressions",
		Address: "https://msnews.github.io/",
		Licence: "Microsoft Research License Terms: research only, accepted in person, no redistribution",
		Layouts: []Layout{{Files: files,
			Read: func(ctx context.Context, paths []string) (*dataset.Log, *dataset.Features, error) {
				l, err := ReadMIND(ctx, paths...)
				return l, nil, err
			}}},
		Recipes: []dataset.Recipe{{
			Name: "clicks", About: "clicks in time order; the counts of the exposure paper, which joins both parts",
			Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true},
			Wants: []dataset.Want{
				{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 94057, Rows: 8584442}, Paper: true, From: "table 2"},
				{Rung: dataset.Rung{Name: "clicked", Rows: 347727}, Paper: true, From: "table 2"},
			},
			Notes: []string{"the paper counts 34,376 items with those of the history field, which has no times and " +
				"is not read here",
				"the paper's pairs of history and slate are not made by this recipe"},
		}},
	}
}

func zhihuRec() Set {
	return Set{
		Name: "zhihurec", Title: "ZhihuRec-1M impressions",
		Address: "https://github.com/THUIR/ZhihuRec-Dataset",
		Licence: "for research purposes only (THUIR and Zhihu), cite Hao et al. 2021; no redistribution",
		Layouts: []Layout{{Files: []string{"inter_impression.csv"}, Read: logOnly(ReadZhihuRec)}},
		Recipes: []dataset.Recipe{{
			Name: "clicks", About: "clicked answers in the order shown; the counts of the exposure paper",
			Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true},
			Wants: []dataset.Want{
				{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 7963, Items: 64573, Rows: 1000026}, Paper: true,
					From: "table 2"},
				{Rung: dataset.Rung{Name: "clicked", Rows: 271725}, Paper: true, From: "table 2"},
			},
			Notes: []string{"the paper took an earlier release; the one corrected in 2022 has 7,974 users and " +
				"999,970 rows, so the level is C",
				"the paper's pairs of history and slate are not made by this recipe"},
		}},
	}
}

// seqBeauty returns the set of sequences on which most work after SASRec ranks all items.
func seqBeauty() Set {
	return Set{
		Name: "seq-beauty", Title: "Amazon Beauty 2014, 5-core sequences of S3-Rec",
		Address: "https://github.com/RUCAIBox/CIKM2020-S3Rec (data/Beauty.txt)",
		Licence: "derived from Amazon reviews that J. McAuley (UCSD) offers for academic research with citation (He " +
			"and McAuley, WWW 2016); the repository states no licence, do not redistribute",
		Cite: citeAmazon,
		Layouts: []Layout{
			{Files: []string{"Beauty.txt"}, Read: logOnly(format.ReadAdjacency)},
			{Files: []string{"sequences.tsv"}, Read: logOnly(format.ReadSequences)},
		},
		Recipes: []dataset.Recipe{{
			Name: "sasrec", About: "S3-Rec's file as it is; a user's last item is test, the one before it validation",
			Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true},
			Wants: []dataset.Want{
				{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 22363, Items: 12101, Rows: 198502}, Paper: true,
					From: "S3-Rec (Zhou et al., CIKM 2020), table 2"},
				{Rung: dataset.Rung{Name: dataset.RungValid, Users: 22363, Rows: 22363}, From: "one row a user"},
				{Rung: dataset.Rung{Name: dataset.RungTest, Users: 22363, Rows: 22363}, From: "one row a user"},
			},
			Notes: []string{"the SASRec paper cut the same reviews to 52,024 users and 57,289 items, BERT4Rec to " +
				"40,226 and 54,542: their numbers are for other data"},
		}},
	}
}

// sasrecML1M returns the recipe that SASRec and its reproductions use on MovieLens 1M.
func sasrecML1M() dataset.Recipe {
	return dataset.Recipe{
		Name: "sasrec", About: "Kang & McAuley, ICDM 2018, section IV-A: every rating counts, 5-core; a user's last " +
			"item is test, the one before it validation",
		Core: 5, Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true},
		Wants: []dataset.Want{
			{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 6040, Items: 3706, Rows: 1000209},
				From: "the data set's own README"},
			{Rung: dataset.Rung{Name: "5-core", Users: 6040, Items: 3416}, Paper: true, From: "table II"},
			{Rung: dataset.Rung{Name: "5-core", Rows: 999611}, From: "table II rounds it to 1.0 million"},
			{Rung: dataset.Rung{Name: dataset.RungValid, Users: 6040, Rows: 6040}, From: "one row a user"},
			{Rung: dataset.Rung{Name: dataset.RungTest, Users: 6040, Rows: 6040}, From: "one row a user"},
		},
	}
}

// recboleML1M returns the recipe of RecBole's benchmark of sequential models.
func recboleML1M() dataset.Recipe {
	return dataset.Recipe{
		Name: "recbole", About: "RecBole's benchmark (benchmark/md/ml-1m_seq.md): rating >= 3, 10-core; a user's " +
			"last item is test, the one before it validation",
		MinRating: 3, Core: 10, Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true},
		Wants: []dataset.Want{
			{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 6040, Items: 3706, Rows: 1000209},
				From: "the data set's own README"},
			{Rung: dataset.Rung{Name: "10-core", Users: 6033, Items: 3123, Rows: 834449}, Paper: true,
				From: "the benchmark's page of timings: 6,034 and 3,124 with the padding rows"},
			{Rung: dataset.Rung{Name: dataset.RungValid, Users: 6033, Rows: 6033}, From: "one row a user"},
			{Rung: dataset.Rung{Name: dataset.RungTest, Users: 6033, Rows: 6033}, From: "one row a user"},
		},
		Notes: []string{"the benchmark's page of results prints 6,040 users, which its own density excludes",
			"rows of one second keep the order of the file here; the benchmark's order of them is not known"},
	}
}

// sasrecStandIn returns the recipe of sasrecML1M for a stand-in that imitates no real set.
func sasrecStandIn(raw []dataset.Want) dataset.Recipe {
	r := sasrecML1M()
	r.About, r.Wants = "SASRec's steps on synthetic rows: 5-core; a user's last item is test, the one before it "+
		"validation", raw
	return r
}
