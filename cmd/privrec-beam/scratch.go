package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"privrec/internal/system"
)

// scratchPrefix is the prefix of folder names on a worker's machine.
const scratchPrefix = "privrec-beam-work-"

// scratch creates a folder on this machine for the files of one attempt at a piece of work, until end is called. It
// holds true rows. Once a process, leftovers of killed processes are removed first.
func scratch() (dir string, end func(), err error) {
	sweepOnce()
	for range 10 {
		if dir, err = os.MkdirTemp("", scratchPrefix); err != nil {
			return "", nil, err
		}
		held, err := system.TakeFolder(dir)
		if err != nil && !system.CannotLock(err) { // another process takes it for one that was left
			os.RemoveAll(dir)
			continue
		}
		return dir, func() {
			os.RemoveAll(dir)
			held.Free()
		}, nil
	}
	return "", nil, err
}

var sweepOnce = sync.OnceFunc(func() { sweep(os.TempDir()) })

// sweep removes the subfolders that no process holds. Those of other users stay.
func sweep(in string) {
	list, err := os.ReadDir(in)
	if err != nil {
		return
	}
	for _, e := range list {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), scratchPrefix) {
			continue
		}
		path := filepath.Join(in, e.Name())
		if held, err := system.TakeFolder(path); err == nil {
			os.RemoveAll(path)
			held.Free()
		}
	}
}
