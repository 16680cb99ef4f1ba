package registry

import (
	"strings"

	"privrec/internal/dataset"
)

// Domains of a folder of own data with two logs, and the stems of the names of their files.
const (
	OwnTarget = "target"
	OwnSource = "source"
)

// domainFiles returns the possible names of a domain's log.
func domainFiles(domain string) []string {
	return []string{domain + ".inter", domain + ".csv", domain + ".tsv", domain + ".parquet"}
}

// ownCross returns the pair of domains for a name of own data. That is own-NAME, whose folder has a log of target and
// one of source, or own-A+own-B, two sets of own data whose domains are A and B. ok is false for a name of another
// form.
func ownCross(name string) (c CrossSet, ok bool) {
	c = CrossSet{Name: name, Title: "own domains " + strings.TrimPrefix(name, OwnPrefix), recipe: ownDomain()}
	parts := strings.Split(name, "+")
	for _, p := range parts {
		rest, is := strings.CutPrefix(p, OwnPrefix)
		if !is || !ownName(rest) || len(parts) > 2 {
			return CrossSet{}, false
		}
		if len(parts) == 2 {
			c.Domains, c.sets = append(c.Domains, CrossDomain{Name: rest}), append(c.sets, own(p))
		}
	}
	if len(parts) == 2 {
		return c, true
	}
	for _, domain := range []string{OwnTarget, OwnSource} {
		set := own(name)
		set.Layouts = nil
		for _, f := range domainFiles(domain) {
			set.Layouts = append(set.Layouts, Layout{Files: []string{f}, Maybe: []string{ColumnsFile}, Read: readOwn})
		}
		c.Domains, c.sets = append(c.Domains, CrossDomain{Name: domain}), append(c.sets, set)
	}
	return c, true
}

// ownDomain returns the recipe of one own domain: PriCDSR's definition 1, as the published pairs
// have it.
func ownDomain() dataset.Recipe {
	return dataset.Recipe{
		Name: "domain", About: "the first of a repeated pair; a user's last row is test, the one before it validation",
		Dedupe: dataset.KeepFirst, Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true},
	}
}

// IsOwnCross reports whether own data have two domains: two sets by name, or a folder in dir with a log of each. dir ""
// takes $PRIVREC_DATA.
func IsOwnCross(name, dir string) bool {
	_, ok := ownCross(name)
	return ok && (strings.Contains(name, "+") || FormOf(name, dir).Domains)
}

// DomainsOf returns the domains of a set of several; for own data the target is first. It fails on data of one domain.
func DomainsOf(name string) ([]string, error) {
	c, err := FindCross(name)
	if err != nil {
		return nil, err
	}
	return c.domainNames(), nil
}
