package exposure

import (
	"errors"
	"fmt"
	"io"
	"math"

	"privrec/internal/perturb"
	"privrec/internal/privacy"
	"privrec/internal/report"
	"privrec/internal/run"
)

// PerturbReport says what protecting a file guarantees, if anything, and what it did to
// the slates. The counts are of true data and outside of any guarantee: they stay with
// the input.
type PerturbReport struct {
	In, Digest string // file and its SHA-256
	Options    PerturbOptions
	Noise      privacy.Noise
	Ledger     privacy.Seal // of the ledger beside it
	Length     int          // T
	Items      int          // of the catalogue

	Slates   int64
	Count    int   // positions replaced in each; of RR the positions answered
	Replaced int64 // positions that hold another item afterwards
	Blind    int64 // slates whose reference has no vector

	Keep  float64 // of RR: probability that a position stays as it is
	Other float64 // of RR: probability of one particular other item
	Most  int64   // of RR: slates of one user, the most; 0: not known, see userTally

	CountsFrom string // where popularity is from
	WithVector int    // items of the catalogue that have one
	Users      int    // with past behaviour
	Foreign    int64  // vectors of items that are not in the catalogue
	Passed     int64  // rows of the history whose item has no vector

	ids  bool // slates have ids
	once bool // none of them is in the file twice
}

func newPerturbReport(p *filePerturber, mark privacy.Noise, digest string, ws []*slateWorker) *PerturbReport {
	r := &PerturbReport{In: p.o.In, Digest: digest, Options: *p.o, Noise: mark, Length: p.t, Items: p.cat.len(), Count: p.t, CountsFrom: p.cat.from, ids: p.in.long(), once: p.in.once.complete()}
	for _, w := range ws {
		r.Slates += w.slates
		r.Replaced += w.replaced
		r.Blind += w.blind
	}
	if p.near != nil {
		r.WithVector, r.Users, r.Foreign, r.Passed = p.near.have, len(p.near.users), p.near.unknown, p.near.oddities
	}
	if p.o.Replace == ReplaceRR {
		m := response(p.o.Purpose, p.o.Epsilon, int64(p.cat.len()))
		r.Keep, r.Other = m.Keep(), m.Other()
		if most, known := p.users.slates(); known {
			r.Most = most
		}
	} else {
		r.Count = positions(p.t, p.o.Ratio)
	}
	return r
}

// write puts the report among the files of a stage.
func (r *PerturbReport) write(st *perturb.Stage) error {
	d := r.Document()
	return errors.Join(
		st.Create(textFile, func(w io.Writer) error { return run.Show(w, false, d) }),
		st.Create(jsonFile, func(w io.Writer) error { return run.Show(w, true, d) }))
}

// method names what was done.
func (r *PerturbReport) method() string {
	o := r.Options
	if o.Replace == ReplaceRR {
		return fmt.Sprintf("rr, epsilon %g", o.Epsilon)
	}
	s := o.Select
	if o.Select != SelectRandom && o.Weighted {
		s += fmt.Sprintf(" (weighted, tau %g)", o.Tau)
	}
	return fmt.Sprintf("%s, %s, ratio %g", s, o.Replace, o.Ratio)
}

// Document lays the report out.
func (r *PerturbReport) Document() *report.Document {
	o := r.Options
	d := &report.Document{
		Title:    "Protected slates: " + r.method(),
		Subtitle: fmt.Sprintf("%s, sha256 %.12s; %d items, %d positions a slate", r.In, r.Digest, r.Items, r.Length),
		Facts:    []report.Fact{{Label: "noise", Value: string(r.Noise)}},
		Notes:    r.notes(),
	}
	if r.Noise == privacy.Research {
		d.Facts = append(d.Facts, report.Fact{Label: "seed", Value: fmt.Sprint(uint64(o.Seed))})
	}
	if o.Replace == ReplaceRR {
		d.Facts = append(d.Facts,
			report.Fact{Label: "positions kept", Value: fmt.Sprintf("%.6g", r.Keep), Note: fmt.Sprintf("the probability; half are at epsilon = %.2f", math.Log(float64(r.Items-1)))})
		d.Tables = append(d.Tables, r.guarantee())
	} else {
		d.Facts = append(d.Facts, report.Fact{Label: "guarantee", Value: "none", Note: fmt.Sprintf("%d of %d positions are released as they are", r.Length-r.Count, r.Length)})
	}
	d.Facts = append(d.Facts, report.Fact{Label: "ledger", Value: r.Ledger.String()})
	d.Tables = append(d.Tables, r.counts())
	return d
}

// guarantee says what one pair of neighbours may show.
func (r *PerturbReport) guarantee() *report.Table {
	e := r.Options.Epsilon
	t := &report.Table{Name: "guarantee", Title: "Guarantee, pure and local: epsilon for", Columns: []report.Column{{Name: "neighbours that differ in"}, {Name: "epsilon", Format: "%g"}}}
	t.Add("the item of one position of one slate", e)
	t.Add(fmt.Sprintf("a whole slate: all %d positions", r.Length), e*float64(r.Length))
	if r.Most > 0 {
		t.Add(fmt.Sprintf("a whole user: all slates, %d at most", r.Most), e*float64(r.Length)*float64(r.Most))
	}
	t.Notes = append(t.Notes, "One click may change every position of every slate after it: a user with k slates has k times the epsilon of a slate. Epsilons of positions add up (basic composition).")
	if r.Most == 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("That of a whole user is not known: there are more than %d users, in no order. It is %g times the most slates of one user, which a file that is sorted by user_id tells.", tallied, e*float64(r.Length)))
	}
	return t
}

func (r *PerturbReport) counts() *report.Table {
	t := &report.Table{Name: "counts", Title: "Counts (true data: not for release)", Columns: report.Columns("", "what", "number")}
	t.Add("slates", r.Slates)
	if r.Options.Replace == ReplaceRR {
		t.Add("positions answered in each", r.Count)
	} else {
		t.Add("positions replaced in each", r.Count)
	}
	t.Add("positions with another item, in all", r.Replaced)
	if r.Options.Vectors != "" {
		t.Add("items with a vector", r.WithVector)
		t.Add("vectors of items that are not in the catalogue", r.Foreign)
		t.Add("slates without anything to compare with", r.Blind)
	}
	if r.Options.History != "" {
		t.Add("users with past behaviour", r.Users)
		t.Add("rows of the history whose item has no vector", r.Passed)
	}
	return t
}

func (r *PerturbReport) notes() []string {
	o := r.Options
	notes := []string{"The counts above were taken from true slates: keep this report with the input, not with the output."}
	if o.Replace == ReplaceRR {
		notes = append(notes,
			"Protected are the items of the slates. Who the users are is not, nor how many slates they have.",
			"A second release of these slates, under whatever settings, adds its epsilon to that of this one.",
			"An item may come out twice in a slate: to draw again would tell of the other positions.")
		switch {
		case r.ids && !r.once:
			notes = append(notes, fmt.Sprintf("A slate that is in the file twice is released twice, which neither ledger nor guarantee counts. Slates of the same ids are refused where they are fewer than %d apart, and wherever they are if users, and the slates of each, ascend.", tallied/2))
		case !r.ids:
			notes = append(notes, "Every row is taken for a slate of its own: one that is in the file twice is released twice, which neither the ledger nor the guarantee of a slate counts.")
		}
		d := o.Epsilon - math.Log(float64(r.Items))
		switch told := r.Keep - r.Other; { // all other positions are drawn from the whole catalogue, whatever was there
		case told < 1/(1+math.Exp(4)):
			notes = append(notes, fmt.Sprintf("warning: epsilon %g is far below ln m = %.2f: a share %.3g of the positions tells what was there, the output is pure noise", o.Epsilon, math.Log(float64(r.Items)), told))
		case d > 4:
			notes = append(notes, fmt.Sprintf("warning: epsilon %g is far above ln m = %.2f: a share %.3g of the positions is replaced, the output is nearly plain text", o.Epsilon, math.Log(float64(r.Items)), 1-r.Keep))
		}
	} else {
		notes = append(notes,
			"Replacing items has no guarantee: whoever knows the mechanism trains on slates that he protected himself, and items that are left are plain text. rr has one.")
	}
	if r.ids {
		notes = append(notes, "The ids of slates are written as they are: they must not tell of their items, nor of when they were shown.")
	}
	switch {
	case o.Replace == ReplacePopularity:
		notes = append(notes, "popularity is that of "+r.CountsFrom)
	case o.Replace == ReplaceInBatch && o.OwnRows:
		notes = append(notes, "warning: what comes in is drawn from the user's own slates too, which tells of them")
	}
	if r.Blind > 0 {
		notes = append(notes, fmt.Sprintf("slates without anything to compare with, whose first positions were taken in their order unless drawn: %d", r.Blind))
	}
	if r.Noise == privacy.Research {
		notes = append(notes, "research noise: the seed undoes it, and where it is used again, what changed in the file in between shows; --secure takes cryptographic bits")
	}
	return notes
}
