package format

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
	"slices"
	"strconv"
	"strings"
	"syscall"

	"privrec/internal/dataset"
	"privrec/internal/system"
)

// atomicExts holds the ends of the file names of an atomic data set.
var atomicExts = []string{cardExt, ".inter", ".user"}

// WriteAtomic writes a log and, if not nil, features as RecBole atomic files dir/name.inter and dir/name.user. For
// synthetic rows it also writes a card, dir/name.standin, with the note. From the card registry.Load knows that they
// are synthetic, wherever the folder is moved. It writes each file whole or not at all and makes dir if it is missing.
// Reading the files back gives the same log, except for its Hash. If files of the same name exist, it fails and leaves
// them as they are, or with replace removes them once all new ones are written.
func WriteAtomic(dir, name string, l *dataset.Log, f *dataset.Features, note string,
	replace bool) (files []dataset.File, err error) {
	if err := writable(l, f); err != nil {
		return nil, err
	}
	there := map[string]bool{} // files that existed before
	for _, ext := range atomicExts {
		path := filepath.Join(dir, name+ext)
		if info, err := os.Lstat(path); err == nil {
			if !replace || info.IsDir() {
				return nil, &WriteError{File: path, Err: syscall.EEXIST}
			}
			there[path] = true
		}
	}
	_, missing := os.Stat(dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, &WriteError{File: dir, Err: err}
	}
	var staged, made []string // temporary names of files; new files under their final names
	defer func() {
		for _, tmp := range staged {
			os.Remove(tmp) // fails once renamed, as it should
		}
		if err == nil {
			return
		}
		for _, path := range made { // half a data set is worse than none
			if !there[path] {
				os.Remove(path)
			}
		}
		files = nil
		if missing != nil {
			os.Remove(dir)
		}
	}()
	stage := func(ext string, body func(*bufio.Writer)) {
		if err == nil {
			var f dataset.File
			var tmp string
			if f, tmp, err = stageFile(filepath.Join(dir, name+ext), body); err == nil {
				files, staged = append(files, f), append(staged, tmp)
			}
		}
	}
	if l.StandIn {
		stage(cardExt, func(w *bufio.Writer) { w.WriteString(note) })
	}
	stage(".inter", func(w *bufio.Writer) { WriteInter(w, l) })
	if f != nil {
		stage(".user", func(w *bufio.Writer) { writeUsers(w, f) })
	}
	if err != nil {
		return files, err
	}
	for i, f := range files {
		if err := os.Rename(staged[i], f.Path); err != nil {
			return files, &WriteError{File: f.Path, Err: err}
		}
		made = append(made, f.Path)
	}
	for path := range there { // a card or users of the old set would be taken for those of the new one
		if !slices.Contains(made, path) {
			if err := os.Remove(path); err != nil {
				return files, &WriteError{File: path, Err: err}
			}
		}
	}
	return files, nil
}

// writable returns an error for ids and values that would not read back: the format has no quotes.
func writable(l *dataset.Log, f *dataset.Features) error {
	check := func(what string, words []string) error {
		for _, w := range words {
			if strings.ContainsAny(w, "\t\r\n") {
				return fmt.Errorf("dataset: %s %q has a tab or a line end, which atomic files cannot hold", what, w)
			}
		}
		return nil
	}
	if err := errors.Join(check("user", l.UserIDs), check("item", l.ItemIDs)); err != nil || f == nil {
		return err
	}
	err := check("user", f.UserIDs)
	for _, c := range f.Columns {
		err = errors.Join(err, check("column", []string{c.Name}), check("value of "+c.Name, c.Levels))
	}
	return err
}

// WriteError is the error for a file or folder that cannot be written. It does not blame the data.
type WriteError struct {
	File string
	Err  error
}

// Error returns a message with the final file, not the temporary one beside it.
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

// Hint returns advice, or "" if the disk is full, which needs none.
func (e *WriteError) Hint() string {
	switch {
	case errors.Is(e.Err, syscall.ENOSPC):
		return ""
	case errors.Is(e.Err, syscall.EEXIST):
		return "choose another --out, or --force to replace what is there"
	}
	return "choose a folder that can be written"
}

// WriteInter prints rows in the form for ReadInter. Errors stay in w, and its Flush returns them.
func WriteInter(w *bufio.Writer, l *dataset.Log) {
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

// writeUsers prints one row per user. A missing value is an empty field.
func writeUsers(w *bufio.Writer, f *dataset.Features) {
	w.WriteString("user_id:token")
	for _, c := range f.Columns {
		w.WriteString("\t" + c.Name + map[dataset.Kind]string{dataset.Categorical: ":token",
			dataset.Numeric: ":float"}[c.Kind])
	}
	for u, id := range f.UserIDs {
		w.WriteString("\n" + id)
		for _, c := range f.Columns {
			w.WriteByte('\t')
			switch {
			case c.Kind == dataset.Numeric && c.Numbers[u] == c.Numbers[u]: // not NaN
				w.WriteString(strconv.FormatFloat(c.Numbers[u], 'g', -1, 64))
			case c.Kind == dataset.Categorical && c.Codes[u] >= 0:
				w.WriteString(c.Levels[c.Codes[u]])
			}
		}
	}
	w.WriteByte('\n')
}

// stageFile writes and syncs a temporary file beside path, which the caller renames to path. On
// an error it leaves nothing behind.
func stageFile(path string, body func(*bufio.Writer)) (f dataset.File, temp string, err error) {
	f.Path = path
	temp, err = system.Stage(path, system.Shown, func(file io.Writer) error {
		sum := sha256.New()
		w := bufio.NewWriterSize(io.MultiWriter(file, sum), 1<<17)
		body(w)
		err := w.Flush()
		f.SHA256 = hex.EncodeToString(sum.Sum(nil))
		return err
	})
	if err == nil {
		var info fs.FileInfo
		if info, err = os.Stat(temp); err == nil {
			f.Bytes = info.Size()
		}
	}
	if err != nil {
		return dataset.File{}, "", &WriteError{File: path, Err: err}
	}
	return f, temp, nil
}

// cardExt is the end of the name of the card beside synthetic files.
const cardExt = ".standin"

// HasCard reports whether a card lies beside a file, which says that it is synthetic: x.inter,
// x.inter.gz and x.inter.zst all have x.standin.
func HasCard(path string) bool {
	path = strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	_, err := os.Stat(strings.TrimSuffix(path, ".inter") + cardExt)
	return err == nil
}

// CardLevel ends every card. It says what results on the rows are worth.
const CardLevel = `Results on it are evidence of level D: they show that a program works, not how well a
method does on real data.
`
