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
	"sync"

	"privrec/internal/system"
	"privrec/internal/tensor"
)

// lock holds the exclusive right to write a run directory. It is a kernel lock on the file "lock", which ends with its
// process. The text of the file only names that process.
type lock struct{ f *os.File }

type holder struct {
	PID  int    `json:"pid"`
	Host string `json:"host"`
}

const lockName = "lock"

// acquire takes the lock of dir; if a live process has it, acquire fails and names that process. It takes over the lock
// file of a dead process from any host, since a container has another name after every start. It fails on a file called
// lock with any other content.
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

// readHolder reads which process last wrote a lock file. An empty file counts as one: its process was killed before it
// wrote. ok is false for a file of another kind.
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

// setWorkers sets the number of threads. 0 means all cores, whatever an earlier task of this process set.
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

// garbagePercent bounds the garbage of a run relative to its live memory. Tables live as long as the run and steps
// reuse their buffers, so the runtime's default of 100 % would take twice the memory and save hardly any collections.
const garbagePercent = 30

// unused returns a block that counts as live memory and is never touched, so that it is not resident. A small run has
// 10 MiB of garbage between two collections with it; with a few hundred KiB it would spend more time collecting than
// training.
var unused = sync.OnceValue(func() []byte { return make([]byte, 32<<20) })

// leanHeap sets garbagePercent for the process, unless the environment variable GOGC is set.
func leanHeap() {
	if os.Getenv("GOGC") == "" {
		unused()
		debug.SetGCPercent(garbagePercent)
	}
}
