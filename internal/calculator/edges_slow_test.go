//go:build slow

package calculator

import "testing"

// Many more draws than TestEdges.
func TestManyEdges(t *testing.T) {
	answered, refused := checkEdges(t, 4, 10)
	t.Logf("%d answered, %d refused", answered, refused)
}
