package protect

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/perturb"
	"privrec/internal/privacy"
)

// A past that was summed up elsewhere, one user at a time, protects like the file it was made of.
func TestPastIsTheHistory(t *testing.T) {
	dir := t.TempDir()
	users, slates := fileSlates(60, 4, 9, 1)
	text := "item_id\ta\tb\n"
	for i := range 7 { // two items have no vector
		text += fmt.Sprintf("i%d\t%g\t%g\n", i+1, float64(i)/3+0.1, 1/float64(i+1))
	}
	in, vectors := put(t, dir, "in.tsv", wideText("\t", users, slates)), put(t, dir, "vectors.tsv", text)
	catalogue := put(t, dir, "all.txt", "i1\ni2\ni3\ni4\ni5\ni6\ni7\ni8\ni9\n")
	options := func(out string) FileOptions {
		return FileOptions{Settings: perturb.Settings{In: in, Out: filepath.Join(dir, out), Catalogue: catalogue, Workers: 2, Seed: 3},
			Method: Method{Select: SelectSimilar, Ratio: 0.5}, Vectors: vectors}
	}
	o, history := options("past.tsv"), "user_id\titem_id\n"
	cat, err := perturb.OpenCatalogue(t.Context(), &o.Settings, slateALine)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenSummer(t.Context(), &o, cat)
	if err != nil {
		t.Fatal(err)
	}
	o.Past = &Past{}
	for u := range 15 { // five users have no past
		known := false
		for i := range u % 6 {
			item := fmt.Sprintf("i%d", 1+(u+i*i)%9)
			history += fmt.Sprintf("u%d\t%s\n", u, item)
			if s.Add([]byte(item)) {
				known = true
			} else {
				o.Past.Passed++
			}
		}
		if known {
			o.Past.Users++
			o.Past.Add(fmt.Appendf(nil, "u%d", u), s.Sum)
		}
		clear(s.Sum)
	}
	if _, err := File(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	want := options("file.tsv")
	want.History = put(t, dir, "history.tsv", history)
	if _, err := File(t.Context(), want); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".tsv", ".report.txt", ".ledger.jsonl"} {
		if a, b := get(t, filepath.Join(dir, "past"+name)), get(t, filepath.Join(dir, "file"+name)); a != b {
			t.Errorf("%s:\n%s\nwant\n%s", name, a, b)
		}
	}
}

// Hold states what a user has at most where there is an epsilon, and nothing where there is none.
func TestHold(t *testing.T) {
	for method, want := range map[string]int{`{"Replace":"rr","Epsilon":2}`: 1, `{"Replace":"uniform","Ratio":0.5}`: 0} {
		l, err := privacy.NewLedger(privacy.Research)
		if err != nil {
			t.Fatal(err)
		}
		same, err := Hold(l, []byte(`{"method":`+method+`,"length":5}`), 7)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		held := l.Holdings()
		if len(held) != want || want == 1 && held[0] != (privacy.Holding{Unit: privacy.User, Of: privacy.Position, Most: 35}) {
			t.Errorf("%s: %v", method, held)
		}
		if n := strings.Count(string(same), `"most":7`); n != want {
			t.Errorf("%s: %s", method, same)
		}
	}
}
