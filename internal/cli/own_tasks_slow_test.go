//go:build slow

package cli

import (
	"testing"

	"privrec/internal/run"
)

// Every row of the table of docs/add-your-own-data.md works as it stands, for each of its tasks.
func TestOwnTable(t *testing.T) { runOwnTable(t, func(run.Task) bool { return true }) }
