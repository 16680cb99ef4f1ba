package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"privrec/internal/dataset/parquet"
	"privrec/internal/papers/exposure/protect"
	"privrec/internal/papers/gerai/features"
	"privrec/internal/perturb"
	columns "privrec/internal/perturb/features"
)

// writeParquet writes the rows of a table with tabs as Parquet: columns of numbers as whole numbers, which
// text is read as, the others as text.
func writeParquet(t *testing.T, path, table string, numbers ...string) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	var fields []parquet.Field
	for _, name := range strings.Split(lines[0], "\t") {
		kind := parquet.Text
		for _, n := range numbers {
			if n == name {
				kind = parquet.Int
			}
		}
		fields = append(fields, parquet.Field{Name: name, Kind: kind})
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w, err := parquet.NewWriter(f, fields...)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		var row []parquet.Value
		for i, text := range strings.Split(line, "\t") {
			v := parquet.Value{Text: []byte(strings.ReplaceAll(text, `\n`, "\n"))}
			if fields[i].Kind == parquet.Int {
				if v.Int, err = strconv.ParseInt(text, 10, 64); err != nil {
					t.Fatal(err)
				}
			}
			row = append(row, v)
		}
		if err := w.Row(row...); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// writeForm writes a table in the form that its name tells.
func writeForm(t *testing.T, path, table string, numbers ...string) {
	t.Helper()
	switch filepath.Ext(path) {
	case ".gz":
		writeGzip(t, path, table)
	case ".parquet":
		writeParquet(t, path, table, numbers...)
	default:
		if err := os.WriteFile(path, []byte(table), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// endings are forms of input, which lie side by side.
var endings = []string{".tsv", ".tsv.gz", ".parquet"}

// Text, gzip and Parquet side by side give the bytes of one machine, of all three commands; what cannot be
// used of a Parquet file is a bad row too.
func TestFormsSideBySide(t *testing.T) {
	dir := t.TempDir()
	x := newTable(300, 6)
	for i, text := range x.files {
		bad := ""
		if i == 2 { // Parquet
			bad = "u1\t61\t5\n\t3\t5\nbreak\\n\t3\t5\n"
		}
		writeForm(t, filepath.Join(dir, fmt.Sprintf("log-%d%s", i, endings[i%3])), head+text+bad, "item_id", "timestamp")
	}
	writeForm(t, filepath.Join(dir, "log.tsv"), head+x.one)
	alone(t, filepath.Join(dir, "log.tsv"), filepath.Join(dir, "want.tsv"), false)
	out := filepath.Join(dir, "p.tsv")
	if n := perturbed(t, "--input", filepath.Join(dir, "log-*"), "--output", out, "--seed", "5", "--shards", "4"); n.Bad != 3 || n.Rows != int64(len(x.rows)) || n.Users != 300 {
		t.Errorf("%+v", n)
	}
	merged(t, out)
	same(t, out, filepath.Join(dir, "want.tsv"))

	userHead, users := "user_id\tage\tgender\n", make([]string, 3)
	slateHead, slates := "user_id\titem_1\titem_2\n", make([]string, 3)
	for u := range 240 {
		users[u/80] += fmt.Sprintf("n%d\t%d\t%s\n", u, 20+u%50, []string{"F", "M"}[u%2])
		slates[u/80] += fmt.Sprintf("n%d\t%d\t%d\n", u, 1+u%40, 1+(u+7)%40)
	}
	for i := range 3 {
		writeForm(t, filepath.Join(dir, fmt.Sprintf("users-%d%s", i, endings[i])), userHead+users[i], "age")
		writeForm(t, filepath.Join(dir, fmt.Sprintf("slates-%d%s", i, endings[i])), slateHead+slates[i], "item_1", "item_2")
	}
	writeForm(t, filepath.Join(dir, "users.tsv"), userHead+strings.Join(users, ""))
	writeForm(t, filepath.Join(dir, "slates.tsv"), slateHead+strings.Join(slates, ""))
	gender, err := columns.Category("gender=F,M")
	if err != nil {
		t.Fatal(err)
	}
	age, err := columns.Number("age=0..120")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := features.File(t.Context(), features.FileOptions{Settings: perturb.Settings{Out: filepath.Join(dir, "wantf.tsv"), Seed: 5, Workers: 1},
		Attributes: filepath.Join(dir, "users.tsv"), Columns: []columns.Column{gender, age}, Epsilon: 20}); err != nil {
		t.Fatal(err)
	}
	if _, err := protect.File(t.Context(), protect.FileOptions{Settings: perturb.Settings{In: filepath.Join(dir, "slates.tsv"), Out: filepath.Join(dir, "wants.tsv"), Items: 40, Seed: 5, Workers: 1},
		Method: protect.Method{Replace: "rr", Epsilon: 2}}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command    command
		kind, args string
		whole      perturb.Whole
	}{
		{perturbFeatures, "f", "--input " + dir + "/users-* --epsilon 20 --category gender=F,M --number age=0..120", features.Whole()},
		{perturbExposure, "s", "--input " + dir + "/slates-* --epsilon 2 --replace rr --items 40 --length 2", protect.Whole()},
	} {
		flags := flag.NewFlagSet(c.kind, flag.ContinueOnError)
		work := c.command(flags)
		out := filepath.Join(dir, c.kind+".tsv")
		err := flags.Parse(append(strings.Fields(c.args), "--output", out, "--seed", "5"))
		if err == nil {
			err = work(t.Context(), io.Discard, io.Discard)
		}
		if err == nil {
			_, err = perturb.Merge(t.Context(), perturb.Merging{Out: out}, map[string]perturb.Whole{features.Kind: c.whole, protect.Kind: c.whole})
		}
		if err != nil {
			t.Fatal(c.kind, err)
		}
		same(t, out, filepath.Join(dir, "want"+c.kind+".tsv"))
	}
}
