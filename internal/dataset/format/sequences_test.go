package format

import (
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
