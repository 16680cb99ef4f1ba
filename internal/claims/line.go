package claims

import (
	"slices"
)

// Grid is the results of a grid, or what it is about where its lines have no results.
type Grid struct {
	Name    string
	Metrics []Name
	Data    []Name
	Lines   []*Line // those of one data set in any order
}

// Name is a name with that in the paper.
type Name struct{ Name, Printed string }

// Line is the results of one method on one data set over an axis, or a single one.
type Line struct {
	Name, Data string
	Axis       string // empty: a single result
	Points     []*Point
}

// Point is a result.
type Point struct {
	Label   string  // of the row
	Value   float64 // on the axis
	Level   string  // of evidence; empty without results
	Lacks   string  // why nothing is decided by it: data missing, not run, cut short, a stand-in. Empty: it is
	Seeds   []uint64
	Values  map[string][]float64            // by metric, seed by seed, in percent
	Users   map[string]Users                // by metric, where the runs keep scores
	Floors  map[string]map[string][]float64 // by name and metric, as Values
	Account []Epsilon
	Runs    []string // their directories' names
}

// Users is how a metric comes about user by user: a user has a sum of scores and their number,
// over all seeds, as shares.
type Users struct {
	IDs      []string // sorted
	Num, Den []float64
}

// Epsilon is the account of one unit. NaN: nothing is claimed, or there is no delta or no noise.
type Epsilon struct {
	Unit, Neighbouring               string
	Delta, Claimed, Accounted, Noise float64
	Open                             []string // what no noise covers
}

// at returns the point at a value, or nil.
func (l *Line) at(v float64) *Point {
	for _, m := range l.Points {
		if m.Value == v {
			return m
		}
	}
	return nil
}

// line returns the line of a name on a data set, or nil. Of several it is the one over an axis,
// and the first without the name of one.
func (g *Grid) line(name, data, axis string) *Line {
	i := slices.IndexFunc(g.Lines, func(l *Line) bool {
		return l.Name == name && l.Data == data && (axis == "" || l.Axis == "" || l.Axis == axis)
	})
	if i < 0 {
		return nil
	}
	return g.Lines[i]
}

// floor returns the highest floor of every point of a line, as a line. Points without results
// have a floor without results.
func floor(l *Line, metric string) *Line {
	out := &Line{Name: "the highest floor of " + l.Name, Data: l.Data, Axis: l.Axis}
	for _, p := range l.Points {
		f := &Point{Label: out.Name, Value: p.Value, Level: p.Level, Lacks: p.Lacks, Seeds: p.Seeds,
			Values: map[string][]float64{}, Runs: p.Runs}
		var names []string
		for name := range p.Floors {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if own := p.Floors[name][metric]; len(own) > 0 &&
				(f.Values[metric] == nil || mean(own) > mean(f.Values[metric])) {
				f.Values[metric], f.Label = own, "floor "+name
			}
		}
		out.Points = append(out.Points, f)
	}
	return out
}

func mean(x []float64) (sum float64) {
	for _, v := range x {
		sum += v / float64(len(x))
	}
	return sum
}

func find(grids []*Grid, name string) *Grid {
	i := slices.IndexFunc(grids, func(g *Grid) bool { return g.Name == name })
	if i < 0 {
		return nil
	}
	return grids[i]
}

func names(grids []*Grid) (out []string) {
	for _, g := range grids {
		out = append(out, g.Name)
	}
	return out
}

// printed returns the paper's name, or the name.
func printed(of []Name, name string) string {
	for _, n := range of {
		if n.Name == name && n.Printed != "" {
			return n.Printed
		}
	}
	return name
}
