package baseline

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/experiment"
	"privrec/internal/protocol/nextitem"
	"privrec/internal/run"
)

// A finished run ranks again to the same scores, says what its users had, and lists items for them.
func TestSessionServe(t *testing.T) {
	for _, task := range Sessions(nextitem.Table{}) {
		name, dir := task.Name, filepath.Join(t.TempDir(), "run")
		startSession(t, task, dir, nil)
		s, err := experiment.Ask(t.Context(), Sessions(nextitem.Table{}), dir)
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
		if got := text(s.Evaluate(t.Context())); !strings.Contains(got, "equal to what the run reported") {
			t.Errorf("%s: %s", name, got)
		}
		h, order, err := s.Histories(t.Context())
		if err != nil || order == "" || len(h) == 0 || slices.ContainsFunc(h, func(h experiment.History) bool { return len(h.Items) == 0 || h.Items[0] == "" }) {
			t.Fatalf("%s: %d histories, %q, %v", name, len(h), order, err)
		}
		got := text(s.Recommend(t.Context(), experiment.Question{Users: []string{h[1].User, h[0].User}, K: 4}))
		if n := strings.Count(got, "\n"+h[1].User+" ") + strings.Count(got, "\n"+h[0].User+" "); n != 8 {
			t.Errorf("%s: %d items listed:\n%s", name, n, got)
		}
		for _, o := range []experiment.Question{{Users: []string{"nobody"}, K: 1}, {Users: []string{h[0].User}}, {Users: []string{h[0].User}, K: 1 << 20}, {Users: []string{h[0].User}, K: 1, Release: "loud"}} {
			if _, err := s.Recommend(t.Context(), o); err == nil {
				t.Errorf("%s: %+v was answered", name, o)
			}
		}
		s.Close()
	}
}
