// Package baseline trains models without protection, under the protocols that they fit. A file
// holds a model or a family: its configuration, its profiles, and how it runs under a
// protocol. What papers print of the models comes from outside: the tables are in the packages
// of the papers.
package baseline

import (
	"slices"

	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
)

// TopN returns the tasks of the models that fit package topn's protocol. All of them fit package nextitem's too. t and
// next are results of others under the two protocols, shown beside their own.
func TopN(t topn.Tables, next nextitem.Table) []run.Task {
	return slices.Concat(BPRTasks(t, next), closedTasks(t, next))
}
