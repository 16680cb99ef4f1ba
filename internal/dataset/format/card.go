package format

import (
	"fmt"
	"os"
	"strings"

	"privrec/internal/dataset"
)

// cardExt ends the name of the card that lies beside synthetic files.
const cardExt = ".standin"

// HasCard reports whether a card lies beside a file, which says that it is synthetic: x.inter,
// x.inter.gz and x.inter.zst all have x.standin.
func HasCard(path string) bool {
	path = strings.TrimSuffix(strings.TrimSuffix(path, ".gz"), ".zst")
	_, err := os.Stat(strings.TrimSuffix(path, ".inter") + cardExt)
	return err == nil
}

// CardLevel ends every card. It says what results on the rows are worth.
const CardLevel = `Results on it are evidence of level D: they show that a program works, not how well a
method does on real data.
`

// card returns a text that says that rows are synthetic.
func card(l *dataset.Log) string {
	return fmt.Sprintf(`This is synthetic data, made by privrec (%s). It holds no data of real people.
sha256 of profile and seed: %s
%s

`, l.Name, l.Hash, l.Stats()) + CardLevel
}
