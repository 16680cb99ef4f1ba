package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"privrec/internal/system"
)

const lockName = "lock"

// lock holds the exclusive right to write a run directory. It is a kernel lock on the file "lock", which ends with its
// process. The text of the file only names that process.
type lock struct{ f *os.File }

type holder struct {
	PID  int    `json:"pid"`
	Host string `json:"host"`
}

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

// livingHolder returns the id of the living process on this machine that the lock file names, 0 if there is none. It
// does not touch the lock: holding it for a moment could make the next process fail.
func livingHolder(dir string) int {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return 0
	}
	defer f.Close()
	h, ok := readHolder(f)
	host, _ := os.Hostname()
	if !ok || h.PID == 0 || h.Host != host || !system.Alive(h.PID) {
		return 0
	}
	return h.PID
}

// abandoned reports whether no process writes a directory: its lock file is gone, or names a process of this machine
// that has ended. A process on another machine counts as alive.
func abandoned(dir string) bool {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer f.Close()
	h, ok := readHolder(f)
	host, _ := os.Hostname()
	return ok && h.PID > 0 && h.Host == host && !system.Alive(h.PID)
}
