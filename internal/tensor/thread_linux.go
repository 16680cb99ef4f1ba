package tensor

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// runDelay returns the calling thread, and how long it was ready to run so far while the
// processor did other work; thread 0 where the system does not say.
func runDelay() (thread int, waited time.Duration) {
	f, err := os.Open("/proc/thread-self/schedstat") // time on a processor, waiting for one, turns
	if err != nil {
		return 0, 0
	}
	defer f.Close()
	var text [96]byte
	n, err := syscall.Read(int(f.Fd()), text[:])
	if err != nil {
		return 0, 0
	}
	fields := bytes.Fields(text[:n])
	if len(fields) < 2 {
		return 0, 0
	}
	ns, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0, 0
	}
	return syscall.Gettid(), time.Duration(ns)
}

// sleep lets the calling thread sleep for a part of a millisecond. The runtime is not told:
// it would start another thread for the goroutines that this one could run, and
// time.Sleep takes a millisecond at least where nothing else is to do.
func sleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0) // a signal ends it early, which does no harm
}

// getcpu is the number of a system call that package syscall lacks, by architecture.
var getcpu = map[string]uintptr{"amd64": 309, "arm64": 168}[runtime.GOARCH]

// processor returns the number of the processor that the calling thread is on, or -1.
func processor() int {
	if getcpu == 0 {
		return -1
	}
	var cpu uint32
	if _, _, errno := syscall.RawSyscall(getcpu, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return -1
	}
	return int(cpu)
}

// leave moves the calling thread off a processor where it may use another. It may come back.
func leave(processor int) {
	runtime.LockOSThread() // both calls are for one thread
	defer runtime.UnlockOSThread()
	var all, rest [128]uint64
	size := unsafe.Sizeof(all)
	n, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_GETAFFINITY, 0, size, uintptr(unsafe.Pointer(&all)))
	if errno != 0 || processor>>6 >= len(all) {
		return
	}
	rest = all
	rest[processor>>6] &^= 1 << (processor & 63)
	if rest == [128]uint64{} {
		return
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, n, uintptr(unsafe.Pointer(&rest))); errno == 0 {
		syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, n, uintptr(unsafe.Pointer(&all)))
	}
}
