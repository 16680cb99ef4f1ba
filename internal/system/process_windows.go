package system

import (
	"errors"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Alive reports whether a process with this number exists, of any user.
func Alive(pid int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, windows.ERROR_INVALID_PARAMETER) // another user's may not be opened
	}
	defer windows.CloseHandle(h)
	event, err := windows.WaitForSingleObject(h, 0)
	return err != nil || event != windows.WAIT_OBJECT_0 // it is signalled when the process has ended
}

// CPUSeconds returns the processor time that all threads of this process have used so far; 0 if the system does not
// tell.
func CPUSeconds() float64 {
	var created, ended, kernel, user windows.Filetime
	if windows.GetProcessTimes(windows.CurrentProcess(), &created, &ended, &kernel, &user) != nil {
		return 0
	}
	ticks := func(t windows.Filetime) int64 { return int64(t.HighDateTime)<<32 | int64(t.LowDateTime) }
	return (time.Duration(ticks(kernel)+ticks(user)) * 100).Seconds() // of 100 nanoseconds
}

var memoryInfo = windows.NewLazySystemDLL("kernel32.dll").NewProc("K32GetProcessMemoryInfo")

// PeakMemory returns the largest resident memory that this process has had, in bytes; 0 if the system does not tell.
func PeakMemory() int64 {
	// PROCESS_MEMORY_COUNTERS
	var c struct {
		size, faults uint32
		peak         uintptr
		_            [7]uintptr
	}
	c.size = uint32(unsafe.Sizeof(c))
	if memoryInfo.Find() != nil {
		return 0
	}
	if ok, _, _ := memoryInfo.Call(uintptr(windows.CurrentProcess()), uintptr(unsafe.Pointer(&c)),
		uintptr(c.size)); ok == 0 {
		return 0
	}
	return int64(c.peak)
}

// FreeSpace returns the bytes that this user can still write in a folder; 0 if the system does not tell.
func FreeSpace(dir string) int64 {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0
	}
	var free uint64
	if windows.GetDiskFreeSpaceEx(name, &free, nil, nil) != nil {
		return 0
	}
	return int64(free)
}

// SyncDir makes the names in a folder durable, if the file system can do that.
func SyncDir(dir string) error {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return err
	}
	h, err := windows.CreateFile(name, windows.GENERIC_WRITE,
		windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err == nil {
		err = errors.Join(windows.FlushFileBuffers(h), windows.CloseHandle(h))
	}
	for _, cannot := range []error{windows.ERROR_ACCESS_DENIED, windows.ERROR_INVALID_FUNCTION,
		windows.ERROR_NOT_SUPPORTED} {
		if errors.Is(err, cannot) {
			return nil
		}
	}
	return err
}

// NotAFolder reports whether an error says that a path goes through a file as if it were a folder.
func NotAFolder(err error) bool { return errors.Is(err, windows.ERROR_DIRECTORY) }

// DiskFull reports whether an error says that the disk is full, or this user's quota.
func DiskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) ||
		errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}

// ReaderGone reports whether an error says that the other end of a pipe is closed.
func ReaderGone(err error) bool {
	return errors.Is(err, windows.ERROR_BROKEN_PIPE) || errors.Is(err, windows.ERROR_NO_DATA)
}

// PortTaken reports whether an error says that another program listens on a port.
func PortTaken(err error) bool { return errors.Is(err, windows.WSAEADDRINUSE) }
