package imported

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/experiment"
	"privrec/internal/lists"
)

// FilesConfig names the rows that come with a model, in any form that privrec evaluate reads.
type FilesConfig struct {
	Train string `yaml:"train"` // rows that the model was trained on; with times, in their order
	Truth string `yaml:"truth"` // rows to measure the model by; empty: it is not measured
	// NonMembers names rows that the model was not trained on, though they could have been: all rows of some users,
	// or some rows of users with others in train. Empty: attacks on membership have nothing to tell apart.
	NonMembers string `yaml:"non_members"`
}

// Rows holds the known rows of an imported model's users. Users and items of the model's own files are among them.
type Rows struct {
	Data   *dataset.Interactions // Train and Test; its Source has the files and the hash of all rows
	Order  [][]int32             // by user: the items of Train in the order of time
	Others [][]int32             // by user, ascending: items that the model was not trained on; nil: not known
	Timed  bool                  // Order rests on times, and else on the order of the file

	users, items map[string]int32
}

// User returns the number of a user.
func (r *Rows) User(id string) (int32, bool) { u, ok := r.users[id]; return u, ok }

// Item returns the number of an item.
func (r *Rows) Item(id string) (int32, bool) { i, ok := r.items[id]; return i, ok }

// read holds the rows of files as read, with ids that other files of the model may add to.
type read struct {
	ids                  lists.IDs
	train, truth, others *lists.File // nil: not given
}

// readRows reads the files that are named.
func readRows(ctx context.Context, c FilesConfig) (*read, error) {
	r := &read{}
	for _, f := range []struct {
		path string
		kind lists.Kind
		to   **lists.File
	}{{c.Train, lists.History, &r.train}, {c.Truth, lists.Truth, &r.truth}, {c.NonMembers, lists.Training, &r.others}} {
		if f.path == "" {
			continue
		}
		var err error
		if *f.to, err = lists.Read(ctx, f.path, f.kind, &r.ids); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// all lists the files that were read.
func (r *read) all() (out []*lists.File) {
	for _, f := range []*lists.File{r.train, r.truth, r.others} {
		if f != nil {
			out = append(out, f)
		}
	}
	return out
}

// number assigns numbers to the users and items of all files and makes Rows of them. to and item give the number of
// each user and item in the order of reading.
func (r *read) number(n *Counts) (out *Rows, to, item []int32, err error) {
	d := &dataset.Interactions{}
	to, d.UserIDs = dataset.Ascending(r.ids.Users.IDs)
	item, d.ItemIDs = dataset.Ascending(r.ids.Items.IDs)
	d.Users, d.Items = len(d.UserIDs), len(d.ItemIDs)
	out = &Rows{Data: d, Timed: r.train.Timed, users: numbers(d.UserIDs), items: numbers(d.ItemIDs)}
	out.Order, n.RepeatedTrain = distinct(r.train, to, item, nil)
	d.Train = ascending(out.Order)
	d.Test = make([][]int32, d.Users)
	if r.truth != nil {
		d.Test, n.RepeatedTruth = distinct(r.truth, to, item, func(x lists.Row) bool {
			if x.Score < 1 {
				n.Irrelevant++
			}
			return x.Score >= 1
		})
		d.Test = ascending(d.Test)
		for u, items := range d.Test {
			for _, i := range items {
				if _, had := slices.BinarySearch(d.Train[u], i); had {
					n.TruthTrained++
				}
			}
		}
	}
	if r.others != nil {
		out.Others, n.RepeatedOthers = distinct(r.others, to, item, nil)
		out.Others = ascending(out.Others)
		if err := r.apart(d, to, item); err != nil {
			return nil, nil, nil, err
		}
		if err := r.alike(); err != nil {
			return nil, nil, nil, err
		}
	}
	d.Source = dataset.Source{Title: experiment.ImportedRows, Level: dataset.LevelC, Hash: out.hash()}
	d.Name = experiment.ImportedData + d.Source.Hash[:12]
	return out, to, item, nil
}

// apart fails on a row that is given both as trained on and as not.
func (r *read) apart(d *dataset.Interactions, to, item []int32) error {
	for _, x := range r.others.Rows {
		if _, had := slices.BinarySearch(d.Train[to[x.User]], item[x.Item]); had {
			return r.others.Fail(x, "item", fmt.Sprintf("user %s has item %s in %s too",
				dataset.Quote([]byte(r.ids.Users.IDs[x.User])), dataset.Quote([]byte(r.ids.Items.IDs[x.Item])),
				r.train.Path), "a non-member is a row that the model was not trained on")
		}
	}
	return nil
}

// alike fails if most rows of non-members hold items that no training row has. Ids alone, without a model, then tell
// members from non-members.
func (r *read) alike() error {
	trained := make([]bool, len(r.ids.Items.IDs))
	for _, x := range r.train.Rows {
		trained[x.Item] = true
	}
	strange := 0
	var example lists.Row
	for _, x := range r.others.Rows {
		if !trained[x.Item] {
			if strange == 0 {
				example = x
			}
			strange++
		}
	}
	if strange <= len(r.others.Rows)-strange {
		return nil
	}
	return r.others.Fail(example, "item",
		fmt.Sprintf("%d of %d rows of non-members hold items that no training row has, such as %s", strange,
			len(r.others.Rows), dataset.Quote([]byte(r.ids.Items.IDs[example.Item]))),
		"ids are text, the same in all files; a non-member is a row that the model could have been trained on")
}

// distinct groups the rows of a file by user, in the order of lists.ByUser, each item once. keep nil keeps all.
// repeated counts the dropped repetitions.
func distinct(f *lists.File, to, item []int32, keep func(lists.Row) bool) (out [][]int32, repeated int) {
	out = make([][]int32, len(to))
	seen := map[int32]bool{}
	for u, rows := range f.ByUser(len(to)) {
		clear(seen)
		for _, x := range rows {
			i := item[x.Item]
			if keep != nil && !keep(x) {
				continue
			}
			if seen[i] {
				repeated++
				continue
			}
			seen[i] = true
			out[to[u]] = append(out[to[u]], i)
		}
	}
	return out, repeated
}

// ascending returns lists with their items in ascending order.
func ascending(of [][]int32) [][]int32 {
	out := make([][]int32, len(of))
	for u, items := range of {
		out[u] = slices.Sorted(slices.Values(items))
	}
	return out
}

// numbers returns the index of each id.
func numbers(ids []string) map[string]int32 {
	at := make(map[string]int32, len(ids))
	for i, id := range ids {
		at[id] = int32(i)
	}
	return at
}

// hash returns the SHA-256 of the rows by name: the training rows in their order, the truth and the non-members.
func (r *Rows) hash() string {
	sum := sha256.New()
	for _, part := range []struct {
		name string
		of   [][]int32
	}{{"train", r.Order}, {"truth", r.Data.Test}, {"others", r.Others}} {
		for u, items := range part.of {
			for _, i := range items {
				fmt.Fprintf(sum, "%s %q %q\n", part.name, r.Data.UserIDs[u], r.Data.ItemIDs[i])
			}
		}
	}
	return hex.EncodeToString(sum.Sum(nil))
}
