package gram

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"privrec/internal/run"
)

// ReleasedFile names the file of the releases, in safetensors format: counts (items), and for a matrix its items, as
// numbers in the catalogue, and its upper triangle, row by row. The guarantee of a run covers this file.
const ReleasedFile = "released.safetensors"

// released holds the releases of a run, from which alone its model is computed.
type released struct {
	counts   []float64 // of all items
	items    []int32   // of the matrix, ascending; nil: there is none
	triangle []float64 // on and above the diagonal, row after row

	// of a stream: the weights of the items, the deviation of the matrix's noise, and what the stream states, as JSON
	weights   []float64
	deviation float64
	statement string
}

// CountsFile names the file of the released counts alone, in the format of ReleasedFile. A run whose rows are elsewhere
// keeps it between its two releases, so that it can continue after a stop without another release.
const CountsFile = "released-counts.safetensors"

// write writes the releases into the run directory.
func (r *released) write(env *run.Env, name string) error {
	tensors := []run.NamedTensor{{Name: "counts", Shape: []int{len(r.counts)}, Data: r.counts}}
	if r.items != nil {
		items := make([]int64, len(r.items))
		for k, i := range r.items {
			items[k] = int64(i)
		}
		tensors = append(tensors, run.NamedTensor{Name: "items", Shape: []int{len(items)}, Data: items},
			run.NamedTensor{Name: "matrix", Shape: []int{len(r.triangle)}, Data: r.triangle})
	}
	meta := map[string]string{"configuration": env.ConfigHash}
	if r.statement != "" {
		meta["stream"] = r.statement
	}
	if r.weights != nil {
		tensors = append(tensors, run.NamedTensor{Name: "weights", Shape: []int{len(r.weights)}, Data: r.weights},
			run.NamedTensor{Name: "deviation", Shape: []int{1}, Data: []float64{r.deviation}})
	}
	return env.WriteArtefact(name, func(w io.Writer) error { return run.WriteSafetensors(w, tensors, meta) })
}

// readReleased reads the releases of a run of this configuration. It returns nil without an error if there is no such
// file.
func readReleased(dir, hash string, items int) (*released, error) {
	return readFile(filepath.Join(dir, ReleasedFile), hash, items)
}

func readFile(path, hash string, items int) (*released, error) {
	tensors, meta, err := run.ReadSafetensors(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was released: %w", err)
	}
	r, bad := &released{statement: meta["stream"]}, func(what string) error {
		return run.WithHint(fmt.Errorf("read what was released: %s: %s", path, what), "train again with another --out")
	}
	if meta["configuration"] != hash {
		return nil, bad("it is of another configuration")
	}
	for _, t := range tensors {
		switch data := t.Data.(type) {
		case []float64:
			switch t.Name {
			case "counts":
				r.counts = data
			case "matrix":
				r.triangle = data
			case "weights":
				r.weights = data
			case "deviation":
				if len(data) != 1 || !(data[0] > 0) {
					return nil, bad(fmt.Sprintf("the deviation of its noise is %v, want one positive number", data))
				}
				r.deviation = data[0]
			}
		case []int64:
			r.items = make([]int32, len(data))
			for k, i := range data {
				if i < 0 || i >= int64(items) || k > 0 && i <= data[k-1] {
					return nil, bad(fmt.Sprintf("item %d is outside the catalogue or out of order", i))
				}
				r.items[k] = int32(i)
			}
		}
	}
	m := len(r.items)
	if r.weights != nil && len(r.weights) != m || len(r.counts) != items || len(r.triangle) != m*(m+1)/2 {
		return nil, bad(fmt.Sprintf("%d counts and %d entries for %d items, %d of them in the matrix", len(r.counts),
			len(r.triangle), items, m))
	}
	return r, nil
}

// full returns the released matrix, both triangles.
func (r *released) full() square {
	g := newSquare(len(r.items))
	at := 0
	for i := range g.n {
		for j := i; j < g.n; j++ {
			g.row(i)[j], g.row(j)[i] = r.triangle[at], r.triangle[at]
			at++
		}
	}
	return g
}
