package protect

import (
	"context"
	"fmt"
	"math"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/perturb/slates"
	"privrec/internal/privacy"
	"privrec/internal/report"
)

// FileReport holds the guarantee of a protected file, if it has one, and the changes to the slates. The counts describe
// true data outside any guarantee, so they stay with the input.
type FileReport struct {
	perturb.Facts
	Options FileOptions
	Length  int // T
	Items   int // of the catalogue

	slateCounts
	vectorCounts
	Count int // positions replaced in each; of RR the positions answered

	Keep  float64 // of RR: probability that a position stays as it is
	Other float64 // of RR: probability of one particular other item
	Most  int64   // of RR: slates of one user, the most; 0: not known, see slates.Users

	CountsFrom string // where popularity is from

	ids  bool // slates have ids
	once bool // none of them is in the file twice
}

// slateCounts counts the changes to slates.
type slateCounts struct {
	Slates   int64
	Replaced int64 // positions that hold another item afterwards
	Blind    int64 // slates whose reference has no vector
}

func (c *slateCounts) add(o slateCounts) {
	c.Slates += o.Slates
	c.Replaced += o.Replaced
	c.Blind += o.Blind
}

// method returns words for the protection.
func (r *FileReport) method() string {
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

// Document returns the report as a document.
func (r *FileReport) Document() *report.Document {
	last := report.Fact{Label: "guarantee", Value: "none",
		Note: fmt.Sprintf("%d of %d positions are released as they are", r.Length-r.Count, r.Length)}
	var tables []*report.Table
	if r.Options.Replace == ReplaceRR {
		last = report.Fact{Label: "positions kept", Value: fmt.Sprintf("%.6g", r.Keep),
			Note: fmt.Sprintf("the probability; half are at epsilon = %.2f", math.Log(float64(r.Items-1)))}
		tables = append(tables, r.guarantee())
	}
	d := r.Facts.Document("Protected slates: "+r.method(), fmt.Sprintf("%d items, %d positions a slate", r.Items,
		r.Length), nil, []report.Fact{last})
	d.Tables, d.Notes = append(tables, r.counts()), r.notes()
	return d
}

// guarantee returns a table of the epsilons of all neighbours.
func (r *FileReport) guarantee() *report.Table {
	e := r.Options.Epsilon
	t := perturb.GuaranteeTable()
	t.Add("the item of one position of one slate", e)
	t.Add(fmt.Sprintf("a whole slate: all %d positions", r.Length), e*float64(r.Length))
	if r.Most > 0 {
		t.Add(fmt.Sprintf("a whole user: all slates, %d at most", r.Most), e*float64(r.Length)*float64(r.Most))
	}
	t.Notes = append(t.Notes,
		"One click may change every position of every slate after it: a user with k slates has k times the epsilon "+
			"of a slate. Epsilons of positions add up (basic composition).")
	switch {
	case r.Most > 0:
	case r.Options.Own:
		t.Notes = append(t.Notes,
			fmt.Sprintf("That of a whole user is not counted where slates lie in several files. It is %g times the "+
				"most slates of one user.", e*float64(r.Length)))
	default:
		t.Notes = append(t.Notes,
			fmt.Sprintf("That of a whole user is not known: there are more than %d users, in no order. It is %g "+
				"times the most slates of one user, which a file that is sorted by user_id tells.", r.Options.room(),
				e*float64(r.Length)))
	}
	return t
}

func (r *FileReport) counts() *report.Table {
	t := perturb.CountsTable()
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
	if r.Options.History != "" || r.Options.Past != nil {
		t.Add("users with past behaviour", r.Users)
		t.Add("rows of the history whose item has no vector", r.Passed)
	}
	return t
}

func (r *FileReport) notes() []string {
	o := r.Options
	notes := []string{perturb.CountsNote("slates")}
	if o.Replace == ReplaceRR {
		notes = append(notes,
			"Protected are the items of the slates. Who the users are is not, nor how many slates they have.",
			perturb.SecondNote("slates"),
			"An item may come out twice in a slate: to draw again would tell of the other positions.")
		switch {
		case r.ids && !r.once:
			notes = append(notes, fmt.Sprintf("A slate that is in the file twice is released twice, which neither "+
				"ledger nor guarantee counts. Slates of the same ids are refused where they are fewer than %d apart, "+
				"and wherever they are if users, and the slates of each, ascend.", r.Options.room()/2))
		case !r.ids:
			notes = append(notes, "Every row is taken for a slate of its own: one that is in the file twice is "+
				"released twice, which neither the ledger nor the guarantee of a slate counts.")
		}
		d := o.Epsilon - math.Log(float64(r.Items))
		switch told := r.Keep - r.Other; { // all other positions are drawn from the whole catalogue, whatever was there
		case told < 1/(1+math.Exp(4)):
			notes = append(notes, fmt.Sprintf("warning: epsilon %g is far below ln m = %.2f: a share %.3g of the "+
				"positions tells what was there, the output is pure noise", o.Epsilon, math.Log(float64(r.Items)),
				told))
		case d > 4:
			notes = append(notes, fmt.Sprintf("warning: epsilon %g is far above ln m = %.2f: a share %.3g of the "+
				"positions is replaced, the output is nearly plain text", o.Epsilon, math.Log(float64(r.Items)),
				1-r.Keep))
		}
	} else {
		notes = append(notes,
			"Replacing items has no guarantee: an attacker who knows the mechanism can train on slates that they "+
				"protected themselves, and items that stay are plain text. The method rr has a guarantee.")
	}
	if r.ids {
		notes = append(notes, "The ids of slates are written as they are: they must not tell of their items, nor of "+
			"when they were shown.")
	}
	switch {
	case o.Replace == ReplacePopularity:
		notes = append(notes, "popularity is that of "+r.CountsFrom)
	case o.Replace == ReplaceInBatch && o.OwnRows:
		notes = append(notes, "warning: what comes in is drawn from the user's own slates too, which tells of them")
	}
	if r.Blind > 0 {
		notes = append(notes, fmt.Sprintf(
			"slates without anything to compare with, whose first positions were taken in their order unless drawn: %d",
			r.Blind))
	}
	if r.Noise == privacy.Research {
		notes = append(notes, perturb.ResearchNote)
	}
	return notes
}

// shown holds how often each item of a catalogue is shown.
type shown struct {
	counts []uint64 // by item; nil: not known
	from   string   // where they are from
	digest string   // of the slates, where items and counts were read off them
}

// openCatalogue returns the catalogue that the options state, or that of the slates.
func openCatalogue(ctx context.Context, o *FileOptions) (*perturb.Catalogue, *shown, error) {
	popular := o.Replace == ReplacePopularity
	switch {
	case o.Catalogue != "" && popular:
		return readCounts(ctx, o)
	case o.Items > 0 && popular:
		return nil, nil, perturb.Refuse(
			"give --catalogue FILE with item_id and count, or leave out --items: the slates are counted then",
			"popularity needs how often items are shown")
	case !o.twice():
		c, err := perturb.OpenCatalogue(ctx, &o.Settings, slateALine)
		return c, nil, err
	}
	o.Progress.Phase("count the items of " + o.In)
	c, n := perturb.NewCatalogue(), &shown{from: "the slates of the file"}
	in, err := slates.Open(ctx, &o.Settings, c, o.room())
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	for ok := true; ok; {
		n.counts = append(n.counts, make([]uint64, c.Size-len(n.counts))...)
		for _, item := range in.Items {
			n.counts[item]++
		}
		if ok, err = in.Next(); err != nil {
			return nil, nil, err
		}
	}
	n.digest, err = in.Digest()
	return c, n, err
}

// readCounts reads a catalogue with counts.
func readCounts(ctx context.Context, o *FileOptions) (*perturb.Catalogue, *shown, error) {
	form, err := perturb.FormOf("catalogue", o.Catalogue, slateALine, "")
	if err != nil {
		return nil, nil, err
	}
	r, err := format.OpenRows(ctx, o.Catalogue, form)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	id, err := r.Column("item_id")
	if err != nil {
		return nil, nil, err
	}
	count, err := r.Column("count")
	if err != nil {
		return nil, nil, err
	}
	c, s, total := perturb.NewCatalogue(), &shown{from: o.Catalogue}, uint64(0)
	for r.Next() {
		name := r.Fields[id]
		if _, ok := c.Number(name); ok || len(name) == 0 {
			return nil, nil, r.Fail("item_id", fmt.Sprintf("second row of %.40q, or an empty id", name), "")
		}
		n, err := r.Int(count)
		if err != nil {
			return nil, nil, err
		}
		if n < 0 {
			return nil, nil, r.Fail("count", fmt.Sprintf("%d, want 0 or more", n), "")
		}
		c.Add(string(name))
		s.counts = append(s.counts, uint64(n))
		total += uint64(n)
	}
	if err := r.Err(); err != nil {
		return nil, nil, err
	}
	if total == 0 {
		return nil, nil, &dataset.Error{File: o.Catalogue, Field: "count",
			Msg: "no item was ever shown: there is nothing to draw by popularity"}
	}
	return c, s, nil
}
