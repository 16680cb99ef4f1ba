package inventory

import (
	"context"

	"privrec/internal/dataset"
	"privrec/internal/dataset/registry"
	"privrec/internal/report"
)

// Describe reads the files of a set and returns a description of their content.
func Describe(ctx context.Context, name string, opts registry.Options) (*registry.Description, error) {
	if _, ok, err := SlateSource(name, ""); err != nil || ok {
		if err == nil {
			err = &dataset.Error{File: name, Msg: "a set of slates has no description", Hint: "privrec data stats " +
				name + " counts it"}
		}
		return nil, err
	}
	if _, err := Find(name); err != nil {
		return nil, err
	}
	return registry.Describe(ctx, name, opts)
}

// Described returns a report of a set's files, their columns and the terms of their owner.
func Described(d *registry.Description) *report.Document {
	files := &report.Table{Name: "files", Title: "Files", Columns: report.Columns("", "file", "bytes", "sha256",
		"rows")}
	columns := &report.Table{Name: "columns", Title: "Columns", Columns: report.Columns("", "file", "column", "what",
		"type")}
	for _, f := range d.Files {
		files.Add(f.Name, f.Bytes, f.SHA256, string(f.Rows))
		for _, c := range f.Columns {
			typ := c.Type
			if c.List {
				typ = "list of " + typ
			}
			columns.Add(f.Name, c.Name, c.Role, typ)
		}
	}
	counts := &report.Table{Name: "counts", Title: "Interactions as they are read",
		Columns: report.Columns("", "what", "count")}
	counts.Add("users", d.Users)
	counts.Add("items", d.Items)
	counts.Add("rows", d.Rows)
	doc := &report.Document{
		Title: d.Set.Title, Subtitle: "data set " + d.Set.Name + ", sha256 " + d.Hash[:12],
		Facts:  []report.Fact{{Label: "from", Value: d.Set.Address}, {Label: "terms", Value: d.Set.Licence}},
		Tables: []*report.Table{counts, files, columns},
	}
	if d.Set.Cite != "" {
		doc.Facts = append(doc.Facts, report.Fact{Label: "cite", Value: d.Set.Cite})
	}
	if d.StandIn {
		doc.Notes = append(doc.Notes, "the rows are synthetic")
	}
	return doc
}
