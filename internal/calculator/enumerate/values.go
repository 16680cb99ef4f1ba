package enumerate

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/privacy/audit/exact"
	"privrec/internal/privacy/mechanism/local"
	"privrec/internal/run"
)

// Values asks for the output distribution of a mechanism on one value for each user: randomised response or a frequency
// oracle.
type Values struct {
	Kind       string // grr, which is randomised response, sue, oue or olh
	Categories int
	Odds       Odds
}

// Oracles lists the kinds of frequency oracles.
func Oracles() []string {
	return []string{string(local.GRR), string(local.SUE), string(local.OUE), string(local.OLH)}
}

// Answer computes the distribution.
func (q *Values) Answer() (*Answer, error) {
	if !slices.Contains(Oracles(), q.Kind) {
		return nil, run.Usagef("", "--mechanism is %q, want one of %v", q.Kind, Oracles())
	}
	if q.Categories < 2 || q.Categories > 64 {
		return nil, run.Usagef("", "--categories is %d, want 2 to 64", q.Categories)
	}
	if err := q.Odds.fill(); err != nil {
		return nil, err
	}
	forced := &choices{x: q.Odds.x}
	m := local.Oracle{Purpose: "audit", Kind: local.OracleKind(q.Kind), Epsilon: q.Odds.Epsilon,
		Categories: q.Categories, Unit: privacy.User}
	s, err := m.Single(forced)
	if err != nil {
		return nil, err
	}
	a := &Answer{Title: "Exact audit of the frequency oracle " + q.Kind, Epsilon: q.Odds.Epsilon, At: q.Odds.String() +
		", of one report",
		Size: fmt.Sprintf("%d categories", q.Categories), Law: q.Odds.law(),
		Claim: "epsilon for every two values (Wang, Blocki, Li, Jha, USENIX Security 2017, section 4)"}
	paths := float64(q.Categories)
	inputs := make([]string, q.Categories) // a category; of olh its hash function too, which is public
	for i := range inputs {
		inputs[i] = strconv.Itoa(i)
	}
	pairs := exact.Pairs(inputs)
	switch m.Kind {
	case local.SUE, local.OUE:
		paths = math.Pow(2, float64(q.Categories))
		if m.Kind == local.SUE && q.Odds.x != nil {
			if forced.x = root(q.Odds.x); forced.x == nil {
				return nil, run.Usagef("such as 4 or 9/4, or give --epsilon",
					"sue sends bits with half of epsilon: --odds is %s, want a square of a rational number",
					q.Odds.x.RatString())
			}
		}
	case local.OLH:
		g := m.Hashes()
		functions := math.Pow(float64(g), float64(q.Categories))
		paths = functions * float64(g)
		if err := tooLarge("--categories or epsilon", paths*float64(q.Categories)); err != nil {
			return nil, err
		}
		a.Size += fmt.Sprintf(", hashed to %d, by every function", g)
		a.Law += "; the hash function is public and does not depend on the value, so the law is given it: every " +
			"function of the categories is taken"
		pairs = hashed(q.Categories, g)
	default:
		if q.Categories == 2 {
			a.Title = "Exact audit of randomised response"
		}
	}
	if err := tooLarge("--categories", paths*float64(q.Categories)); err != nil {
		return nil, err
	}
	law := func(in string, c *exact.Choices) string {
		forced.c = c
		value, function, _ := strings.Cut(in, " under ")
		x, _ := strconv.ParseUint(value, 10, 64)
		out, err := s.Report(x, func(x uint64) uint64 {
			h, _ := strconv.ParseUint(strings.Split(function, "-")[x], 10,
				64)
			return h
		})
		if err != nil {
			panic(fmt.Errorf("audit: a value of the mechanism's domain was refused: %w", err))
		}
		return out
	}
	return a, enumerate(a, &q.Odds, law, []exact.Class[string]{{Name: "any two values", Pairs: pairs}},
		[]claim{{"any two values", 1, 1}})
}

// hashed yields every pair of values under every function to g hashes, as "value under hash-hash-...".
func hashed(categories, g int) func(yield func(a, b string) bool) {
	return func(yield func(a, b string) bool) {
		hashes := make([]string, categories)
		var fill func(at int) bool
		fill = func(at int) bool {
			if at < categories {
				for h := range g {
					if hashes[at] = strconv.Itoa(h); !fill(at + 1) {
						return false
					}
				}
				return true
			}
			function := " under " + strings.Join(hashes, "-")
			for i := range categories {
				for j := i + 1; j < categories; j++ {
					if !yield(strconv.Itoa(i)+function, strconv.Itoa(j)+function) {
						return false
					}
				}
			}
			return true
		}
		fill(0)
	}
}

// root returns the rational square root of a rational number, nil if it is irrational.
func root(x *big.Rat) *big.Rat {
	r := new(big.Rat).SetFrac(new(big.Int).Sqrt(x.Num()), new(big.Int).Sqrt(x.Denom()))
	if new(big.Rat).Mul(r, r).Cmp(x) != 0 {
		return nil
	}
	return r
}
