package doctor

import (
	"bufio"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"privrec/internal/run"
	"privrec/internal/system"
)

// Machine describes the hardware to compute with.
type Machine struct {
	run.Machine
	Threads int    `json:"threads"` // GOMAXPROCS: the threads that the system lets this process use
	SIMD    string `json:"simd"`    // avx512, avx2, off
	// free memory and memory that can be freed; 0 where the system does not say
	Available   int64  `json:"available_bytes"`
	MemoryLimit int64  `json:"limit_bytes,omitempty"` // limit of the container; 0: none, or unknown
	Forced      string `json:"simd_forced,omitempty"` // $PRIVREC_SIMD
	System      string `json:"system"`                // linux/amd64
	// Load is the average number of threads that wanted to run over the last minute; 0 if the system does not say.
	Load float64 `json:"load"`
}

func thisMachine() Machine {
	m := Machine{
		Machine: run.ThisMachine(), Threads: runtime.GOMAXPROCS(0), SIMD: run.BuildInfo().SIMD,
		Forced: os.Getenv("PRIVREC_SIMD"), System: runtime.GOOS + "/" + runtime.GOARCH,
	}
	if f, err := os.Open("/proc/meminfo"); err == nil {
		m.Available = kilobytes(bufio.NewScanner(f), "MemAvailable")
		f.Close()
	}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		first, _, _ := strings.Cut(string(b), " ")
		m.Load, _ = strconv.ParseFloat(first, 64) // 0 if it is not a number
	}
	if b, err := os.ReadFile("/sys/fs/cgroup/memory.max"); err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(b)), 10, 64); err == nil &&
			(m.MemoryBytes == 0 || n < m.MemoryBytes) {
			m.MemoryLimit = n // "max" is not a number
		}
	}
	return m
}

// kilobytes reads on to the line of a key in /proc/meminfo and returns its value in bytes, 0 if there is none.
func kilobytes(s *bufio.Scanner, key string) int64 {
	for s.Scan() {
		k, v, _ := strings.Cut(s.Text(), ":")
		if k != key {
			continue
		}
		number, _, _ := strings.Cut(strings.TrimSpace(v), " ")
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return 0
		}
		return n << 10
	}
	return 0
}

// Place is a folder that the program writes to or reads from.
type Place struct {
	Use      string `json:"use"`             // runs, cache, data
	Path     string `json:"path"`            // the path that would be used; "" where none is set
	Exists   bool   `json:"exists"`          // otherwise it is made when needed
	Writable bool   `json:"writable"`        // tried with a file that is removed again; not tried, so false, for data
	Free     int64  `json:"free_bytes"`      // to this user; 0 where the system does not say
	Error    string `json:"error,omitempty"` // why it cannot be written
}

// places inspects the folders for runs, for the cache and for data.
func places(o Options) []Place {
	runs, data, cache := o.Runs, o.Data, os.Getenv("PRIVREC_CACHE")
	if runs == "" {
		runs = "runs"
	}
	if data == "" {
		data = os.Getenv("PRIVREC_DATA")
	}
	if cache == "" {
		if base, err := os.UserCacheDir(); err == nil {
			cache = filepath.Join(base, "privrec")
		}
	}
	return []Place{place("runs", runs, true), place("cache", cache, true), place("data", data, false)}
}

// place inspects a folder, or the nearest existing one above it, in which it would be made. With write, it tries to
// write a file there.
func place(use, path string, write bool) Place {
	p := Place{Use: use}
	if path == "" {
		return p
	}
	full, err := filepath.Abs(path)
	if err != nil {
		p.Path, p.Error = path, err.Error()
		return p
	}
	p.Path = full
	at := full
	for {
		st, err := os.Stat(at)
		if err == nil {
			p.Exists = at == full
			if !st.IsDir() {
				p.Error = at + " is not a folder"
				return p
			}
			break
		}
		if up := filepath.Dir(at); up != at {
			at = up
			continue
		}
		p.Error = err.Error()
		return p
	}
	p.Free = system.FreeSpace(at)
	if !write {
		return p
	}
	f, err := os.CreateTemp(at, ".privrec-doctor-*")
	if err == nil {
		_, err = f.WriteString("a line to see that it can be written\n")
		if end := f.Close(); err == nil {
			err = end
		}
		if end := os.Remove(f.Name()); err == nil {
			err = end
		}
	}
	if err != nil {
		p.Error = err.Error()
	}
	p.Writable = err == nil
	return p
}
