package record

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"privrec/internal/run"
)

// KeptRuns is the path of this project's folder of kept runs, from its root.
const KeptRuns = "docs/results/records/runs"

// Shelf is a folder of kept runs, by the names of their directories. It is safe for several goroutines.
type Shelf struct {
	dir string

	mu   sync.Mutex
	temp string            // folder of unpacked runs; "": none was asked for
	out  map[string]string // directory of each unpacked run
	used map[string]bool   // names that were asked for and found
}

// OpenShelf opens a folder of kept runs. It fails if there is none.
func OpenShelf(dir string) (*Shelf, error) {
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, run.WithHint(fmt.Errorf("no folder of kept runs: %s", dir),
			"run the command in a clone of the project, or name the folder")
	}
	return &Shelf{dir: dir, out: map[string]string{}, used: map[string]bool{}}, nil
}

// path returns the path of a run's file.
func (s *Shelf) path(name string) string { return filepath.Join(s.dir, name+".json") }

// Find unpacks a run once, and returns its directory and the reason why its results are stale; "" if they are not. ok
// is false if the shelf has no such run.
func (s *Shelf) Find(name string) (dir, stale string, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if dir, ok := s.out[name]; ok {
		return dir, "", true, nil
	}
	if _, err := os.Stat(s.path(name)); err != nil {
		return "", "", false, nil
	}
	k, err := ReadKept(s.path(name))
	if err != nil {
		return "", "", false, err
	}
	if k.Name != name {
		return "", "", false, fmt.Errorf("%s: it is of %s", s.path(name), k.Name)
	}
	s.used[name] = true
	if stale, err = k.stale(); stale != "" || err != nil {
		return "", stale, err == nil, err
	}
	if s.temp == "" {
		if s.temp, err = os.MkdirTemp("", "privrec-records-"); err != nil {
			return "", "", false, err
		}
	}
	dir = filepath.Join(s.temp, name)
	if err := k.Unpack(dir); err != nil {
		return "", "", false, fmt.Errorf("%s: %w", s.path(name), err)
	}
	s.out[name] = dir
	return dir, "", true, nil
}

// Fresh reports whether the shelf has a run with the results that this program would give.
func (s *Shelf) Fresh(name string) (bool, error) {
	if _, err := os.Stat(s.path(name)); err != nil {
		return false, nil
	}
	k, err := ReadKept(s.path(name))
	if err != nil {
		return false, err
	}
	stale, err := k.stale()
	return stale == "", err
}

// Took returns the seconds that a kept run took. An attempt counts with its wall time, or with its processor time where
// that is less, as on a busy machine.
func (s *Shelf) Took(name string) (seconds float64, err error) {
	k, err := ReadKept(s.path(name))
	if err != nil {
		return 0, err
	}
	var m run.Manifest
	if err := json.Unmarshal(k.Manifest, &m); err != nil {
		return 0, fmt.Errorf("%s: manifest: %w", s.path(name), err)
	}
	return m.Took(), nil
}

// Keep puts a finished run on the shelf, and replaces what was kept of it before.
func (s *Shelf) Keep(dir string) error {
	k, err := KeepRun(dir)
	if err != nil {
		return err
	}
	return k.Write(s.path(k.Name))
}

// Unused returns the kept runs that nobody asked for, by name.
func (s *Shelf) Unused() (names []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := filepath.Glob(filepath.Join(s.dir, "*.json"))
	if err != nil {
		return nil, err
	}
	for _, path := range found {
		if name := strings.TrimSuffix(filepath.Base(path), ".json"); !s.used[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Close removes the unpacked runs.
func (s *Shelf) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.temp == "" {
		return nil
	}
	temp := s.temp
	s.temp, s.out = "", map[string]string{}
	return os.RemoveAll(temp)
}
