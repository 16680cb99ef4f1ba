package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/lists"
	"privrec/internal/progress"
	"privrec/internal/protocol/imported"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/tensor"
	"privrec/internal/vectors"
)

// model is what another program trained: vectors, rows, truth.
type model struct {
	dir                     string
	users, items            []string
	rows, truth             []string // lines of a table
	userVectors, itemVector tensor.Matrix
}

// newModel makes users and items up. word is put before ids: with one, ids are no numbers.
func newModel(t *testing.T, users, items, width int, word string) *model {
	t.Helper()
	m := &model{dir: t.TempDir(), userVectors: tensor.New(users, width), itemVector: tensor.New(items, width)}
	s := rng.Seed(9).Stream("vectors")
	for _, x := range []tensor.Matrix{m.userVectors, m.itemVector} {
		for i := range x.Data {
			x.Data[i] = tensor.Float(s.IntN(5)) / 4 // scores are often equal
		}
	}
	for u := range users {
		m.users = append(m.users, fmt.Sprint(word, (u*37+5)%users))
	}
	for i := range items {
		m.items = append(m.items, fmt.Sprint(word, 3*((i*11)%items)))
	}
	for u, id := range m.users {
		for i := range 1 + u%9 {
			m.rows = append(m.rows, id+"\t"+m.items[(u*i+7*i)%items])
		}
		if u%4 == 0 {
			continue
		}
		for i := range 1 + u%3 {
			relevance := 1
			if u%11 == 0 && i == 1 {
				relevance = 0
			}
			m.truth = append(m.truth, fmt.Sprintf("%s\t%s\t%d", id, m.items[(u+5*i)%items], relevance))
		}
	}
	m.truth = append(m.truth, m.users[1]+"\t"+word+"77777\t1", m.users[2]+"\t"+word+"77778\t0", word+"88888\t"+m.items[0]+"\t1") // no vectors
	return m
}

func (m *model) path(name string) string { return filepath.Join(m.dir, name) }

func (m *model) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(m.path(name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// side writes the vectors of rows from to to, and their ids.
func side(t *testing.T, m *model, name string, x tensor.Matrix, ids []string, from, to int) {
	t.Helper()
	f, err := os.Create(m.path(name + ".npy"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := vectors.Write(f, vectors.NPY, nil, vectors.Table{Rows: tensor.RowsView(x, from, to)}); err != nil {
		t.Fatal(err)
	}
	m.write(t, name+".txt", strings.Join(ids[from:to], "\n")+"\n")
}

// save writes all files: whole for one machine, and in parts.
func (m *model) save(t *testing.T, parts int) {
	t.Helper()
	side(t, m, "all", m.userVectors, m.users, 0, len(m.users))
	side(t, m, "items", m.itemVector, m.items, 0, len(m.items))
	for k := range parts {
		side(t, m, fmt.Sprintf("part-%d", k), m.userVectors, m.users, k*len(m.users)/parts, (k+1)*len(m.users)/parts)
	}
	for name, lines := range map[string][]string{"train": m.rows, "truth": m.truth} {
		head := map[string]string{"train": "user_id\titem_id\n", "truth": "user_id\titem_id\trelevance\n"}[name]
		m.write(t, name+".tsv", head+strings.Join(lines, "\n")+"\n")
		texts := make([]strings.Builder, parts)
		for k, line := range lines {
			fmt.Fprintln(&texts[(k*7)%parts], line)
		}
		for k := range texts {
			writeGzip(t, m.path(fmt.Sprintf("%s-%d.tsv.gz", name, k)), head+texts[k].String())
		}
	}
}

// alone imports the model on one machine.
func (m *model) alone(t *testing.T, sets ...string) (dir string, o imported.Outcome) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "run")
	_, err := imported.Vectors().Task().Start(t.Context(), run.Options{Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: progress.Silent{}, Sets: append([]string{
		"run.out=" + dir, "rows.train=" + m.path("train.tsv"), "rows.truth=" + m.path("truth.tsv"), "k=[1,5,20]",
		"vectors.files=[" + m.path("all.npy") + "," + m.path("items.npy") + "]", "vectors.ids=[" + m.path("all.txt") + "," + m.path("items.txt") + "]"}, sets...)})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "metrics.json"))
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, o
}

// evaluated runs the command, and returns what it found and its bad rows.
func (m *model) evaluated(t *testing.T, args ...string) (out string, o imported.Outcome, bad string) {
	t.Helper()
	out = filepath.Join(t.TempDir(), "e.json")
	flags := flag.NewFlagSet("evaluate", flag.ContinueOnError)
	work := evaluate(flags)
	err := flags.Parse(append([]string{"--input", m.path("train-*.tsv.gz"), "--truth", m.path("truth-*.tsv.gz"), "--users", m.path("part-*.npy"), "--user-ids", m.path("part-*.txt"),
		"--items", m.path("items.npy"), "--item-ids", m.path("items.txt"), "--output", out, "--k", "1,5,20"}, args...))
	if err == nil {
		err = work(t.Context(), io.Discard, io.Discard)
	}
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err == nil {
		err = json.Unmarshal(b, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(strings.TrimSuffix(out, ".json") + ".job.bad.tsv")
	if err != nil {
		t.Fatal(err)
	}
	return out, o, string(text)
}

// differ shows both as JSON, whose numbers have all their bits, where they differ.
func differ(t *testing.T, want, got any) string {
	t.Helper()
	a, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(a, b) {
		return ""
	}
	return fmt.Sprintf("got %s, want %s", b, a)
}

// unpacked returns the content of a file of gzip.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Users that are ranked in shards have the measures of one machine, to the last bit, one by one and in the mean,
// with floors and counts, for ids that are numbers and for others, for any number of shards, and for inner
// products and cosines. Lists are those of one machine too.
func TestEvaluateIsThatOfOneMachine(t *testing.T) {
	for _, word := range []string{"", "n"} {
		m := newModel(t, 600, 70, 12, word)
		m.save(t, 3)
		for _, score := range []string{"inner", "cosine"} {
			dir, want := m.alone(t, "vectors.score="+score)
			for _, shards := range []string{"1", "5", "40"} {
				to := filepath.Join(t.TempDir(), "l")
				out, got, bad := m.evaluated(t, "--score", score, "--shards", shards, "--lists", to, "--top", "4")
				for _, part := range []struct{ got, want any }{
					{got.Evaluations, want.Evaluations}, {got.Floors, want.Floors}, {got.Metrics, want.Metrics}, {got.Definitions, want.Definitions}, {got.Imported.Counts, want.Imported.Counts},
					{[]int{got.Data.Users, got.Data.Items, got.Data.TrainRows, got.Data.TestRows, got.Data.TestUsers, got.Data.UnseenUsers, got.Data.UnseenItems},
						[]int{want.Data.Users, want.Data.Items, want.Data.TrainRows, want.Data.TestRows, want.Data.TestUsers, want.Data.UnseenUsers, want.Data.UnseenItems}},
				} {
					if diff := differ(t, part.want, part.got); diff != "" {
						t.Errorf("ids %q, %s, %s shards: %s", word, score, shards, diff)
					}
				}
				if a, b := unpacked(t, filepath.Join(dir, "scores.tsv.gz")), unpacked(t, strings.TrimSuffix(out, ".json")+".scores.tsv.gz"); a != b {
					t.Errorf("ids %q, %s, %s shards: other measures of users", word, score, shards)
				}
				if bad != badHead {
					t.Errorf("bad rows: %s", bad)
				}
				m.sameLists(t, to+".shard-*", want.Data.Items)
			}
		}
	}
}

// sameLists holds lists in shards to the vectors: each user once, best items first, equal ones in order, without
// the user's own.
func (m *model) sameLists(t *testing.T, pattern string, items int) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	ids, seen := &lists.IDs{}, map[string]int{}
	own := map[string]bool{}
	for _, row := range m.rows {
		own[row] = true
	}
	for _, path := range files {
		f, err := lists.Read(t.Context(), path, lists.Recommended, ids)
		if err != nil {
			t.Fatal(err)
		}
		last := 0.0
		for _, r := range f.Rows {
			user, item := ids.Users.IDs[r.User], ids.Items.IDs[r.Item]
			if own[user+"\t"+item] {
				t.Fatalf("user %s is shown the own item %s", user, item)
			}
			if r.Rank > 1 && r.Score > last {
				t.Fatalf("user %s: rank %d has more than the one before", user, r.Rank)
			}
			last = r.Score
			seen[user]++
		}
	}
	for _, u := range m.users {
		if seen[u] != 4 {
			t.Fatalf("user %s has %d items, want 4", u, seen[u])
		}
	}
}

// Bad rows go to a file of their own and are counted: rows of items and of users without a vector, second
// vectors, cut lines, empty ids, relevances that are no number. They change nothing else.
func TestEvaluateBadRows(t *testing.T) {
	m := newModel(t, 60, 30, 6, "")
	m.save(t, 2)
	_, want := m.alone(t)
	rows := []string{m.users[3] + "\tnone", "stranger\t" + m.items[2], "\t" + m.items[2], m.users[3] + "\t", m.users[3], m.users[4] + "\t" + m.items[1] + "\t9\t9"}
	truth := []string{m.users[3] + "\t" + m.items[1] + "\tx", m.users[3] + "\t" + m.items[1] + "\tNaN", m.users[5]}
	writeGzip(t, m.path("train-9.tsv.gz"), "user_id\titem_id\n"+strings.Join(rows, "\n")+"\n")
	writeGzip(t, m.path("truth-9.tsv.gz"), "user_id\titem_id\trelevance\n"+strings.Join(truth, "\n")+"\n")
	side(t, m, "part-9", m.userVectors, m.users, 3, 5) // again
	out, got, bad := m.evaluated(t, "--shards", "3")
	if n := strings.Count(bad, "\n") - 1; n != len(rows)+len(truth)+2 {
		t.Errorf("%d bad rows, want %d:\n%s", n, len(rows)+len(truth)+2, bad)
	}
	if diff := differ(t, want.Evaluations, got.Evaluations); diff != "" {
		t.Error(diff)
	}
	var c counters
	b, err := os.ReadFile(strings.TrimSuffix(out, ".json") + ".job.counters.json")
	if err == nil {
		err = json.Unmarshal(b, &c)
	}
	if err != nil || c.Bad != int64(len(rows)+len(truth)+2) || c.Users != 61 { // with the one of the truth who has no vector
		t.Errorf("%+v (%v)", c, err)
	}
}

// What cannot be ranked is refused.
func TestEvaluateRefuses(t *testing.T) {
	m := newModel(t, 20, 10, 6, "")
	m.save(t, 1)
	side(t, m, "wide", tensor.New(10, 7), m.items, 0, 10)
	side(t, m, "twice", tensor.New(2, 6), []string{"1", "1"}, 0, 2)
	for want, args := range map[string][]string{
		"want --truth and --users": {"--truth", ""},
		"no file matches":          {"--users", m.path("none*.npy")},
		"no cut-off":               {"--k", "0"},
		"want inner or cosine":     {"--score", "dot"},
		"want --user-ids":          {"--item-ids", ""},
		"--user-ids names 3 files": {"--user-ids", m.path("[aiw]*.txt")},
		"7":                        {"--items", m.path("wide.npy"), "--item-ids", m.path("wide.txt")},
		"second row":               {"--items", m.path("twice.npy"), "--item-ids", m.path("twice.txt")},
		"is there already":         {"--output", m.path("items.npy")},
	} {
		flags := flag.NewFlagSet("evaluate", flag.ContinueOnError)
		work := evaluate(flags)
		err := flags.Parse(append([]string{"--input", m.path("train.tsv"), "--truth", m.path("truth.tsv"), "--users", m.path("all.npy"), "--user-ids", m.path("all.txt"),
			"--items", m.path("items.npy"), "--item-ids", m.path("items.txt"), "--output", m.path("e.json")}, args...))
		if err == nil {
			err = work(t.Context(), io.Discard, io.Discard)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}
