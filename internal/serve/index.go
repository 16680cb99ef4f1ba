package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"privrec/internal/experiment"
	"privrec/internal/run"
)

// index finds runs and report pages below a folder. It reads the files of a run again only when
// one of them has changed.
type index struct {
	root *os.Root
	path string // of the folder

	mu    sync.Mutex
	known map[string]*Run // by name
	read  int             // how often a run was read
}

// Limits of a walk, since a whole disk may be served.
const (
	maxFolders = 50_000
	maxDepth   = 12
)

// found holds the runs and pages below the folder.
type found struct {
	Runs  []*Run   // by name
	Pages []string // of reports: HTML files in folders that are called tables
	Cut   bool     // there was more than a walk looks at
}

// scan looks for runs and pages. It opens no folder through a link.
func (x *index) scan() (*found, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := new(found)
	names, folders := []string(nil), 0
	tree := x.root.FS()
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && name == ".":
			return err
		case err != nil: // not ours to read, or gone since
			return fs.SkipDir
		case !d.IsDir():
			if path.Base(path.Dir(name)) == "tables" && path.Ext(name) == ".html" && d.Type().IsRegular() {
				out.Pages = append(out.Pages, name)
			}
			return nil
		case name != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		}
		if folders++; folders > maxFolders || strings.Count(name, "/") >= maxDepth {
			out.Cut = true
			return fs.SkipDir
		}
		if _, ok := x.regular(path.Join(name, "manifest.json")); ok {
			names = append(names, name)
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look for runs: %w", err)
	}
	slices.Sort(names) // WalkDir sorts by parts of a path
	out.Runs = x.readAll(names)
	x.known = make(map[string]*Run, len(out.Runs))
	for _, r := range out.Runs {
		x.known[r.Name] = r
	}
	return out, nil
}

// readAll returns runs, read on all cores if they are new or have changed.
func (x *index) readAll(names []string) []*Run {
	out := make([]*Run, len(names))
	var todo []int
	marks := make([]mark, len(names))
	for i, name := range names {
		marks[i] = x.mark(name)
		old := x.known[name]
		// Whether a running run still has its process, no file says.
		if old != nil && old.mark == marks[i] && old.State != run.StatusRunning {
			out[i] = old
		} else {
			todo = append(todo, i)
		}
	}
	x.read += len(todo)
	next := make(chan int)
	var wait sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(todo)) {
		wait.Go(func() {
			for i := range next {
				out[i] = x.readRun(names[i])
				out[i].mark = marks[i]
			}
		})
	}
	for _, i := range todo {
		next <- i
	}
	close(next)
	wait.Wait()
	return out
}

// runFiles lists the files of a run that are read here.
var runFiles = [...]string{"manifest.json", "metrics.json", "privacy.json", "config.yaml", "lock"}

// mark tells whether files have changed since it was taken.
type mark [len(runFiles)]struct{ changed, size int64 }

func (x *index) mark(name string) (m mark) {
	for i, f := range runFiles {
		if info, err := x.root.Lstat(path.Join(name, f)); err == nil {
			m[i].changed, m[i].size = info.ModTime().UnixNano(), info.Size()
		}
	}
	return m
}

// regular returns the information about a regular file, and false for a link, a device or no file.
func (x *index) regular(name string) (fs.FileInfo, bool) {
	info, err := x.root.Lstat(name)
	return info, err == nil && info.Mode().IsRegular()
}

// dir returns the path of a run, for packages that read runs by path.
func (x *index) dir(name string) string { return filepath.Join(x.path, filepath.FromSlash(name)) }

// errLink is the problem of a run with a file that is a link or no regular file.
var errLink = errors.New("a link, or no file; only files of the run itself are read")

// readRun reads one run. Files that cannot be read are problems of the run, not errors: the list shows them.
func (x *index) readRun(name string) *Run {
	r := &Run{Name: name}
	for _, f := range runFiles {
		info, err := x.root.Lstat(path.Join(name, f))
		if err == nil && !info.Mode().IsRegular() {
			return r.broken(f, errLink)
		}
	}
	m, err := run.ReadManifest(x.dir(name))
	if err != nil {
		return r.broken("manifest.json", err)
	}
	r.manifest(m)
	o, err := experiment.ReadOutcome(x.dir(name))
	switch {
	case errors.Is(err, fs.ErrNotExist): // not finished, or a task that measures nothing
	case err != nil:
		r.problem("metrics.json", err)
	default:
		r.outcome(o)
	}
	if r.Account, err = experiment.ReadAccount(x.dir(name)); err != nil {
		r.problem("privacy.json", err)
	}
	return r
}
