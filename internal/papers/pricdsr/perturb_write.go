package pricdsr

import (
	"fmt"
	"os"

	"privrec/internal/dataset/format"
	"privrec/internal/run"
)

// writer writes the two tables of a perturbation.
type writer struct {
	out, empty *os.File
	path       string
	done       int64
}

func newWriter(p *perturber) (w *writer, err error) {
	pack, err := format.NewPacker(format.CompressionOf(p.o.Out))
	if err != nil {
		return nil, err
	}
	w = &writer{path: p.o.Out}
	if w.out, err = os.Create(p.st.Path(outFile)); err != nil {
		return nil, &format.WriteError{File: p.o.Out, Err: err}
	}
	if w.empty, err = os.Create(p.st.Path(emptyFile)); err != nil {
		w.out.Close()
		return nil, &format.WriteError{File: p.o.Out, Err: err}
	}
	for _, x := range []struct {
		f    *os.File
		head string
	}{{w.out, header(p.o.OutForm)}, {w.empty, "user_id\n"}} {
		var b []byte
		if b, err = pack.Append(nil, []byte(x.head)); err == nil {
			_, err = x.f.Write(b)
		}
		if err != nil {
			w.abandon()
			return nil, &format.WriteError{File: p.o.Out, Err: err}
		}
	}
	return w, nil
}

func (w *writer) write(b *block, p run.Progress) error {
	_, err := w.out.Write(b.out)
	if err == nil {
		_, err = w.empty.Write(b.empty)
	}
	if err != nil {
		return &format.WriteError{File: w.path, Err: err}
	}
	tell(p, "written", &w.done, b)
	return nil
}

// close makes both files durable.
func (w *writer) close() error {
	for _, f := range []*os.File{w.out, w.empty} {
		if err := f.Sync(); err != nil {
			w.abandon()
			return &format.WriteError{File: w.path, Err: err}
		}
	}
	return w.abandon()
}

func (w *writer) abandon() error {
	a, b := w.out.Close(), w.empty.Close()
	for _, err := range []error{a, b} {
		if err != nil {
			return &format.WriteError{File: w.path, Err: err}
		}
	}
	return nil
}

// tell reports every million users.
func tell(p run.Progress, what string, done *int64, b *block) {
	before := *done >> 20
	*done += int64(b.users())
	if *done>>20 > before {
		p.Phase(fmt.Sprintf("%s %d users", what, *done))
	}
}
