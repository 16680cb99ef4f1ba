//go:build slow

package pld

import "testing"

func TestManyAllocationsAreNarrow(t *testing.T) { checkAllocations(t, 150) }
