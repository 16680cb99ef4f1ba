package privacy

// PureLDP is a release by a local randomiser: any two inputs give any output with probabilities within a factor of
// exp(Epsilon).
type PureLDP struct {
	Epsilon float64 `json:"epsilon"`
	Unit    Unit    `json:"unit"`
}

func (PureLDP) Kind() string     { return "pure-ldp" }
func (PureLDP) Form() Form       { return Form{Way: Single} }
func (e PureLDP) About() Subject { return Subject{e.Unit, Replace} }
func (e PureLDP) Law() Law       { return ResponseLaw{e.Epsilon, 2, true} }

// Validate returns an error for the first field out of its range.
func (e PureLDP) Validate() error {
	return first("pure-ldp", positive("epsilon", e.Epsilon), e.Unit.Validate())
}

func (PureLDP) local() {}

// Group returns the release of a group, with log-ratios added along the changes. Several randomisers with an epsilon
// each would cost less at a delta above 0, but the event may be one mechanism on all units, such as a whole sequence of
// cells.
func (e PureLDP) Group(size int64, s Subject) Event {
	e.Epsilon, e.Unit = timesUp(e.Epsilon, size), s.Unit
	return e
}

func (PureLDP) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		PureLDP
	}
	err := strict(b, &v)
	return v.PureLDP, err
}

// RandomizedResponse is a release by a local randomiser of one of Categories values: it reports the true one with
// probability e^Epsilon/(e^Epsilon + Categories - 1), and each other one with equal probability.
type RandomizedResponse struct {
	Epsilon    float64 `json:"epsilon"`
	Categories int64   `json:"categories"` // at least 2
	Unit       Unit    `json:"unit"`
}

func (RandomizedResponse) Kind() string     { return "randomized-response" }
func (RandomizedResponse) Form() Form       { return Form{Way: Single} }
func (e RandomizedResponse) About() Subject { return Subject{e.Unit, Replace} }
func (e RandomizedResponse) Law() Law       { return ResponseLaw{e.Epsilon, e.Categories, false} }

// Validate returns an error for the first field out of its range.
func (e RandomizedResponse) Validate() error {
	return first("randomized-response", positive("epsilon", e.Epsilon), atLeast("categories", e.Categories, 2),
		e.Unit.Validate())
}

func (RandomizedResponse) local() {}

// Group repeats the response, because every unit of the group has its own independent answer.
func (e RandomizedResponse) Group(size int64, s Subject) Event {
	e.Unit = s.Unit
	if size == 1 {
		return e
	}
	return SelfComposed{e, size}
}

func (RandomizedResponse) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		RandomizedResponse
	}
	err := strict(b, &v)
	return v.RandomizedResponse, err
}

// Exponential is a choice by the exponential mechanism, with probability proportional to exp(Epsilon u/(2 D)) for a
// quality u that moves by at most D. Its log-ratios lie in an interval of length Epsilon (bounded range: Durfee and
// Rogers, NeurIPS 2019).
type Exponential struct {
	Epsilon      float64      `json:"epsilon"`
	Unit         Unit         `json:"unit"`
	Neighbouring Neighbouring `json:"neighbouring"`
}

func (Exponential) Kind() string     { return "exponential" }
func (Exponential) Form() Form       { return Form{Way: Single} }
func (e Exponential) About() Subject { return Subject{e.Unit, e.Neighbouring} }

// Law returns the event without its subject.
func (e Exponential) Law() Law {
	e.Unit, e.Neighbouring = "", ""
	return e
}

// Price implements Law.
func (e Exponential) Price(p Pricer) error { return p.Exponential(e) }

// Pure implements Law.
func (e Exponential) Pure() float64 { return e.Epsilon }

// Covers implements Law.
func (Exponential) Covers(Law, bool) bool { return false }

// Validate returns an error for the first field out of its range.
func (e Exponential) Validate() error {
	return first("exponential", positive("epsilon", e.Epsilon), e.Unit.Validate(), e.Neighbouring.Validate())
}

// Group multiplies the range by size: a quality that moves by at most D in one change moves by at most size times D.
func (e Exponential) Group(size int64, s Subject) Event {
	e.Epsilon, e.Unit, e.Neighbouring = timesUp(e.Epsilon, size), s.Unit, s.Neighbouring
	return e
}

func (Exponential) read(b []byte, _ int) (Event, error) {
	var v struct {
		Kind string `json:"kind"`
		Exponential
	}
	err := strict(b, &v)
	return v.Exponential, err
}
