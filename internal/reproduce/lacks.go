package reproduce

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/dataset/registry"
	"privrec/internal/dataset/slate"
)

// absent says where the files of a data set come from, and under which terms, if they are
// not in the folder of data sets. It is empty where they are there. Only the names of files
// are looked at.
func absent(name string) string {
	for _, s := range slate.Sources() {
		if s.Name == name {
			if s.Absent("") {
				return "from " + s.From
			}
			return ""
		}
	}
	sets, err := registry.Absent(name, "")
	if err != nil {
		return err.Error() // a grid's names are checked when it is read
	}
	var from []string
	for _, s := range sets {
		line := fmt.Sprintf("from %s (%s)", s.Address, s.Licence)
		if s.Address == "" {
			line = s.Name
		}
		from = appendNew(from, line)
	}
	return strings.Join(from, "; ")
}

// sizeOf returns the size in which a row is made. With o.StandIns that is smoke where the
// row's data are missing: then its runs are those of the smoke table.
func (g *Grid) sizeOf(r *Row, o Options) string {
	p, _, err := g.size(o.Size, r.Setting)
	if o.StandIns && err == nil && !p.StandIn && absent(r.Data) != "" {
		return "smoke"
	}
	return o.Size
}

// replaced says in a note for each data set that generated rows stand in its place.
func (g *Grid) replaced(o Options, rows []*summary) (out []string) {
	for i := range g.Data {
		d := &g.Data[i]
		if j := slices.IndexFunc(rows, func(s *summary) bool { return s.entry.data == d && s.entry.size != o.Size }); j >= 0 {
			out = append(out, fmt.Sprintf("%s: the files of %s are missing; they come %s. Generated rows (%s) under the settings of size %s stand in their place: level D, which says nothing about the paper",
				d.Printed, d.Name, absent(d.Name), rows[j].entry.name, rows[j].entry.size))
		}
	}
	return out
}
