//go:build slow

package accountant

import "testing"

func TestManySettings(t *testing.T) { checkSettings(t, 10_000, 50) }
