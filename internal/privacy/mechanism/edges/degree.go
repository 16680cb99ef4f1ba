package edges

import (
	"fmt"

	"privrec/internal/rng"
)

// BoundColumns keeps a uniform subset of most ones in every column that has more, so that the
// unit of one column is in at most that many rows. The choice depends only on the column, so
// bounding one unit does not change any other. Column j draws from the stream's child j.
func BoundColumns(a Adjacency, most int, s rng.Stream) (Adjacency, error) {
	b, err := BoundRows(a.Transpose(), most, s)
	if err != nil {
		return Adjacency{}, err
	}
	return b.Transpose(), nil
}

// BoundRows does what BoundColumns does, for rows. Do not bound both rows and columns: the ones
// that a unit loses by one bound may let others in by the next.
func BoundRows(a Adjacency, most int, s rng.Stream) (Adjacency, error) {
	if most < 1 {
		return Adjacency{}, fmt.Errorf("degree bound is %d, want at least 1", most)
	}
	out := Adjacency{Rows: a.Rows, Cols: a.Cols, Ptr: make([]int64, a.Rows+1)}
	for i := range a.Rows {
		row := a.Row(i)
		if len(row) <= most {
			out.Idx = append(out.Idx, row...)
		} else {
			for _, k := range distinct(s.Sub(uint64(i)), int64(most), int64(len(row))) {
				out.Idx = append(out.Idx, row[k])
			}
		}
		out.Ptr[i+1] = out.Edges()
	}
	return out, nil
}
