package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Every model is fitted and ranked, and a choice of cases fits what it ranks.
func TestClosed(t *testing.T) {
	o := Options{Sizes: small(), Time: time.Nanosecond}
	for only, want := range map[string]string{
		"":      "ials_fit ials_rank itemknn_fit itemknn_rank rp3beta_fit rp3beta_rank ease_fit ease_rank",
		"_rank": "ials_rank itemknn_rank rp3beta_rank ease_rank",
	} {
		o.Only = only
		got, err := Closed(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, r := range got {
			names = append(names, r.Name)
			if r.Shape != "users=60 items=80 edges=300" || !(r.MinS > 0) || r.MedianS < r.MinS {
				t.Errorf("%+v", r)
			}
		}
		if s := strings.Join(names, " "); s != want {
			t.Errorf("%q: %s, want %s", only, s, want)
		}
	}
}

// The lists are judged by the pairs of a file: items 0 and 1 go together, so a user of 0 is shown 1 first.
func TestClosedJudges(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	o := Options{Time: time.Nanosecond, Only: "itemknn_rank",
		Graph: write("train", "0\t0\n0\t1\n1\t0\n1\t1\n2\t0\n3\t2\n3\t3\n"), Held: write("held", "2\t1\n3\t4\n")}
	got, err := Closed(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	// user 2 has item 1 at the first place; user 3 sees items 0, 1 and 4, which is new, at the third
	if want := "users=4 items=5 edges=7 recall@20=1.000000 ndcg@20=0.750000"; len(got) != 1 || got[0].Shape != want {
		t.Errorf("%+v, want the shape %s", got, want)
	}
	for _, bad := range []Options{{Graph: o.Graph, Held: filepath.Join(dir, "none")},
		{Graph: write("empty", ""), Held: o.Held}, {Held: o.Held}} {
		if _, err := Closed(t.Context(), bad); err == nil {
			t.Errorf("%+v is no error", bad)
		}
	}
}
