package protect

import (
	"context"
	"fmt"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/perturb/slates"
)

// shown is how often each item of a catalogue is shown.
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
		return nil, nil, perturb.Refuse("give --catalogue FILE with item_id and count, or leave out --items: the slates are counted then", "popularity needs how often items are shown")
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
		return nil, nil, &dataset.Error{File: o.Catalogue, Field: "count", Msg: "no item was ever shown: there is nothing to draw by popularity"}
	}
	return c, s, nil
}
