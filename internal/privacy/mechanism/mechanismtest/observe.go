package mechanismtest

import (
	"testing"

	"privrec/internal/privacy/mechanism/internal/observe"
)

// Observer sees the releases of mechanisms, and may replace them.
type Observer = observe.Observer

// Release sees the rows of a release.
type Release = observe.Release

// Observe makes w the observer of all mechanisms of the process while f runs. Tests that call it must not run beside
// others that use mechanisms.
func Observe(t testing.TB, w Observer, f func()) {
	t.Helper()
	observe.Current.Store(&w)
	defer observe.Current.Store(nil)
	f()
}
