package pricdsr

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"privrec/internal/privacy/mechanism/sequence"
)

// What the report says of an interaction that is removed is what rows show: its own
// cell differs, and one for each interaction before it.
func TestNoteOfAnInteractionRemoved(t *testing.T) {
	const length, n = 6, 4
	row := func(items []int) (cells [length]int) {
		text := "ann"
		for _, i := range items {
			text += fmt.Sprint(" ", i)
		}
		o := options()
		o.Epsilon, o.Limits, o.Length, o.KeepOrder = math.Inf(1), true, length, true
		out, _ := perturbed(t, o, "in.txt", text+"\n")
		for line := range strings.Lines(strings.TrimPrefix(out, "user_id\titem_id\tposition\n")) {
			var item, at int
			if _, err := fmt.Sscanf(line, "ann\t%d\t%d", &item, &at); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			cells[at-1] = item
		}
		return cells
	}
	all := []int{5, 3, 9, 1}
	for before := range n {
		x, y, differ := row(all), row(slices.Delete(slices.Clone(all), before, before+1)), 0
		for c := range x {
			if x[c] != y[c] {
				differ++
			}
		}
		if differ != before+1 {
			t.Errorf("%d before it: %d cells differ", before, differ)
		}
	}
	r := Report{Mechanism: sequence.Mechanism{Variant: sequence.SDPFixed, Epsilon: 2, Items: 60, Length: length}}
	if notes := strings.Join(r.guarantee().Notes, " "); !strings.Contains(notes, "its own cell and one for each interaction before it") {
		t.Errorf("notes: %s", notes)
	}
	if notes := strings.Join(r.notes(), "\n"); !strings.Contains(notes, "second release of these rows") {
		t.Errorf("notes: %s", notes)
	}
}
