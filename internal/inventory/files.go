package inventory

import (
	"fmt"
	"io"

	"privrec/internal/fetch"
	"privrec/internal/report"
)

// Receipt shows what a fetch brought: users see a table, and JSON is the receipt itself.
type Receipt struct{ fetch.Receipt }

// Text writes the files, and notes on the archives that they came in.
func (r Receipt) Text(w io.Writer) error {
	t := &report.Table{Name: "files", Title: fmt.Sprintf("%s, fetched %s", r.Name, r.Time.Format("2006-01-02 15:04 MST")), Columns: report.Columns("", "file", "bytes", "sha256")}
	for _, f := range r.Files {
		t.Add(f.Name, f.Bytes, f.SHA256)
	}
	for _, x := range r.Archives {
		switch {
		case x.Want != "":
			t.Notes = append(t.Notes, fmt.Sprintf("%s is not the published file (%s) and was accepted: evidence of level C at most.", x.Name, x.Want))
		case x.Published == "":
			t.Notes = append(t.Notes, x.Name+" has no published hash; from now on it is compared with this receipt.")
		}
	}
	return t.Text(w)
}

// Verification shows which files are on the disk: users see tables of sets and files, and JSON
// is the reports themselves.
type Verification []fetch.Report

// Text writes a line a set and a line a file.
func (v Verification) Text(w io.Writer) error {
	sets := &report.Table{Name: "sets", Title: "Data sets", Columns: report.Columns("", "set", "verdict", "folder")}
	files := &report.Table{Name: "files", Title: "Files", Columns: report.Columns("", "file", "state", "bytes", "compared with", "sha256")}
	for _, x := range v {
		sets.Add(x.Name, x.Verdict, x.Folder)
		for _, f := range x.Files {
			files.Add(x.Name+"/"+f.Name, string(f.State), f.Bytes, f.By, fmt.Sprintf("%.12s", f.Got))
		}
	}
	if len(sets.Rows) == 0 {
		_, err := fmt.Fprintln(w, "no data set is present")
		return err
	}
	if err := sets.Text(w); err != nil || len(files.Rows) == 0 {
		return err
	}
	if _, err := fmt.Fprintln(w); err != nil {
		return err
	}
	return files.Text(w)
}
