package experiment

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path/filepath"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/privacy"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Carrying is Answers of a run that keeps the rows of its users itself: a model that another program trained. The
// name of its data is in no registry.
type Carrying interface {
	Answers
	// Rows returns what the model was trained on (Train) and what it is measured by (Test), and for each user the items,
	// ascending, that the model was not trained on and that stand beside Train in attacks on membership.
	Rows() (d *dataset.Interactions, others [][]int32)
	// Remarks says in sentences what was counted in the files, for readers of results.
	Remarks() []string
}

// Listing is Answers with lists and nothing behind them: no scores of other items, no vectors, no way to train the
// model again.
type Listing interface {
	Carrying
	// Lists returns the items of each user, best first, as many as there are; nil for a user without a list.
	Lists(users []string) [][]string
	// Longest returns the length of the longest list.
	Longest() int
}

// RemarksOn returns what readers should know of the files of a model that another program trained, nil for others.
func RemarksOn(a Answers) []string {
	if c, ok := a.(Carrying); ok {
		return c.Remarks()
	}
	return nil
}

// ListsOf returns the k best items of each user that answers give, and nil for a user whom they have no list of. Of
// stored lists it fails where k is above the longest; shorter lists are returned as they are.
func ListsOf(ctx context.Context, a Answers, users []string, k int, release string) ([][]string, error) {
	if l, ok := a.(Listing); ok {
		if release != "" {
			return nil, &run.UsageError{Message: fmt.Sprintf("imported lists have no release %q", release), Fix: "leave out on.release"}
		}
		if err := Stored(l, k); err != nil {
			return nil, err
		}
		lists := l.Lists(users)
		for i := range lists {
			lists[i] = lists[i][:min(k, len(lists[i]))]
		}
		return lists, nil
	}
	got, err := a.Recommend(ctx, Question{Users: users, K: k, Release: release})
	if err != nil {
		return nil, err
	}
	at := make(map[string]int, len(users))
	for i, u := range users {
		at[u] = i
	}
	lists := make([][]string, len(users))
	for _, l := range got.Lists {
		i, known := at[l.User]
		if !known {
			return nil, fmt.Errorf("the recommendations name user %q, who was not asked about", l.User)
		}
		for _, x := range l.Items {
			lists[i] = append(lists[i], x.Item)
		}
	}
	return lists, nil
}

// Stored fails where more items are asked for than the longest stored list has.
func Stored(l Listing, k int) error {
	if longest := l.Longest(); k > longest {
		return &run.UsageError{Message: fmt.Sprintf("%d items a user asked for, and the longest imported list has %d", k, longest), Fix: fmt.Sprintf("ask for at most %d, or import longer lists: nothing is behind them to rank further", longest)}
	}
	return nil
}

// IsImported reports whether a task, by its whole name, makes runs of models that another program trained.
func IsImported(task string) bool { return strings.HasPrefix(task, "import ") }

// ImportedData begins the names of the data of imported models, which are in no registry; a part of the hash of their
// rows follows.
const ImportedData = "imported-"

// ImportedRows names the rows of an imported model among the data of its manifest.
const ImportedRows = "imported rows"

// ImportedPart returns the rows that the run of an imported model keeps in dir, as text: "train", "truth" or "others". They
// begin with a line of names, and are empty where there are none.
func ImportedPart(dir, part string) ([]byte, error) {
	f, err := system.Open(filepath.Join(dir, ImportedFolder, part+".tsv.gz"), mostOfPart)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(system.Bounded(z, mostOfPart))
}

// mostOfPart is how many bytes of imported rows are read, packed and unpacked.
const mostOfPart = 4 << 30

// ImportedFolder is where the run of an imported model keeps copies of what was read.
const ImportedFolder = "imported"

// Unknown is the noise of an account of which nothing is known.
const Unknown = "unknown"

// Elsewhere makes the account of a model that another program trained: nothing is known, nothing is claimed, and its
// total is infinite, because nothing here bounds it.
func Elsewhere() Account {
	return Account{Version: Version, Noise: Unknown, Units: []Unit{}, Total: privacy.Number(math.Inf(1)), Unbounded: []Open{
		NotCovered("training elsewhere", "another program trained the model: what it was shown, drew and released is not known here, and no epsilon is claimed or accounted for it"),
	}}
}
