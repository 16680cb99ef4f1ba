package schema

import (
	"sync"

	"privrec/internal/config"
	"privrec/internal/config/explain"
	js "privrec/internal/jsonschema"
)

// File describes a YAML file that is not the configuration of a task, such as a grid.
type File struct {
	Name   string               // one word, as in grid
	About  string               // what the file is for, with the command that reads it
	Shape  func() *config.Shape // they are made when asked for: every start of the program lists the files
	Fields func() []config.Field

	probe func() config.Probed // nil: the schema has keys and types alone
}

// FileOf returns the description of a file that is read over def. Its fields are those of the type.
func FileOf[T any](name, about string, def T) File {
	return File{Name: name, About: about, Shape: func() *config.Shape { return config.ShapeOf(def) },
		Fields: config.Fields[T]}
}

// Checked returns the file with the results of its checks. probe is called only if a schema or the rules are wanted.
func (f File) Checked(probe func() config.Probed) File {
	f.probe = sync.OnceValue(probe)
	return f
}

// FileName returns the name under which privrec list schema --out writes the file's schema.
func (f File) FileName() string { return f.Name + ".json" }

// Schema returns the schema. Without Checked it contains types and keys only.
func (f File) Schema() *js.Schema {
	s := Source{ID: f.FileName(), Title: "privrec " + f.Name, About: f.About, Shape: f.Shape(),
		Comments: explain.BuiltIn()}
	if f.probe != nil {
		s.About += " Configurations that it names, and what it says of them, the program checks when it reads the file."
		s.Probed = f.probe()
	} else {
		s.About += " The schema has keys and types. The program checks ranges, words and relations when it reads the " +
			"file."
	}
	return Of(s)
}
