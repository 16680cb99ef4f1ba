package features

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

	"pgregory.net/rapid"

	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/rng"
	"privrec/internal/run"
)

// sums are statistics of which a test can be sure: the counts themselves.
func sums() *Statistics {
	return &Statistics{Names: []string{"ones", "twos", "threes"}, Levels: 3, Of: func(counts []int, row []float64) error {
		for i := range row {
			row[i] = float64(counts[i+1])
		}
		return nil
	}}
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// readAll opens tables and returns all records as text, and the reader's error.
func readAll(t testing.TB, src Source, spilled *int) (list []string, err error) {
	t.Helper()
	r, err := Open(context.Background(), src)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	dir := t.TempDir()
	r.Spill(func() (*os.File, error) {
		*spilled++
		return os.CreateTemp(dir, "rows")
	})
	for {
		b := perturb.NewBlock[float64](r.Length(), 0, 1)
		ok, err := r.Read(b)
		if err != nil {
			return nil, err
		}
		if !ok {
			return list, nil
		}
		list = append(list, fmt.Sprintf("%s %v", b.ID(0, 0), b.Cells(0)))
	}
}

// Both tables, in any order of their rows, against a plain account: users by id, counts of their
// ratings, then the cells of the declared columns.
func TestReaderAgainstPlainDefinition(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		users := rapid.IntRange(1, 30).Draw(rt, "users")
		s := rng.Seed(rapid.Uint64().Draw(rt, "seed")).Stream("rows")
		var rows, ratings, want []string
		for u := range users {
			age, g := s.IntN(101), s.IntN(3)
			rows = append(rows, fmt.Sprintf("%d\t%s\t%d\n", u, []string{"a", "b", "c"}[g], age))
			counts := [3]float64{}
			for range 1 + s.IntN(4) {
				k := s.IntN(3)
				counts[k]++
				ratings = append(ratings, fmt.Sprintf("%d\t%d\n", u, k+1))
			}
			cells := slices.Concat(counts[:], []float64{float64(age)/50 - 1}, make([]float64, 3), make([]float64, 3))
			cells[4+g] = 1
			switch {
			case age < 35:
				cells[7] = 1
			case age <= 45:
				cells[8] = 1
			default:
				cells[9] = 1
			}
			want = append(want, fmt.Sprintf("%d %v", u, cells))
		}
		s.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		s.Shuffle(len(ratings), func(i, j int) { ratings[i], ratings[j] = ratings[j], ratings[i] })
		number, err := Number("age=0..100")
		category, err2 := Category("g=a,b,c")
		if err = errors.Join(err, err2); err != nil {
			rt.Fatal(err)
		}
		src := Source{
			Attributes: write(t, filepath.Join(dir, "u.tsv"), "user_id\tg\tage\n"+strings.Join(rows, "")), AttributesForm: format.TSV,
			Ratings: write(t, filepath.Join(dir, "r.tsv"), "user_id\trating\n"+strings.Join(ratings, "")), RatingsForm: format.TSV,
			Columns: []Column{number, category}, Statistics: sums(), OutForm: format.TSV,
		}
		band := Column{Name: "age", Borders: []float64{35, 45}, Levels: []string{"<35", "35-45", ">45"}}
		if _, err := Open(context.Background(), Source{Columns: []Column{number, band}}); err == nil {
			rt.Fatal("a column declared twice is accepted")
		}
		spilled := 0
		first, err := readAll(t, src, &spilled)
		if err != nil {
			rt.Fatal(err)
		}
		src.Columns = []Column{band}
		second, err := readAll(t, src, &spilled)
		if err != nil {
			rt.Fatal(err)
		}
		for u := range want {
			cut := strings.LastIndex(want[u], " ")
			for range 2 {
				cut = strings.LastIndex(want[u][:cut], " ")
			}
			grouped := strings.Join(strings.Fields(want[u])[:4], " ") + want[u][cut:]
			if first[u] != want[u][:cut]+"]" || second[u] != grouped {
				rt.Fatalf("user %d: %s and %s, want %s", u, first[u], second[u], want[u])
			}
		}
		if len(first) != users || len(second) != users || spilled != 0 {
			rt.Fatalf("%d and %d users of %d, %d files", len(first), len(second), users, spilled)
		}
	})
}

// More rows than fit memory are sorted on files.
func TestReaderBeyondMemory(t *testing.T) {
	const users = 60_000
	var rows strings.Builder
	rows.WriteString("user_id\tx\n")
	for u := range users {
		fmt.Fprintf(&rows, "%d\t%d\n", (u*7919)%users, u%5)
	}
	src := Source{Attributes: write(t, filepath.Join(t.TempDir(), "u.tsv"), rows.String()), AttributesForm: format.TSV, OutForm: format.TSV,
		Columns: []Column{{Name: "x", Levels: []string{"0", "1", "2", "3", "4"}}}}
	spilled := 0
	got, err := readAll(t, src, &spilled)
	if err != nil || len(got) != users || spilled == 0 {
		t.Fatalf("%d users, %d files (%v)", len(got), spilled, err)
	}
	for u, line := range got {
		if id, _, _ := strings.Cut(line, " "); id != fmt.Sprint(u) {
			t.Fatalf("record %d is %s", u, line)
		}
	}
}

// Declarations that cannot be read are refused by what is wrong with them.
func TestDeclarations(t *testing.T) {
	for _, c := range []struct {
		read func(string) (Column, error)
		text string
		want string
	}{
		{Number, "age", "is not NAME=LOW..HIGH"}, {Number, "=0..1", "is not NAME=LOW..HIGH"}, {Number, "age=0-9", "is not NAME=LOW..HIGH"},
		{Number, "age=a..9", "has no number before the dots"}, {Number, "age=0..b", "has no number after the dots"},
		{Number, "age=9..0", "has no finite range"}, {Number, "age=1..1", "has no finite range"}, {Number, "age=0..inf", "has no finite range"}, {Number, "age=nan..1", "has no finite range"},
		{Category, "g", "is not NAME=LEVEL"}, {Category, "=a,b", "is not NAME=LEVEL"}, {Category, "g=a", "has one level"}, {Category, "g=a,,b", "has an empty level"}, {Category, "g=a,b,a", `has level "a" twice`},
		{Bands, "age", "is not NAME=BORDER"}, {Bands, "age=x,2", `"x" is not a number`}, {Bands, "age=2", "at least two borders"}, {Bands, "age=3,2", "must be finite and ascend"},
	} {
		_, err := c.read(c.text)
		var usage *run.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
	c, err := Number("age=-5..15")
	if err != nil || c.scale(-5) != -1 || c.scale(15) != 1 || c.scale(5) != 0 || math.Abs(c.scale(10)-0.5) > 1e-15 {
		t.Errorf("%+v (%v)", c, err)
	}
	if b, err := Bands("age=35,45"); err != nil || !slices.Equal(b.Headings(), []string{"age=<35", "age=35-45", "age=>45"}) {
		t.Errorf("%+v (%v)", b, err)
	}
}

// A name or an id that the output cannot hold is refused before any noise.
func TestNamesOfTheOutput(t *testing.T) {
	dir := t.TempDir()
	src := Source{Attributes: write(t, filepath.Join(dir, "u.csv"), "user_id,x\n\"a\tb\",1\n"), AttributesForm: format.CSV, OutForm: format.CSV,
		Columns: []Column{{Name: "x", Low: 0, High: 1}}}
	spilled := 0
	if got, err := readAll(t, src, &spilled); err != nil || len(got) != 1 {
		t.Errorf("%v (%v)", got, err)
	}
	src.OutForm = format.TSV
	if _, err := readAll(t, src, &spilled); err == nil || !strings.Contains(err.Error(), `u.csv:2: field "user_id": id "a\tb" has a separator`) {
		t.Errorf("an id with a tab: %v", err)
	}
	src.Columns[0].Name = "x\ty"
	if _, err := Open(context.Background(), src); err == nil || !strings.Contains(err.Error(), `the name "x\ty" cannot stand in the header`) {
		t.Errorf("a name with a tab: %v", err)
	}
}
