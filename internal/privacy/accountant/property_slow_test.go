//go:build slow

package accountant

import "testing"

func TestManySettings(t *testing.T) { checkSettings(t, 30_000, 80) }
