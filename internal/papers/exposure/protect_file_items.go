package exposure

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/tensor"
)

// itemNames are the items that can come into a slate, counted from 0: names, or the
// numbers from 1.
type itemNames struct {
	size   int
	names  []string // nil: numbers
	index  map[string]int32
	counts []uint64 // how often each is shown; nil: not known
	from   string   // where the counts are from
	digest string   // of the slates, where the items were read off them
}

func (c *itemNames) len() int { return c.size }

// openCatalogue is the catalogue that the options state, or that of the slates.
func openCatalogue(ctx context.Context, o *PerturbOptions) (c *itemNames, err error) {
	switch {
	case o.Catalogue != "":
		return readCatalogue(ctx, o)
	case o.Items > 0 && o.Replace == ReplacePopularity:
		return nil, refuseOption("give --catalogue FILE with item_id and count, or leave out --items: the slates are counted then", "popularity needs how often items are shown")
	case o.Items > 0:
		return &itemNames{size: o.Items}, nil
	}
	o.Progress.Phase("count the items of " + o.In)
	c = &itemNames{index: map[string]int32{}, from: "the slates of the file"}
	in, err := openSlates(ctx, o, c)
	if err != nil {
		return nil, err
	}
	defer in.close()
	for {
		for _, item := range in.items {
			c.counts[item]++
		}
		if ok, err := in.read(); err != nil {
			return nil, err
		} else if !ok {
			break
		}
	}
	if c.digest, err = in.rows.Digest(); err != nil {
		return nil, err
	}
	c.size = len(c.names)
	return c, nil
}

func readCatalogue(ctx context.Context, o *PerturbOptions) (*itemNames, error) {
	form, err := formOf("catalogue", o.Catalogue)
	if err != nil {
		return nil, err
	}
	c := &itemNames{index: map[string]int32{}, from: o.Catalogue}
	if o.Replace != ReplacePopularity {
		c.names, err = format.ReadIDs(ctx, o.Catalogue, form, "item_id")
		if err != nil {
			return nil, err
		}
		for i, name := range c.names {
			c.index[name] = int32(i)
		}
		c.size = len(c.names)
		return c, nil
	}
	r, err := format.OpenRows(ctx, o.Catalogue, form)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	id, err := r.Column("item_id")
	if err != nil {
		return nil, err
	}
	count, err := r.Column("count")
	if err != nil {
		return nil, err
	}
	total := uint64(0)
	for r.Next() {
		name := string(r.Fields[id])
		if _, ok := c.index[name]; ok || name == "" {
			return nil, r.Fail("item_id", fmt.Sprintf("second row of %.40q, or an empty id", name), "")
		}
		n, err := r.Int(count)
		if err != nil {
			return nil, err
		}
		if n < 0 {
			return nil, r.Fail("count", fmt.Sprintf("%d, want 0 or more", n), "")
		}
		c.index[name] = int32(len(c.names))
		c.names, c.counts = append(c.names, name), append(c.counts, uint64(n))
		total += uint64(n)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if total == 0 {
		return nil, &dataset.Error{File: o.Catalogue, Field: "count", Msg: "no item was ever shown: there is nothing to draw by popularity"}
	}
	c.size = len(c.names)
	return c, nil
}

// item is the number of an id. Where the items are read off the slates it makes one.
func (c *itemNames) item(r *slateReader, b []byte) (int32, error) {
	if c.index == nil {
		id, ok := itemNumber(b)
		switch {
		case !ok:
			return 0, r.fail(r.field(), fmt.Sprintf("item %.40q is not a number from 1 to %d, without zeros in front", b, c.size), "give the ids in --catalogue FILE where they are not 1 to M")
		case id < 1 || id > c.size:
			return 0, r.fail(r.field(), fmt.Sprintf("item %d is outside the catalogue of %d items", id, c.size), "--items is the size of the whole catalogue, from 1")
		}
		return int32(id - 1), nil
	}
	if id, ok := c.index[string(b)]; ok {
		return id, nil
	}
	if c.size > 0 {
		return 0, r.fail(r.field(), fmt.Sprintf("item %.40q is not in the catalogue of %d items", b, c.size), "the catalogue is all items there are, shown or not")
	}
	if len(c.names) == maxCatalogue {
		return 0, r.fail(r.field(), fmt.Sprintf("more than %d items", maxCatalogue), "")
	}
	id := int32(len(c.names))
	name := string(b)
	c.names, c.counts, c.index[name] = append(c.names, name), append(c.counts, 0), id
	return id, nil
}

// writable refuses names that a form cannot hold, whether they will be drawn or not.
// file is where they come from.
func (c *itemNames) writable(f format.Form, file string) error {
	var b []byte
	for _, name := range c.names {
		var err error
		if b, err = f.AppendField(b[:0], []byte(name)); err != nil {
			return placed(err, file, "item_id", 0)
		}
	}
	return nil
}

// append writes an item's id.
func (c *itemNames) append(dst []byte, id int32, f format.Form) ([]byte, error) {
	if c.names == nil {
		return strconv.AppendInt(dst, int64(id)+1, 10), nil
	}
	return f.AppendField(dst, []byte(c.names[id]))
}

// urn is what a method draws from; nil where it is drawn from the batch.
func (c *itemNames) urn(replace string) (urn, error) {
	switch replace {
	case ReplaceUniform:
		return span(c.size), nil
	case ReplacePopularity:
		return newAlias(c.counts)
	}
	return nil, nil
}

// span draws from the items below a number alike.
type span int32

func (s span) empty() bool { return s == 0 }

func (s span) draw(d dice) int32 { return int32(d.below(uint64(s))) }

func (s span) each(f func(item int32, weight uint64)) {
	for item := range s {
		f(int32(item), 1)
	}
}

// neighbours are the vectors of items, and of users the sum of those of their past.
type neighbours struct {
	vectors  [][]tensor.Float // by item; nil where one has none
	have     int              // items with a vector
	unknown  int64            // vectors of items that are not in the catalogue
	dim      int
	users    map[string]int32
	sums     []float32 // (users, dim)
	oddities int64     // rows of the history whose item has no vector
}

// openNeighbours reads vectors and histories where the method needs them.
func openNeighbours(ctx context.Context, o *PerturbOptions, c *itemNames) (*neighbours, error) {
	if o.Vectors == "" {
		return nil, nil
	}
	n := &neighbours{vectors: make([][]tensor.Float, c.len())}
	add := func(name string, v []float32) {
		if n.dim = len(v); !c.has(name) {
			n.unknown++
			return
		}
		row := make([]tensor.Float, len(v))
		for i, x := range v {
			row[i] = tensor.Float(x)
		}
		n.vectors[c.number(name)] = row
		n.have++
	}
	if info, err := os.Stat(o.Vectors); err == nil && info.IsDir() {
		all, err := ItemVectorsByID(ctx, o.Vectors)
		if err != nil {
			return nil, err
		}
		for name, v := range all {
			add(name, v)
		}
	} else if err := readVectors(ctx, o.Vectors, add); err != nil {
		return nil, err
	}
	if n.have == 0 {
		return nil, &dataset.Error{File: o.Vectors, Msg: "no item of the catalogue has a vector", Hint: "are the ids those of the slates?"}
	}
	if o.History == "" {
		return n, nil
	}
	return n, n.readHistory(ctx, o, c)
}

// has is true of an item of the catalogue.
func (c *itemNames) has(name string) bool { return c.number(name) >= 0 }

// number is the number of an item, -1 where it is none.
func (c *itemNames) number(name string) int32 {
	if c.index != nil {
		if id, ok := c.index[name]; ok {
			return id
		}
		return -1
	}
	id, ok := itemNumber(name)
	if !ok || id < 1 || id > c.size {
		return -1
	}
	return int32(id - 1)
}

// itemNumber reads a whole number as it is written, so that no two ids are one item: at
// most ten digits, no zeros in front.
func itemNumber[T string | []byte](id T) (n int, ok bool) {
	if len(id) == 0 || len(id) > 10 || id[0] == '0' && len(id) > 1 {
		return 0, false
	}
	for i := range len(id) {
		if id[i] < '0' || id[i] > '9' {
			return 0, false
		}
		n = 10*n + int(id[i]-'0')
	}
	return n, true
}

// readVectors reads a table of ids and numbers, all rows of one length.
func readVectors(ctx context.Context, path string, add func(name string, v []float32)) error {
	form, err := formOf("vectors", path)
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
func (n *neighbours) readHistory(ctx context.Context, o *PerturbOptions, c *itemNames) error {
	form, err := formOf("history", o.History)
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
		id := c.number(string(s.Item))
		if id < 0 || n.vectors[id] == nil {
			n.oddities++
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
	return s.Err()
}

// reference is the sum of a user's vectors, nil where he has none.
func (n *neighbours) reference(user []byte, dst []float64) []float64 {
	u, ok := n.users[string(user)]
	if !ok {
		return nil
	}
	for i := range dst {
		dst[i] = float64(n.sums[int(u)*n.dim+i])
	}
	return dst
}
