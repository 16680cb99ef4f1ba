package grid

import (
	"testing"
)

func TestSelect(t *testing.T) {
	grids := []*Grid{
		{Paper: "a", Table: 1},
		{Paper: "a", Table: 2},
		{Paper: "b", Table: 2},
		{Paper: "a", Figure: 2},
		{Paper: "b", Figure: 3},
	}
	for _, c := range []struct {
		papers        []string
		table, figure int
		want          int // grids; 0: an error
	}{
		{nil, 0, 0, 5}, {[]string{"a"}, 0, 0, 3}, {[]string{"a"}, 2, 0, 1}, {nil, 2, 0, 2},
		{[]string{"b", "a"}, 0, 0, 5}, {[]string{"b"}, 1, 0, 0}, {[]string{"c"}, 0, 0, 0},
		{nil, 0, 2, 1}, {[]string{"b"}, 0, 3, 1}, {[]string{"b"}, 0, 2, 0}, {[]string{"c"}, 0, 2, 0}, {nil, 0, 4, 0},
	} {
		got, err := Select(grids, c.papers, c.table, c.figure)
		if len(got) != c.want || (err == nil) == (c.want == 0) {
			t.Errorf("%v %d %d: %d grids, %v", c.papers, c.table, c.figure, len(got), err)
		}
		for _, g := range got {
			if c.table+c.figure > 0 && (g.Figure != 0) != (c.figure != 0) {
				t.Errorf("%v %d %d: got table %d, figure %d of %s", c.papers, c.table, c.figure, g.Table, g.Figure, g.Paper)
			}
		}
	}
}
