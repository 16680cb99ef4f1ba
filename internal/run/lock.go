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
	"syscall"

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
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, WithHint(fmt.Errorf("lock run directory: %w", err), "choose a writable --out")
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			defer f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				h, _ := readHolder(f)
				return nil, inUse(dir, h)
			}
			return nil, WithHint(fmt.Errorf("lock %s: %w", path, err), "choose an --out on a file system with locks")
		}
		// The file may have been removed by its last holder between our open
		// and our lock; then another process can hold a lock on a new file.
		if !SameFile(f, path) {
			f.Close()
			continue
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

// SameFile reports whether path still names the open file f.
func SameFile(f *os.File, path string) bool {
	a, err1 := f.Stat()
	b, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
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
