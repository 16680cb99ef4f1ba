package printed

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"privrec/internal/config"
)

// builtIn marks the names of files that come with the program.
const builtIn = "built-in configs/"

// Load reads the transcriptions of a tree: the files of its folder "printed", the papers in the
// order of their names and then the reference results. A problem names file, line and field.
func Load(tree fs.FS) ([]*File, error) {
	names, err := fs.Glob(tree, "printed/*.yaml")
	if err != nil {
		return nil, err
	}
	var out []*File
	for _, name := range names {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, fmt.Errorf("transcription: %w", err)
		}
		f, err := Parse(builtIn+name, text)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	slices.SortStableFunc(out, func(a, b *File) int {
		if (a.Paper == Reference) != (b.Paper == Reference) {
			if b.Paper == Reference {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Paper, b.Paper)
	})
	return out, nil
}

// Open reads one transcription from disk.
func Open(path string) (*File, error) {
	f, doc, err := config.Load(path, nil, File{})
	if err != nil {
		return nil, err
	}
	return f.check(doc)
}

// Parse reads one transcription from text. name is what messages call it.
func Parse(name string, text []byte) (*File, error) {
	f, doc, err := config.Parse(name, text, nil, File{})
	if err != nil {
		return nil, err
	}
	return f.check(doc)
}
