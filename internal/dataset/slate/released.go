package slate

import (
	"context"
	"fmt"
	"path/filepath"

	"privrec/internal/dataset"
)

// lostPlaces is a note for every set made from the authors' files.
const lostPlaces = "the authors' files do not have the unknown items of a pair nor their places: here they are OOV " +
	"at the end of the slate or behaviour"

// borders returns the part sizes of n pairs by the cut of the published program: the first 80 %, the next 10 % and the
// next 10 %, each rounded down, so that the last pair or two belong to no part.
func borders(n int) (train, valid, test int) {
	train = n * 8 / 10
	valid = train + n/10
	return train, valid, valid + n/10
}

// openTables reads the vocabulary and the user of every pair, in the order before the split.
func openTables(ctx context.Context, name, sub string, o Options) (*tables, []int32, error) {
	dir, err := dataDir(name, o.Dir)
	if err != nil {
		return nil, nil, err
	}
	if o.T > tableT && sub == "mind" || o.L > tableL {
		return nil, nil, &dataset.Error{File: name,
			Msg: fmt.Sprintf("slates of %d and behaviours of %d items: the extracted tables have %d and %d", o.T, o.L,
				tableT, tableL)}
	}
	folder := filepath.Join(dir, "exposure", sub)
	tab := &tables{ctx: ctx, folder: folder}
	if err := tab.vocabulary("vocab.tsv"); err != nil {
		return nil, nil, err
	}
	if tab.vocab-int(FirstItem) < o.T {
		return nil, nil, smallCatalogue(folder, tab.vocab-int(FirstItem), o.T)
	}
	owners, err := tab.owners("sequence2user.tsv")
	return tab, owners, err
}

// evaluated returns the pairs of validation and test. It fails unless those of test are the ones that the split of
// owners gives it.
func (t *tables) evaluated(owners []int32) (valid, test []pairRow, err error) {
	if valid, err = t.pairs("val.tsv"); err != nil {
		return nil, nil, err
	}
	if test, err = t.pairs("test.tsv"); err != nil {
		return nil, nil, err
	}
	_, from, to := borders(len(owners))
	return valid, test, inOrder(t.folder, test, owners[from:to], from)
}

// set returns a set without its parts, after all tables are read. Its ladder begins with all pairs.
func (t *tables) set(name string, owners []int32) *Set {
	return &Set{Name: name, Hash: dataset.SourceHash(t.digests...), Vocab: t.vocab, Items: t.items,
		Level:  dataset.LevelC,
		Ladder: dataset.Ladder{{Name: "pairs", Users: len(distinct(owners)), Rows: len(owners)}}}
}

// noteRelease adds known facts about the authors' files as notes. It does so only if there are as many pairs of as many
// users as in theirs: for other tables of this form the facts need not hold.
func (s *Set) noteRelease(want dataset.Want, known ...string) {
	if all := s.Ladder[0]; all.Rows != want.Rung.Rows || all.Users != want.Rung.Users {
		known = []string{fmt.Sprintf("these are not the authors' pairs, but %d of %d users where theirs are %d of "+
			"%d: what is known of theirs, such as how true training slates are, is not known of these",
			all.Rows, all.Users, want.Rung.Rows, want.Rung.Users)}
	}
	s.Notes = append(s.Notes, known...)
}

func smallCatalogue(file string, items, t int) error {
	return &dataset.Error{File: file, Msg: fmt.Sprintf("the catalogue has %d items, fewer than a slate of %d", items,
		t), Hint: "choose shorter slates"}
}

// inOrder returns an error unless test pairs are in the order of the pair index and belong to the users that it names.
func inOrder(folder string, test []pairRow, owners []int32, first int) error {
	if len(test) != len(owners) {
		return &dataset.Error{File: folder,
			Msg: fmt.Sprintf("test.tsv has %d pairs, but sequence2user.tsv leaves %d for it", len(test), len(owners))}
	}
	for i, r := range test {
		if r.seq != int64(first+i) || r.user != fmt.Sprint(owners[i]) {
			return &dataset.Error{File: filepath.Join(folder, "test.tsv"), Line: i + 2, Field: "seq_id",
				Msg: fmt.Sprintf("pair %d of user %s, but sequence2user.tsv has pair %d of user %d here", r.seq, r.user,
					first+i, owners[i])}
		}
	}
	return nil
}
