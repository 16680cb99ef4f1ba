package vectors

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"privrec/internal/dataset/parquet"
	"privrec/internal/safetensors"
	"privrec/internal/tensor"
)

// Form names a file form in which vectors are written.
type Form string

// The forms. Numbers are written as float32, little-endian, by rows.
const (
	NPY         Form = "npy"         // a file for each table, ids in text files beside
	NPZ         Form = "npz"         // one file, ids in text files beside
	Safetensors Form = "safetensors" // one file, ids in text files beside
	Parquet     Form = "parquet"     // a file for each table, with its ids
)

// Forms returns all forms.
func Forms() []Form { return []Form{NPY, NPZ, Safetensors, Parquet} }

// Single reports whether one file of the form holds several tables.
func (f Form) Single() bool { return f == NPZ || f == Safetensors }

// Write writes tables to a file: one, or several in a form that is Single. remarks are about the file; NumPy has no
// place for them. Equal input gives equal bytes.
func Write(w io.Writer, form Form, remarks map[string]string, tables ...Table) error {
	if len(tables) != 1 && !form.Single() {
		return fmt.Errorf("vectors: %d tables in a file of form %s, which holds one", len(tables), form)
	}
	b := bufio.NewWriterSize(w, 1<<16)
	var err error
	switch form {
	case NPY:
		err = writeNpy(b, tables[0].Rows)
	case NPZ:
		err = writeNpz(b, tables)
	case Safetensors:
		err = writeSafetensors(b, remarks, tables)
	case Parquet:
		err = writeParquet(b, remarks, tables[0])
	default:
		err = fmt.Errorf("vectors: unknown form %q", form)
	}
	if err != nil {
		return err
	}
	return b.Flush()
}

// writeNumbers writes the numbers of a matrix by rows.
func writeNumbers(w io.Writer, m tensor.Matrix) error {
	var buf []byte
	for i := range m.Rows {
		buf = buf[:0]
		for _, v := range tensor.Row(m, i) {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(float32(v)))
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
	}
	return nil
}

// writeNpy writes an array of version 1.0. The numbers begin at a multiple of 64 bytes.
func writeNpy(w io.Writer, m tensor.Matrix) error {
	header := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': %s, }", shown([]int{m.Rows, m.Cols}))
	const lead = len(npyMagic) + 4
	header += strings.Repeat(" ", 63-(lead+len(header))%64) + "\n"
	b := append([]byte(npyMagic), 1, 0)
	b = append(binary.LittleEndian.AppendUint16(b, uint16(len(header))), header...)
	if _, err := w.Write(b); err != nil {
		return err
	}
	return writeNumbers(w, m)
}

// writeNpz writes an archive of arrays as numpy.savez does: stored, not deflated.
func writeNpz(w io.Writer, tables []Table) error {
	z := zip.NewWriter(w)
	for _, t := range tables {
		m, err := z.CreateHeader(&zip.FileHeader{Name: t.Name + ".npy", Method: zip.Store,
			Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			return err
		}
		if err := writeNpy(m, t.Rows); err != nil {
			return err
		}
	}
	return z.Close()
}

func writeSafetensors(w io.Writer, remarks map[string]string, tables []Table) error {
	names, infos := make([]string, len(tables)), make([]safetensors.Info, len(tables))
	at := int64(0)
	for i, t := range tables {
		end := at + 4*int64(t.Rows.Rows)*int64(t.Rows.Cols)
		names[i], infos[i] = t.Name, safetensors.Info{DType: "F32", Shape: []int{t.Rows.Rows, t.Rows.Cols},
			Offsets: [2]int64{at, end}}
		at = end
	}
	header, err := safetensors.Encode(names, infos, remarks)
	if err != nil {
		return err
	}
	if err := safetensors.WriteHeader(w, header); err != nil {
		return err
	}
	for _, t := range tables {
		if err := writeNumbers(w, t.Rows); err != nil {
			return err
		}
	}
	return nil
}

// writeParquet writes a table with a column "id" and a column "vector" of lists.
func writeParquet(w io.Writer, remarks map[string]string, t Table) error {
	p, err := parquet.NewWriter(w, parquet.Field{Name: "id", Kind: parquet.Text},
		parquet.Field{Name: "vector", Kind: parquet.Floats})
	if err != nil {
		return err
	}
	if len(t.IDs) != t.Rows.Rows {
		return fmt.Errorf("vectors: %d ids of %d rows", len(t.IDs), t.Rows.Rows)
	}
	list := make([]float64, t.Rows.Cols)
	for i, id := range t.IDs {
		for k, v := range tensor.Row(t.Rows, i) {
			list[k] = float64(v)
		}
		if err := p.Row(parquet.Value{Text: []byte(id)}, parquet.Value{List: list}); err != nil {
			return err
		}
	}
	return p.Close(parquet.Remarks(remarks)...)
}
