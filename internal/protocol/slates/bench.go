package slates

import (
	attack "privrec/internal/attack/exposure"
	"privrec/internal/config"
	"privrec/internal/dataset/slate"
	"privrec/internal/run"
)

// Eval says how guesses are ranked and counted (section 3).
type Eval struct {
	K          []int    `yaml:"k"`
	Vocabulary []string `yaml:"vocabulary"` // full, logged (a user's own log, which holds the answers); the first is the main one
	Budget     []string `yaml:"budget"`     // k*L, k, list (k of every list); the first is the main one
	// Repeated is what becomes of pairs with a click that comes twice: keep, or drop
	// under the sequence-wise decoders; the point-wise one keeps them.
	Repeated string `yaml:"repeated"`
	// Early is what becomes of pairs whose decoder ended before L steps: keep, the
	// missing lists are empty, or drop.
	Early      string  `yaml:"early"`
	Confidence float64 `yaml:"confidence"` // level of the intervals over users
	Resamples  int     `yaml:"resamples"`  // of users, for the intervals
}

// Values of the choices above.
const (
	Keep = "keep"
	Drop = "drop"
)

// Check reports what cannot be measured.
func (e Eval) Check(v *config.Checker) {
	v.Check(len(e.K) > 0, "eval.k", "must name at least one cutoff")
	for i, k := range e.K {
		v.Between("eval.k", k, 1, 1000)
		v.Check(i == 0 || k > e.K[i-1], "eval.k", "must ascend, %d follows %d", k, e.K[max(0, i-1)])
	}
	v.Words("eval.vocabulary", e.Vocabulary, attack.VocabularyFull, attack.VocabularyLogged)
	v.Words("eval.budget", e.Budget, attack.BudgetKL, attack.BudgetK, attack.BudgetList)
	v.OneOf("eval.repeated", e.Repeated, Keep, Drop)
	v.OneOf("eval.early", e.Early, Keep, Drop)
	v.Inside("eval.confidence", e.Confidence, 0, 1)
	v.Between("eval.resamples", e.Resamples, 100, 1_000_000)
}

// Name is the protocol in results.
const Name = "slates"

// Bench holds what attackers are measured on: pairs of slates and clicks, and how guesses are
// counted. A copy may have other pairs.
type Bench struct {
	Env    *run.Env
	Method string // names the attack in results
	Set    *slate.Set
	Eval   Eval

	Train, Valid, Test *slate.Pairs // what the attack sees of them
	Whole              *slate.Pairs // all training pairs, what the floors count

	DropsRepeated bool // pairs with a click that comes twice leave the averages
	StopAtEnd     bool // lists may end early
}
