//go:build unix

package system

import (
	"errors"
	"os"
	"runtime"
	"syscall"
	"time"
)

// Alive reports whether a process with this number exists, of any user.
func Alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// CPUSeconds returns the processor time that all threads of this process have used so far; 0 if the system does not
// tell.
func CPUSeconds() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()).Seconds()
}

// PeakMemory returns the largest resident memory that this process has had, in bytes; 0 if the system does not tell.
func PeakMemory() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return u.Maxrss
	}
	return u.Maxrss << 10
}

// FreeSpace returns the bytes that this user can still write in a folder; 0 if the system does not tell.
func FreeSpace(dir string) int64 {
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil {
		return 0
	}
	return int64(fs.Bavail) * int64(fs.Bsize)
}

// SyncDir makes the names in a folder durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// NotAFolder reports whether an error says that a path goes through a file as if it were a folder.
func NotAFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// DiskFull reports whether an error says that the disk is full, or this user's quota.
func DiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// ReaderGone reports whether an error says that the other end of a pipe is closed.
func ReaderGone(err error) bool { return errors.Is(err, syscall.EPIPE) }

// PortTaken reports whether an error says that another program listens on a port.
func PortTaken(err error) bool { return errors.Is(err, syscall.EADDRINUSE) }
