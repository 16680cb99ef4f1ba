package tune

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"privrec/internal/rng"
)

// Space holds the possible values of a key. One of its fields is set.
type Space struct {
	Choice  []Word    `yaml:"choice,omitempty,flow"`  // each as likely
	Uniform []float64 `yaml:"uniform,omitempty,flow"` // from the first to the second
	Log     []float64 `yaml:"log,omitempty,flow"`     // uniform in the logarithm
	Integer []int     `yaml:"integer,omitempty,flow"` // from the first to the second, both included
}

// Word is a value in the form of an override: a number, a word, or a list in quotes.
type Word string

// UnmarshalText implements encoding.TextUnmarshaler.
func (w *Word) UnmarshalText(b []byte) error {
	*w = Word(b)
	return nil
}

// ParseSpace reads a space from a line such as "log:1e-4,1e-2" or "choice:32,64".
func ParseSpace(text string) (Space, error) {
	kind, rest, _ := strings.Cut(text, ":")
	words := strings.Split(rest, ",")
	var numbers []float64
	for _, w := range words {
		x, err := strconv.ParseFloat(strings.TrimSpace(w), 64)
		if err != nil && kind != "choice" {
			return Space{}, fmt.Errorf("%q is no number", w)
		}
		numbers = append(numbers, x)
	}
	var s Space
	switch kind {
	case "choice":
		for _, w := range words {
			s.Choice = append(s.Choice, Word(strings.TrimSpace(w)))
		}
	case "uniform":
		s.Uniform = numbers
	case "log":
		s.Log = numbers
	case "integer":
		for _, x := range numbers {
			if x != math.Trunc(x) || math.Abs(x) > 1<<53 {
				return Space{}, fmt.Errorf("%v is no integer", x)
			}
			s.Integer = append(s.Integer, int(x))
		}
	default:
		return Space{}, fmt.Errorf("unknown space %q, want choice:a,b, uniform:lo,hi, log:lo,hi or integer:lo,hi", kind)
	}
	return s, s.check()
}

// check reports a space without values.
func (s Space) check() error {
	given := 0
	for _, n := range []int{len(s.Choice), len(s.Uniform), len(s.Log), len(s.Integer)} {
		if n > 0 {
			given++
		}
	}
	if given != 1 {
		return fmt.Errorf("must be one of choice, uniform, log and integer")
	}
	for name, ends := range map[string][]float64{"uniform": s.Uniform, "log": s.Log} {
		if len(ends) > 0 && (len(ends) != 2 || !(ends[0] < ends[1]) || math.IsInf(ends[1]-ends[0], 0)) {
			return fmt.Errorf("%s must be two finite numbers, the lower one first, got %v", name, ends)
		}
	}
	if len(s.Log) > 0 && !(s.Log[0] > 0) {
		return fmt.Errorf("log must lie above 0, got %v", s.Log)
	}
	if len(s.Integer) > 0 && (len(s.Integer) != 2 || s.Integer[0] > s.Integer[1]) {
		return fmt.Errorf("integer must be two numbers, the lower one first, got %v", s.Integer)
	}
	return nil
}

// digits is the number of digits of a drawn number; more would suggest that they matter.
const digits = 4

// draw returns a random value in the form of an override. Numbers have four digits, and stay in the space.
func (s Space) draw(r rng.Stream) string {
	number := func(ends []float64, x float64) string {
		text := strconv.FormatFloat(x, 'g', digits, 64)
		short, _ := strconv.ParseFloat(text, 64) // of our own text
		if short < ends[0] || short > ends[1] {
			return strconv.FormatFloat(math.Min(math.Max(x, ends[0]), ends[1]), 'g', -1, 64)
		}
		return text
	}
	switch {
	case len(s.Choice) > 0:
		return string(s.Choice[r.IntN(len(s.Choice))])
	case len(s.Uniform) > 0:
		return number(s.Uniform, s.Uniform[0]+r.Float64()*(s.Uniform[1]-s.Uniform[0]))
	case len(s.Log) > 0:
		lo, hi := math.Log(s.Log[0]), math.Log(s.Log[1])
		return number(s.Log, math.Exp(lo+r.Float64()*(hi-lo)))
	}
	return strconv.Itoa(s.Integer[0] + r.IntN(s.Integer[1]-s.Integer[0]+1))
}
