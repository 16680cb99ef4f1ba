package standin

import (
	"fmt"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/rng"
)

// Licence is the licence of every stand-in.
const Licence = "no rights reserved: made of random numbers, holds no data of real people"

// Write writes rows that Generate made from this profile with this seed, like format.WriteAtomic, or with replace like
// format.ReplaceAtomic. Its card says which statistics are matched, before and after the recipe r, how well, and which
// are not.
func (p Profile) Write(dir string, seed rng.Seed, l *dataset.Log, f *dataset.Features, r dataset.Recipe,
	replace bool) ([]dataset.File, error) {
	matches, err := p.Matches(l, f, r)
	if err != nil {
		return nil, err
	}
	return format.WriteAtomic(dir, p.Name, l, f, p.card(l, seed, matches), replace)
}

// card returns a text that says which statistics the stand-in matches and which it does not.
func (p Profile) card(l *dataset.Log, seed rng.Seed, matches []Match) string {
	var b strings.Builder
	fmt.Fprintf(&b, `%s

This is synthetic data. It holds no data of real people.
data set:             %s
made by:              privrec, stand-in generator version %d
seed:                 %d
sha256 of the above:  %s (generator version, profile and seed)
licence:              %s
evidence:             level D

Matched to aggregates of %s:

`, p.Title, l.Name, Version, seed, l.Hash, Licence, p.kind())
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
		b.WriteString(`How strongly they act, and which users get popular items how much sooner, is set so
that the aggregates after the recipe, the recall of item-to-item transition counts and the
inference of gender from items come out near the real data's.
`)
	}
	for _, text := range p.Assumed {
		fmt.Fprintf(&b, "Assumed, because no source states it: %s.\n", text)
	}
	b.WriteString(`Not matched: the joint distribution of the attributes, which item is which, which items
are alike beyond the clusters, times, repeated pairs (there are none), and how long a taste
lasts. The order of methods on it need not be that on real data.
`)
	return b.String() + format.CardLevel
}

// kind returns words for the source of the targets.
func (p Profile) kind() string {
	if p.After.Users > 0 {
		return "the real data set"
	}
	return "the real data set's shape at this size"
}
