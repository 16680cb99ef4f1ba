// Package progresstest keeps the reports of work, so that tests count reports instead of
// waiting for them.
package progresstest

import (
	"fmt"
	"strings"
	"testing"
)

// Stretch holds the reports of one stretch.
type Stretch struct {
	What        string
	Total, Done int
	Adds        int // calls of Add
	Ended       bool
}

// Recorder is a progress.Reporter that keeps all stretches.
type Recorder struct{ Stretches []Stretch }

// Begin implements progress.Reporter.
func (r *Recorder) Begin(what string, total int) {
	r.Stretches = append(r.Stretches, Stretch{What: what, Total: total})
}

// Add implements progress.Reporter.
func (r *Recorder) Add(n int) {
	s := &r.Stretches[len(r.Stretches)-1]
	s.Done, s.Adds = s.Done+n, s.Adds+1
}

// End implements progress.Reporter.
func (r *Recorder) End(string) { r.Stretches[len(r.Stretches)-1].Ended = true }

// Whole fails the test unless a stretch whose name begins with what was reported in at least
// least calls, its parts add up to its total, and it ended.
func (r *Recorder) Whole(t testing.TB, what string, least int) {
	t.Helper()
	var names []string
	for _, s := range r.Stretches {
		if strings.HasPrefix(s.What, what) {
			if s.Done != s.Total || s.Adds < least || !s.Ended {
				t.Errorf("%s: %d of %d parts in %d calls, ended %v; want at least %d calls", s.What, s.Done, s.Total,
					s.Adds, s.Ended, least)
			}
			return
		}
		names = append(names, fmt.Sprintf("%q", s.What))
	}
	t.Errorf("no stretch %q, only %s", what, strings.Join(names, ", "))
}
