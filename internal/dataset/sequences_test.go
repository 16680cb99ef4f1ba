package dataset

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestReadSequences(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sequences.tsv")
	if err := os.WriteFile(path, []byte("user\titems\nb\tx z x\na\ty\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := ReadSequences(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for row, u := range l.Users {
		got = append(got, l.UserIDs[u]+l.ItemIDs[l.Items[row]])
	}
	if want := []string{"ay", "bx", "bz", "bx"}; !slices.Equal(got, want) || l.Times != nil || l.Values != nil {
		t.Errorf("rows %v, want %v", got, want)
	}
}

func TestReadSequencesRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "file is empty"},
		{"user\titems\n", "no interactions"},
		{"user\titem\na\tx\n", ":1: the header is not user and items"},
		{"user items\na x\n", ":1: the header is not user and items"},
		{"user\titems\na\tx\na\ty\n", `:3: field "user": user "a" has a second line`},
		{"user\titems\n\tx\n", `:2: field "user": empty`},
		{"user\titems\na\tx  y\n", `:2: field "items": empty item`},
		{"user\titems\na\tx \n", `:2: field "items": empty item`},
		{"user\titems\na\t\n", `:2: field "items": empty item`},
		{"user\titems\na\tx\ty\n", ":2: "},
	} {
		path := filepath.Join(t.TempDir(), "sequences.tsv")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadSequences(t.Context(), path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

func FuzzSequences(f *testing.F) {
	for _, s := range []string{"user\titems\nb\tx z x\na\ty\n", "user\titems\na\tx  y\n", "items\tuser\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, ok := tryInput(t, b, parseSequences)
		if !ok || bytes.HasPrefix(b, gzipMagic) || bytes.HasPrefix(b, zstdMagic) {
			return
		}
		if lines := bytes.Count(bytes.TrimSpace(b), []byte("\n")); len(l.UserIDs) > lines || l.Len() < len(l.UserIDs) {
			t.Fatalf("%d users and %d rows of %d lines", len(l.UserIDs), l.Len(), lines)
		}
	})
}

// The counts of SASRec's recipes on the data themselves.
func TestRealSequences(t *testing.T) {
	dir := realData(t)
	for _, c := range []struct {
		name    string
		items   int // with a training row
		unknown int // test rows of other items
	}{{"seq-beauty", 12068, 138}, {"ml-1m", 3416, 0}} {
		s, err := Load(t.Context(), c.name, "sasrec", Options{Dir: dir, NoCache: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range s.Source.Checks {
			if !k.OK() {
				t.Error(c.name, k)
			}
		}
		test, _ := s.Ladder.Get(RungTest)
		known, _ := s.Ladder.Get(RungKnownTest)
		if s.Items != c.items || test.Rows-known.Rows != c.unknown || s.Source.Level != LevelB {
			t.Errorf("%s: %d items, %d of %d test rows unknown, level %v", c.name, s.Items, test.Rows-known.Rows, test.Rows, s.Source.Level)
		}
	}
}
