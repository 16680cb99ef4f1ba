package slate

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/dataset"
)

// writeFile puts a text into a folder of the test.
func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// words writes the pairs of all parts by user as "user: slate | behaviour".
func words(s *Set) []string {
	var out []string
	for u, id := range s.Users {
		for _, p := range []*Pairs{s.Train, s.Valid, s.Test} {
			for i := range p.Len() {
				if p.Users[i] == int32(u) {
					out = append(out, fmt.Sprintf("%s: %s | %s", id, s.spell(p.Slate(i)), s.spell(p.Behaviour(i))))
				}
			}
		}
	}
	return out
}

func (s *Set) spell(tokens []int32) string {
	var out []string
	for _, x := range tokens {
		out = append(out, s.Items[x])
	}
	return strings.Join(out, " ")
}

// zhihuLog is one user's log, not in show order, given to three users so that every
// part has the same items.
func zhihuLog(users ...string) string {
	var b strings.Builder
	for _, u := range users {
		for _, r := range []string{"f,51,0", "a,10,50", "b,20,30", "c,25,0", "e,50,0", "d,35,0", "g,60,61", "i,80,0", "h,70,0", "c,90,0"} {
			b.WriteString(u + "," + r + "\n")
		}
	}
	return b.String()
}

func TestBuildZhihu(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want []string // of user 1
	}{
		{"defaults: clicks in show order, slate strictly later than the latest click, reversed, sliding", Options{T: 2, L: 2},
			[]string{"1: f g | b a", "1: h i | g b"}},
		{"order of the clicks", Options{T: 2, L: 2, Clicks: OrderClicked}, []string{"1: f g | a b", "1: h i | g a"}},
		{"too few items after a window give no pair", Options{T: 4, L: 2}, []string{"1: f g h i | b a"}},
		{"steps of two", Options{T: 2, L: 1, Stride: 2}, []string{"1: f g | a", "1: h i | g"}},
		{"single clicks", Options{T: 2, L: 1}, []string{"1: f g | a", "1: d e | b", "1: h i | g"}},
		{"repeats stay", Options{T: 3, L: 3}, []string{"1: h i c | g b a"}},
		{"repeats go", Options{T: 2, L: 3, FirstOnly: true}, []string{"1: h i | g b a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := ReadZhihu(t.Context(), writeFile(t, "inter_impression.csv", zhihuLog("1", "2", "3")))
			if err != nil {
				t.Fatal(err)
			}
			s, err := Build(l, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.valid(); err != nil {
				t.Fatal(err)
			}
			got := slices.DeleteFunc(words(s), func(w string) bool { return w[0] != '1' })
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
		})
	}
	l, err := ReadZhihu(t.Context(), writeFile(t, "inter_impression.csv", zhihuLog("1", "2", "3")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Build(l, Options{T: 3, L: 3, FirstOnly: true}); err == nil || !strings.Contains(err.Error(), "no pair of 3 clicks and 3 items") {
		t.Errorf("without the repeat only two items follow the last click: %v", err)
	}
}

// TestBuildLists: what is known of users, unknown items left out.
func TestBuildLists(t *testing.T) {
	text := zhihuLog("1", "2", "3") + "4,a,10,11\n4,x,20,0\n"
	l, err := ReadZhihu(t.Context(), writeFile(t, "inter_impression.csv", text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Build(l, Options{T: 2, L: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.spell(s.Logged[0]); got != "a b d e f g h i" { // c, shown twice, is in no pair
		t.Errorf("logged %q", got)
	}
	if got := s.spell(s.Clicked[0]); got != "g" {
		t.Errorf("clicked and in a slate: %q", got)
	}
	if got := s.spell(s.Logged[3]); got != "a" {
		t.Errorf("logged of the user without pairs %q", got)
	}
	for u, h := range s.Histories {
		trains := slices.Contains(s.Train.Users, int32(u))
		if got := s.spell(h); trains != (h != nil) || trains && got != "a b g" {
			t.Errorf("history of user %s, who trains: %v, is %q", s.Users[u], trains, got)
		}
	}
	expect(t, s,
		dataset.Rung{Name: "raw", Users: 4, Items: 10, Rows: 32}, dataset.Rung{Name: "clicked", Users: 4, Items: 3, Rows: 10},
		dataset.Rung{Name: "users of 1 clicks", Users: 4, Rows: 10}, dataset.Rung{Name: "windows of 1 clicks", Users: 4, Rows: 10},
		dataset.Rung{Name: "pairs", Users: 3, Items: 8, Rows: 9})
}

// TestGeneric: the table with a header makes the same pairs as the same rows of Zhihu,
// times without a click may be empty.
func TestGeneric(t *testing.T) {
	rows := zhihuLog("1", "2", "3")
	zhihu, err := ReadZhihu(t.Context(), writeFile(t, "inter_impression.csv", rows))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, c := range []struct{ name, file, text string }{
		{"own-tabs", "impressions.tsv", "user\titem\tshown_at\tclicked_at\n" + strings.ReplaceAll(strings.ReplaceAll(rows, ",0\n", ",\n"), ",", "\t")},
		{"own-commas", "impressions.csv", "user,item,shown_at,clicked_at\n" + rows},
	} {
		if err := os.MkdirAll(filepath.Join(dir, c.name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, c.name, c.file), []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		s, err := Load(t.Context(), c.name, dataset.View{}, Options{Dir: dir, T: 2, L: 2})
		if err != nil {
			t.Fatal(err)
		}
		want, err := Build(zhihu, Options{T: 2, L: 2})
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(words(want), words(s)); d != "" || s.Name != c.name || s.Level != dataset.LevelC {
			t.Errorf("%s at level %v: %s", s.Name, s.Level, d)
		}
	}
	if _, err := Load(t.Context(), "own-nothing", dataset.View{}, Options{Dir: dir}); err == nil ||
		!strings.Contains(err.Error(), "looked for impressions.tsv") {
		t.Errorf("no file: %v", err)
	}
	if _, err := Load(t.Context(), "own-../up", dataset.View{}, Options{Dir: dir}); err == nil ||
		!strings.Contains(err.Error(), "unknown set of slates") {
		t.Errorf("a name that leaves the folder: %v", err)
	}
}

// TestVocabulary: tokens follow the training counts of slates and behaviours together,
// ties the ids, and what only other parts hold is OOV.
func TestVocabulary(t *testing.T) {
	p := newPairs(2, 1, 3)
	p.add(0, []int32{0, 1}, []int32{2}, true) // items 10, 9, x
	p.add(0, []int32{2, 3}, []int32{2}, true) // x, y
	p.add(1, []int32{4, 4}, []int32{4}, true) // not training
	r := raw{pairs: p, items: []string{"10", "9", "7", "8", "5"}}
	token, vocab := r.vocabulary([]int32{0, 1})
	if d := cmp.Diff([]int32{7, 6, 4, 5, OOV}, token); d != "" || vocab != 8 {
		t.Errorf("vocabulary of %d: %s", vocab, d)
	}
	r.items = []string{"a10", "a9", "x", "y", "z"} // words: byte order
	if token, _ = r.vocabulary([]int32{0, 1}); !slices.Equal(token, []int32{5, 6, 4, 7, OOV}) {
		t.Errorf("tokens of words are %v", token)
	}
}

// TestUnknown: pairs with an item that no training pair holds stay as OOV, or go.
func TestUnknown(t *testing.T) {
	var b strings.Builder
	for u := range 10 { // every user has an item that no other has
		for i, item := range []string{"a", "b", fmt.Sprint("own", u), "d"} {
			fmt.Fprintf(&b, "%d,%s,%d,%d\n", u, item, 10*i+10, 10*i+11)
		}
	}
	l, err := ReadZhihu(t.Context(), writeFile(t, "inter_impression.csv", b.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, unknown := range []string{UnknownOOV, UnknownDrop} {
		s, err := Build(l, Options{T: 1, L: 1, Unknown: unknown})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.valid(); err != nil {
			t.Fatal(err)
		}
		trained, tested := len(distinct(s.Train.Users)), len(distinct(s.Test.Users))
		if s.Vocab != 4+3+trained {
			t.Errorf("vocabulary of %d, %d users train", s.Vocab, trained)
		}
		each := map[string]int{UnknownOOV: 3, UnknownDrop: 1}[unknown] // a>b, b>own, own>d
		if s.Train.Len() != 3*trained || s.Valid.Len() != each*(10-trained-tested) || s.Test.Len() != each*tested {
			t.Errorf("%s: %d, %d and %d pairs of %d users that train and %d that test", unknown, s.Train.Len(), s.Valid.Len(), s.Test.Len(), trained, tested)
		}
		expect(t, s, dataset.Rung{Name: "test", Users: tested, Rows: 3 * tested}, dataset.Rung{Name: "test, complete", Users: tested, Rows: tested})
	}
}

func TestReleasedSplit(t *testing.T) {
	if a, b, c := borders(213172); a != 170537 || b-a != 21317 || c-b != 21317 {
		t.Errorf("Zhihu is cut at %d, %d, %d", a, b, c)
	}
	if a, b, c := borders(291595); a != 233276 || b-a != 29159 || c-b != 29159 {
		t.Errorf("MIND is cut at %d, %d, %d", a, b, c)
	}
	l := simulate(5)
	s, err := Build(l, Options{Split: SplitReleased})
	if err != nil {
		t.Fatal(err)
	}
	pairs, _ := s.Ladder.Get("pairs")
	if a, b, c := borders(pairs.Rows); s.Train.Len() != a || s.Valid.Len() != b-a || s.Test.Len() != c-b {
		t.Errorf("%d pairs fall into %d, %d, %d", pairs.Rows, s.Train.Len(), s.Valid.Len(), s.Test.Len())
	}
	if users := slices.Concat(s.Train.Users, s.Valid.Users, s.Test.Users); !slices.IsSorted(users) {
		t.Error("pairs are not in user order")
	}
}

func TestBuildErrors(t *testing.T) {
	for _, c := range []struct {
		name, text string
		o          Options
		want       string
	}{
		{"catalogue", zhihuLog("1", "2", "3"), Options{T: 10, L: 2}, "the catalogue has 9 items, fewer than a slate of 10"},
		{"few clicks", zhihuLog("1", "2", "3"), Options{T: 2, L: 4}, "no pair of 4 clicks and 2 items shown after them"},
		{"short logs", zhihuLog("1", "2", "3"), Options{T: 9, L: 1}, "no pair of 1 clicks and 9 items shown after them"},
		{"two users", zhihuLog("1", "2"), Options{T: 2, L: 2}, "2 users have pairs, three parts need at least 3"},
		{"few pairs", zhihuLog("1", "2"), Options{T: 2, L: 2, Split: SplitReleased}, "4 pairs are too few for a released split"},
		{"choice", zhihuLog("1"), Options{Early: "never"}, `field "early": unknown choice "never"`},
	} {
		l, err := ReadZhihu(t.Context(), writeFile(t, "inter_impression.csv", c.text))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Build(l, c.o); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "inter_impression.csv") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var b strings.Builder
	for range 5000 {
		b.WriteString("1,a,10,0\n")
	}
	if _, err := ReadZhihu(ctx, writeFile(t, "inter_impression.csv", b.String())); err != context.Canceled {
		t.Errorf("a cancelled read: %v", err)
	}
}
