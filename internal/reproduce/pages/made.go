package pages

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/reproduce"
	"privrec/internal/reproduce/grid"
)

// Made is a table or figure that was made, or looked at.
type Made struct {
	Grid *grid.Grid
	*reproduce.Outcome
}

// number names a table within its paper.
func (m *Made) number() string {
	switch g := m.Grid; {
	case g.Table != 0:
		return fmt.Sprintf("table %d", g.Table)
	case g.Figure != 0:
		return fmt.Sprintf("figure %d", g.Figure)
	default:
		return g.Name
	}
}

// title returns the heading of a table: its number in the paper and its title.
func (m *Made) title() string {
	if m.Grid.Table == 0 && m.Grid.Figure == 0 {
		return m.Document.Title
	}
	return strings.ToUpper(m.number()[:1]) + m.number()[1:] + ": " + m.Document.Title
}

// sorted returns the tables in the order of the paper: tables before figures, by number.
func sorted(list []Made) []Made {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b Made) int {
		rank := func(m Made) int {
			switch {
			case m.Grid.Table != 0:
				return m.Grid.Table
			case m.Grid.Figure != 0:
				return 1000 + m.Grid.Figure
			}
			return 2000
		}
		return rank(a) - rank(b)
	})
	return out
}
