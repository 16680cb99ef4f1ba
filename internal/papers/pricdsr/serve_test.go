package pricdsr

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/run"
)

// A finished run ranks again to the same scores and lists items that its users do not
// have; what it cannot answer is refused.
func TestServe(t *testing.T) {
	for _, sets := range [][]string{{"auxiliary.epsilon=6"}, {"auxiliary.epsilon=6", "train.refit=false"}} {
		dir := t.TempDir()
		start(t, "pricdsr", dir, sets...)
		s, err := experiment.Ask(context.Background(), Tasks(), dir)
		if err != nil {
			t.Fatal(err)
		}
		text := func(r run.Result, err error) string {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := r.Text(&b); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		if got := text(s.Evaluate(context.Background())); !strings.Contains(got, "equal to what the run reported") || !strings.Contains(got, "popularity") {
			t.Errorf("%v: %s", sets, got)
		}
		got := text(s.Recommend(context.Background(), experiment.Question{Users: []string{"3", "0"}, K: 4}))
		if n := strings.Count(got, "\n3 ") + strings.Count(got, "\n0 "); n != 8 {
			t.Errorf("%d items listed:\n%s", n, got)
		}
		for _, o := range []experiment.Question{{Users: []string{"nobody"}, K: 1}, {Users: []string{"3"}, K: 0}, {Users: []string{"3"}, K: 1 << 20}, {Users: []string{"3"}, K: 1, Release: "noisy"}} {
			if _, err := s.Recommend(context.Background(), o); err == nil {
				t.Errorf("%+v was answered", o)
			}
		}
		s.Close()
		if err := os.Truncate(filepath.Join(dir, experiment.ModelFile), 100); err != nil {
			t.Fatal(err)
		}
		if _, err := experiment.Ask(context.Background(), Tasks(), dir); err == nil {
			t.Error("a file cut short was read")
		}
	}
}

// A forecast counts the steps of both trainings and writes nothing.
func TestForecast(t *testing.T) {
	for _, c := range []struct {
		name string
		sets []string
	}{{"pricdsr", []string{"auxiliary.epsilon=6"}}, {"dasl-single", nil}} {
		dir := filepath.Join(t.TempDir(), "run")
		for _, task := range Tasks() {
			if task.Name != c.name {
				continue
			}
			f, err := task.Forecast(context.Background(), run.Options{Sets: slices.Concat([]string{"run.out=" + dir}, tiny, c.sets)})
			if err != nil {
				t.Fatal(err)
			}
			if f.Seconds <= 0 || f.Fastest > f.Seconds || f.Steps%4 != 0 || f.Steps == 0 {
				t.Errorf("%+v", f)
			}
		}
		if _, err := os.Stat(dir); err == nil {
			t.Error("a forecast wrote a directory")
		}
	}
}
