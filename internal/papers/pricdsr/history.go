package pricdsr

import (
	"context"

	"privrec/internal/run"
)

// Histories implements run.Historian: the items of the target domain before the test item,
// which its recommendations leave out.
func (s *served) Histories(context.Context) ([]run.History, string, error) {
	target := &s.x.data.Domains[0]
	var list []run.History
	for u, id := range s.x.data.UserIDs {
		h := run.History{User: id}
		for _, i := range s.x.test.seen[u] {
			h.Items = append(h.Items, target.ItemIDs[i])
		}
		if len(h.Items) > 0 {
			list = append(list, h)
		}
	}
	return list, "behaviours are in the order of time", nil
}
