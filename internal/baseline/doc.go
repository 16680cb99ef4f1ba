// Package baseline trains models without protection, under the protocols that they fit. A
// file holds a model or a family: its configuration, its profiles, and how a protocol gets
// it. What papers print of them comes from outside; the tables stay with the papers.
package baseline

import (
	"slices"

	"privrec/internal/protocol/nextitem"
	"privrec/internal/protocol/topn"
	"privrec/internal/run"
)

// TopN are the models that fit package topn's protocol, with results of others that stand
// beside theirs; next are those under package nextitem's, which all of them fit too.
func TopN(t topn.Tables, next nextitem.Table) []run.Task {
	return slices.Concat(BPRTasks(t, next), closedTasks(t, next))
}
