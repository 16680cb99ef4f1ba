package run

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"

	"privrec/internal/tensor"
)

// release holds the version of a packaged program, which the linker sets; empty for other builds.
var release string

// Build describes the program that ran.
type Build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"` // built with uncommitted changes
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Float   string `json:"float"` // float32 or float64
	SIMD    string `json:"simd"`  // kernels in use: avx512, avx2 or off
}

// BuildInfo describes this program.
func BuildInfo() Build {
	b := Build{Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Float: floatName,
		SIMD: simdPath()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := cmp.Or(release, info.Main.Version); v != "" {
		b.Version = v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Dirty = s.Value == "true"
		}
	}
	return b
}

// Machine describes the computer of a run. It leaves the name out, since run directories are passed on. Older manifests
// have a name, which is not read.
type Machine struct {
	CPU         string `json:"cpu,omitempty"`
	Cores       int    `json:"cores"`
	Workers     int    `json:"workers"`
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
}

// ThisMachine describes this computer, without its name.
func ThisMachine() Machine {
	m := Machine{Cores: runtime.NumCPU(), Workers: workers()}
	m.CPU = procField("/proc/cpuinfo", "model name")
	if kb, _, _ := strings.Cut(procField("/proc/meminfo", "MemTotal"), " "); kb != "" {
		if n, err := strconv.ParseInt(kb, 10, 64); err == nil {
			m.MemoryBytes = n << 10
		}
	}
	return m
}

// procField returns the first value of a key in a Linux /proc file; "" elsewhere.
func procField(path, key string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if k, v, ok := strings.Cut(s.Text(), ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func simdPath() string { return tensor.SIMD() }

func workers() int { return tensor.Workers() }

// MaxWorkers is the largest number of threads that a user can ask for. A higher number is taken for a mistake.
const MaxWorkers = 4096

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

// RoomyHeap lets the process have 32 MiB of garbage before it collects any, unless the environment variable GOGC is
// set. A command of a tenth of a second then collects once or not at all.
func RoomyHeap() {
	if os.Getenv("GOGC") == "" {
		unused()
	}
}

// leanHeap sets garbagePercent for the process, unless the environment variable GOGC is set.
func leanHeap() {
	if os.Getenv("GOGC") == "" {
		unused()
		debug.SetGCPercent(garbagePercent)
	}
}

// resetPeakRSS frees memory and, on Linux, restarts the measurement of peak memory. Elsewhere the peak remains that of
// the whole process, which is no smaller.
func resetPeakRSS() {
	debug.FreeOSMemory()
	if f, err := os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0); err == nil {
		f.WriteString("5")
		f.Close()
	}
}
