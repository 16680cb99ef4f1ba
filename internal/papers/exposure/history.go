package exposure

import (
	"context"

	"privrec/internal/run"
)

// Histories implements run.Historian: all that the data know of a user, which his
// recommendations come after.
func (v *servedSASRec) Histories(context.Context) ([]run.History, string, error) {
	s := v.f.data
	var list []run.History
	for u, id := range s.UserIDs {
		h := run.History{User: id}
		for _, item := range v.history(u) {
			h.Items = append(h.Items, s.ItemIDs[item])
		}
		if len(h.Items) > 0 {
			list = append(list, h)
		}
	}
	return list, "behaviours are in the order of time", nil
}
