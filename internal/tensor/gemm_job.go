package tensor

import (
	"sync"

	"privrec/internal/tensor/kernel"
)

// gemmArgs holds the operands of one product, C (+)= alpha op(A) op(B).
type gemmArgs struct {
	tA, tB, acc   bool
	m, n, k       int
	alpha         Float
	a, b, c       *Float
	lda, ldb, ldc int
}

// productJob holds a running product: its operands, its cut and the memory it needs. It is reused, so that products in
// steady state make no garbage.
type productJob struct {
	gemmArgs
	grid
	serial  uint64 // distinguishes this product from earlier ones in scratch
	partial []Float
	scratch []*gemmScratch // by worker
	unit    unitFunc       // runs one unit of the product
	sum     unitFunc       // adds up rows of the parts
}

// gemmScratch holds the packed operands of one worker.
type gemmScratch struct {
	a, b   []Float
	serial uint64 // product, column group and part that b holds
	col    int
	part   int
}

// idle holds jobs between products: that of the pool's owner, and one for each product that ran inside a parallel body
// at the same time.
var idle struct {
	sync.Mutex
	jobs []*productJob
}

// keptPartial is the number of partial sums that a job keeps for the next product: 4 MB of float32.
const keptPartial = 1 << 20

func takeJob() *productJob {
	idle.Lock()
	defer idle.Unlock()
	if n := len(idle.jobs); n > 0 {
		j := idle.jobs[n-1]
		idle.jobs = idle.jobs[:n-1]
		return j
	}
	j := new(productJob)
	j.unit = j.doUnit
	j.sum = j.sumRows
	return j
}

func (j *productJob) release() {
	j.a, j.b, j.c = nil, nil, nil
	if len(j.partial) > keptPartial {
		Free(Matrix{Data: j.partial})
		j.partial = nil
	}
	idle.Lock()
	defer idle.Unlock()
	idle.jobs = append(idle.jobs, j)
}

// gemm computes a product with m, n, k > 0.
func gemm(args gemmArgs) {
	_, nr, _ := kernel.Tile()
	j := takeJob()
	defer j.release()
	j.gemmArgs, j.grid = args, plan(args.m, args.n, args.k, nr)
	j.serial++
	if j.parts > 1 {
		j.partial = grow(j.partial, (j.parts-1)*j.m*j.n)
	}
	j.run(j.rows*j.cols*j.parts, j.unit)
	if j.parts > 1 {
		if j.parts*j.m*j.n < sumTogether {
			j.sumRange(0, j.m)
		} else {
			j.run(min(sumUnits, j.m), j.sum)
		}
	}
}

// run executes n units on the pool, or on the calling goroutine if they are few or the pool is taken.
func (j *productJob) run(n int, unit unitFunc) {
	if n == 1 || !shared.enter() {
		j.workers(1)
		for u := range n {
			unit(u, 0)
		}
		return
	}
	defer shared.leave()
	j.workers(shared.size)
	shared.run(n, job{fn: unit})
}

// workers makes scratch for n workers.
func (j *productJob) workers(n int) {
	for len(j.scratch) < n {
		j.scratch = append(j.scratch, new(gemmScratch))
	}
}

// doUnit computes rows x columns of one part. Rows vary fastest, so that a worker
// finds the columns' B still packed.
func (j *productJob) doUnit(u, worker int) {
	_, nr, _ := kernel.Tile()
	row, col, part := u%j.rows, u/j.rows%j.cols, u/j.rows/j.cols
	i0, i1 := cut(row, j.rows, j.m, 1)
	j0, j1 := cut(col, j.cols, j.n, nr)
	k0, k1 := cut(part, j.parts, j.k, quantumK)
	if i0 == i1 || j0 == j1 {
		return
	}
	c, ldc, acc, alpha := ptr(j.c, i0*j.ldc+j0), j.ldc, j.acc, j.alpha
	if part > 0 {
		p := j.partial[(part-1)*j.m*j.n:]
		c, ldc, acc = &p[i0*j.n+j0], j.n, false
	}
	if k0 == k1 {
		if part > 0 {
			for i := range i1 - i0 {
				clear(slice(c, i*ldc, j1-j0))
			}
		}
		return
	}
	s := j.scratch[worker]
	width := (j1 - j0 + nr - 1) / nr * nr
	blocks := (k1 - k0 + blockK - 1) / blockK
	keep := j.rows > 1 && (k1-k0)*width <= keepB
	packed := keep && s.serial == j.serial && s.col == col && s.part == part
	if keep {
		s.b = grow(s.b, (k1-k0)*width)
		s.serial, s.col, s.part = j.serial, col, part
	} else {
		s.serial = 0
		s.b = grow(s.b, ((k1-k0+blocks-1)/blocks)*width)
	}
	for l := range blocks {
		l0, l1 := k0+(k1-k0)*l/blocks, k0+(k1-k0)*(l+1)/blocks
		b := s.b
		if keep {
			b = b[(l0-k0)*width:]
		}
		if !packed {
			kernel.PackB(j.tB, l1-l0, j1-j0, element(j.b, j.ldb, j.tB, l0, j0), j.ldb, &b[0])
		}
		j.rowsOf(s, i0, i1, l0, l1, &b[0], c, ldc, j1-j0, alpha, acc || l > 0)
	}
}

// A is read in place unless that goes against the caches: where rows of A lie a
// multiple of conflictStride elements apart, those of a strip share a few places
// in the cache and push each other out; where A is transposed and comes from
// memory in many short columns, too many streams are open for the hardware to
// fetch ahead (measured: 140 against 172 GFLOP/s at 98226 x 100 x 100, while in
// place wins at all other shapes tried).
const (
	conflictStride = 1024
	shortK         = 192
	farA           = 4 << 20
)

// rowsOf multiplies rows i0..i1 of op(A), inner l0..l1, by the packed b into c.
func (j *productJob) rowsOf(s *gemmScratch, i0, i1, l0, l1 int, b, c *Float, ldc, n int, alpha Float, acc bool) {
	mr, _, strip := kernel.Tile()
	m, k := i1-i0, l1-l0
	h := (m + mr - 1) / mr // strips
	h = (m + h - 1) / h    // their height, nearly equal
	pack := k > 16 && j.lda%conflictStride == 0 || j.tA && j.k < shortK && j.m*j.k > farA
	if !pack {
		ars, acs := j.lda, 1
		if j.tA {
			ars, acs = 1, j.lda
		}
		for i := 0; i < m; i += h {
			kernel.Strip(min(h, m-i), k, element(j.a, j.lda, j.tA, i0+i, l0), ars, acs, b, ptr(c, i*ldc), ldc, n, alpha,
				acc)
		}
		return
	}
	// One line more than a strip needs keeps strips out of step in the cache.
	sps := (k + 1) * strip
	group := max(1, packedA/sps) * h
	for g := 0; g < m; g += group {
		rows := min(group, m-g)
		s.a = grow(s.a, (rows+h-1)/h*sps)
		kernel.PackA(j.tA, k, rows, h, element(j.a, j.lda, j.tA, i0+g, l0), j.lda, &s.a[0], sps)
		for i := 0; i < rows; i += h {
			kernel.Strip(min(h, rows-i), k, &s.a[i/h*sps], 1, strip, b, ptr(c, (g+i)*ldc), ldc, n, alpha, acc)
		}
	}
}

// element returns the address of element (i, j) of op(x). Rows of x are ld apart.
func element(x *Float, ld int, transposed bool, i, j int) *Float {
	if transposed {
		i, j = j, i
	}
	return ptr(x, i*ld+j)
}

const (
	sumTogether = 1 << 15 // elements of all parts that one goroutine adds up
	sumUnits    = 8
)

// sumRows adds up the parts of one range of rows.
func (j *productJob) sumRows(u, _ int) {
	i0, i1 := cut(u, min(sumUnits, j.m), j.m, 1)
	j.sumRange(i0, i1)
}

// sumRange adds the parts after the first to C, in order.
func (j *productJob) sumRange(i0, i1 int) {
	for i := i0; i < i1; i++ {
		dst := slice(j.c, i*j.ldc, j.n)
		for p := range j.parts - 1 {
			at := (p*j.m + i) * j.n
			kernel.Add(j.partial[at:at+j.n], dst)
		}
	}
}

// grow returns s with room for n elements, starting on a page or near one. Its
// content is lost if it moves.
func grow(s []Float, n int) []Float {
	if len(s) >= n {
		return s
	}
	Free(Matrix{Data: s})
	return NewTable(1, max(n+n/4, 1<<14)).Data
}
