package slate

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/registry"
)

// Where to get the logs.
const (
	zhihuAddress = "https://github.com/THUIR/ZhihuRec-Dataset"
	mindAddress  = "https://msnews.github.io/"
)

// zhihuWants and mindWants hold the counts that the paper prints for its logs with L = 5 and T
// = 10, and the counts in the authors' index of pairs.
var (
	zhihuWants = []dataset.Want{
		{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 7963, Items: 64573, Rows: 1000026}, Paper: true,
			From: "table 2"},
		{Rung: dataset.Rung{Name: "clicked", Rows: 271725}, Paper: true, From: "table 2"},
		{Rung: dataset.Rung{Name: "pairs", Users: 7915, Rows: 213172}, Paper: true,
			From: "section 5.1 and the authors' index of pairs"},
	}
	mindWants = []dataset.Want{
		{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 94057, Items: 34376, Rows: 8584442}, Paper: true,
			From: "table 2"},
		{Rung: dataset.Rung{Name: "clicked", Rows: 347727}, Paper: true, From: "table 2"},
		{Rung: dataset.Rung{Name: "pairs", Users: 67992, Rows: 291595}, Paper: true,
			From: "section 5.1 and the authors' index of pairs"},
	}
)

// grade sets the level of evidence by comparing the counts of the log with the paper's. It compares those of the pairs
// only if they have the paper's lengths.
func (s *Set) grade(wants []dataset.Want) {
	if s.Train.T != tableT || s.Train.L != tableL {
		wants = wants[:len(wants)-1]
	}
	s.Level = dataset.LevelB
	for _, c := range s.Ladder.Compare(wants) {
		if !c.OK() {
			s.Level = dataset.LevelC
			s.Notes = append(s.Notes, c.String())
		}
	}
}

func loadZhihuRec(ctx context.Context, name string, o Options) (*Set, error) {
	path, err := inFolder(ctx, name, zhihuAddress, o, "inter_impression.csv")
	if err != nil {
		return nil, err
	}
	l, err := ReadZhihu(ctx, path)
	if err != nil {
		return nil, err
	}
	s, err := Build(l, o)
	if err != nil {
		return nil, err
	}
	s.Name = name
	s.grade(zhihuWants)
	return s, nil
}

func loadMINDSmall(ctx context.Context, name string, o Options) (*Set, error) {
	train, err := inFolder(ctx, name, mindAddress, o, filepath.Join("train", "behaviors.tsv"))
	if err != nil {
		return nil, err
	}
	dev, err := inFolder(ctx, name, mindAddress, o, filepath.Join("dev", "behaviors.tsv"))
	if err != nil {
		return nil, err
	}
	m, err := ReadMIND(ctx, train, dev)
	if err != nil {
		return nil, err
	}
	s, err := BuildMIND(m, o)
	if err != nil {
		return nil, err
	}
	s.Name = name
	s.grade(mindWants)
	return s, nil
}

// The file names of the table of an own set.
const (
	ownTSV = "impressions.tsv"
	ownCSV = "impressions.csv"
)

// loadOwn reads impressions.tsv or impressions.csv of a folder that the registry does not know.
func loadOwn(ctx context.Context, name string, o Options) (*Set, error) {
	path, form, err := ownTable(ctx, name, o)
	if err != nil {
		return nil, err
	}
	columns, files, err := registry.ColumnsOf(ctx, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	l, err := ReadGeneric(ctx, path, form, columns)
	if err != nil {
		return nil, err
	}
	for _, f := range files { // what a column means depends on it
		l.Hash = dataset.SourceHash(l.Hash, f.SHA256)
	}
	s, err := Build(l, o)
	if err != nil {
		return nil, err
	}
	s.Name, s.Level, s.Notes = name, dataset.LevelC, append(s.Notes, l.Left...)
	return s, nil
}

// ownTable returns the path and form of the table of an own set.
func ownTable(ctx context.Context, name string, o Options) (path string, form format.Form, err error) {
	dir, err := dataDir(name, o.Dir)
	if err != nil {
		return "", form, err
	}
	tabs, noTabs := inFolder(ctx, name, "", o, ownTSV)
	commas, noCommas := inFolder(ctx, name, "", o, ownCSV)
	for _, err := range []error{noTabs, noCommas} {
		if err != nil && !errors.Is(err, dataset.ErrNotFound) {
			return "", form, err
		}
	}
	switch {
	case noTabs == nil && noCommas == nil:
		return "", form, notTheSame(tabs, commas)
	case noTabs == nil:
		return tabs, format.TSV, nil
	case noCommas == nil:
		return commas, format.CSV, nil
	}
	return "", form, &dataset.Error{File: filepath.Join(dir, name),
		Msg: fmt.Sprintf("looked for %s and %s (plain, .gz or .zst)", ownTSV, ownCSV), Err: dataset.ErrNotFound,
		Hint: "put a table with the columns " + strings.Join(genericColumns, ", ") +
			" there, see docs/add-your-own-data.md"}
}

// notTheSame returns the error for two files in place of one.
func notTheSame(path, other string) error {
	return &dataset.Error{File: path, Msg: "and " + filepath.Base(other) + " beside it are not the same",
		Hint: "keep the right one"}
}

// inFolder returns the path of a file of a set.
func inFolder(ctx context.Context, name, address string, o Options, file string) (string, error) {
	dir, err := dataDir(name, o.Dir)
	if err != nil {
		return "", err
	}
	path, err := find(ctx, filepath.Join(dir, name), file)
	var e *dataset.Error
	if errors.Is(err, dataset.ErrNotFound) && errors.As(err, &e) && address != "" {
		e.Hint = fmt.Sprintf("get it from %s and put it into %s; standin-slates needs no files", address,
			filepath.Join(dir, name))
	}
	return path, err
}
