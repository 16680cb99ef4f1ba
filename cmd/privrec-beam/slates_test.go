package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/papers/exposure/protect"
	"privrec/internal/perturb"
)

// Slates are those of one machine over all files in order, with every method; bad ones are left out, and no
// number is. A file may have no good slate, and no batch that begins in it. Histories lie in other files.
// The ledger states what a user has at most, over all files.
func TestPerturbExposure(t *testing.T) {
	dir := t.TempDir()
	const head = "user_id\titem_1\titem_2\titem_3\n"
	files, one, bad, slates := make([]string, 4), head, 0, 0
	for i := range files {
		files[i] = head
		for s := range 700 {
			if i == 2 { // all bad
				files[i] += fmt.Sprintf("u%d\t1\t41\t3\n", s)
				bad++
				continue
			}
			row := fmt.Sprintf("u%d\t%d\t%d\t%d\n", s/3, 1+s%40, 1+(s+i+1)%40, 1+(s+17)%40)
			one += row
			slates++
			files[i] += row
			if s%100 == 50 {
				files[i] += []string{"u1\t1\t2\n", "\t1\t2\t3\n", "u1\t0\t2\t3\n"}[s/100%3]
				bad++
			}
		}
		writeGzip(t, filepath.Join(dir, fmt.Sprintf("in-%d.tsv.gz", i)), files[i])
	}
	counts := "item_id,count\n"
	for i := range 40 {
		counts += fmt.Sprintf("%d,%d\n", i+1, i*i)
	}
	vectors := "item_id,a,b,c\n"
	for i := range 40 {
		if i%7 != 3 { // others have none
			vectors += fmt.Sprintf("%d,%g,%g,%g\n", i+1, float64(i%5)+0.1, 1/float64(i+1), float64(i*i%11)/3)
		}
	}
	past, pasts := "user_id\titem_id\n", []string{"", "", ""}
	for u := range 200 { // some have none
		for i := range u * u % 17 {
			row := fmt.Sprintf("u%d\t%d\n", u, 1+(u*i+i)%44)
			past += row
			pasts[u%3] += row
		}
	}
	for i, text := range pasts {
		writeGzip(t, filepath.Join(dir, fmt.Sprintf("past-%d.tsv.gz", i)), "user_id\titem_id\n"+text+[]string{"\t3\n", "u1\n", ""}[i])
	}
	for name, text := range map[string]string{"one.tsv": one, "counts.csv": counts, "vectors.csv": vectors, "past.tsv": past} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	near := " --ratio 0.5 --items 40 --vectors " + filepath.Join(dir, "vectors.csv")
	for i, c := range []struct {
		method protect.Method
		args   string
		items  int
	}{
		{protect.Method{Replace: "in-batch", Ratio: 0.5, Batch: 100}, "--replace in-batch --ratio 0.5 --items 40 --batch 100", 40},
		{protect.Method{Replace: "in-batch", Ratio: 0.5, Batch: 933, OwnRows: true}, "--replace in-batch --ratio 0.5 --items 40 --batch 933 --own-rows", 40},
		{protect.Method{Replace: "in-batch", Ratio: 0.5, Batch: 3000}, "--replace in-batch --ratio 0.5 --items 40 --batch 3000", 40},
		{protect.Method{Select: "similar", Ratio: 0.5, Reference: "slate"}, "--select similar --reference slate" + near, 40},
		{protect.Method{Select: "dissimilar", Ratio: 0.5}, "--select dissimilar --shards 5 --history " + filepath.Join(dir, "past-*") + near, 40},
		{protect.Method{Select: "similar", Replace: "in-batch", Ratio: 0.5, Batch: 500, Weighted: true, Tau: 0.3}, "--select similar --replace in-batch --batch 500 --weighted --tau 0.3 --history " + filepath.Join(dir, "past-*") + near, 40},
		{protect.Method{Replace: "rr", Epsilon: 2}, "--replace rr --epsilon 2 --items 40", 40},
		{protect.Method{Replace: "uniform", Ratio: 0.5}, "--ratio 0.5 --items 40", 40},
		{protect.Method{Replace: "popularity", Ratio: 0.5}, "--replace popularity --ratio 0.5 --catalogue " + filepath.Join(dir, "counts.csv"), 0},
	} {
		want, out := filepath.Join(dir, fmt.Sprintf("want-%d.csv.gz", i)), filepath.Join(dir, fmt.Sprintf("p-%d.csv.gz", i))
		o := protect.FileOptions{Settings: perturb.Settings{In: filepath.Join(dir, "one.tsv"), Out: want, Items: c.items, Seed: 5, Workers: 1}, Method: c.method}
		if c.items == 0 {
			o.Catalogue = filepath.Join(dir, "counts.csv")
		}
		bad, slates := bad, slates
		if strings.Contains(c.args, "--vectors") {
			o.Vectors = filepath.Join(dir, "vectors.csv")
		}
		if strings.Contains(c.args, "--history") {
			o.History = filepath.Join(dir, "past.tsv")
			bad, slates = bad+2, slates+strings.Count(past, "\n")-1
		}
		if _, err := protect.File(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		flags := flag.NewFlagSet("perturb exposure", flag.ContinueOnError)
		work := perturbExposure(flags)
		err := flags.Parse(append([]string{"--input", filepath.Join(dir, "in-*"), "--output", out, "--seed", "5", "--length", "3"}, strings.Fields(c.args)...))
		if err == nil {
			err = work(t.Context(), io.Discard, io.Discard)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := perturb.Merge(t.Context(), perturb.Merging{Out: out}, map[string]perturb.Whole{protect.Kind: protect.Whole()}); err != nil {
			t.Fatal(err)
		}
		same(t, out, want)
		stem, wantStem := strings.TrimSuffix(out, ".csv.gz"), strings.TrimSuffix(want, ".csv.gz")
		same(t, stem+".ledger.jsonl", wantStem+".ledger.jsonl")
		same(t, stem+".job.ledger.jsonl", wantStem+".ledger.jsonl")
		same(t, stem+".report.txt", stem+".job.report.txt")
		sameCounts(t, stem+".report.txt", wantStem+".report.txt")
		b, err := os.ReadFile(strings.TrimSuffix(out, ".csv.gz") + ".job.counters.json")
		if err != nil {
			t.Fatal(err)
		}
		var n counters
		if err := json.Unmarshal(b, &n); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(strings.TrimSuffix(out, ".csv.gz") + ".job.bad.tsv")
		if err != nil {
			t.Fatal(err)
		}
		if n.Bad != int64(bad) || n.Rows != int64(slates) || bytes.Count(text, []byte("\n"))-1 != bad {
			t.Errorf("%s: %+v, want %d bad rows of %d", c.args, n, bad, slates+bad)
		}
	}
}

// sameCounts compares two reports but for their first three lines, which name the input.
func sameCounts(t *testing.T, a, b string) {
	t.Helper()
	var rest [2]string
	for i, name := range []string{a, b} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		for _, line := range lines[min(3, len(lines)):] {
			rest[i] += line + "\n"
		}
	}
	if rest[0] != rest[1] {
		t.Errorf("%s:\n%s\n%s:\n%s", a, rest[0], b, rest[1])
	}
}

// The batches that begin in a file are whole in its shard, and no slate is lost or in two.
func TestDeal(t *testing.T) {
	for _, sizes := range [][]int64{{5}, {0, 7, 0, 0, 9}, {1, 1, 1, 1, 1}, {100, 3, 50}, {0, 0}, {2, 2}} {
		var files []slateNote
		total := int64(0)
		for i, n := range sizes {
			files = append(files, slateNote{File: i, Path: fmt.Sprint(i), Slates: n})
			total += n
		}
		for batch := int64(1); batch < 12; batch++ {
			at, name := int64(0), fmt.Sprintf("%v by %d", sizes, batch)
			next := make([]int64, len(sizes)) // of each file
			for i, task := range deal(files, batch) {
				if task.Slates > 0 && (task.First != at || task.First%batch != 0) || task.Shard != i+1 {
					t.Errorf("%s: shard %d begins at %d, want %d", name, task.Shard, task.First, at)
				}
				n := int64(0)
				for _, p := range task.Parts {
					var f int
					fmt.Sscan(p.Path, &f)
					if p.Skip != next[f] || p.Take < 1 {
						t.Errorf("%s: shard %d takes %+v, want it from %d", name, task.Shard, p, next[f])
					}
					next[f] += p.Take
					n += p.Take
				}
				at += task.Slates
				if n != task.Slates || n > 0 && at != total && n%batch != 0 {
					t.Errorf("%s: shard %d has %d slates, says %d", name, task.Shard, n, task.Slates)
				}
			}
			if at != total {
				t.Errorf("%s: %d slates, want %d", name, at, total)
			}
		}
	}
}
