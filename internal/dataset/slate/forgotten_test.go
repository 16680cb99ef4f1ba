package slate

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

// Slates without forgotten users are those of a table without their rows; pairs that come ready made refuse.
func TestForgotten(t *testing.T) {
	load := func(v dataset.View, without string) *Set {
		t.Helper()
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "own-shop"), 0o755); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		b.WriteString("user\titem\tshown_at\tclicked_at\n")
		for u := range 20 {
			user := fmt.Sprintf("u%d", u)
			for n := range 60 {
				click := 0
				if at := 100 + n; n%3 == 0 {
					click = at + 1
				}
				if user != without {
					fmt.Fprintf(&b, "%s\t%d\t%d\t%d\n", user, (7*u+n*n)%50, 100+n, click)
				}
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "own-shop", ownTSV), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := Load(t.Context(), "own-shop", v, Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, user := range []string{"u0", "u7", "u19"} {
		var found []string
		v := dataset.View{Seed: 2, Forgotten: dataset.Forgotten(nil).With(user),
			Found: func(ids []string) { found = append(found, ids...) }}
		got, want := load(v, ""), load(dataset.View{Seed: 2}, user)
		if got.Rows() != want.Rows() || fmt.Sprint(got.Ladder) != fmt.Sprint(want.Ladder) {
			t.Errorf("without %s: other pairs than those of a table without the user\n%v\n%v", user, got.Ladder,
				want.Ladder)
		}
		if fmt.Sprint(found) != "["+user+"]" {
			t.Errorf("without %s: found %v", user, found)
		}
	}
	v := dataset.View{Forgotten: dataset.Forgotten(nil).With("u1")}
	if _, err := Load(t.Context(), "exposure-mind", v, Options{}); err == nil ||
		!strings.Contains(err.Error(), "users cannot be forgotten") {
		t.Errorf("error %v", err)
	}
}
