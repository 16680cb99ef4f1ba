package dataset

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// WriteAtomic writes a log and, when not nil, features as RecBole atomic files
// dir/name.inter and dir/name.user, and for synthetic rows dir/name.standin, a card that
// makes Load know them for what they are, wherever the folder goes. Each file appears whole or not at all; dir is made
// when missing. Reading the files back gives the same log, but for its Hash.
func WriteAtomic(dir, name string, l *Log, f *Features) (files []File, err error) {
	_, there := os.Stat(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, &WriteError{File: dir, Err: err}
	}
	defer func() {
		if err != nil { // half a data set is worse than none
			for _, f := range files {
				os.Remove(f.Path)
			}
			files = nil
			if there != nil {
				os.Remove(dir)
			}
		}
	}()
	write := func(ext string, body func(*bufio.Writer)) {
		if err == nil {
			var f File
			if f, err = writeFile(filepath.Join(dir, name+ext), body); err == nil {
				files = append(files, f)
			}
		}
	}
	if l.StandIn {
		write(cardExt, func(w *bufio.Writer) { w.WriteString(card(l)) })
	}
	write(".inter", func(w *bufio.Writer) { writeInter(w, l) })
	if f != nil {
		write(".user", func(w *bufio.Writer) { writeUsers(w, f) })
	}
	return files, err
}

// WriteError is a file or folder that cannot be written. It says nothing about data.
type WriteError struct {
	File string
	Err  error
}

// Error names the file that was asked for, not the temporary one beside it.
func (e *WriteError) Error() string {
	err := e.Err
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Sprintf("write %s: %v", e.File, err)
}

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }

// Hint is known unless the disk is full, which speaks for itself.
func (e *WriteError) Hint() string {
	if errors.Is(e.Err, syscall.ENOSPC) {
		return ""
	}
	return "choose a folder that can be written"
}

// writeInter prints rows; errors stay in w and surface at its Flush.
func writeInter(w *bufio.Writer, l *Log) {
	w.WriteString("user_id:token\titem_id:token")
	if l.Values != nil {
		w.WriteString("\trating:float")
	}
	if l.Times != nil {
		w.WriteString("\ttimestamp:float")
	}
	w.WriteByte('\n')
	var b []byte
	for row := range l.Users {
		b = append(b[:0], l.UserIDs[l.Users[row]]...)
		b = append(b, '\t')
		b = append(b, l.ItemIDs[l.Items[row]]...)
		if l.Values != nil {
			b = append(b, '\t')
			b = strconv.AppendFloat(b, float64(l.Values[row]), 'g', -1, 32)
		}
		if l.Times != nil {
			b = append(b, '\t')
			b = strconv.AppendInt(b, l.Times[row], 10)
		}
		w.Write(append(b, '\n'))
	}
}

// writeUsers prints a row a user; a missing value is an empty field.
func writeUsers(w *bufio.Writer, f *Features) {
	w.WriteString("user_id:token")
	for _, c := range f.Columns {
		w.WriteString("\t" + c.Name + map[Kind]string{Categorical: ":token", Numeric: ":float"}[c.Kind])
	}
	for u, id := range f.UserIDs {
		w.WriteString("\n" + id)
		for _, c := range f.Columns {
			w.WriteByte('\t')
			switch {
			case c.Kind == Numeric && c.Numbers[u] == c.Numbers[u]: // not NaN
				w.WriteString(strconv.FormatFloat(c.Numbers[u], 'g', -1, 64))
			case c.Kind == Categorical && c.Codes[u] >= 0:
				w.WriteString(c.Levels[c.Codes[u]])
			}
		}
	}
	w.WriteByte('\n')
}

// writeFile writes to a temporary file beside path, syncs it and renames it. On any
// error nothing is left behind.
func writeFile(path string, body func(*bufio.Writer)) (File, error) {
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return File{}, &WriteError{File: path, Err: err}
	}
	defer os.Remove(tmp.Name()) // fails once renamed, as it should
	sum := sha256.New()
	w := bufio.NewWriterSize(io.MultiWriter(tmp, sum), 1<<17)
	body(w)
	err = w.Flush()
	if err == nil {
		err = tmp.Chmod(0o644)
	}
	if err == nil {
		err = tmp.Sync()
	}
	size, seekErr := tmp.Seek(0, io.SeekCurrent)
	if err == nil {
		err = seekErr
	}
	if closeErr := tmp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return File{}, &WriteError{File: path, Err: err}
	}
	return File{Path: path, Bytes: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}

// String names the file with its size.
func (f File) String() string { return fmt.Sprintf("%s (%d bytes)", f.Path, f.Bytes) }
