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

// neighbours are the vectors of items, and of users the sum of those of their past.
type neighbours struct {
	vectorCounts
	vectors [][]tensor.Float // by item; nil where one has none
	dim     int
	users   map[string]int32
	sums    []float32 // (users, dim)
}

// vectorCounts say how many vectors and histories go together with the slates.
type vectorCounts struct {
	WithVector int   // items of the catalogue that have one
	Users      int   // with past behaviour
	Foreign    int64 // vectors of items that are not in the catalogue
	Passed     int64 // rows of the history whose item has no vector
}

// openNeighbours reads vectors and histories where the method needs them.
func openNeighbours(ctx context.Context, o *FileOptions, c *perturb.Catalogue) (*neighbours, error) {
	if o.Vectors == "" {
		return nil, nil
	}
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
		return nil, &dataset.Error{File: o.Vectors, Msg: "no item of the catalogue has a vector", Hint: "are the ids those of the slates?"}
	}
	if o.History == "" {
		return n, nil
	}
	return n, n.readHistory(ctx, o, c)
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
			return r.Fail("", fmt.Sprintf("%d numbers, want at least one, and as many as in the first row: %d", len(r.Fields)-1, dim), "")
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

// readHistory sums up what users did before: 4 bytes a dimension and user.
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
	n.users = map[string]int32{}
	for s.Next() {
		if s.Item == nil {
			continue
		}
		id, ok := c.Number(s.Item)
		if !ok || n.vectors[id] == nil {
			n.Passed++
			continue
		}
		u, ok := n.users[string(s.User)]
		if !ok {
			u = int32(len(n.users))
			n.users[string(s.User)] = u
			n.sums = append(n.sums, make([]float32, n.dim)...)
		}
		for i, x := range n.vectors[id] {
			n.sums[int(u)*n.dim+i] += float32(x)
		}
	}
	n.Users = len(n.users)
	return s.Err()
}

// reference puts the sum of a user's vectors into dst; false and 0 where there are none.
func (n *neighbours) reference(user []byte, dst []float64) (known bool) {
	u, known := n.users[string(user)]
	clear(dst)
	for i := 0; known && i < len(dst); i++ {
		dst[i] = float64(n.sums[int(u)*n.dim+i])
	}
	return known
}
