package tensor

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"
)

// NearCache returns the size of one core's second-level cache in bytes, or a megabyte if the system does not tell. It
// decides how work is cut and ordered, never the results.
var NearCache = sync.OnceValue(func() int {
	folders, _ := filepath.Glob("/sys/devices/system/cpu/cpu0/cache/index*") // none: the default
	for _, dir := range folders {
		if word(dir, "level") != "2" || word(dir, "type") == "Instruction" {
			continue
		}
		if kb, err := strconv.Atoi(strings.TrimSuffix(word(dir, "size"), "K")); err == nil && kb > 0 {
			return kb << 10
		}
	}
	return usualCache
})

// word returns the content of a file with one word, "" if it cannot be read.
func word(dir, name string) string {
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// schedstat is the file with the calling thread's time on a processor, its time waiting for one, and its turns.
var schedstat = []byte("/proc/thread-self/schedstat\x00")

// runDelay returns the calling thread and how long it has been ready to run while the processor did other work; thread
// 0 if the system does not tell. It allocates nothing, since it is called within sections.
func runDelay() (thread int, waited time.Duration) {
	const here = ^uintptr(99) // AT_FDCWD, -100
	fd, _, errno := syscall.RawSyscall6(syscall.SYS_OPENAT, here, uintptr(unsafe.Pointer(&schedstat[0])),
		syscall.O_RDONLY|syscall.O_CLOEXEC, 0, 0, 0)
	if errno != 0 {
		return 0, 0
	}
	var text [96]byte
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&text)), unsafe.Sizeof(text))
	syscall.RawSyscall(syscall.SYS_CLOSE, fd, 0, 0)
	if errno != 0 {
		return 0, 0
	}
	ns, ok := secondNumber(text[:n])
	if !ok {
		return 0, 0
	}
	return syscall.Gettid(), time.Duration(ns)
}

// secondNumber returns the second of some decimal numbers with spaces between them.
func secondNumber(text []byte) (x int64, ok bool) {
	k := bytes.IndexByte(text, ' ') + 1
	for ; k > 0 && k < len(text) && '0' <= text[k] && text[k] <= '9'; k++ {
		x, ok = 10*x+int64(text[k]-'0'), true
	}
	return x, ok
}

// sleep puts the calling thread to sleep for a part of a millisecond. The runtime is not told: it would start another
// thread for the goroutines that this one could run, and time.Sleep takes a millisecond at least if nothing else is to
// do.
func sleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	// a signal ends it early, which does no harm
	syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0, 0)
}

// getcpu maps an architecture to the number of a system call that package syscall lacks.
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

// leave moves the calling thread off a processor if it may use another. It may come back.
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
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, n,
		uintptr(unsafe.Pointer(&rest))); errno == 0 {
		syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, 0, n, uintptr(unsafe.Pointer(&all)))
	}
}
