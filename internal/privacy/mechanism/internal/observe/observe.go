// Package observe lets the tests of neighbouring data sets see what mechanisms are given before they add noise, and put
// in its place what another run released. Only mechanisms can import it, and mechanismtest.Observe alone sets an
// observer: no command reaches it. Without an observer a mechanism does what it did.
package observe

import (
	"sync/atomic"

	"privrec/internal/privacy"
)

// Observer sees the releases of mechanisms. Its methods may be called by several goroutines.
type Observer interface {
	// Release is called before the first row of a release. count is the number of releases that the ledger records, and
	// step the unit of distances in its event: 1, or the step of a grid. It may return nil.
	Release(purpose string, e privacy.Event, count int64, step float64) Release
}

// Release sees the rows of a release.
type Release interface {
	// Row is called for the row of a part and a key, with its exact and its released values. It may write to released.
	Row(part int32, key uint64, exact, released []float64)
}

// Current is the observer of all mechanisms, nil for none.
var Current atomic.Pointer[Observer]

// Begin tells the observer of a release and returns its view of it, or nil without an observer.
func Begin(purpose string, e privacy.Event, count int64, step float64) Release {
	if w := Current.Load(); w != nil {
		return (*w).Release(purpose, e, count, step)
	}
	return nil
}

// Row passes a row of any type to a release's observer, and copies what that writes into released.
func Row[T ~int32 | ~float32 | ~float64](r Release, part int32, key uint64, exact, released []T) {
	if r == nil {
		return
	}
	a, b := floats(exact), floats(released)
	r.Row(part, key, a, b)
	for i, v := range b {
		released[i] = T(v)
	}
}

func floats[T ~int32 | ~float32 | ~float64](x []T) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}
