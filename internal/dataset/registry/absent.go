package registry

import (
	"os"
	"path/filepath"
)

// Absent returns the sets of a name, one or one for each domain, whose files are not in dir. dir "" takes
// $PRIVREC_DATA. A stand-in needs no files. Absent only looks at the names of files: Load says whether they can be
// read.
func Absent(name, dir string) ([]Set, error) {
	sets, err := behind(name, dir)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		dir = os.Getenv("PRIVREC_DATA")
	}
	var out []Set
	for _, s := range sets {
		if s.StandIn == nil && (dir == "" || !s.Complete(filepath.Join(dir, s.Name))) {
			out = append(out, s)
		}
	}
	return out, nil
}

// behind returns the sets of a data set of one or of several domains. Own data in dir have several if they have a log
// of each.
func behind(name, dir string) ([]Set, error) {
	if c, err := FindCross(name); err == nil && (!IsOwn(name) || IsOwnCross(name, dir)) {
		return c.sets, nil
	}
	s, err := Find(name)
	return []Set{s}, err
}

// Complete reports whether all files of one of the set's layouts are in a folder.
func (s Set) Complete(folder string) bool {
	for _, l := range s.Layouts {
		all := true
		for _, f := range l.Files {
			all = all && Stored(filepath.Join(folder, f))
		}
		if all {
			return true
		}
	}
	return false
}

// Stored reports whether there is a file of that name, as it is or compressed.
func Stored(path string) bool {
	for _, ext := range []string{"", ".gz", ".zst"} {
		if st, err := os.Stat(path + ext); err == nil && st.Mode().IsRegular() {
			return true
		}
	}
	return false
}
