package schema

import (
	"privrec/internal/config"
	"privrec/internal/config/explain"
	js "privrec/internal/jsonschema"
)

// File is a YAML file that is no configuration of a task, such as a grid.
type File struct {
	Name   string // one word, as in grid
	About  string // what the file is for, with the command that reads it
	Shape  *config.Shape
	Fields []config.Field
}

// FileOf returns the file that is read over def. Its fields are those of the type.
func FileOf[T any](name, about string, def T) File {
	return File{name, about, config.ShapeOf(def), config.Fields[T]()}
}

// FileName returns the name of the file of the schema in docs/schemas.
func (f File) FileName() string { return f.Name + ".json" }

// Schema returns the schema. It knows types and keys; ranges and relations the program checks.
func (f File) Schema() *js.Schema {
	return Of(Source{
		ID: f.FileName(), Title: "privrec " + f.Name,
		About:    f.About + " The schema has keys and types. The program checks ranges, words and relations when it reads the file.",
		Shape:    f.Shape,
		Comments: explain.BuiltIn(),
	})
}
