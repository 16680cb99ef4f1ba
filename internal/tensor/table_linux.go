package tensor

import (
	"fmt"
	"sync"
	"syscall"
	"unsafe"
)

const (
	hugePage     = 2 << 20
	madvHugePage = 14
)

// tables remembers the mapping behind each table handed out, so that Free can
// return it to the system.
var tables = struct {
	sync.Mutex
	m map[*Float][]byte
}{m: map[*Float][]byte{}}

// NewTable returns a zeroed rows x cols matrix for big, long-lived tables. It lies outside the garbage-collected heap,
// on huge pages if the system grants them, and lives until Free or the end of the process. Tables under a megabyte come
// from New.
func NewTable(rows, cols int) Matrix {
	size := rows * cols * int(unsafe.Sizeof(Float(0)))
	if rows < 0 || cols < 0 || size < hugePage/2 {
		return New(rows, cols)
	}
	// One page more than needed leaves room to start on a page boundary.
	mem, err := syscall.Mmap(-1, 0, (size+2*hugePage-1)&^(hugePage-1),
		syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		panic(fmt.Sprintf("tensor: no memory for a table of %d x %d (%d MB): %v", rows, cols, size>>20, err))
	}
	off := -int(uintptr(unsafe.Pointer(&mem[0]))) & (hugePage - 1)
	_ = syscall.Madvise(mem, madvHugePage) // advice: small pages serve as well, slower
	p := (*Float)(unsafe.Pointer(&mem[off]))
	tables.Lock()
	tables.m[p] = mem
	tables.Unlock()
	return Matrix{Rows: rows, Cols: cols, Stride: cols, Data: unsafe.Slice(p, rows*cols)}
}

// Free returns the memory of a matrix made by NewTable; every view of it is
// invalid afterwards. Other matrices are left to the garbage collector.
func Free(m Matrix) {
	if len(m.Data) == 0 {
		return
	}
	p := &m.Data[0]
	tables.Lock()
	mem, ok := tables.m[p]
	delete(tables.m, p)
	tables.Unlock()
	if ok {
		if err := syscall.Munmap(mem); err != nil {
			panic(fmt.Sprintf("tensor: free of a %d x %d table: %v", m.Rows, m.Cols, err))
		}
	}
}

// NewLarge returns a zeroed rows x cols matrix like New, on huge pages if it is large enough and the system grants
// them. The garbage collector frees it.
func NewLarge(rows, cols int) Matrix {
	m := New(rows, cols)
	size := len(m.Data) * int(unsafe.Sizeof(Float(0)))
	if size < 2*hugePage {
		return m
	}
	// Only whole pages inside the matrix: what lies beside it has other owners.
	p := unsafe.Pointer(&m.Data[0])
	off := -int(uintptr(p)) & (hugePage - 1)
	size = (size - off) &^ (hugePage - 1)
	_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, off)), size), madvHugePage) // advice, as in NewTable
	return m
}
