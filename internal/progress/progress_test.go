package progress

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// said keeps what was reported.
type said []string

func (s *said) Begin(what string, total int) {
	*s = append(*s, fmt.Sprintf("begin %s %d", what, total))
}
func (s *said) Add(n int)          { *s = append(*s, fmt.Sprintf("add %d", n)) }
func (s *said) End(summary string) { *s = append(*s, "end"+summary) }

// Stretches of a context are shown one after the other, the outer one of nested ones alone,
// and shares as thousandths that never go back.
func TestStretches(t *testing.T) {
	var r said
	ctx := With(t.Context(), &r)
	a := Begin(ctx, "a", 3)
	a.Add(0)
	a.Add(2)
	if inner := Begin(ctx, "inner", 9); inner != nil {
		t.Error("a stretch within another is shown")
	} else {
		inner.Add(1)
		inner.Share(1)
		inner.End()
	}
	a.Add(1)
	a.End()
	a.End()
	b := BeginShares(ctx, "b")
	for _, x := range []float64{0, 0.0005, 0.25, 0.2, 0.9999, 1, 1.5} {
		b.Share(x)
	}
	b.End()
	want := said{"begin a 3", "add 2", "add 1", "end", "begin b 1000", "add 250", "add 749", "add 1", "end"}
	if !slices.Equal(r, want) {
		t.Errorf("%q, want %q", r, want)
	}
}

// Without a reporter nothing is shown and nothing fails.
func TestNoReporter(t *testing.T) {
	for _, ctx := range []context.Context{t.Context(), With(t.Context(), nil)} {
		s := Begin(ctx, "a", 1)
		s.Add(1)
		s.Share(1)
		s.End()
		if s != nil {
			t.Error("a stretch without a reporter")
		}
	}
}
