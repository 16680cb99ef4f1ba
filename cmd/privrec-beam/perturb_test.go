package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"

	"privrec/internal/papers/gerai/features"
	"privrec/internal/papers/pricdsr"
	"privrec/internal/perturb"
	columns "privrec/internal/perturb/features"
	"privrec/internal/privacy"
)

// TestMain runs the tests, or works for the engine that started this program as a worker.
func TestMain(m *testing.M) {
	if isStarted(os.Args[1:]) {
		if err := serveEngine(context.Background(), os.Args[1:]); err != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	flag.Parse()
	beam.Init()
	os.Exit(m.Run())
}

// table is what was made up: rows of one machine, and the same rows in files.
type table struct {
	one   string
	files []string
	rows  [][]string // rows of users, "user item time" in fields
}

// newTable makes users with histories in some files. Names have what CSV quotes.
func newTable(users, files int) (x table) {
	x.files = make([]string, files)
	for u := range users {
		id := fmt.Sprintf("u%d", (u*7)%users)
		if u%9 == 0 {
			id += ", and"
		}
		for i := range 1 + u*u%23 {
			row := []string{id, fmt.Sprint(1 + (u*i+i*i)%60), fmt.Sprint(100 + i/2)}
			x.rows = append(x.rows, row)
			line := strings.Join(row, "\t") + "\n"
			x.one += line
			x.files[(u*5+3)%files] += line
		}
	}
	return x
}

const head = "user_id\titem_id\ttimestamp\n"

func writeGzip(t *testing.T, path, text string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// perturbed runs the command and returns what it counted.
func perturbed(t *testing.T, args ...string) (c counters) {
	t.Helper()
	flags := flag.NewFlagSet("perturb pricdsr", flag.ContinueOnError)
	work := perturbPricdsr(flags)
	if err := flags.Parse(append(args, "--epsilon", "3", "--items", "60", "--length", "9")); err != nil {
		t.Fatal(err)
	}
	if err := work(t.Context(), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	out := flags.Lookup("output").Value.String()
	b, err := os.ReadFile(perturb.Shard{}.Beside(out, "job.counters.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &c); err != nil {
		t.Fatal(err)
	}
	return c
}

// alone runs the command of one machine.
func alone(t *testing.T, in, out string, secure bool) {
	t.Helper()
	o := pricdsr.Options{Settings: perturb.Settings{In: in, Out: out, Items: 60, Length: 9, Seed: 5, Secure: secure, Workers: 1}, Epsilon: 3}
	if _, err := pricdsr.Perturb(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// merged joins shards.
func merged(t *testing.T, out string) {
	t.Helper()
	if _, err := perturb.Merge(context.Background(), perturb.Merging{Out: out}, map[string]perturb.Whole{pricdsr.Kind: pricdsr.Whole()}); err != nil {
		t.Fatal(err)
	}
}

func same(t *testing.T, a, b string) {
	t.Helper()
	x, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(x, y) {
		t.Errorf("%s (%d bytes) is not %s (%d bytes)", a, len(x), b, len(y))
	}
}

// One pipeline over packed files gives the bytes of one machine over all rows, for any number of
// shards. Rows of a user may lie in any files in any order:
// their times order them.
func TestPerturbIsThatOfOneMachine(t *testing.T) {
	dir := t.TempDir()
	x := newTable(400, 5)
	one := filepath.Join(dir, "one.tsv")
	if err := os.WriteFile(one, []byte(head+x.one), 0o644); err != nil {
		t.Fatal(err)
	}
	for i, text := range x.files {
		writeGzip(t, filepath.Join(dir, fmt.Sprintf("in-%d.tsv.gz", i)), head+text)
	}
	scattered := make([]string, 4) // equal times stay in order: the files are in order
	for i, row := range x.rows {
		scattered[(i*4)/len(x.rows)] += strings.Join(row, "\t") + "\n"
	}
	turned := make([]string, 3) // a row of each time in another file, later rows first
	for i := range x.rows {
		row := x.rows[len(x.rows)-1-i]
		time := 0
		fmt.Sscan(row[2], &time)
		turned[time%3] = strings.Join(row, "\t") + "\n" + turned[time%3]
	}
	for i, text := range scattered {
		writeGzip(t, filepath.Join(dir, fmt.Sprintf("cut-%d.tsv.gz", i)), head+text)
	}
	for i, text := range turned {
		writeGzip(t, filepath.Join(dir, fmt.Sprintf("turned-%d.tsv.gz", i)), head+text)
	}
	alone(t, one, filepath.Join(dir, "want.tsv"), false)
	for _, c := range []struct {
		input, shards string
	}{{"in-*", "4"}, {"in-*", "1"}, {"cut-*", "3"}, {"turned-*", "5"}, {"one.tsv", "7"}} {
		out := filepath.Join(t.TempDir(), "p.tsv")
		n := perturbed(t, "--input", filepath.Join(dir, c.input), "--output", out, "--seed", "5", "--shards", c.shards)
		if n.Users != 400 || n.Rows != int64(len(x.rows)) || n.Bad != 0 {
			t.Errorf("%s: %+v", c.input, n)
		}
		merged(t, out)
		for _, name := range []string{".tsv", ".empty.tsv", ".ledger.jsonl"} {
			same(t, strings.TrimSuffix(out, ".tsv")+name, filepath.Join(dir, "want"+name))
		}
		same(t, strings.TrimSuffix(out, ".tsv")+".job.ledger.jsonl", filepath.Join(dir, "want.ledger.jsonl"))
		same(t, strings.TrimSuffix(out, ".tsv")+".report.txt", strings.TrimSuffix(out, ".tsv")+".job.report.txt")
		left, err := filepath.Glob(out + ".work-*")
		if err != nil || len(left) > 0 {
			t.Errorf("left behind: %v (%v)", left, err)
		}
	}
}

// Bad rows, one in a hundred, go to a file of their own, are counted and change no other row: cut
// lines, unknown items, no user, no text, and with --strict items that come again.
func TestPerturbBadRows(t *testing.T) {
	dir := t.TempDir()
	x := newTable(500, 3)
	bad := []string{"u3\t", "u3", "u4\t61\t100", "u4\tx\t100", "\t5\t100", "u5\t5\tnever", "u6\t5\t100\t7", "\xff\t1\t2", "u7\t0\t1", ""}
	want := 0
	for i := range x.files {
		lines := strings.SplitAfter(x.files[i], "\n")
		text := head
		for k, line := range lines {
			if text += line; k%100 == 50 {
				text += bad[want%len(bad)] + "\n"
				want++
			}
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("in-%d.tsv", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want < 2*len(bad) {
		t.Fatalf("only %d bad rows", want)
	}
	one := filepath.Join(dir, "one.tsv")
	if err := os.WriteFile(one, []byte(head+x.one), 0o644); err != nil {
		t.Fatal(err)
	}
	alone(t, one, filepath.Join(dir, "want.tsv"), false)
	again := 0
	seen := map[string]bool{}
	for _, row := range x.rows {
		if key := row[0] + "\t" + row[1]; seen[key] {
			again++
		} else {
			seen[key] = true
		}
	}
	for _, strict := range []bool{false, true} {
		out := filepath.Join(t.TempDir(), "p.tsv")
		args := []string{"--input", filepath.Join(dir, "in-*"), "--output", out, "--seed", "5", "--shards", "3"}
		n := want
		if strict {
			args, n = append(args, "--strict"), want+again
		}
		c := perturbed(t, args...)
		if c.Bad != int64(n) || c.Rows != int64(len(x.rows)+want-n) || c.Users != 500 {
			t.Errorf("strict %v: %+v, want %d bad rows of %d", strict, c, n, len(x.rows)+want)
		}
		text, err := os.ReadFile(strings.TrimSuffix(out, ".tsv") + ".job.bad.tsv")
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Count(text, []byte("\n")) - 1; got != n {
			t.Errorf("strict %v: %d lines of bad rows, want %d", strict, got, n)
		}
		for _, b := range bad {
			if !bytes.Contains(text, fmt.Appendf(nil, "\t%q\n", b)) {
				t.Errorf("strict %v: %q is lost", strict, b)
			}
		}
		merged(t, out)
		same(t, out, filepath.Join(dir, "want.tsv"))
	}
}

// With cryptographic bits there is no seed, and some of forty shards have no user: every user comes out once, other draws each time, and the
// ledger says so.
func TestPerturbSecure(t *testing.T) {
	dir := t.TempDir()
	x := newTable(60, 1)
	one := filepath.Join(dir, "one.tsv")
	if err := os.WriteFile(one, []byte(head+x.one), 0o644); err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, name := range []string{"a.csv", "b.csv"} {
		out := filepath.Join(dir, name)
		if c := perturbed(t, "--input", one, "--output", out, "--secure", "--shards", "40"); c.Users != 60 {
			t.Errorf("%+v", c)
		}
		merged(t, out)
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(b))
		l, err := privacy.Reading{}.File(strings.TrimSuffix(out, ".csv") + ".job.ledger.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		if l.Noise() != privacy.Secure || len(l.Entries()) != 1 || l.Entries()[0].Count != 1 {
			t.Errorf("%s: %v", l.Noise(), l.Entries())
		}
	}
	if texts[0] == texts[1] {
		t.Error("two runs with cryptographic bits are alike")
	}
}

// What cannot be carried out is refused before anything is written.
func TestPerturbRefuses(t *testing.T) {
	dir := t.TempDir()
	in := filepath.Join(dir, "in.tsv")
	if err := os.WriteFile(in, []byte(head+"1\t1\t1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "p.tsv")
	for want, args := range map[string][]string{
		"one of --seed and --secure": {"--input", in, "--output", out},
		"no file matches":            {"--input", in + "x", "--output", out, "--seed", "1"},
		"--shards is 0":              {"--input", in, "--output", out, "--seed", "1", "--shards", "0"},
		"does not tell the form":     {"--input", in, "--output", out + ".dat", "--seed", "1"},
		"is there already":           {"--input", in, "--output", filepath.Join(dir, "q.tsv"), "--seed", "1"},
		"epsilon is -1":              {"--input", in, "--output", out, "--seed", "1", "--epsilon", "-1"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "q.job.ledger.jsonl"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		flags := flag.NewFlagSet("perturb pricdsr", flag.ContinueOnError)
		work := perturbPricdsr(flags)
		if err := flags.Parse(append([]string{"--items", "60", "--length", "9", "--epsilon", "3"}, args...)); err != nil {
			t.Fatal(err)
		}
		err := work(t.Context(), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
		left, _ := filepath.Glob(filepath.Join(dir, "p.*"))
		if len(left) > 0 {
			t.Errorf("%v: left %v", args, left)
		}
	}
}

// Features are those of one machine, with statistics of ratings that lie in other files. A second row of
// a user, a level that is not declared, and users of one table alone are bad rows.
func TestPerturbFeatures(t *testing.T) {
	dir := t.TempDir()
	users, ratings, bad := [3]string{}, [2]string{}, 0
	oneUsers, oneRatings := "user_id\tage\tgender\n", "user_id\trating\n"
	for i := range users {
		users[i] = oneUsers
	}
	for i := range ratings {
		ratings[i] = oneRatings
	}
	for u := range 120 {
		row := fmt.Sprintf("n%d\t%d\t%s\n", u, 20+u%50, []string{"F", "M"}[u%2])
		users[u%3] += row
		oneUsers += row
		for i := range 1 + u%7 {
			row := fmt.Sprintf("n%d\t%d\n", u, 1+(u+i)%5)
			ratings[(u+i)%2] += row
			oneRatings += row
		}
		switch u % 12 {
		case 3: // again, in a later file
			users[2] += fmt.Sprintf("n%d\t30\tF\n", u)
			bad++
		case 4:
			users[0] += "x\t30\tQ\n"
			bad++
		case 5:
			ratings[1] += fmt.Sprintf("n%d\t9\n", u)
			bad++
		case 6:
			ratings[1] += "stranger\t2\n"
			bad++
		case 8: // more than the fifty items of the catalogue
			users[1] += fmt.Sprintf("loud%d\t44\tM\n", u)
			for i := range 51 {
				ratings[i%2] += fmt.Sprintf("loud%d\t3\n", u)
				bad++
			}
			bad++
		case 7:
			users[1] += fmt.Sprintf("silent%d\t44\tM\n", u)
			bad++
		}
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i, text := range users {
		write(fmt.Sprintf("users-%d.tsv", i), text)
	}
	for i, text := range ratings {
		write(fmt.Sprintf("ratings-%d.tsv", i), text)
	}
	write("one.tsv", oneUsers)
	write("rated.tsv", oneRatings)
	gender, err := columns.Category("gender=F,M")
	if err != nil {
		t.Fatal(err)
	}
	age, err := columns.Number("age=0..120")
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, "want.tsv")
	_, err = features.File(t.Context(), features.FileOptions{
		Settings:   perturb.Settings{In: filepath.Join(dir, "rated.tsv"), Out: want, Items: 50, Seed: 5, Workers: 1},
		Attributes: filepath.Join(dir, "one.tsv"), Columns: []columns.Column{gender, age}, Epsilon: 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	flags := flag.NewFlagSet("perturb features", flag.ContinueOnError)
	work := perturbFeatures(flags)
	out := filepath.Join(dir, "p.tsv")
	err = flags.Parse([]string{"--input", filepath.Join(dir, "users-*"), "--ratings", filepath.Join(dir, "ratings-*"), "--output", out, "--items", "50",
		"--epsilon", "20", "--category", "gender=F,M", "--number", "age=0..120", "--seed", "5", "--shards", "4"})
	if err == nil {
		err = work(t.Context(), io.Discard, io.Discard)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := perturb.Merge(t.Context(), perturb.Merging{Out: out}, map[string]perturb.Whole{features.Kind: features.Whole()}); err != nil {
		t.Fatal(err)
	}
	same(t, out, want)
	same(t, filepath.Join(dir, "p.ledger.jsonl"), filepath.Join(dir, "want.ledger.jsonl"))
	text, err := os.ReadFile(filepath.Join(dir, "p.job.bad.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")) - 1; n != bad {
		t.Errorf("%d bad rows, want %d:\n%s", n, bad, text)
	}
}
