package slate

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/rng"
)

// extracted is the tables of a generated log as the authors' files have them, with the
// truth beside them: items from token cut on were never met in training and are deleted
// everywhere, training pairs with such an item are lost, validation pairs are shuffled
// and have no users.
type extracted struct {
	dir   string
	files map[string]string // by path below dir
	truth *Set              // split as released
	valid []int32           // rows of truth.Valid in the order of val.tsv
	cut   int32
}

func extract(t *testing.T, sub string) *extracted {
	t.Helper()
	truth, err := Build(simulate(11), Options{Split: SplitReleased})
	if err != nil {
		t.Fatal(err)
	}
	x := &extracted{dir: t.TempDir(), files: map[string]string{}, truth: truth, cut: int32(truth.Vocab - 60)}
	put := func(name, text string) { x.files[filepath.Join("exposure", sub, name)] = text }
	var b strings.Builder
	b.WriteString("token\tdict_id\traw_item\n")
	for i := range x.cut {
		fmt.Fprintf(&b, "%d\t%s\t\n", i, truth.Items[i])
	}
	put("vocab.tsv", b.String())
	b.Reset()
	b.WriteString("seq_id\tuser\n")
	owners := slices.Concat(truth.Train.Users, truth.Valid.Users, truth.Test.Users)
	pairs, _ := truth.Ladder.Get("pairs")
	for len(owners) < pairs.Rows { // lost to truncation
		owners = append(owners, owners[len(owners)-1])
	}
	for i, u := range owners {
		fmt.Fprintf(&b, "%d\t%d\n", i, u)
	}
	put("sequence2user.tsv", b.String())
	b.Reset()
	b.WriteString("user\tshown_in_order\tclicked_set\n")
	for u := range truth.Users {
		fmt.Fprintf(&b, "%d\t%s\t%s\n", u, x.list(truth.Logged[u]), x.list(truth.Clicked[u]))
	}
	put("user_items.tsv", b.String())
	b.Reset()
	b.WriteString("row\tuser\texposure_approx\thistory\n")
	for i := range truth.Train.Len() {
		if x.whole(truth.Train, i) {
			fmt.Fprintf(&b, "%d\t%d\t%s\t%s\n", i, truth.Train.Users[i], x.list(truth.Train.Slate(i)), x.list(truth.Train.Behaviour(i)))
		}
	}
	put("train_reconstructed.tsv", b.String())
	s := rng.Seed(3).Stream("test")
	x.valid = s.Perm(truth.Valid.Len())
	for _, part := range []struct {
		name string
		p    *Pairs
	}{{"val.tsv", truth.Valid}, {"test.tsv", truth.Test}} {
		b.Reset()
		b.WriteString("seq_id\tuser\tcomplete\texposure\thistory\n")
		for i := range part.p.Len() {
			seq, user, row := fmt.Sprint(truth.Train.Len()+truth.Valid.Len()+i), fmt.Sprint(part.p.Users[i]), i
			if part.name == "val.tsv" {
				seq, user, row = "-1", "-1", int(x.valid[i])
				if sub == "mind" && x.whole(part.p, row) {
					user = fmt.Sprint("p", part.p.Users[row])
				}
			}
			complete := 0
			if x.whole(part.p, row) {
				complete = 1
			}
			fmt.Fprintf(&b, "%s\t%s\t%d\t%s\t%s\n", seq, user, complete, x.list(part.p.Slate(row)), x.list(part.p.Behaviour(row)))
		}
		put(part.name, b.String())
	}
	return x
}

// list writes the tokens that are known.
func (x *extracted) list(tokens []int32) string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(x.known(tokens)), " ", ","), "[]")
}

func (x *extracted) known(tokens []int32) []int32 {
	return slices.DeleteFunc(slices.Clone(tokens), func(k int32) bool { return k >= x.cut || k < FirstItem })
}

func (x *extracted) whole(p *Pairs, i int) bool {
	return len(x.known(p.Slate(i))) == p.T && len(x.known(p.Behaviour(i))) == p.L
}

func (x *extracted) write(t *testing.T) {
	t.Helper()
	for name, text := range x.files {
		path := filepath.Join(x.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// padded is a row of truth as the loader must give it.
func (x *extracted) padded(tokens []int32) []int32 {
	out := x.known(tokens)
	for len(out) < len(tokens) {
		out = append(out, OOV)
	}
	return out
}

// notTheirs makes sure that nothing that is known of the authors' pairs is said of others.
func notTheirs(t *testing.T, s *Set, theirs string) {
	t.Helper()
	if len(s.Notes) == 0 || !strings.Contains(s.Notes[0], "these are not the authors' pairs") || !strings.Contains(s.Notes[0], theirs) {
		t.Errorf("notes %q", s.Notes)
	}
	for _, claim := range []string{"90.7 %", "authors' own", "26,000", lostPlaces} {
		if slices.ContainsFunc(s.Notes, func(n string) bool { return strings.Contains(n, claim) }) {
			t.Errorf("says %q of other pairs", claim)
		}
	}
}

func TestExtractedZhihu(t *testing.T) {
	x := extract(t, "zhihu")
	x.write(t)
	released, err := Load(t.Context(), "exposure-zhihu", dataset.View{}, Options{Dir: x.dir, Split: SplitReleased})
	if err != nil {
		t.Fatal(err)
	}
	if err := released.valid(); err != nil {
		t.Fatal(err)
	}
	notTheirs(t, released, "213172 of 7915")
	incomplete := 0
	for _, c := range []struct {
		got, want *Pairs
		order     []int32
	}{{released.Test, x.truth.Test, nil}, {released.Valid, x.truth.Valid, x.valid}} {
		if c.got.Len() != c.want.Len() {
			t.Fatalf("%d pairs of %d", c.got.Len(), c.want.Len())
		}
		for i := range c.got.Len() {
			row := i
			if c.order != nil {
				row = int(c.order[i])
			}
			if !slices.Equal(c.got.Slate(i), x.padded(c.want.Slate(row))) || !slices.Equal(c.got.Behaviour(i), x.padded(c.want.Behaviour(row))) ||
				c.got.Complete[i] != x.whole(c.want, row) || c.got.Users[i] != c.want.Users[row] {
				t.Fatalf("pair %d of user %d is %v | %v, complete %v", i, c.got.Users[i], c.got.Slate(i), c.got.Behaviour(i), c.got.Complete[i])
			}
			if !c.got.Complete[i] {
				incomplete++
			}
		}
	}
	if incomplete < 100 {
		t.Errorf("only %d pairs lost an item, the test wants more", incomplete)
	}
	windows(t, released, -1)
	if err := released.disjoint(); err == nil {
		t.Error("the released split of this log should have users in two parts")
	}
	s, err := Load(t.Context(), "exposure-zhihu", dataset.View{}, Options{Dir: x.dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.disjoint(); err != nil {
		t.Error(err)
	}
	if s.Valid.Len() >= released.Valid.Len() || s.Train.Len() != released.Train.Len() || s.Test.Len() != released.Test.Len() || s.Hash != released.Hash {
		t.Errorf("%d, %d, %d pairs, as released %d, %d, %d", s.Train.Len(), s.Valid.Len(), s.Test.Len(), released.Train.Len(), released.Valid.Len(), released.Test.Len())
	}
	for u, log := range x.truth.Logged {
		if want := x.known(log); !slices.Equal(released.Logged[u], want) {
			t.Fatalf("log of user %d is %v, want %v", u, released.Logged[u], want)
		}
	}
	// Longer slates are those that the builder cuts from the same logs.
	long, err := Load(t.Context(), "exposure-zhihu", dataset.View{}, Options{Dir: x.dir, T: 14, Split: SplitReleased,
		Unknown: UnknownDrop})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	again, err := Build(simulate(11), Options{T: 14, Split: SplitReleased})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []*Pairs{again.Train, again.Valid, again.Test} {
		for i := range p.Len() {
			want[fmt.Sprint(p.Users[i], again.spell(p.Slate(i)), again.spell(p.Behaviour(i)))] = true
		}
	}
	strange, n := 0, 0
	for i := range long.Test.Len() {
		p := long.Test
		n++
		if !want[fmt.Sprint(p.Users[i], long.spell(p.Slate(i)), long.spell(p.Behaviour(i)))] {
			strange++ // an unknown item stood among the four that follow
		}
	}
	if n < 50 || strange*2 > n {
		t.Errorf("of %d longer slates %d are not the builder's", n, strange)
	}
}

func TestExtractedMIND(t *testing.T) {
	x := extract(t, "mind")
	x.write(t)
	s, err := Load(t.Context(), "exposure-mind", dataset.View{Seed: 4}, Options{Dir: x.dir})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.valid(); err != nil {
		t.Fatal(err)
	}
	notTheirs(t, s, "291595 of 67992")
	if s.Train.Len() != x.truth.Valid.Len() || s.Valid.Len()+s.Test.Len() != x.truth.Test.Len() || s.Logged != nil {
		t.Errorf("%d, %d, %d pairs", s.Train.Len(), s.Valid.Len(), s.Test.Len())
	}
	if err := s.disjoint(); err != nil {
		t.Error(err)
	}
	windows(t, s, -1)
	at := 0 // test pairs keep their order
	for i := range x.truth.Test.Len() {
		if at < s.Test.Len() && slices.Equal(s.Test.Slate(at), x.padded(x.truth.Test.Slate(i))) && s.Users[s.Test.Users[at]] == fmt.Sprint(x.truth.Test.Users[i]) {
			at++
		}
	}
	if at != s.Test.Len() {
		t.Errorf("%d of %d test pairs stand in the released order", at, s.Test.Len())
	}
	if other, err := Load(t.Context(), "exposure-mind", dataset.View{Seed: 5}, Options{Dir: x.dir}); err != nil ||
		slices.Equal(other.Test.Slates, s.Test.Slates) {
		t.Errorf("another seed makes the same halves: %v", err)
	}
	released, err := Load(t.Context(), "exposure-mind", dataset.View{}, Options{Dir: x.dir, Split: SplitReleased})
	if err != nil || released.Valid.Len() != 0 || released.Test.Len() != x.truth.Test.Len() {
		t.Errorf("as released: %v", err)
	}
}

// TestExtractedErrors: tables that do not fit together.
func TestExtractedErrors(t *testing.T) {
	lines := func(s string) []string { return strings.SplitAfter(s, "\n") }
	for _, c := range []struct {
		name, table string
		edit        func(string) string
		o           Options
		want        string
	}{
		{"a test pair is gone", "test.tsv", func(s string) string { v := lines(s); return strings.Join(v[:len(v)-2], "") }, Options{}, "pairs, but sequence2user.tsv leaves"},
		{"two test pairs change places", "test.tsv", func(s string) string { v := lines(s); v[1], v[2] = v[2], v[1]; return strings.Join(v, "") }, Options{}, `test.tsv:2: field "seq_id": pair`},
		{"a user has no log", "user_items.tsv", func(s string) string { v := lines(s); return strings.Join(v[:3], "") }, Options{}, "user_items.tsv has 2 users"},
		{"a small catalogue", "vocab.tsv", func(s string) string { return strings.Join(lines(s)[:8], "") }, Options{}, "the catalogue has 3 items, fewer than a slate of 10"},
		{"longer behaviours than there are", "vocab.tsv", func(s string) string { return s }, Options{L: 6}, "the extracted tables have 10 and 5"},
	} {
		x := extract(t, "zhihu")
		path := filepath.Join("exposure", "zhihu", c.table)
		x.files[path] = c.edit(x.files[path])
		x.write(t)
		c.o.Dir = x.dir
		_, err := Load(t.Context(), "exposure-zhihu", dataset.View{}, c.o)
		var e *dataset.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
