package registry

import (
	"bytes"
	"context"
	"strconv"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// diginetica returns the set of sessions that session recommenders are compared on since SR-GNN.
func diginetica() Set {
	return Set{
		Name: "session-diginetica", Title: "Diginetica sessions, SR-GNN's split",
		Address: "https://github.com/CCIIPLab/GCE-GNN (datasets/diginetica), from " +
			"https://competitions.codalab.org/competitions/11161 (CIKM Cup 2016)",
		Licence: "published for the CIKM Cup 2016 for research; neither repository with the split states a licence, " +
			"do not redistribute",
		Layouts: []Layout{{Files: []string{"sessions.tsv"}, Read: logOnly(ReadSplitSessions)}},
		Recipes: []dataset.Recipe{{
			Name: "srgnn", About: "Wu et al., AAAI 2019, section 4.1: the last week's sessions are test, as " +
				"published; every prefix is a sample",
			Split: dataset.Split{Kind: dataset.SplitFixed, Ordered: true}, Digest: digineticaDigest,
			Wants: []dataset.Want{
				{Rung: dataset.Rung{Name: dataset.RungRaw, Items: 43097, Rows: 982961}, Paper: true, From: "table 1"},
				{Rung: dataset.Rung{Name: dataset.RungTrain, Samples: 719470}, Paper: true, From: "table 1"},
				{Rung: dataset.Rung{Name: dataset.RungKnownTest, Samples: 60858}, Paper: true, From: "table 1"},
			},
			Notes: []string{"a session stands where others have a user: no two sessions are known to be of one user"},
		}},
	}
}

// digineticaDigest is the digest of the sessions in GCE-GNN's repository, numbered from 0, those of train first, each
// part in the order of its file.
const digineticaDigest = "4480db2894824e91f6365ae686cfb7c4c6c909f6d0af95320b2c83d2cf118ffb"

// ReadSplitSessions reads a table of three columns, "session", "split" and "items", separated
// by tabs. Split is train or test. The last column lists the items of the session, oldest
// first, with single spaces. A session has one line and at least two items, the last of which
// can be a label. There are no times: rows keep the order of the list.
func ReadSplitSessions(ctx context.Context, path string) (*dataset.Log, error) {
	return format.ReadFile(ctx, path, parseSplitSessions)
}

func parseSplitSessions(in *format.Input) (*dataset.Log, error) {
	s, names, err := format.Table{Sep: "\t"}.Open(in)
	if err != nil {
		return nil, err
	}
	if len(names) != 3 || names[0] != "session" || names[1] != "split" || names[2] != "items" {
		return nil, in.Fail("", "the header is not session, split and items, separated by tabs",
			"the items of a session are in one column, oldest first, separated by spaces")
	}
	b := dataset.Builder{Parts: []dataset.Part{}}
	lineOf := map[int32]int{}
	err = in.EachRow(s, names, func(v [][]byte) error {
		name, err := in.Token("session", v[0])
		if err != nil {
			return err
		}
		session := b.Users.ID(name)
		if first, ok := lineOf[session]; ok {
			return in.Fail("session", "session "+dataset.Quote(name)+" has a second line", "the first is line "+
				strconv.Itoa(first))
		}
		lineOf[session] = in.Line()
		part := dataset.Train
		switch string(v[1]) {
		case "train":
		case "test":
			part = dataset.Test
		default:
			return in.Fail("split", "not a part: "+dataset.Quote(v[1]), "a session is of train or of test")
		}
		rest, more, n := v[2], true, 0
		for more {
			var item []byte
			item, rest, more = bytes.Cut(rest, []byte(" "))
			if len(item) == 0 {
				return in.Fail("items", "empty item", "items are separated by single spaces")
			}
			b.Add(session, b.Items.ID(item))
			b.Parts = append(b.Parts, part)
			n++
		}
		if n < 2 {
			return in.Fail("items", "a session of one item",
				"a session has two items or more, since each but the first is a label")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in.Finish(&b)
}
