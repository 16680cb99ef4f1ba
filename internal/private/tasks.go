package private

import (
	"slices"

	"privrec/internal/private/als"
	"privrec/internal/private/gram"
	"privrec/internal/private/sgdmf"
	"privrec/internal/run"
)

// Tasks returns the task of every private recommender.
func Tasks() []run.Task { return slices.Concat(gram.Tasks(), []run.Task{als.Task(), sgdmf.Task()}) }
