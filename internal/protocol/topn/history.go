package topn

import (
	"context"
	"slices"

	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
)

// Histories implements experiment.Answers. It returns the training and validation rows, which a user's recommendations
// leave out, in the order of the log. The graph itself has no order. Rows that are not in the log, since users added
// them, come last.
func (a *answers) Histories(ctx context.Context) ([]experiment.History, string, error) {
	d := a.x.Data
	l, _, err := registry.LoadLog(ctx, d.Name, a.x.view, registry.Options{})
	if err != nil {
		return nil, "", err
	}
	order := "behaviours are in the order of time"
	if l.Times == nil {
		order = "the data have no times: behaviours are in the order of the file"
	}
	items := make(map[string]int32, d.Items)
	for i, id := range d.ItemIDs {
		items[id] = int32(i)
	}
	rows := make(map[string]int, len(l.UserIDs))
	for u, id := range l.UserIDs {
		rows[id] = u
	}
	off := l.Offsets()
	rest := false // some users have rows that the log does not have
	list := experiment.HistoriesOf(d.UserIDs, func(u int) (all []int32) {
		had := slices.Sorted(slices.Values(a.x.had(u)))
		at, ok := rows[d.UserIDs[u]]
		if !ok {
			return nil
		}
		for _, item := range l.Items[off[at]:off[at+1]] {
			i, known := items[l.ItemIDs[item]]
			if !known {
				continue
			}
			if k, has := slices.BinarySearch(had, i); has {
				all = append(all, i)
				had = slices.Delete(had, k, k+1) // a repeated row counts once
			}
		}
		rest = rest || len(had) > 0
		return append(all, had...)
	}, d.ItemIDs)
	if rest {
		order += "; items that users added come last"
	}
	return list, order, nil
}

// had returns the items of a user's own rows.
func (x *Experiment) had(u int) []int32 {
	if x.Had == nil {
		return x.test.seen[u]
	}
	if x.Had.Valid == nil {
		return x.Had.Train[u]
	}
	return slices.Concat(x.Had.Train[u], x.Had.Valid[u])
}
