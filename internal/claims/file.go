package claims

import (
	"fmt"
	"strings"

	"privrec/internal/config"
)

// CutShort is why trainings with fewer epochs than the paper's decide nothing.
const CutShort = "the trainings were cut short"

// Parse reads the claims of a paper, and checks them against the paper's grids, which need no
// results. name is the file's, for errors, which have their line.
func Parse(name string, text []byte, grids []*Grid) (*Paper, error) {
	p, doc, err := config.Parse(name, text, nil, Paper{})
	if err != nil {
		return nil, err
	}
	v := config.NewChecker(doc)
	v.Declared(p)
	v.Check(len(p.Claims) > 0, "claims", "must name at least one")
	seen := map[string]bool{}
	for i := range p.Claims {
		c, at := &p.Claims[i], fmt.Sprintf("claims.%d", i)
		v.Check(!seen[c.ID], at+".id", "%s is there already", c.ID)
		seen[c.ID] = true
		v.Check(strings.TrimSpace(c.Where) != "", at+".where", "must say where in the paper the sentence stands")
		c.check(v, at, grids)
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	return &p, nil
}
