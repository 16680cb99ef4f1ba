//go:build slow

package accountant

import "testing"

func TestTradeOffAgainstAllOfRiskcal(t *testing.T) { checkRiskcal(t, 1) }
