package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"privrec/internal/system"
	"privrec/internal/tensor"
)

// lock is the right to write a run directory. It is a kernel lock on the file "lock", so it
// ends with the process in any case; the text of the file only tells others which process holds
// it.
type lock struct{ f *os.File }

type holder struct {
	PID  int    `json:"pid"`
	Host string `json:"host"`
}

const lockName = "lock"

// acquire takes the lock of dir, or fails with the name of the holder. It takes over what a
// dead process left, from any host: a container has another name after every start, and only
// the kernel knows. It fails on a file called lock with any other content.
func acquire(dir string) (*lock, error) {
	path := filepath.Join(dir, lockName)
	f, err := system.TakeFile(path)
	switch {
	case errors.Is(err, system.ErrBusy):
		defer f.Close()
		h, _ := readHolder(f)
		return nil, inUse(dir, h)
	case system.CannotLock(err):
		return nil, WithHint(err, "choose an --out on a file system with locks")
	case err != nil:
		return nil, WithHint(fmt.Errorf("lock run directory: %w", err), "choose a writable --out")
	}
	if _, ok := readHolder(f); !ok {
		f.Close()
		return nil, &UsageError{Message: fmt.Sprintf("%s is not the lock of a run", path), Fix: another}
	}
	host, _ := os.Hostname()
	text, err := json.Marshal(holder{os.Getpid(), host})
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(text, '\n'), 0)
	}
	l := &lock{f}
	if err != nil {
		l.release()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return l, nil
}

func inUse(dir string, h holder) error {
	who := "another process"
	if h.PID != 0 {
		who = fmt.Sprintf("process %d on %s", h.PID, h.Host)
	}
	return &UsageError{
		Message: fmt.Sprintf("run directory %s is being written by %s", dir, who),
		Fix:     "wait for it, stop it, or choose another --out", // the lock of a dead process needs no help
		busy:    true,
	}
}

// readHolder reads which process last wrote a lock file. ok is false when it is not a lock
// file. An empty file is one: its process was killed before it wrote.
func readHolder(f *os.File) (h holder, ok bool) {
	buf := make([]byte, 512)
	n, err := f.ReadAt(buf, 0)
	if n == 0 {
		return h, errors.Is(err, io.EOF)
	}
	ok = json.Unmarshal(buf[:n], &h) == nil && h.PID > 0
	return h, ok
}

// release frees the directory and removes the lock file.
func (l *lock) release() error {
	err := os.Remove(l.f.Name())
	return errors.Join(err, l.f.Close())
}

func simdPath() string { return tensor.SIMD() }
func workers() int     { return tensor.Workers() }

// setWorkers sets the number of threads; 0 takes all cores, also after an earlier task of this
// process asked for another number.
func setWorkers(n int) {
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	tensor.SetWorkers(n)
}

var floatName = func() string {
	var x any = tensor.Float(0)
	return fmt.Sprintf("%T", x)
}()

// garbagePercent is how much garbage a run may have, relative to its live memory. Tables live
// as long as the run, and steps reuse their buffers. The runtime's 100 % would take twice the
// memory and save hardly any collections.
const garbagePercent = 30

// leanHeap sets garbagePercent for the process, unless the environment variable GOGC is set.
func leanHeap() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
}
