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

// Carrying is Answers of a run that keeps its users' rows itself: the run of a model that another program trained. No
// registry has its data.
type Carrying interface {
	Answers
	// Rows returns the training rows (Train) and the measured rows (Test) of the model. others holds for each user, in
	// ascending order, the items that the model was not trained on and that attacks on membership compare with Train.
	Rows() (d *dataset.Interactions, others [][]int32)
	// Remarks returns sentences for readers of results about the counts in the files.
	Remarks() []string
}

// Listing is Answers that only have stored lists: no scores of other items, no vectors, no way to train again.
type Listing interface {
	Carrying
	// Lists returns the stored items of each user, best first; nil for a user without a list.
	Lists(users []string) [][]string
	// Longest returns the length of the longest list.
	Longest() int
}

// RemarksOn returns remarks for readers on the files of an imported model; nil for other models.
func RemarksOn(a Answers) []string {
	if c, ok := a.(Carrying); ok {
		return c.Remarks()
	}
	return nil
}

// ListsOf returns the k best items of each user, and nil for a user without a list. Of stored lists it fails if k is
// above the longest; shorter lists are returned as they are.
func ListsOf(ctx context.Context, a Answers, users []string, k int, release string) ([][]string, error) {
	if l, ok := a.(Listing); ok {
		if release != "" {
			return nil, &run.UsageError{Message: fmt.Sprintf("imported lists have no release %q", release),
				Fix: "leave out on.release"}
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

// Stored returns an error if k is larger than the longest stored list.
func Stored(l Listing, k int) error {
	if longest := l.Longest(); k > longest {
		return &run.UsageError{Message: fmt.Sprintf("%d items a user asked for, and the longest imported list has %d",
			k, longest), Fix: fmt.Sprintf(
			"ask for at most %d, or import longer lists: nothing is behind them to rank further", longest)}
	}
	return nil
}

// IsImported reports whether a task, by its full name, makes runs of models that another program trained.
func IsImported(task string) bool { return strings.HasPrefix(task, "import ") }

// ImportedData is the prefix of the data names of imported models, which no registry has. Part of the hash of their
// rows follows.
const ImportedData = "imported-"

// ImportedRows is the name of an imported model's rows in the data of its manifest.
const ImportedRows = "imported rows"

// ImportedPart returns one part of the rows that the run of an imported model keeps in dir, as text: "train", "truth"
// or "others". The text begins with a line of names, and is empty if there are no rows.
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

// mostOfPart bounds the size of imported rows, packed and unpacked, in bytes.
const mostOfPart = 4 << 30

// ImportedFolder names the folder in which the run of an imported model keeps copies of its input files.
const ImportedFolder = "imported"

// Unknown is the value of Account.Noise if nothing is known about the noise.
const Unknown = "unknown"

// Elsewhere returns the account of a model that another program trained. It has no claim, and its total is infinite,
// because nothing here bounds it.
func Elsewhere() Account {
	return Account{Version: Version, Noise: Unknown, Units: []Unit{}, Total: privacy.Number(math.Inf(1)),
		Unbounded: []Open{
			NotCovered("training elsewhere",
				"another program trained the model: what it was shown, drew and released is not known here, and no "+
					"epsilon is claimed or accounted for it"),
		}}
}
