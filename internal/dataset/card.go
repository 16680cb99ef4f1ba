package dataset

import (
	"fmt"
	"os"
	"strings"

	"privrec/internal/rng"
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

const cardLevel = `Results on it are evidence of level D: they show that a program works, not how well a
method does on real data.
`

// card says that rows are synthetic.
func card(l *Log) string {
	return fmt.Sprintf(`This is synthetic data, made by privrec (%s). It holds nobody's data.
sha256 of profile and seed: %s
%s

`, l.Name, l.Hash, l.Stats()) + cardLevel
}

// Write writes rows that Generate made of this profile with this seed as WriteAtomic
// does, or as ReplaceAtomic, with a card that says what is matched, how well, and what
// is not.
func (p Profile) Write(dir string, seed rng.Seed, l *Log, f *Features, replace bool) ([]File, error) {
	matches, err := p.Matches(l, f)
	if err != nil {
		return nil, err
	}
	return writeAtomic(dir, p.Name, l, f, p.card(l, seed, matches), replace)
}

// card lists what the stand-in is matched to and what not.
func (p Profile) card(l *Log, seed rng.Seed, matches []Match) string {
	var b strings.Builder
	fmt.Fprintf(&b, `%s

This is synthetic data. It holds nobody's data.
data set:             %s
made by:              privrec, stand-in generator version %d
seed:                 %d
sha256 of the above:  %s (generator version, profile and seed)
licence:              %s
evidence:             level D

Matched to aggregates of %s:

`, p.Title, l.Name, GeneratorVersion, seed, l.Hash, standInLicence, p.kind())
	fmt.Fprintf(&b, "%-44s %12s %12s %10s\n", "statistic", "target", "got", "off by")
	for _, m := range matches {
		fmt.Fprintln(&b, m)
	}
	fmt.Fprintf(&b, `
Planted, not matched: tastes over %d latent clusters that depend on the attributes, and
short lists of items that tend to follow an item (a liked row in %.3g follows from the
one liked before it).
`, p.Clusters, p.Markov)
	if p.Crowd > 0 || p.Early > 0 {
		b.WriteString(`How strongly they act, and how much sooner and by whom popular items are met, is set so
that the aggregates after the recipe, the recall of item-to-item transition counts and the
inference of gender from items come out near the real data's.
`)
	}
	for _, text := range p.Assumed {
		fmt.Fprintf(&b, "Assumed, because no source states it: %s.\n", text)
	}
	b.WriteString(`Not matched: the joint distribution of the attributes, which item is which, which items
are alike beyond the clusters, times, repeated pairs (there are none), and how long a taste
lasts. The order of methods on it need not be that on real data: compare with privrec data
backtest where the real data are at hand.
`)
	return b.String() + cardLevel
}

// kind names what the targets come from.
func (p Profile) kind() string {
	if p.After.Users > 0 {
		return "the real data set"
	}
	return "the real data set's shape at this size"
}
