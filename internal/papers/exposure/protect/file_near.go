package protect

import (
	"context"
	"fmt"
	"math"
	"os"

	"privrec/internal/baseline"
	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/perturb"
	"privrec/internal/tensor"
)

// neighbours holds the vectors of items, and for each user the sum of the vectors of past items.
type neighbours struct {
	vectorCounts
	vectors [][]tensor.Float // by item; nil where one has none
	dim     int
	past    *Past
}

// Past holds for each user the sum of the vectors of past items: 4 bytes a dimension and user. It replaces a History
// that is read elsewhere.
type Past struct {
	Users  int   // with past behaviour, also those that were not added here
	Passed int64 // rows of the history whose item has no vector

	at   map[string]int32
	sums []float32 // (added users, dim)
}

// of returns the sum of a user, of dim numbers, and adds users that it does not have.
func (p *Past) of(user []byte, dim int) []float32 {
	u, ok := p.at[string(user)]
	if !ok {
		if p.at == nil {
			p.at = map[string]int32{}
		}
		u = int32(len(p.at))
		p.at[string(user)] = u
		p.sums = append(p.sums, make([]float32, dim)...)
	}
	return p.sums[int(u)*dim : (int(u)+1)*dim]
}

// Add adds a user with the sum that a [Summer] made. All sums are of one length.
func (p *Past) Add(user []byte, sum []float32) { copy(p.of(user, len(sum)), sum) }

// Summer computes the sums of the vectors of past items, one user at a time.
type Summer struct {
	Sum []float32 // of the user; the caller clears it for the next one

	n *neighbours
	c *perturb.Catalogue
}

// OpenSummer reads the vectors of the items. For the same rows of a user in the same order, sums equal those that File
// makes of a History, to the bit.
func OpenSummer(ctx context.Context, o *FileOptions, c *perturb.Catalogue) (*Summer, error) {
	n, err := openVectors(ctx, o, c)
	if err != nil {
		return nil, err
	}
	return &Summer{make([]float32, n.dim), n, c}, nil
}

// Add adds the vector of an item. ok is false where it has none.
func (s *Summer) Add(item []byte) (ok bool) {
	id, ok := s.c.Number(item)
	if !ok || s.n.vectors[id] == nil {
		return false
	}
	s.n.add(s.Sum, id)
	return true
}

// add adds the vector of an item to a sum.
func (n *neighbours) add(sum []float32, item int32) {
	for i, x := range n.vectors[item] {
		sum[i] += float32(x)
	}
}

// vectorCounts counts the vectors and histories that match the slates.
type vectorCounts struct {
	WithVector int   // items of the catalogue that have one
	Users      int   // with past behaviour
	Foreign    int64 // vectors of items that are not in the catalogue
	Passed     int64 // rows of the history whose item has no vector
}

// openNeighbours reads vectors and the past of users where the method needs them.
func openNeighbours(ctx context.Context, o *FileOptions, c *perturb.Catalogue) (*neighbours, error) {
	if o.Vectors == "" {
		return nil, nil
	}
	n, err := openVectors(ctx, o, c)
	if err != nil {
		return nil, err
	}
	if o.Past != nil {
		n.past = o.Past
	} else if o.History != "" {
		n.past = &Past{}
		err = n.readHistory(ctx, o, c)
	} else {
		return n, nil
	}
	n.Users, n.Passed = n.past.Users, n.past.Passed
	return n, err
}

// openVectors reads the vectors of the items.
func openVectors(ctx context.Context, o *FileOptions, c *perturb.Catalogue) (*neighbours, error) {
	n := &neighbours{vectors: make([][]tensor.Float, c.Size)}
	add := func(name string, v []float32) {
		n.dim = len(v)
		item, ok := c.Number([]byte(name))
		if !ok {
			n.Foreign++
			return
		}
		row := make([]tensor.Float, len(v))
		for i, x := range v {
			row[i] = tensor.Float(x)
		}
		n.vectors[item] = row
		n.WithVector++
	}
	if info, err := os.Stat(o.Vectors); err == nil && info.IsDir() {
		all, err := baseline.ItemVectorsByID(ctx, o.Vectors)
		if err != nil {
			return nil, err
		}
		for name, v := range all {
			add(name, v)
		}
	} else if err := readVectors(ctx, o.Vectors, add); err != nil {
		return nil, err
	}
	if n.WithVector == 0 {
		return nil, &dataset.Error{File: o.Vectors, Msg: "no item of the catalogue has a vector",
			Hint: "are the ids those of the slates?"}
	}
	return n, nil
}

// readVectors reads a table of ids and numbers, all rows of one length.
func readVectors(ctx context.Context, path string, add func(name string, v []float32)) error {
	form, err := perturb.FormOf("vectors", path, slateALine, "")
	if err != nil {
		return err
	}
	r, err := format.OpenRows(ctx, path, form)
	if err != nil {
		return err
	}
	defer r.Close()
	id, dim := 0, -1
	if form != format.Lines {
		if id, err = r.Column("item_id"); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	for r.Next() {
		name := string(r.Fields[id])
		if seen[name] {
			return r.Fail("item_id", fmt.Sprintf("second row of %.40q", name), "")
		}
		seen[name] = true
		if dim < 0 {
			dim = len(r.Fields) - 1
		}
		if dim == 0 || len(r.Fields)-1 != dim {
			return r.Fail("", fmt.Sprintf("%d numbers, want at least one, and as many as in the first row: %d",
				len(r.Fields)-1, dim), "")
		}
		v := make([]float32, 0, dim)
		for i := range r.Fields {
			if i == id {
				continue
			}
			x, err := r.Float(i)
			if err != nil {
				return err
			}
			if math.Abs(x) > math.MaxFloat32 {
				return r.Fail("", fmt.Sprintf("number %d is %.40q, more than 32 bits hold", i+1, r.Fields[i]), "")
			}
			v = append(v, float32(x))
		}
		add(name, v)
	}
	return r.Err()
}

// readHistory sums the vectors of users' past items: 4 bytes a dimension and user.
func (n *neighbours) readHistory(ctx context.Context, o *FileOptions, c *perturb.Catalogue) error {
	form, err := perturb.FormOf("history", o.History, slateALine, "")
	if err != nil {
		return err
	}
	s, err := format.OpenStream(ctx, o.History, form)
	if err != nil {
		return err
	}
	defer s.Close()
	for s.Next() {
		if s.Item == nil {
			continue
		}
		id, ok := c.Number(s.Item)
		if !ok || n.vectors[id] == nil {
			n.past.Passed++
			continue
		}
		n.add(n.past.of(s.User, n.dim), id)
	}
	n.past.Users = len(n.past.at)
	return s.Err()
}

// reference copies the sum of a user's vectors into dst; it returns false and writes 0 if there are none.
func (n *neighbours) reference(user []byte, dst []float64) (known bool) {
	u, known := n.past.at[string(user)]
	clear(dst)
	for i := 0; known && i < len(dst); i++ {
		dst[i] = float64(n.past.sums[int(u)*n.dim+i])
	}
	return known
}
