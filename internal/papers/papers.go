// Package papers lists what the program reproduces. A paper is a folder beside
// this file and one line in All.
package papers

import (
	"slices"

	"privrec/internal/papers/dipsgnn"
	"privrec/internal/papers/exposure"
	"privrec/internal/papers/pricdsr"
	"privrec/internal/papers/rdpgcf"
	"privrec/internal/run"
)

// All is every task of every paper, in the order in which they are listed.
func All() []run.Task {
	train := slices.Concat(
		dipsgnn.Tasks(),
		rdpgcf.Tasks(),
		pricdsr.Tasks(),
	)
	return append(train, exposure.Tasks(train)...)
}
