//go:build slow

package accountant

import "testing"

func TestManySettings(t *testing.T) { checkSettings(t, 100_000, 40) }
