package dataset

import (
	"cmp"
	"fmt"
	"slices"
)

// Interactions is a data set for models of the user-item graph: pairs without order, and nothing removed after the
// filters. An item without a training row can still be ranked, and so can items for a user who is only in test. Do not
// change it once it is made.
type Interactions struct {
	Name   string // of the data set
	Recipe string // recipe that made the data
	Users  int
	Items  int
	Train  [][]int32 // per user, items 0..Items-1 ascending
	// those of Train that are learned from, where others are held out of it (HoldOut.Labels); nil: all
	Labels   [][]int32
	Valid    [][]int32   // as Train; nil unless the split has a validation part
	Test     [][]int32   // as Train
	InPlace  InPlace     // meaning of Test; Valid is nil if test rows are withheld
	Ratings  [][]float32 // of Train, one a row; nil unless the recipe keeps them
	Features *Features   // a row a user, in the order of UserIDs; nil when the recipe takes none
	UserIDs  []string    // original ids, ascending
	ItemIDs  []string    // original ids, ascending
	Ladder   Ladder
	Source   Source
}

// NewInteractions returns the pairs of the filtered rows from which s was made, each in its part. It fails on a pair
// that occurs twice, in one part or in two, and names it: an edge exists or not, and a test row whose pair was trained
// on tests nothing.
func NewInteractions(s *Sequential, l *Log, parts []Part) (*Interactions, error) {
	x := &Interactions{
		Name: s.Name, Recipe: s.Recipe, Users: len(l.UserIDs), Items: len(l.ItemIDs),
		UserIDs: l.UserIDs, ItemIDs: l.ItemIDs, Features: s.Features, Ladder: s.Ladder, Source: s.Source,
		Train: pairs(l, parts, Train), Test: pairs(l, parts, Test),
	}
	if slices.Contains(parts, Valid) {
		x.Valid = pairs(l, parts, Valid)
	}
	if s.Ratings != nil {
		x.Ratings = ratingsByItem(l, parts)
	}
	return x, x.distinct()
}

// Labelled returns the training rows of parts in the form of Train, for Labels.
func Labelled(l *Log, parts []Part) [][]int32 { return pairs(l, parts, Train) }

// ratingsByItem returns the values of the training rows in the order in which pairs lists their items.
func ratingsByItem(l *Log, parts []Part) [][]float32 {
	lists, off := ratings(l, parts), l.Offsets()
	var rows []int32 // of a user's training rows, by item
	for u, values := range lists {
		rows = rows[:0]
		for row := off[u]; row < off[u+1]; row++ {
			if parts[row] == Train {
				rows = append(rows, int32(row))
			}
		}
		slices.SortFunc(rows, func(a, b int32) int { return cmp.Compare(l.Items[a], l.Items[b]) })
		for k, row := range rows {
			values[k] = l.Values[row]
		}
	}
	return lists
}

// pairs returns the items of one part, ascending for each user, in one backing array.
func pairs(l *Log, parts []Part, p Part) [][]int32 {
	n := 0
	for _, q := range parts {
		if q == p {
			n++
		}
	}
	all, lists, off := make([]int32, 0, n), make([][]int32, len(l.UserIDs)), l.Offsets()
	for u := range lists {
		from := len(all)
		for row := off[u]; row < off[u+1]; row++ {
			if parts[row] == p {
				all = append(all, l.Items[row])
			}
		}
		lists[u] = all[from:len(all):len(all)]
		slices.Sort(lists[u])
	}
	return lists
}

// distinct returns an error for a pair that occurs twice.
func (x *Interactions) distinct() error {
	type side struct {
		name  string
		lists [][]int32
	}
	sides := []side{{Train.String(), x.Train}, {Valid.String(), x.Valid}, {Test.String(), x.Test}}
	seen := make([]int32, x.Items) // 3 times the user, plus the part and one, that an item was last seen with
	for u := range x.Users {
		for p, s := range sides {
			if s.lists == nil {
				continue
			}
			for _, item := range s.lists[u] {
				if k := int(seen[item]) - 1 - 3*u; k >= 0 {
					where := "twice in " + s.name
					if k != p {
						where = "in " + sides[k].name + " and in " + s.name
					}
					return &Error{File: x.Name, Field: "item", Msg: fmt.Sprintf("user %q has item %q %s", x.UserIDs[u],
						x.ItemIDs[item], where),
						Hint: "keep one row of the pair; for data of your own data.recipe=distinct+" + x.Recipe +
							" does that"}
				}
				seen[item] = int32(3*u + p + 1)
			}
		}
	}
	return nil
}

// Only returns the number of users and of items that have rows in test or validation, but none
// in train.
func (x *Interactions) Only() (users, items int) {
	trained, held := make([]bool, x.Items), make([]bool, x.Items)
	for u := range x.Users {
		rows := len(x.Test[u])
		for _, item := range x.Test[u] {
			held[item] = true
		}
		if x.Valid != nil {
			rows += len(x.Valid[u])
			for _, item := range x.Valid[u] {
				held[item] = true
			}
		}
		for _, item := range x.Train[u] {
			trained[item] = true
		}
		if len(x.Train[u]) == 0 && rows > 0 {
			users++
		}
	}
	for i := range held {
		if held[i] && !trained[i] {
			items++
		}
	}
	return users, items
}
