package dataset

import (
	"fmt"
	"os"
	"strings"
)

// cardExt ends the name of the card that lies beside synthetic files.
const cardExt = ".standin"

// hasCard says whether the first file has a card beside it: x.inter, x.inter.gz and
// x.inter.zst all have x.standin.
func hasCard(files []File) bool {
	path := strings.TrimSuffix(strings.TrimSuffix(files[0].Path, ".gz"), ".zst")
	_, err := os.Stat(strings.TrimSuffix(path, ".inter") + cardExt)
	return err == nil
}

// card says what a stand-in is matched to and what not.
func card(l *Log) string {
	return fmt.Sprintf(`This is synthetic data, made by privrec (%s). It holds nobody's data.
sha256 of profile and seed: %s
%s

Matched to aggregates of the real data set: numbers of users, items and rows, rows per
user and per item (quantiles, Gini index), shares of the ratings, shares of each user
attribute.
Planted, at strengths of our choice: tastes over latent clusters that depend on the
attributes, and short lists of items that tend to follow an item.
Not matched: the joint distribution of attributes, which item is which, times, repeated
pairs (there are none), and how long a taste lasts.
Results on it are evidence of level D: they show that a program works, not how well a
method does on real data.
`, l.Name, l.Hash, l.Stats())
}
