package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/perturb"
	"privrec/internal/protocol/imported"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
)

// evaluateFlags holds the flags of the command besides those of its files.
type evaluateFlags struct {
	ioFlags
	truth, users, userIDs, items, itemIDs string
	names, biases, cutoffs                string
	name                                  string
	lists                                 string
	top                                   int
	rowNumbers                            bool
	score                                 string
}

// evaluate returns the command that ranks users against the vectors of items.
func evaluate(flags *flag.FlagSet) func(ctx context.Context, stdout, stderr io.Writer) error {
	var f evaluateFlags
	f.add(flags)
	flags.Lookup("input").Usage = "files of the rows that the model was trained on, as a pattern: user_id and " +
		"item_id; forms as those of perturb"
	flags.Lookup("output").Usage = "file to write: the measures, as metrics.json of privrec import has them; beside " +
		"it NAME.scores.tsv.gz, by user"
	flags.StringVar(&f.truth, "truth", "",
		"files of what users took later, as a pattern: user_id, item_id, and relevance if there is one")
	flags.StringVar(&f.users, "users", "",
		"files of the vectors of users, as a pattern: .npy, .npz, .safetensors or .parquet; a worker reads one at a "+
			"time")
	flags.StringVar(&f.items, "items", "",
		"file of the vectors of items, which every worker holds; default: the file of --users")
	flags.StringVar(&f.userIDs, "user-ids", "",
		"files of the ids of the users, as a pattern, in the order of --users; .parquet has them itself")
	flags.StringVar(&f.itemIDs, "item-ids", "", "file of the ids of the items")
	flags.StringVar(&f.names, "names", "", "names of the two arrays in the files, with a comma between")
	flags.StringVar(&f.biases, "biases", "",
		"arrays, in the files of vectors, with a number for each user and each item, or for each item")
	flags.BoolVar(&f.rowNumbers, "row-numbers", false,
		"the numbers of the rows, from 0, are the ids; of one file of users")
	flags.StringVar(&f.score, "score", "inner", "what ranks items: inner (product) or cosine")
	flags.StringVar(&f.cutoffs, "k", "5,10,20", "cut-offs")
	flags.StringVar(&f.name, "name", "imported", "name of the model in tables")
	flags.StringVar(&f.lists, "lists", "", "write the lists of all users with a vector, as PREFIX.shard-2-of-7.tsv.gz")
	flags.IntVar(&f.top, "top", 20, "items of a list that is written")
	return f.run
}

// ranking checks the flags, and returns the ranking and all input files.
func (f *evaluateFlags) ranking(ctx context.Context) (o *ranking, inputs []string, err error) {
	o = &ranking{Job: attempt(), Vectors: imported.VectorFiles{RowNumbers: f.rowNumbers, Score: f.score}}
	for _, text := range strings.Split(f.cutoffs, ",") {
		k, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || k < 1 || k > 10_000 {
			return nil, nil, &run.UsageError{Message: fmt.Sprintf("--k: %q is no cut-off from 1 to 10000", text)}
		}
		o.K = append(o.K, k)
	}
	switch {
	case f.truth == "" || f.users == "":
		return nil, nil, &run.UsageError{Message: "want --truth and --users",
			Fix: "--truth 'test/*.tsv.gz' --users 'users-*.parquet' --items items.parquet"}
	case f.score != "inner" && f.score != "cosine":
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("--score is %q, want inner or cosine", f.score)}
	case f.score == "cosine" && f.biases != "":
		return nil, nil, &run.UsageError{Message: "--biases are added to inner products, not to cosines"}
	case (f.userIDs == "") != (f.itemIDs == ""):
		return nil, nil, &run.UsageError{Message: "want --user-ids and --item-ids, or none of them"}
	case f.lists != "" && f.top < 1:
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("--top is %d, want at least 1", f.top)}
	}
	if f.lists != "" {
		o.Top = f.top
	}
	if f.names != "" {
		if o.Vectors.Names = strings.Split(f.names, ","); len(o.Vectors.Names) != 2 {
			return nil, nil, &run.UsageError{Message: "--names wants two names, of users and items"}
		}
	}
	if f.biases != "" {
		if o.Vectors.Biases = strings.Split(f.biases, ","); len(o.Vectors.Biases) > 2 {
			return nil, nil, &run.UsageError{Message: "--biases wants one name or two"}
		}
		for _, b := range o.Vectors.Biases {
			if strings.Contains(b, ".") {
				return nil, nil, &run.UsageError{Message: fmt.Sprintf(
					"--biases: %s is no array of the files of vectors", b),
					Fix: "put the numbers into the files of vectors"}
			}
		}
	}
	var lists [3][]string // vectors and ids of users, truth
	for k, pattern := range []string{f.users, f.userIDs, f.truth} {
		if pattern == "" {
			continue
		}
		if k == 2 {
			lists[k], err = f.files(ctx, "truth", pattern)
		} else {
			lists[k], err = named(ctx, []string{"users", "user-ids"}[k], pattern)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	o.Users, o.IDs, o.Truth = lists[0], lists[1], len(lists[2])
	if o.IDs != nil && len(o.IDs) != len(o.Users) {
		return nil, nil, &run.UsageError{Message: fmt.Sprintf("--user-ids names %d files, and --users %d", len(o.IDs),
			len(o.Users))}
	}
	if f.rowNumbers && len(o.Users) > 1 {
		return nil, nil, &run.UsageError{Message: "--row-numbers is of one file of users"}
	}
	items := o.Users[:1]
	if f.items != "" {
		if items, err = named(ctx, "items", f.items); err != nil {
			return nil, nil, err
		}
	} else if len(o.Users) > 1 {
		return nil, nil, &run.UsageError{Message: "--items is missing"}
	}
	o.Vectors.Files = items[:1]
	if f.itemIDs != "" {
		ids, err := named(ctx, "item-ids", f.itemIDs)
		if err != nil {
			return nil, nil, err
		}
		o.Vectors.IDs = ids[:1]
	}
	if inputs, err = f.open(ctx, f.input); err != nil {
		return nil, nil, err
	}
	inputs = append(append(inputs, lists[2]...), o.Users...)
	return o, inputs, nil
}

// named returns the files that match a pattern, by paths that all workers see.
func named(ctx context.Context, name, pattern string) (list []string, err error) {
	if list, err = matches(ctx, pattern); err == nil && len(list) == 0 {
		err = &run.UsageError{Message: "--" + name + ": no file matches " + pattern}
	}
	for i := range list {
		if err == nil {
			list[i], err = absolute(list[i])
		}
	}
	return list, err
}

func (f *evaluateFlags) run(ctx context.Context, stdout, stderr io.Writer) error {
	o, inputs, err := f.ranking(ctx)
	if err != nil {
		return err
	}
	defer f.close()
	out := outputs{whole: f.output, shards: f.shards}
	scores := perturb.Shard{}.Beside(f.output, "scores.tsv.gz")
	if !f.force {
		list := []string{f.output, scores, out.job("bad.tsv"), out.job("counters.json")}
		for i := range f.shards {
			if f.lists != "" {
				list = append(list, f.list(i+1))
			}
		}
		for _, name := range list {
			if there(ctx, name) {
				return &run.UsageError{Message: name + " is there already",
					Fix: "choose another --output, or --force to replace what is there"}
			}
		}
	}
	g, err := goodsOf(ctx, o) // what is wrong with it is said before any work
	if err != nil {
		return err
	}
	all, err := runPerturb(ctx, job{Kind: evaluateKind, Rank: o, Inputs: inputs, Shards: f.shards, Work: f.work})
	if err != nil {
		return err
	}
	counts, st, err := f.gather(ctx, o, g, all)
	if err != nil {
		return err
	}
	if counts.TestUsers == 0 {
		return &run.UsageError{Message: "no row of the truth can be used: see " + out.job("bad.tsv")}
	}
	users := withUsers(all.Shards)
	made, err := runStep(ctx, st, users)
	if err != nil {
		return err
	}
	m := newMeans(imported.Metrics(o.K))
	if err := f.merge(ctx, scores, made, byNumber(counts.Words == 0), m); err != nil {
		return err
	}
	if m.users != counts.TestUsers {
		return fmt.Errorf("the pipeline measured %d of %d users", m.users, counts.TestUsers)
	}
	for _, n := range made {
		if n.Lists != "" {
			if err := moveFile(ctx, n.Lists, f.list(n.Shard)); err != nil {
				return err
			}
		}
	}
	if err := writeFile(ctx, out.job("counters.json"), countersOf(all).write); err != nil {
		return err
	}
	r := f.outcome(o, inputs, g, all, counts, m)
	if err := writeFile(ctx, f.output, func(w io.Writer) error {
		b, err := json.MarshalIndent(r, "", "  ")
		if err == nil {
			_, err = w.Write(append(b, '\n'))
		}
		return err
	}); err != nil {
		return err
	}
	c := countersOf(all)
	fmt.Fprintf(stderr, "%d users, %d rows, %d bad rows (%s); measures in %s and %s\n", c.Users, c.Rows, c.Bad,
		out.job("bad.tsv"), f.output, scores)
	d, err := r.Document(dataset.LevelC)
	if err != nil {
		return err
	}
	return run.Show(stdout, false, d)
}

// list returns the file name of a shard's lists.
func (f *evaluateFlags) list(i int) string {
	return fmt.Sprintf("%s.shard-%d-of-%d.tsv.gz", f.lists, i, f.shards)
}

// gather adds up the counts of all shards, for the workers that rank. It writes the bad rows.
func (f *evaluateFlags) gather(ctx context.Context, o *ranking, g *goods,
	all notes) (c rankCounts, st step, err error) {
	sums, strange := make([]int64, 2*len(g.ids)), map[string]bool{}
	for _, n := range withUsers(all.Shards) {
		if err := addSums(ctx, n.Sums, sums); err != nil {
			return c, st, err
		}
		if err := readIDs(ctx, n.Ranking.Strange, strange); err != nil {
			return c, st, err
		}
		c.add(*n.Ranking)
	}
	trained, sought := sums[:len(g.ids)], sums[len(g.ids):]
	c.Vectorless = int64(len(strange))
	for _, yes := range strange {
		if yes {
			c.UnseenItems++
		}
	}
	for i, n := range sought {
		if n > 0 && trained[i] == 0 {
			c.UnseenItems++
		}
	}
	st = step{Name: "rank", Work: f.work, Rank: &rankStep{Ranking: o, Counts: join(f.work, "items.sums"),
		Numbers: c.Words == 0}}
	if len(strange) > 0 {
		st.Rank.Strange = join(f.work, "strange.ids")
		if err := writeIDs(ctx, st.Rank.Strange, strange); err != nil {
			return c, st, err
		}
	}
	if err := writeSums(ctx, st.Rank.Counts, trained); err != nil {
		return c, st, err
	}
	return c, st, outputs{whole: f.output}.bad(ctx, all)
}

// outcome returns the results in the form of an import.
func (f *evaluateFlags) outcome(o *ranking, inputs []string, g *goods, all notes, c rankCounts,
	m *means) *imported.Outcome {
	src := dataset.Source{Title: "rows of users and vectors, in shards", Level: dataset.LevelC}
	for k, n := range all.Files {
		src.Files = append(src.Files, dataset.File{Path: filepath.Base(inputs[k]), SHA256: n.SHA256})
	}
	for _, x := range g.files {
		src.Files = append(src.Files, dataset.File{Path: filepath.Base(x.Path), Bytes: x.Bytes, SHA256: x.SHA256})
	}
	items := len(g.ids) + int(c.Vectorless)
	n := imported.Counts{Listed: int(c.Vectors), Longest: len(g.ids), Unlisted: int(c.Unlisted),
		Vectorless: int(c.Vectorless), RepeatedTrain: int(c.RepeatedTrain),
		RepeatedTruth: int(c.RepeatedTruth), Irrelevant: int(c.Irrelevant), TruthTrained: int(c.TruthTrained)}
	return imported.RankedElsewhere(f.name, topn.DataSummary{
		Data:  experiment.Data{Name: "shards", Recipe: "imported", Level: src.Level, Source: src},
		Users: int(c.Users), Items: items, TrainRows: int(c.TrainRows), TestRows: int(c.TestRows),
		TestUsers: int(c.TestUsers), UnseenUsers: int(c.UnseenUsers), UnseenItems: int(c.UnseenItems),
	}, n, m.metrics, []experiment.Scores{
		experiment.NewScores(imported.RandomFloor, "", m.of(m.random)), experiment.NewScores(imported.PopularityFloor,
			"", m.of(m.popular)),
	}, experiment.NewScores(f.name, "", m.of(m.own)))
}
