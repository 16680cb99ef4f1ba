package vectors

import (
	"fmt"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/tensor"
)

// Table holds a matrix of vectors, one row for each user or each item.
type Table struct {
	Name string        // of the array in its file; "" where a file has no names
	Rows tensor.Matrix // (users or items, d)
	IDs  []string      // of the rows, of a Parquet file with a column of ids; nil: the file has none
}

// File holds the content read from a file.
type File struct {
	Path   string
	Digest string // hexadecimal SHA-256 of the file as it is on disk
	Form   string // in words, such as "NumPy array"
	Tables []Table
}

// Want describes an array to read.
type Want struct {
	Names []string // the first of these that the file has; without any, the only array of a file
	Flat  bool     // a number for each row, of shape (n,) or (n, 1)
}

// Limits of an array.
const (
	maxCells = 1 << 30
	maxWidth = 1 << 16 // of a vector
)

// spread is the number of array bytes that a byte of a compressed file may stand for, beyond the first few. Trained
// vectors hardly compress.
const spread, few = 64, 16 << 20

// plausible reports whether the given bytes of numbers can come from packed bytes of a compressed file.
func plausible(bytes, packed int64) bool { return bytes <= few || (bytes-few)/spread <= packed }

// array holds a header's description of an array.
type array struct {
	of        number
	shape     []int
	byColumns bool // the numbers of a column stand together
}

// size returns the rows and columns of an array.
func (a array) size(flat bool) (rows, cols int, err error) {
	switch {
	case flat && len(a.shape) == 1:
		rows, cols = a.shape[0], 1
	case flat && len(a.shape) == 2 && a.shape[1] == 1:
		rows, cols = a.shape[0], 1
	case flat:
		return 0, 0, fmt.Errorf("shape %s, want (rows,): a number for each row", shown(a.shape))
	case len(a.shape) != 2:
		return 0, 0, fmt.Errorf("shape %s, want two axes: (rows, columns)", shown(a.shape))
	default:
		rows, cols = a.shape[0], a.shape[1]
	}
	switch {
	case rows < 1 || cols < 1:
		return 0, 0, fmt.Errorf("shape %s holds no vector", shown(a.shape))
	case cols > maxWidth:
		return 0, 0, fmt.Errorf("shape %s: vectors of at most %d numbers are read; are rows and columns exchanged?",
			shown(a.shape), maxWidth)
	case rows > maxCells/cols:
		return 0, 0, fmt.Errorf("shape %s: at most %d numbers are read", shown(a.shape), maxCells)
	}
	return rows, cols, nil
}

// shown returns a shape in NumPy's notation.
func shown(shape []int) string {
	if len(shape) == 1 {
		return fmt.Sprintf("(%d,)", shape[0])
	}
	s := make([]string, len(shape))
	for i, n := range shape {
		s[i] = fmt.Sprint(n)
	}
	return "(" + strings.Join(s, ", ") + ")"
}

// pick returns the index of the wanted array among those of a file, which have names.
func (w Want) pick(path string, names []string) (int, error) {
	for _, want := range w.Names {
		for i, n := range names {
			if n == want {
				return i, nil
			}
		}
	}
	has := fmt.Sprintf("it has %s", quoted(names))
	switch {
	case len(names) == 0:
		return 0, &dataset.Error{File: path, Msg: "no array in the file"}
	case len(w.Names) == 0 && len(names) == 1:
		return 0, nil
	case len(w.Names) == 0:
		return 0, &dataset.Error{File: path, Msg: fmt.Sprintf("%d arrays in the file, and none is named", len(names)),
			Hint: has}
	}
	return 0, &dataset.Error{File: path, Field: w.Names[0], Msg: "no array of that name", Hint: has}
}

// quoted returns some names as a quoted list.
func quoted(names []string) string {
	const most = 8
	s := make([]string, 0, most)
	for i, n := range names {
		if i == most {
			return strings.Join(s, ", ") + fmt.Sprintf(" and %d more", len(names)-most)
		}
		s = append(s, dataset.Quote([]byte(n)))
	}
	return strings.Join(s, ", ")
}
