package calculator

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"privrec/internal/privacy/correlated"
	"privrec/internal/run"
)

// span is the range of a numeric flag.
type span struct {
	lo, hi         float64
	openLo, openHi bool // the end itself is not in the range
	whole          bool
	ratio          bool // may be written as one whole number over another
	best           bool // may be the word best, for the number that is found to be best
}

// Ranges of the calculator's numbers. They are wide enough for every sensible number, and narrow enough to refuse
// others, by name, before anything is computed.
var (
	spanNoise   = span{lo: 1e-9, hi: 1e9}
	spanSteps   = span{lo: 1, hi: 1e12, whole: true}
	spanDelta   = span{lo: 1e-100, hi: 1, openHi: true}
	spanEpsilon = span{lo: 1e-9, hi: 1e4}
	spanAlpha   = span{lo: 1, hi: 1e6, openLo: true}
	spanRate    = span{lo: 1e-12, hi: 1, ratio: true}
	spanClasses = span{lo: 2, hi: 1 << 31, whole: true}
	spanPoints  = span{lo: 2, hi: 500, whole: true}
	spanTrials  = span{lo: 1, hi: 1e9}
	spanAt      = span{lo: 0, hi: 1e4}
	spanPrior   = span{lo: 1e-9, hi: 1, openHi: true}
	spanWhole   = span{lo: 1, hi: 1e9, whole: true}
	spanShape   = span{lo: -1, hi: 100, openLo: true}
	spanHorizon = span{lo: 1, hi: correlated.MaxHorizon, whole: true}
	spanBands   = span{lo: 1, hi: correlated.MaxHorizon, whole: true, best: true}
	spanBuffers = span{lo: 1, hi: correlated.MaxBuffers, whole: true}
	spanError   = span{lo: 0, hi: 1e15}
)

// String returns the range in words, as in "1e-9 to 1e9".
func (s span) String() string {
	var text string
	switch {
	case s.openLo:
		text = fmt.Sprintf("above %s and at most %s", short(s.lo), short(s.hi))
	case s.openHi:
		text = fmt.Sprintf("at least %s and below %s", short(s.lo), short(s.hi))
	default:
		text = short(s.lo) + " to " + short(s.hi)
	}
	if s.whole {
		text = "a whole number, " + text
	}
	if s.best {
		text += ", or " + best
	}
	return text
}

// best is the word for a number that is to be found.
const best = "best"

// holds reports whether v is in range. NaN never is.
func (s span) holds(v float64) bool {
	switch {
	case s.whole && v != math.Trunc(v):
		return false
	case s.openLo && v == s.lo, s.openHi && v == s.hi:
		return false
	}
	return v >= s.lo && v <= s.hi
}

// parse reads the value of a flag.
func (s span) parse(flag, text string) (float64, error) {
	if s.ratio && strings.Contains(text, "/") {
		v, ok := fraction(text)
		if !ok {
			return 0, run.Usagef("a fraction is one whole number over another above 0, such as 256/60000",
				"--%s is %q, want %s", flag, clip(text), s)
		}
		if !s.holds(v) {
			return 0, run.Usagef(s.advice(flag, v), "--%s is %s, want %s", flag, clip(text), s)
		}
		return v, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) {
		shown := clip(text)
		if errors.Is(err, strconv.ErrSyntax) {
			shown = strconv.Quote(shown)
		}
		return 0, run.Usagef("", "--%s is %s, want %s", flag, shown, s)
	}
	if !s.holds(v) {
		return 0, run.Usagef(s.advice(flag, v), "--%s is %s, want %s", flag, clip(text), s)
	}
	return v, nil
}

// advice returns a hint for a number out of range; "" if there is none.
func (s span) advice(flag string, v float64) string {
	switch {
	case s.whole && v != math.Trunc(v) && v > s.lo:
		return fmt.Sprintf("round up: --%s %s", flag, short(math.Ceil(v)))
	case flag == "delta" && v == 0:
		return "delta 0 is pure differential privacy; give a small delta such as 1e-9"
	case flag == "delta" && v >= 1:
		return "delta is a probability, well below one over the number of records"
	case flag == "sampling-rate" && v > 1:
		return "the rate is the expected batch over the number of records, at most 1"
	}
	return ""
}

// Number is a number of a question. It checks its range when it is read. It implements the value of a flag in the
// packages flag and pflag.
type Number struct {
	name, usage, letter string
	span                span
	v                   float64
	set                 bool
	text                string // the fraction or word that was given; empty: it was a number
}

// newNumber returns a number of the calculator that is not given yet.
func newNumber(name string) *Number {
	k := kinds[name]
	return &Number{name: name, usage: k.usage, letter: k.letter, span: k.span}
}

// kinds maps the names of the calculator's numbers to their ranges, meanings, and letters in a command line.
var kinds = map[string]struct {
	span          span
	usage, letter string
}{
	"sigma":            {spanNoise, "standard deviation of the noise", "S"},
	"sensitivity":      {spanNoise, "largest distance that one unit moves a release", "D"},
	"noise-multiplier": {spanNoise, "standard deviation of the noise over the clipping norm", "Z"},
	"sampling-rate":    {spanRate, "probability that a record is in a batch, such as 0.01 or 256/60000", "Q"},
	"scale":            {spanNoise, "scale of the noise", "B"},
	"clip":             {spanNoise, "norm at which rows are clipped", "C"},
	"epsilon":          {spanEpsilon, "epsilon of one release", "E"},
	"categories":       {spanClasses, "number of values", "K"},
	"steps":            {spanSteps, "number of releases", "N"},
	"delta":            {spanDelta, "delta of the guarantee", "d"},
	"alpha":            {spanAlpha, "Rényi order", "A"},
	"trials":           {spanTrials, "mean number of runs, of which the best is released", "T"},
	"eta":              {spanShape, "shape of the law of the number of runs: 0 is logarithmic, 1 geometric", "H"},
	"records":          {spanWhole, "number of records", "N"},
	"batch":            {spanWhole, "records in a batch, expected where it is random", "B"},
	"most":             {spanWhole, "records at which a batch is cut, with --sampling truncated-poisson", "M"},
	"epochs":           {spanWhole, "passes over the records", "E"},
	"prior":            {spanPrior, "share of members among those an attacker looks at (default 0.5)", "P"},
	"at-epsilon":       {spanAt, "epsilon at which delta is wanted, in place of --delta", "E"},
	"group":            {spanWhole, "records of one user, whose guarantee is wanted (default 1: of one record)", "K"},
	"advantage":        {spanPrior, "largest advantage of an attacker, in place of --epsilon", "A"},
	"tpr":              {spanPrior, "largest true positive rate at --fpr, in place of --epsilon", "T"},
	"fpr":              {spanPrior, "false positive rate of --tpr", "F"},
	"points":           {spanPoints, "values on the axis, spaced by equal factors", ""},
	"horizon":          {spanHorizon, "number of steps", "N"},
	"participations":   {spanHorizon, "most steps that one user is in (default 1)", "K"},
	"apart":            {spanHorizon, "fewest steps from one of them to the next (default 1)", "G"},
	"bands":            {spanBands, "steps over which noise is correlated (default all)", "B"},
	"buffers":          {spanBuffers, "most buffers of the strategy blt (default 4)", "K"},
	"times": {spanWhole,
		"steps of an epoch that each record is in, with --sampling allocation (default 1)", "K"},

	"error-last":            {spanError, "standard deviation of the noise of the last sum", ""},
	"error-mean":            {spanError, "root of the mean square of the noise of all sums", ""},
	"error-last-plain":      {spanError, "that of the sum of the fewest nodes of a tree", ""},
	"error-mean-plain":      {spanError, "that of the sums of the fewest nodes of a tree", ""},
	"error-single-releases": {spanError, "standard deviation of independent noise on each sum", ""},
}

// Name returns the name of the flag, without dashes.
func (n *Number) Name() string { return n.name }

// Usage returns the meaning and the range of the number.
func (n *Number) Usage() string { return n.usage + "; " + n.span.String() }

// Letter returns the letter for the value in an example command line.
func (n *Number) Letter() string { return n.letter }

// String returns the value as given. It is empty if none was given, so that the help shows no
// default.
func (n *Number) String() string {
	if n == nil || !n.set {
		return ""
	}
	if n.text != "" {
		return n.text
	}
	return short(n.v)
}

// Set reads the value.
func (n *Number) Set(text string) error {
	if n.span.best && text == best {
		n.v, n.set, n.text = 0, true, best
		return nil
	}
	v, err := n.span.parse(n.name, text)
	if err != nil {
		return err
	}
	n.v, n.set, n.text = v, true, ""
	if n.span.ratio && strings.Contains(text, "/") {
		n.text = text
	}
	return nil
}

// Type returns the word for the value in the help.
func (n *Number) Type() string {
	if n.span.whole {
		return "int"
	}
	return "float"
}

// json returns the value as JSON shows it.
func (n *Number) json() any {
	if n.span.whole {
		return int64(n.v)
	}
	return n.v
}

// fraction reads a rate written as one whole number over another, such as a batch over the records: 256/60000. It
// rounds the float64 up, so that no guarantee is for a smaller rate. ok is false if text is no such fraction.
func fraction(text string) (v float64, ok bool) {
	over, under, cut := strings.Cut(text, "/")
	a, aErr := strconv.ParseUint(over, 10, 63)
	b, bErr := strconv.ParseUint(under, 10, 63)
	if !cut || aErr != nil || bErr != nil || b == 0 {
		return 0, false
	}
	exact := big.NewRat(int64(a), int64(b))
	v, _ = exact.Float64()
	if back := new(big.Rat).SetFloat64(v); back.Cmp(exact) < 0 {
		v = math.Nextafter(v, math.Inf(1))
	}
	return v, true
}
