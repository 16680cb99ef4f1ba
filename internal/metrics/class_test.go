package metrics

import (
	"strings"
	"testing"
)

// Every measure of classes is read back by its name, also of an attribute of several words.
func TestParseClass(t *testing.T) {
	for _, s := range ClassScores() {
		for _, of := range []string{"gender", "home town", "F1"} {
			m := ClassMetric{s, of}
			got, err := ParseClass(m.String())
			if err != nil || got != m || !strings.HasPrefix(m.Definition(), m.String()+": ") {
				t.Errorf("%v: %v, %v, %q", m, got, err, m.Definition())
			}
		}
	}
	for _, bad := range []string{"", "micro F1", "micro F1 ", "Micro F1 gender", "luck gender", "Recall@20"} {
		if got, err := ParseClass(bad); err == nil || !strings.Contains(err.Error(), "AUC, balanced accuracy, macro F1") {
			t.Errorf("%q: %v, %v", bad, got, err)
		}
	}
}
