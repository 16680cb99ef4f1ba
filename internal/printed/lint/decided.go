package lint

import (
	"fmt"
	"slices"
	"strings"

	"privrec/internal/printed"
)

// Decided counts the numbers of a paper's results that a rule can decide about, and those that it cannot, by reason.
type Decided struct {
	Rule      string      `json:"rule"`
	Numbers   int         `json:"numbers"` // that it can decide about
	Undecided []Undecided `json:"undecided,omitempty"`

	silent bool // nothing in the file asks for the rule
}

// Undecided counts numbers that a rule cannot decide about for one reason.
type Undecided struct {
	Why     string `json:"why"`
	Numbers int    `json:"numbers"`
}

// asked reports whether a file asks for what its rule needs, so that what it could not decide is worth a line.
func (d Decided) asked(f *printed.File) bool {
	if d.Rule == twinID {
		return true
	}
	for _, m := range f.Metrics {
		if len(m.Tested.Numbers) > 0 {
			return true
		}
	}
	return slices.ContainsFunc(f.Blocks, func(b printed.Block) bool { return len(b.Tested) > 0 })
}

// decided lists what rules with needs of their own can decide in a paper.
func decided(p *paper) []Decided {
	shares, pairs := Decided{Rule: grimID}, Decided{Rule: twinID}
	for _, t := range p.tables {
		for _, r := range t.rows {
			if r.improvement || t.Kind != printed.Results {
				continue
			}
			for _, v := range r.values {
				_, why := zeroOne(p, t, v)
				shares.count(why)
				if p.file.Twins[r.method] == "" {
					continue
				}
				switch {
				case ofAttack(v):
					pairs.count(attackerOwn)
				case p.twin(t, r) == nil:
					pairs.count(noTwin)
				default:
					pairs.count("")
				}
			}
		}
	}
	var out []Decided
	for _, d := range []Decided{shares, pairs} {
		if d.Numbers > 0 || len(d.Undecided) > 0 {
			d.silent = !d.asked(p.file)
			out = append(out, d)
		}
	}
	return out
}

// count adds a number, undecided for a reason or decided.
func (d *Decided) count(why string) {
	if why == "" {
		d.Numbers++
		return
	}
	for i := range d.Undecided {
		if d.Undecided[i].Why == why {
			d.Undecided[i].Numbers++
			return
		}
	}
	d.Undecided = append(d.Undecided, Undecided{why, 1})
}

// String says "grim decides 12 numbers; it cannot decide 4 (no mean of 0 and 1)".
func (d Decided) String() string {
	text := fmt.Sprintf("%s decides %s", d.Rule, plural(d.Numbers, "number"))
	var parts []string
	for _, u := range d.Undecided {
		parts = append(parts, fmt.Sprintf("%d (%s)", u.Numbers, u.Why))
	}
	if len(parts) > 0 {
		text += "; it cannot decide " + strings.Join(parts, ", ")
	}
	return text
}
