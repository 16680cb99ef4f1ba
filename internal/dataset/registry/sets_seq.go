package registry

import (
	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// seqBeauty returns the sequences on which most work after SASRec ranks all items.
func seqBeauty() Set {
	return Set{
		Name: "seq-beauty", Title: "Amazon Beauty 2014, 5-core sequences of S3-Rec",
		Address: "https://github.com/RUCAIBox/CIKM2020-S3Rec (data/Beauty.txt)",
		Licence: "derived from Amazon reviews that J. McAuley (UCSD) offers for academic research with citation (He and McAuley, WWW 2016); the repository states no licence, do not redistribute",
		Layouts: []Layout{
			{Files: []string{"Beauty.txt"}, Read: logOnly(format.ReadAdjacency)},
			{Files: []string{"sequences.tsv"}, Read: logOnly(format.ReadSequences)},
		},
		Recipes: []dataset.Recipe{{
			Name: "sasrec", About: "S3-Rec's file as it is; a user's last item is test, the one before it validation",
			Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true},
			Wants: []dataset.Want{
				{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 22363, Items: 12101, Rows: 198502}, Paper: true, From: "S3-Rec (Zhou et al., CIKM 2020), table 2"},
				{Rung: dataset.Rung{Name: dataset.RungValid, Users: 22363, Rows: 22363}, From: "one row a user"},
				{Rung: dataset.Rung{Name: dataset.RungTest, Users: 22363, Rows: 22363}, From: "one row a user"},
			},
			Notes: []string{"the SASRec paper cut the same reviews to 52,024 users and 57,289 items, BERT4Rec to 40,226 and 54,542: their numbers are for other data"},
		}},
	}
}

// sasrecML1M returns the recipe that SASRec and its reproductions use on MovieLens 1M.
func sasrecML1M() dataset.Recipe {
	return dataset.Recipe{
		Name: "sasrec", About: "Kang & McAuley, ICDM 2018, section IV-A: every rating counts, 5-core; a user's last item is test, the one before it validation",
		Core: 5, Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true},
		Wants: []dataset.Want{
			{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 6040, Items: 3706, Rows: 1000209}, From: "the data set's own README"},
			{Rung: dataset.Rung{Name: "5-core", Users: 6040, Items: 3416}, Paper: true, From: "table II"},
			{Rung: dataset.Rung{Name: "5-core", Rows: 999611}, From: "table II rounds it to 1.0 million"},
			{Rung: dataset.Rung{Name: dataset.RungValid, Users: 6040, Rows: 6040}, From: "one row a user"},
			{Rung: dataset.Rung{Name: dataset.RungTest, Users: 6040, Rows: 6040}, From: "one row a user"},
		},
	}
}

// sasrecStandIn returns the same recipe for a stand-in that imitates no real set.
func sasrecStandIn(raw []dataset.Want) dataset.Recipe {
	r := sasrecML1M()
	r.About, r.Wants = "SASRec's steps on synthetic rows: 5-core; a user's last item is test, the one before it validation", raw
	return r
}
