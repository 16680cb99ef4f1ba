package matrix

import (
	"fmt"
	"io/fs"

	"privrec/internal/config"
	"privrec/internal/run"
)

// Load reads a file of the disk. Configurations are found relative to it.
func Load(file string, tasks []run.Task) (*Matrix, error) {
	m, doc, err := config.Load(file, nil, Matrix{})
	if err != nil {
		return nil, err
	}
	m.doc, m.file, m.tasks = doc, file, tasks
	return &m, m.check()
}

// BuiltIn reads a file that comes with the program, by its name, such as "ml-100k".
func BuiltIn(tree fs.FS, name string, tasks []run.Task) (*Matrix, error) {
	file := "matrix/" + name + ".yaml"
	text, err := fs.ReadFile(tree, file)
	if err != nil {
		return nil, fmt.Errorf("matrix: %w", err)
	}
	m, doc, err := config.Parse("built-in configs/"+file, text, nil, Matrix{})
	if err != nil {
		return nil, err
	}
	m.doc, m.tree, m.file, m.tasks = doc, tree, file, tasks
	return &m, m.check()
}

// check reports every problem of a file by its line, and lets all tasks check their configurations.
func (m *Matrix) check() error {
	if err := m.Form(m.doc, m.tasks); err != nil {
		return err
	}
	_, err := m.grids()
	return err
}
