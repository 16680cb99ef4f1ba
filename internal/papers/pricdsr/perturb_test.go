package pricdsr

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/privacy"
	"privrec/internal/privacy/mechanism/sequence"
	"privrec/internal/rng"
)

// history is a user as the tests make one.
type history struct {
	id    string
	items []int
}

func someHistories(n, items, most int, seed uint64) (list []history) {
	for u := range n {
		s := rng.Seed(seed).Stream("histories", uint64(u))
		h := history{id: fmt.Sprintf("u%d", u)}
		perm := s.Perm(items)
		for i := range 1 + s.IntN(most) {
			h.items = append(h.items, int(perm[i])+1)
		}
		list = append(list, h)
	}
	return list
}

// table writes histories as a table with times.
func table(list []history) string {
	var b strings.Builder
	b.WriteString("user_id\titem_id\ttimestamp\n")
	for _, h := range list {
		for i, item := range h.items {
			fmt.Fprintf(&b, "%s\t%d\t%d\n", h.id, item, 100+i)
		}
	}
	return b.String()
}

func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// perturbed runs options over a text and returns the output.
func perturbed(t testing.TB, o Options, name, text string) (string, *Report) {
	t.Helper()
	dir := t.TempDir()
	o.In = write(t, dir, name, text)
	if o.Out == "" {
		o.Out = "out.tsv"
	}
	o.Out = filepath.Join(dir, o.Out)
	o.Workers = max(o.Workers, 1)
	r, err := Perturb(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, o.Out), r
}

func options() Options {
	return Options{Settings: perturb.Settings{Items: 60, Length: 8, Seed: 3, Workers: 2}, Epsilon: 4}
}

// The bytes depend on the rows, the settings and the seed: not on the workers, nor on
// the order in which users come, except where that is to be kept.
func TestBytesDependOnTheRowsAlone(t *testing.T) {
	list := someHistories(900, 60, 12, 1)
	back := slices.Clone(list)
	rng := rng.Seed(9).Stream("order")
	rng.Shuffle(len(back), func(i, j int) { back[i], back[j] = back[j], back[i] })
	for _, v := range []sequence.Variant{sequence.SDPFixed, sequence.SDPPaper, sequence.RR} {
		o := options()
		o.Variant = v
		one, _ := perturbed(t, o, "in.tsv", table(list))
		for _, workers := range []int{1, 7} {
			o.Workers = workers
			if got, _ := perturbed(t, o, "in.tsv", table(back)); got != one {
				t.Errorf("%s: other bytes with %d workers in another order", v, workers)
			}
		}
		o.KeepOrder = true
		kept, _ := perturbed(t, o, "in.tsv", table(back))
		o.Workers = 1
		if again, _ := perturbed(t, o, "in.tsv", table(back)); kept != again {
			t.Errorf("%s: other bytes in kept order", v)
		}
		if strings.HasPrefix(kept, "user_id\titem_id\tposition\nu0\t") || !equalLines(kept, one) {
			t.Errorf("%s: other rows in kept order", v)
		}
		for name, change := range map[string]func(*Options){
			"seed": func(o *Options) { o.Seed++ }, "purpose": func(o *Options) { o.Purpose = "other" }, "epsilon": func(o *Options) { o.Epsilon += 1e-9 },
		} {
			x := options()
			x.Variant = v
			change(&x)
			if got, _ := perturbed(t, x, "in.tsv", table(list)); got == one {
				t.Errorf("%s: the %s makes no difference", v, name)
			}
		}
	}
}

func equalLines(a, b string) bool {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// The forms say the same of the same rows, packed or not.
func TestFormsAgree(t *testing.T) {
	list := someHistories(400, 60, 12, 2)
	var lines strings.Builder
	for _, h := range list {
		lines.WriteString(h.id)
		for _, i := range h.items {
			fmt.Fprintf(&lines, " %d", i)
		}
		lines.WriteString("\n")
	}
	tsv := table(list)
	want, r := perturbed(t, options(), "in.tsv", tsv)
	for name, text := range map[string]string{
		"in.txt":   lines.String(),
		"in.csv":   strings.ReplaceAll(tsv, "\t", ","),
		"in.inter": strings.Replace(tsv, "user_id\titem_id\ttimestamp", "user_id:token\titem_id:token\ttimestamp:float", 1),
		"crlf.tsv": strings.ReplaceAll(tsv, "\n", "\r\n"),
	} {
		if got, _ := perturbed(t, options(), name, text); got != want {
			t.Errorf("%s: another output", name)
		}
	}
	o := options()
	o.Out = "out.csv"
	if got, _ := perturbed(t, o, "in.tsv", tsv); got != strings.ReplaceAll(want, "\t", ",") {
		t.Error("another csv")
	}
	o.Out = "out.inter"
	if got, _ := perturbed(t, o, "in.tsv", tsv); got != strings.Replace(want, "user_id\titem_id\tposition", "user_id:token\titem_id:token\tposition:float", 1) {
		t.Error("another inter")
	}
	o.Out = "out.txt"
	got, _ := perturbed(t, o, "in.tsv", tsv)
	if n := strings.Count(got, "\n"); int64(n)+r.Emptied != 400 {
		t.Errorf("%d lines, %d empty rows of 400", n, r.Emptied)
	}
	var fromLines strings.Builder
	for line := range strings.Lines(got) {
		f := strings.Fields(line)
		for _, item := range f[1:] {
			fmt.Fprintf(&fromLines, "%s\t%s\n", f[0], item)
		}
	}
	var fromTable strings.Builder
	for line := range strings.Lines(want[strings.IndexByte(want, '\n')+1:]) {
		fromTable.WriteString(line[:strings.LastIndexByte(line, '\t')] + "\n")
	}
	if fromLines.String() != fromTable.String() {
		t.Error("lines hold other items")
	}
	for _, ext := range []string{".gz", ".zst"} {
		o.Out = "out.tsv" + ext
		dir := t.TempDir()
		o.In, o.Out = write(t, dir, "in.tsv", tsv), filepath.Join(dir, o.Out)
		if _, err := Perturb(context.Background(), o); err != nil {
			t.Fatal(err)
		}
		s, err := format.OpenStream(context.Background(), o.Out, format.TSV)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for s.Next() {
			n++
		}
		if s.Err() != nil || n != strings.Count(want, "\n")-1 {
			t.Errorf("%s: %d rows (%v)", ext, n, s.Err())
		}
		s.Close()
	}
}

// Definition 1: in order of time, the first occurrence, the last L, padding in front.
// An infinite epsilon shows the matrix.
func TestRowsOfDefinition1(t *testing.T) {
	o := Options{Settings: perturb.Settings{Items: 9, Length: 4, Workers: 1}, Epsilon: math.Inf(1), Limits: true}
	got, r := perturbed(t, o, "in.txt", "a 1 2\nb 1 2 1 3 4 5\nc 7 7 7\nd\ne 5 6 7 8 5\n")
	want := "user_id\titem_id\tposition\na\t1\t3\na\t2\t4\nb\t2\t1\nb\t3\t2\nb\t4\t3\nb\t5\t4\nc\t7\t4\ne\t5\t1\ne\t6\t2\ne\t7\t3\ne\t8\t4\n"
	if got != want {
		t.Errorf("%s", got)
	}
	if r.Users != 5 || r.Rows != 16 || r.Repeats != 4 || r.RepeatUsers != 3 || r.Cut != 1 || r.CutUsers != 1 || r.Items() != 11 || r.InPlace != 11 || r.Emptied != 1 || r.Found != 4 || r.Written != 11 {
		t.Errorf("%+v", r)
	}
}

// Epsilon 0: the output does not depend on the items. Users alone tell them apart.
func TestNothingIsLeftAtZero(t *testing.T) {
	for _, v := range []sequence.Variant{sequence.SDPFixed, sequence.SDPPaper} {
		o := Options{Settings: perturb.Settings{Items: 40, Length: 8, Seed: 2, Workers: 2}, Limits: true, Variant: v}
		a, b := someHistories(500, 40, 8, 1), someHistories(500, 40, 8, 2)
		sa, _ := perturbed(t, o, "in.tsv", table(a))
		sb, r := perturbed(t, o, "in.tsv", table(b))
		// The law is that of uniform draws whatever came in. The bytes are not equal, as
		// a draw is told from what stands in the cell: positions of items are compared.
		ca, cb := itemCounts(sa, 40), itemCounts(sb, 40)
		stat := 0.0
		for i := range ca {
			d := float64(ca[i] - cb[i])
			stat += d * d / float64(ca[i]+cb[i])
		}
		if stat > 40+6.11*math.Sqrt(80)+30 { // false alarm below 1e-9
			t.Errorf("%s: counts of items differ, chi-square %g of 40", v, stat)
		}
		if !strings.Contains(strings.Join(r.notes(), "\n"), "pure noise") {
			t.Errorf("%s: no warning", v)
		}
	}
}

func itemCounts(out string, items int) []int {
	counts := make([]int, items)
	for line := range strings.Lines(out[strings.IndexByte(out, '\n')+1:]) {
		var user string
		var item, at int
		fmt.Sscanf(line, "%s\t%d\t%d", &user, &item, &at)
		counts[item-1]++
	}
	return counts
}

// A catalogue with names: the same as one with numbers, in its order.
func TestCatalogueOfNames(t *testing.T) {
	o := options()
	list := someHistories(200, 60, 12, 2)
	want, _ := perturbed(t, o, "in.tsv", table(list))
	name := func(i string) string { return "B00" + i }
	var cat strings.Builder
	for i := 1; i <= 60; i++ {
		cat.WriteString(name(fmt.Sprint(i)) + "\n")
	}
	o.Items, o.Catalogue = 0, write(t, t.TempDir(), "items.txt", cat.String())
	rename := func(text string) string {
		var b strings.Builder
		for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			f := strings.Split(line, "\t")
			if i > 0 {
				f[1] = name(f[1])
			}
			b.WriteString(strings.Join(f, "\t") + "\n")
		}
		return b.String()
	}
	if got, _ := perturbed(t, o, "in.tsv", rename(table(list))); got != rename(want) {
		t.Error("other rows")
	}
}

// Ids that a form cannot hold are refused or quoted.
func TestFieldsOfForms(t *testing.T) {
	for _, c := range []struct {
		id   string
		form format.Form
		want string
	}{
		{"a b", format.TSV, "a b"}, {"a,b", format.TSV, "a,b"}, {"a,b", format.CSV, `"a,b"`}, {`a"b`, format.CSV, `"a""b"`},
		{"a b", format.Lines, ""}, {"a\tb", format.TSV, ""}, {"a\tb", format.CSV, "a\tb"},
	} {
		got, err := c.form.AppendField(nil, []byte(c.id))
		if string(got) != c.want || (err != nil) != (c.want == "") {
			t.Errorf("%q as %s: %q (%v)", c.id, c.form, got, err)
		}
	}
}

// The ledger has one event, for all users, and says which noise it was.
func TestLedgerBesideTheOutput(t *testing.T) {
	for _, secure := range []bool{false, true} {
		o := options()
		o.Variant, o.Secure, o.Seed = sequence.SDPPaper, secure, 0
		dir := t.TempDir()
		o.In, o.Out = write(t, dir, "in.tsv", table(someHistories(50, 60, 9, 1))), filepath.Join(dir, "out.tsv")
		r, err := Perturb(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		l, err := privacy.Reading{}.File(filepath.Join(dir, "out.ledger.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		if e := l.Entries(); len(e) != 1 || e[0].Count != 1 || e[0].Event != (privacy.PureLDP{Epsilon: 8, Unit: privacy.Cell}) {
			t.Errorf("ledger %v", e)
		}
		if (l.Noise() == privacy.Secure) != secure || r.Noise != l.Noise() {
			t.Errorf("noise %s", l.Noise())
		}
		text := read(t, filepath.Join(dir, "out.report.txt"))
		if !strings.Contains(text, "the order of two cells of one user          8") || !strings.Contains(text, "all 8 cells of one user       32") {
			t.Errorf("report:\n%s", text)
		}
	}
}

// A cancelled run, or one whose output cannot be written, leaves nothing behind.
func TestNothingIsLeftOfAFailedRun(t *testing.T) {
	dir := t.TempDir()
	o := options()
	o.In, o.Out = write(t, dir, "in.tsv", table(someHistories(3000, 60, 9, 1))), filepath.Join(dir, "out.tsv")
	for _, keep := range []bool{true, false} {
		o.KeepOrder = keep
		ctx, cancel := context.WithCancel(context.Background())
		o.Progress = stopAt{cancel}
		if _, err := Perturb(ctx, o); !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
		cancel()
	}
	bad := o
	bad.Progress = nil
	bad.In = write(t, dir, "late.tsv", table(someHistories(3000, 60, 9, 1))+"u1\t5\t200\n") // found in the very end
	for _, keep := range []bool{true, false} {
		bad.KeepOrder = keep
		var e *dataset.Error
		if _, err := Perturb(context.Background(), bad); !errors.As(err, &e) || e.Field != "user_id" || !strings.Contains(e.Msg, "comes again") {
			t.Errorf("a user twice: %v", err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(left) != 2 {
		t.Errorf("left %v (%v)", left, err)
	}
	if hidden, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(hidden) != 0 {
		t.Errorf("left %v (%v)", hidden, err)
	}
}

// stopAt cancels a run once it has begun.
type stopAt struct{ cancel func() }

func (s stopAt) Phase(string)      { s.cancel() }
func (s stopAt) Begin(string, int) {}
func (s stopAt) Add(int)           {}
func (s stopAt) End(string)        {}
