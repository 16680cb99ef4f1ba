package protect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset/compress"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/privacy"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// fileSlates are n slates of t items i1 to i<items>, of a user for every three.
func fileSlates(n, t, items int, seed uint64) (users []string, slates [][]string) {
	s := rng.Seed(seed).Stream("slates")
	for i := range n {
		users = append(users, fmt.Sprintf("u%d", i/3))
		perm := s.Perm(items)
		var row []string
		for k := range t {
			row = append(row, fmt.Sprintf("i%d", perm[k]+1))
		}
		slates = append(slates, row)
	}
	return users, slates
}

// wideText, longText and linesText are slates in the layouts that are read.
func wideText(sep string, users []string, slates [][]string) string {
	var b strings.Builder
	b.WriteString("user_id")
	for k := range slates[0] {
		fmt.Fprintf(&b, "%sitem_%d", sep, k+1)
	}
	for i, row := range slates {
		b.WriteString("\n" + users[i] + sep + strings.Join(row, sep))
	}
	return b.String() + "\n"
}

func linesText(users []string, slates [][]string) string {
	var b strings.Builder
	for i, row := range slates {
		b.WriteString(users[i] + " " + strings.Join(row, " ") + "\n")
	}
	return b.String()
}

func longText(sep string, users []string, slates [][]string) string {
	var b strings.Builder
	b.WriteString(strings.Join([]string{"user_id", "slate_id", "position", "item_id"}, sep) + "\n")
	for i, row := range slates {
		for k, item := range row {
			fmt.Fprintf(&b, "%s%ss%d%s%d%s%s\n", users[i], sep, i, sep, k+1, sep, item)
		}
	}
	return b.String()
}

func put(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	p, err := compress.NewPacker(compress.Of(name))
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Append(nil, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// get is the text of a file; of a packed one line by line, without what is quoted.
func get(t testing.TB, path string) string {
	t.Helper()
	if compress.Of(path) == compress.Plain {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	form, sep := format.Lines, " "
	if f, _ := format.Of(path); f != format.Lines {
		form, sep = f, map[format.Form]string{format.CSV: ",", format.TSV: "\t"}[f]
	}
	r, err := format.OpenRows(context.Background(), path, form)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var text strings.Builder
	if r.Columns != nil {
		text.WriteString(strings.Join(r.Columns, sep) + "\n")
	}
	for r.Next() {
		text.Write(append(bytes.Join(r.Fields, []byte(sep)), '\n'))
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return text.String()
}

// fieldsOf are the slates of a text in any layout.
func fieldsOf(t testing.TB, name, text string) (slates [][]string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	sep := "\t"
	switch {
	case strings.Contains(name, ".csv"):
		sep = ","
	case strings.Contains(name, ".txt"):
		sep = " "
	}
	if sep != " " {
		lines = lines[1:]
	}
	long := strings.Contains(text, "slate_id")
	for _, l := range lines {
		f := strings.Split(l, sep)
		switch {
		case !long:
			slates = append(slates, f[1:])
		case f[2] == "1":
			slates = append(slates, []string{f[3]})
		default:
			slates[len(slates)-1] = append(slates[len(slates)-1], f[3])
		}
	}
	return slates
}

// The same slates come out of every form and layout, packed or not, with any number of
// workers: exactly ceil(T ratio) of each changed, to items that it had not.
func TestFilesOfEveryForm(t *testing.T) {
	users, slates := fileSlates(1300, 7, 50, 1)
	dir := t.TempDir()
	vectors, history := "item_id\tx\ty\n", ""
	for i := range 45 { // five have none
		vectors += fmt.Sprintf("i%d\t%.5f\t%.5f\n", i+1, math.Cos(float64(i)), math.Sin(float64(i)))
	}
	for u := range 1300 / 3 { // the last has no past
		history += fmt.Sprintf("u%d i%d i%d\n", u, u%50+1, u%20+1)
	}
	v, h := put(t, dir, "vectors.tsv", vectors), put(t, dir, "history.txt", history)
	for _, m := range []FileOptions{
		{Method: Method{Ratio: 0.4}}, {Method: Method{Ratio: 0.3, Replace: ReplacePopularity}}, {Method: Method{Ratio: 0.5, Replace: ReplaceInBatch, Batch: 100}},
		{Method: Method{Ratio: 0.3, Select: SelectSimilar}, Vectors: v, History: h},
		{Method: Method{Ratio: 0.6, Select: SelectDissimilar, Weighted: true, Reference: ReferenceSlate}, Vectors: v},
		{},
	} {
		var want [][]string
		for i, c := range []struct{ in, out, text string }{
			{"a.tsv", "oa.tsv", wideText("\t", users, slates)}, {"b.csv.gz", "ob.csv", wideText(",", users, slates)}, {"c.txt.zst", "oc.txt.gz", linesText(users, slates)},
			{"d.tsv", "od.csv.zst", longText("\t", users, slates)}, {"e.csv", "oe.inter", longText(",", users, slates)}, {"f.txt", "of.tsv.gz", linesText(users, slates)},
		} {
			o := m
			o.In, o.Out, o.Workers, o.Seed, o.Force = put(t, dir, c.in, c.text), filepath.Join(dir, c.out), i%3+1, 4, true
			r, err := File(context.Background(), o)
			if err != nil {
				t.Fatalf("%s, %s: %v", c.in, c.out, err)
			}
			text := get(t, o.Out)
			got := fieldsOf(t, c.out, text)
			if i == 0 {
				want = got
			}
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Fatalf("%s, %s: other slates than from %s", c.in, c.out, "a.tsv")
			}
			count := positions(7, m.Ratio)
			if r.Slates != 1300 || r.Count != count || r.Replaced != int64(1300*count) || r.Items != 50 || r.Length != 7 {
				t.Errorf("%s: report %+v", c.in, r)
			}
			if m.Vectors != "" && (r.WithVector != 45 || m.History != "" && (r.Users == 0 || r.Blind == 0)) {
				t.Errorf("%s: report %+v", c.in, r)
			}
			for k, name := range strings.Fields(strings.ReplaceAll(firstColumn(c.out, text), ",", " ")) {
				if name != users[k] {
					t.Fatalf("%s: row %d is of %s, want %s", c.out, k, name, users[k])
				}
			}
		}
		for i, row := range want {
			changed := 0
			for k, item := range row {
				if item == slates[i][k] {
					continue
				}
				changed++
				if slices.Contains(slates[i], item) || slices.Index(row, item) != k {
					t.Fatalf("slate %v became %v", slates[i], row)
				}
			}
			if changed != positions(7, m.Ratio) {
				t.Fatalf("%+v: slate %v became %v", m, slates[i], row)
			}
		}
	}
}

// firstColumn are the users of an output, one a slate.
func firstColumn(name, text string) string {
	var b strings.Builder
	long := strings.Contains(text, "slate_id")
	for i, l := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		f := strings.FieldsFunc(l, func(r rune) bool { return strings.ContainsRune("\t ,", r) })
		if i == 0 && !strings.Contains(name, ".txt") || long && f[2] != "1" {
			continue
		}
		b.WriteString(f[0] + " ")
	}
	return b.String()
}

// Of what is drawn from a batch nothing is of the user's own slates alone, and the last
// batch is as large as the others.
func TestBatchesOfAFile(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{1, 2, 9, 10, 11, 19, 20, 21, 57} {
		var users []string
		var slates [][]string
		for i := range n { // every slate has items of its own, every user two slates
			users = append(users, fmt.Sprintf("u%d", i/2))
			slates = append(slates, []string{fmt.Sprintf("i%da", i), fmt.Sprintf("i%db", i), fmt.Sprintf("i%dc", i), fmt.Sprintf("i%dd", i)})
		}
		o := FileOptions{Method: Method{Replace: ReplaceInBatch, Ratio: 0.5, Batch: 10}, Settings: perturb.Settings{In: put(t, dir, "in.txt", linesText(users, slates)), Out: filepath.Join(dir, "out.txt"), Force: true, Workers: 2, Seed: 1}}
		_, err := File(context.Background(), o)
		if n <= 2 {
			if err == nil || !strings.Contains(err.Error(), "in.txt:1: a slate of 4 items takes 2 new ones, and there are only 0 others to draw from") {
				t.Errorf("a user alone: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range fieldsOf(t, "out.txt", get(t, o.Out)) {
			for k, item := range row {
				var from int
				if _, err := fmt.Sscanf(item, "i%d", &from); err != nil {
					t.Fatal(err)
				}
				if item != slates[i][k] && (from/2 == i/2 || from/10 != i/10 && min(from/10, (n-10)/10) != min(i/10, (n-10)/10)) {
					t.Errorf("%d slates: slate %d has an item of slate %d", n, i, from)
				}
			}
		}
	}
}

// rr keeps positions as often as the report says and records one event; the output's
// law is that of the mechanism: false alarm 1e-9 by its own bounds.
func TestFileByRandomizedResponse(t *testing.T) {
	users, slates := fileSlates(4000, 5, 40, 3)
	dir := t.TempDir()
	catalogue := "item_id\n"
	for i := range 40 {
		catalogue += fmt.Sprintf("i%d\n", i+1)
	}
	o := FileOptions{Method: Method{Replace: ReplaceRR, Epsilon: 3}, Settings: perturb.Settings{In: put(t, dir, "in.tsv", longText("\t", users, slates)), Out: filepath.Join(dir, "out.tsv"), Catalogue: put(t, dir, "all.tsv", catalogue), Workers: 3, Seed: 1}}
	r, err := File(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	keep := math.Exp(3) / (math.Exp(3) + 39)
	kept := 0
	for i, row := range fieldsOf(t, "out.tsv", get(t, o.Out)) {
		for k, item := range row {
			if item == slates[i][k] {
				kept++
			}
		}
	}
	// 20,000 positions: Bernstein, 2 exp(-21.4) = 1e-9
	band := math.Sqrt(2*20_000*keep*(1-keep)*21.4) + 2*21.4/3
	if math.Abs(float64(kept)-20_000*keep) > band || math.Abs(r.Keep-keep) > 1e-15 || r.Replaced != int64(20_000-kept) {
		t.Errorf("%d positions kept, want %.0f +- %.0f; report %+v", kept, 20_000*keep, band, r)
	}
	l, err := privacy.Reading{}.File(filepath.Join(dir, "out.ledger.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if e := l.Entries(); len(e) != 1 || e[0].Event != (privacy.RandomizedResponse{Epsilon: 3, Categories: 40, Unit: privacy.Position}) || e[0].Count != 1 {
		t.Errorf("ledger %v", e)
	}
	text := get(t, filepath.Join(dir, "out.report.txt"))
	for _, want := range []string{"the item of one position of one slate        3", "a whole slate: all 5 positions              15", "a whole user: all slates, 3 at most         45", fmt.Sprintf("positions kept  %.6g", keep)} {
		if !strings.Contains(text, want) {
			t.Errorf("the report has no %q:\n%s", want, text)
		}
	}
	// Other workers: the same. Cryptographic bits: never the same.
	first := get(t, o.Out)
	o.Workers, o.Force = 1, true
	if _, err := File(context.Background(), o); err != nil || get(t, o.Out) != first {
		t.Errorf("other bytes with one worker (%v)", err)
	}
	for _, replace := range []string{ReplaceRR, ReplaceUniform} {
		o.Secure, o.Replace = true, replace
		if replace != ReplaceRR {
			o.Epsilon, o.Ratio = 0, 0.6
		}
		r, err := File(context.Background(), o)
		if err != nil || r.Noise != privacy.Secure {
			t.Fatalf("%s: %v", replace, err)
		}
		once := get(t, o.Out)
		if _, err := File(context.Background(), o); err != nil || get(t, o.Out) == once {
			t.Errorf("%s: the same bytes twice (%v)", replace, err)
		}
	}
}

// Popularity comes from the slates or from the catalogue's counts: items of count 0 are
// never drawn.
func TestPopularityOfAFile(t *testing.T) {
	users, slates := fileSlates(600, 3, 20, 3)
	dir := t.TempDir()
	catalogue := "item_id,count\n"
	for i := range 25 {
		catalogue += fmt.Sprintf("i%d,%d\n", i+1, max(0, i-10))
	}
	o := FileOptions{Method: Method{Replace: ReplacePopularity, Ratio: 0.3}, Settings: perturb.Settings{In: put(t, dir, "in.txt", linesText(users, slates)), Out: filepath.Join(dir, "out.txt"), Catalogue: put(t, dir, "all.csv", catalogue), Workers: 2, Seed: 1}}
	if _, err := File(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	news := map[string]int{}
	for i, row := range fieldsOf(t, "out.txt", get(t, o.Out)) {
		for k, item := range row {
			if item != slates[i][k] {
				news[item]++
			}
		}
	}
	for i := range 25 {
		if n := news[fmt.Sprintf("i%d", i+1)]; (n == 0) != (i <= 10) {
			t.Errorf("item %d of count %d was drawn %d times", i+1, max(0, i-10), n)
		}
	}
	if !strings.Contains(get(t, filepath.Join(dir, "out.report.txt")), "popularity is that of "+o.Catalogue) {
		t.Error("the report does not say where popularity is from")
	}
}

// The past of a user decides, of the whole file: dissimilar replaces what is farthest.
func TestDirectionOfAFile(t *testing.T) {
	dir := t.TempDir()
	o := FileOptions{
		Settings: perturb.Settings{
			In:        put(t, dir, "in.tsv", "user_id\titem_1\titem_2\titem_3\nann\teast\tnorth\twest\nbob\teast\tnorth\twest\ncyd\teast\tnorth\twest\n"),
			Catalogue: put(t, dir, "c.txt", "east\nnorth\nwest\nnew\n"), Workers: 1,
		},
		Vectors: put(t, dir, "v.csv", "item_id,x,y\neast,1,0.1\nnorth,0,1\nwest,-1,0\nelsewhere,3,3\n"),
		History: put(t, dir, "h.tsv", "user_id\titem_id\nann\teast\nbob\twest\nbob\twest\nann\tunheard\n"), // cyd has none
		Method:  Method{Ratio: 0.3},
	}
	for how, want := range map[string]string{
		SelectDissimilar: "ann\teast\tnorth\tnew\nbob\tnew\tnorth\twest\ncyd\tnew\tnorth\twest\n",
		SelectSimilar:    "ann\tnew\tnorth\twest\nbob\teast\tnorth\tnew\ncyd\tnew\tnorth\twest\n",
	} {
		o.Select, o.Out = how, filepath.Join(dir, how+".tsv")
		r, err := File(context.Background(), o)
		if err != nil || r.Blind != 1 || r.WithVector != 3 || r.Users != 2 {
			t.Fatalf("%s: %+v (%v)", how, r, err)
		}
		if got := get(t, o.Out); got != "user_id\titem_1\titem_2\titem_3\n"+want {
			t.Errorf("%s: %q", how, got)
		}
	}
}

// onPhase is called at every phase.
type onPhase func(string)

func (f onPhase) Phase(s string)    { f(s) }
func (f onPhase) Begin(string, int) {}
func (f onPhase) Add(int)           {}
func (f onPhase) End(string)        {}

// A file that grows between the two times it is read is found out; one that came to be
// under the name of an output stays.
func TestWhatChangesMeanwhile(t *testing.T) {
	users, slates := fileSlates(9000, 5, 300, 3)
	dir := t.TempDir()
	in := put(t, dir, "in.txt", linesText(users, slates))
	phases := 0
	o := FileOptions{Method: Method{Ratio: 0.2}, Settings: perturb.Settings{In: in, Out: filepath.Join(dir, "out.txt"), Workers: 1, Progress: onPhase(func(string) {
		if phases++; phases == 2 {
			f, err := os.OpenFile(in, os.O_APPEND|os.O_WRONLY, 0)
			if err == nil {
				_, err = f.WriteString("late i1 i2 i3 i4 i5\n")
			}
			if err != nil || f.Close() != nil {
				t.Error(err)
			}
		}
	})}}
	if _, err := File(context.Background(), o); err == nil || !strings.Contains(err.Error(), "the file changed between the two times it was read") {
		t.Errorf("error %v", err)
	}
	o.Progress = onPhase(func(string) { put(t, dir, "out.report.txt", "another's") })
	if _, err := File(context.Background(), o); err == nil || !strings.Contains(err.Error(), "out.report.txt is there already") {
		t.Errorf("error %v", err)
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 || get(t, filepath.Join(dir, "out.report.txt")) != "another's" {
		t.Errorf("left %v (%v)", left, err)
	}
}

// What is read is never replaced, by whatever name.
func TestSlatesThatAreReadAreNotReplaced(t *testing.T) {
	dir := t.TempDir()
	in := put(t, dir, "in.tsv", "user_id\titem_1\na\tx\nb\ty\n")
	cat := put(t, dir, "all.tsv", "item_id\nx\ny\n")
	for _, out := range []string{in, dir + "/./in.tsv", cat} {
		_, err := File(context.Background(), FileOptions{Method: Method{Ratio: 0.5}, Settings: perturb.Settings{In: in, Out: out, Catalogue: cat, Force: true, Workers: 1}})
		var usage *run.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), "is read by this run") {
			t.Errorf("%s: %v", out, err)
		}
	}
}
