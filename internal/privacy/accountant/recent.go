package accountant

import (
	"reflect"
	"slices"
	"sync"

	"privrec/internal/privacy"
	"privrec/internal/privacy/accountant/terms"
)

// recent keeps the last answers. Runs of one setting in one process, such as the seeds of a table, search for the same
// noise, and each search asks some fifty questions that take up to a tenth of a second.
var recent answers

const (
	mostRecent = 4096 // answers that are kept
	mostTerms  = 4    // terms of a question whose answer is kept
)

// asked holds everything that an answer depends on.
type asked struct {
	method         Method
	unit           privacy.Unit
	relation       privacy.Neighbouring
	epsilon, delta float64
	forDelta       bool
	terms          [mostTerms]terms.Term
}

// asked returns the key of a question, and whether its answer may be kept. The account must have few terms, of leaves
// that are compared by their values. An account with a context computes, because that may end it.
func (a *Account) asked(q question) (key asked, keeps bool) {
	if a.ctx != nil || len(a.list.Terms) > mostTerms || len(a.list.Parallels) > 0 {
		return key, false
	}
	key = asked{method: a.method, unit: a.unit, relation: a.relation, epsilon: q.epsilon, delta: q.delta,
		forDelta: q.forDelta}
	for i, t := range a.list.Terms {
		if !isPlain(reflect.TypeOf(t.Leaf)) {
			return key, false
		}
		key.terms[i] = t
	}
	return key, true
}

// isPlain reports whether values of a type hold numbers and strings only, so that equal ones are the same event.
func isPlain(t reflect.Type) bool {
	switch k := t.Kind(); k {
	case reflect.Struct:
		for i := range t.NumField() {
			if !isPlain(t.Field(i).Type) {
				return false
			}
		}
		return true
	case reflect.Array:
		return isPlain(t.Elem())
	default:
		return k == reflect.String || k == reflect.Bool || k >= reflect.Int && k <= reflect.Float64
	}
}

// answers holds answers by what was asked.
type answers struct {
	mu    sync.Mutex
	known map[asked]Result
	order []asked // the oldest first
}

// get returns the answer to a question, if it is kept.
func (s *answers) get(key asked) (Result, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.known[key]
	r.Notes = slices.Clone(r.Notes)
	return r, ok
}

// keep keeps an answer in place of the oldest one.
func (s *answers) keep(key asked, r Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.known[key]; ok {
		return
	}
	if len(s.order) == mostRecent {
		delete(s.known, s.order[0])
		s.order = slices.Delete(s.order, 0, 1)
	}
	if s.known == nil {
		s.known = map[asked]Result{}
	}
	r.Notes = slices.Clone(r.Notes)
	s.known[key], s.order = r, append(s.order, key)
}
