package run

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock is the right to write a run directory. It is a kernel lock on the file
// "lock", so it ends with the process whatever kills it; the file's text only
// tells others who holds it.
type lock struct{ f *os.File }

type holder struct {
	PID  int    `json:"pid"`
	Host string `json:"host"`
}

// acquire takes the lock of dir or says who has it. What a dead process of
// this host left is taken over; what another host left is not, because a shared
// file system may not pass kernel locks on.
func acquire(dir string) (*lock, error) {
	path := filepath.Join(dir, "lock")
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, WithHint(fmt.Errorf("lock run directory: %w", err), "choose a writable --out")
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
			defer f.Close()
			if errors.Is(err, syscall.EWOULDBLOCK) {
				return nil, inUse(dir, readHolder(f))
			}
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		// The file may have been removed by its last holder between our open
		// and our lock; then another process can hold a lock on a new file.
		if !sameFile(f, path) {
			f.Close()
			continue
		}
		host, _ := os.Hostname()
		if h := readHolder(f); h.PID != 0 && h.Host != host {
			f.Close()
			return nil, inUse(dir, h)
		}
		text, err := json.Marshal(holder{os.Getpid(), host})
		if err == nil {
			err = f.Truncate(0)
		}
		if err == nil {
			_, err = f.WriteAt(append(text, '\n'), 0)
		}
		if err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		return &lock{f}, nil
	}
}

func inUse(dir string, h holder) error {
	who := "another process"
	if h.PID != 0 {
		who = fmt.Sprintf("process %d on %s", h.PID, h.Host)
	}
	return &UsageError{
		Message: fmt.Sprintf("run directory %s is being written by %s", dir, who),
		Fix:     "wait for it, choose another --out, or, if that process is dead, delete " + filepath.Join(dir, "lock"),
	}
}

func readHolder(f *os.File) holder {
	var h holder
	buf := make([]byte, 512)
	n, _ := f.ReadAt(buf, 0)
	if json.Unmarshal(buf[:n], &h) != nil {
		return holder{}
	}
	return h
}

func sameFile(f *os.File, path string) bool {
	a, err1 := f.Stat()
	b, err2 := os.Stat(path)
	return err1 == nil && err2 == nil && os.SameFile(a, b)
}

// release gives the directory free and removes the lock file.
func (l *lock) release() error {
	err := os.Remove(l.f.Name())
	return errors.Join(err, l.f.Close())
}
