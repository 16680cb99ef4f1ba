package system

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// openLock opens a file with the right to delete shared, unlike os.OpenFile, so that a holder can remove its file.
func openLock(path string) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err == nil {
		var h windows.Handle
		h, err = windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE,
			windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
			nil, windows.OPEN_ALWAYS, windows.FILE_ATTRIBUTE_NORMAL, 0)
		if err == nil {
			return os.NewFile(uintptr(h), path), nil
		}
	}
	return nil, &os.PathError{Op: "open", Path: path, Err: err}
}

// lock takes a byte that no file reaches. A lock of Windows keeps others from reading the bytes it covers, and the lock
// file of a run says which process holds it.
func lock(f *os.File, alone, wait bool) error {
	var flags uint32
	if alone {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	if !wait {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	at := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrBusy
	}
	return err
}

// Folder holds the lock of a folder. It is that of a file beside it, since Windows locks no folders.
type Folder struct{ held *os.File }

const folderLock = ".lock" // after the folder's name

// TakeFolder takes the lock of a folder. It returns an error that is [ErrBusy] if another process
// holds it, and one that is fs.ErrNotExist if the folder is gone.
func TakeFolder(path string) (*Folder, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	f, err := TakeFile(path + folderLock)
	if err != nil {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
		return nil, err
	}
	l := &Folder{f}
	if _, err := os.Stat(path); err != nil {
		return nil, errors.Join(err, l.Free())
	}
	return l, nil
}

// Free releases the lock, whether or not the folder still exists. It does nothing for nil.
func (f *Folder) Free() error {
	if f == nil {
		return nil
	}
	err := os.Remove(f.held.Name())
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, f.held.Close())
}
