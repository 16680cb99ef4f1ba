package slate

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/registry"
)

// TestRepeatedRows: rows equal in all four columns are counted; an own table uses them
// once, ZhihuRec as often as they stand there.
func TestRepeatedRows(t *testing.T) {
	rows := zhihuLog("1", "2", "3")
	twice := rows + rows
	generic, err := ReadGeneric(t.Context(), writeFile(t, "impressions.csv", "user,item,shown_at,clicked_at\n"+twice), format.CSV, registry.Columns{})
	if err != nil {
		t.Fatal(err)
	}
	zhihu, err := ReadZhihu(t.Context(), writeFile(t, "inter_impression.csv", twice))
	if err != nil {
		t.Fatal(err)
	}
	once, err := ReadZhihu(t.Context(), writeFile(t, "inter_impression.csv", rows))
	if err != nil {
		t.Fatal(err)
	}
	o := Options{T: 2, L: 2}
	want, err := Build(once, o)
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := want.Ladder.Get("repeated rows"); ok || len(want.Notes) > 0 {
		t.Errorf("no row repeats: %v, %q", want.Ladder, want.Notes)
	}
	for _, c := range []struct {
		l      *Log
		clicks int
		same   bool
		note   string
	}{
		{generic, 9, true, "30 rows repeat an earlier one in user, item and both times: they are left out"},
		{zhihu, 18, false, "30 rows repeat an earlier one in user, item and both times: they stay, as in the paper's counts"},
	} {
		s, err := Build(c.l, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Equal(words(s), words(want)); got != c.same {
			t.Errorf("%s: the pairs are those of single rows: %v", c.l.Name, got)
		}
		expect(t, s, dataset.Rung{Name: "raw", Users: 3, Items: 9, Rows: 60}, dataset.Rung{Name: "repeated rows", Users: 3, Items: 9, Rows: 30},
			dataset.Rung{Name: "clicked", Users: 3, Items: 3, Rows: c.clicks})
		if !slices.Contains(s.Notes, c.note) {
			t.Errorf("notes %q lack %q", s.Notes, c.note)
		}
	}
	late := "1,a,10,5\n1,b,20,0\n" // lines are of the file, with repeats left out too
	l, err := ReadGeneric(t.Context(), writeFile(t, "impressions.csv", "user,item,shown_at,clicked_at\n1,b,20,0\n1,b,20,0\n"+late), format.CSV, registry.Columns{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Build(l, Options{T: 1, L: 1}); err == nil || !strings.Contains(err.Error(), "impressions.csv:4: ") {
		t.Errorf("the line of a row after repeats: %v", err)
	}
}

// TestRepeatedMIND: a log of MIND is used once; files that are one another are refused.
func TestRepeatedMIND(t *testing.T) {
	dir := t.TempDir()
	text := mindLogs("U1", "U2", "U3")
	lines := strings.SplitAfter(text, "\n")
	put(t, dir, "mind-small/train/behaviors.tsv", text)
	put(t, dir, "mind-small/dev/behaviors.tsv.gz", text)
	_, err := Load(t.Context(), "mind-small", dataset.View{}, Options{Dir: dir, T: 3, L: 2})
	if err == nil || !strings.Contains(err.Error(), "dev/behaviors.tsv.gz: all 6 logs are also in "+filepath.Join(dir, "mind-small/train/behaviors.tsv")) {
		t.Errorf("train as dev: %v", err)
	}
	one, err := ReadMIND(t.Context(), writeFile(t, "behaviors.tsv", text))
	if err != nil {
		t.Fatal(err)
	}
	two, err := ReadMIND(t.Context(), writeFile(t, "behaviors.tsv", text+lines[0]+lines[4]))
	if err != nil {
		t.Fatal(err)
	}
	o := Options{T: 3, L: 2}
	want, err := BuildMIND(one, o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := BuildMIND(two, o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(words(s), words(want)) {
		t.Errorf("pairs %q, want %q", words(s), words(want))
	}
	expect(t, s, dataset.Rung{Name: "raw", Users: 3, Items: 9, Rows: 20}, dataset.Rung{Name: "repeated logs", Users: 2, Items: 5, Rows: 5}, dataset.Rung{Name: "clicked", Users: 3, Items: 2, Rows: 6})
	if want := "2 logs repeat an earlier one in number, user, time and items: they are left out"; !slices.Contains(s.Notes, want) {
		t.Errorf("notes %q lack %q", s.Notes, want)
	}
	if slices.ContainsFunc(want.Notes, func(n string) bool { return strings.Contains(n, "repeat") }) {
		t.Errorf("no log repeats: %q", want.Notes)
	}
	// Both files number their logs from 1: the number alone is no repeat.
	other := strings.ReplaceAll(text, "U", "V")
	if m, err := ReadMIND(t.Context(), writeFile(t, "train.tsv", text), writeFile(t, "dev.tsv", other)); err != nil || len(m.Logs) != 12 {
		t.Errorf("equal numbers: %v", err)
	}
}

// TestLadderTellsLosses: who has too few clicks, and which windows have too few items
// after them.
func TestLadderTellsLosses(t *testing.T) {
	text := zhihuLog("1", "2", "3") + "4,a,10,11\n4,b,20,21\n5,a,10,0\n"
	l, err := ReadZhihu(t.Context(), writeFile(t, "inter_impression.csv", text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Build(l, Options{T: 4, L: 2})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, s, dataset.Rung{Name: "users of 2 clicks", Users: 4, Rows: 11}, dataset.Rung{Name: "users below 2 clicks", Users: 1},
		dataset.Rung{Name: "windows of 2 clicks", Users: 4, Rows: 7}, dataset.Rung{Name: "windows without 4 items after them", Users: 4, Rows: 4},
		dataset.Rung{Name: "pairs", Users: 3, Rows: 3})
}
