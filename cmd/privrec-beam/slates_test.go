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

// Slates are those of one machine over all files in order, with every method that a file can be
// protected by alone; bad ones are left out, and no number is. A file may have no good slate.
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
	for name, text := range map[string]string{"one.tsv": one, "counts.csv": counts} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, c := range []struct {
		method protect.Method
		args   string
		items  int
	}{
		{protect.Method{Replace: "rr", Epsilon: 2}, "--replace rr --epsilon 2 --items 40", 40},
		{protect.Method{Replace: "uniform", Ratio: 0.5}, "--ratio 0.5 --items 40", 40},
		{protect.Method{Replace: "popularity", Ratio: 0.5}, "--replace popularity --ratio 0.5 --catalogue " + filepath.Join(dir, "counts.csv"), 0},
	} {
		want, out := filepath.Join(dir, fmt.Sprintf("want-%d.csv.gz", i)), filepath.Join(dir, fmt.Sprintf("p-%d.csv.gz", i))
		o := protect.FileOptions{Settings: perturb.Settings{In: filepath.Join(dir, "one.tsv"), Out: want, Items: c.items, Seed: 5, Workers: 1}, Method: c.method}
		if c.items == 0 {
			o.Catalogue = filepath.Join(dir, "counts.csv")
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
