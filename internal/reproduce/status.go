package reproduce

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/stats"
)

// How ours and the printed number stand to each other. This is what every table, page and list
// says, and it is decided here alone.
//
// The question is whether the printed number can be one that our program gives: the mean of as
// many runs as the paper took, with its own seeds. Ours differ from it by chance for three
// reasons, and the margin is what they may amount to at 95 %:
//
//   - Seeds, ours and theirs. From three seeds on: half of Student's interval for the mean of
//     ours, widened for the mean of theirs. Where the paper prints no spread, theirs is taken to be
//     ours; where it does not say how many runs it took, one. Below three seeds there is no
//     interval. Then a share of the printed number stands for it: see the constants below.
//   - Test users, where the split is ours (level B): half of the interval over users. Two splits
//     of the same users have more in common than two sets of users, so this is rather too wide.
//     With the authors' split (level A) the test rows are the same, and it is left out.
//   - Rounding: half a unit of the last printed digit, which is added.
//
// The first two are independent, so their squares are added. Then
//
//   - differs: ours is further from the printed number than the margin;
//   - match: it is not, there are three seeds, and the interval that the margin makes is not wider
//     than the difference to the nearest number that the paper prints for another method there.
//     Otherwise the same interval would confirm a number of another method. Where there is no other
//     method, it may have a tenth of the printed number;
//   - within noise: neither. The printed number may be right, but these results do not show it;
//   - not reproducible: the file of causes says why the printed number cannot be had, and ours do
//     not agree with it.
//
// Counts of data have no chance in them: they match where all printed digits are the same.
//
// Nothing is said where results may not be compared (a stand-in, level C or D, a training cut
// short), or where there is none. Cell.Why says which.
const (
	Match           = "match"
	WithinNoise     = "within noise"
	Differs         = "differs"
	NotReproducible = "not reproducible"
)

// What stands for the interval over seeds where there are fewer than three, as a share of the
// printed number. Each is about two standard deviations between seeds, as measured with this program
// on results of three to five seeds: nine in ten have at most 2.5 % of the mean without noise, 2.8 %
// with noise on MovieLens-1M, and 5.6 % of attacks. With noise on MovieLens-100K it is up to 11 %, for
// which the share is too little. So one seed says "differs" with less certainty than three, and it
// never makes a match.
const (
	seedShare = 0.05 // of rankings with users' scores, or with the authors' split
	wideShare = 0.10 // of results with noise, and where nothing is known of test users either, as of attacks
)

// aloneShare is the widest interval of a match where the paper prints no other method, as a share
// of the printed number.
const aloneShare = 0.10

// StatusMeaning explains the statuses in a sentence for readers.
const StatusMeaning = "status: differs: further from the printed number than chance explains (the interval of our " +
	"seeds and of theirs; that of the test users where the split is ours; rounding); match: not further, from three " +
	"seeds on, and the interval is narrower than the difference to the nearest other method; within noise: not " +
	"further, but these results could not tell it from another method's number; not reproducible: the printed number " +
	"cannot be had, and the causes say why"

// evidence is what the status of a number rests on, in the unit of the cell.
type evidence struct {
	ours, printed float64
	rounding      float64   // half a unit of the last printed digit
	values        []float64 // by seed
	theirs        int       // runs behind the printed number; 0: not said
	spread        float64   // printed standard deviation over those runs; NaN: none
	users         float64   // half of the interval over test users; NaN: no scores of users
	authors       bool      // the split is the authors'
	noisy         bool      // the method draws noise for privacy
	gap           float64   // to the nearest printed number of another method; NaN: there is none
}

// judge returns the status, the margin, and in words what the margin is made of.
func (e *evidence) judge() (status string, margin float64, basis string, err error) {
	seeds, words, err := e.seeds()
	if err != nil {
		return "", 0, "", err
	}
	users := 0.0
	if !e.authors && !math.IsNaN(e.users) {
		users = e.users
		words = append(words, "test users")
	}
	words = append(words, "rounding")
	margin = math.Hypot(seeds, users) + e.rounding
	gap := e.gap
	if math.IsNaN(gap) {
		gap = aloneShare * math.Abs(e.printed)
	}
	switch {
	case math.Abs(e.ours-e.printed) > margin:
		status = Differs
	case len(e.values) >= 3 && 2*margin <= gap:
		status = Match
	default:
		status = WithinNoise
	}
	return status, margin, strings.Join(words, ", "), nil
}

// seeds returns what seeds, ours and theirs, may amount to, and says in words what it rests on.
func (e *evidence) seeds() (half float64, words []string, err error) {
	n, m, known := len(e.values), max(e.theirs, 1), e.theirs >= 2 && !math.IsNaN(e.spread)
	if n >= 3 {
		if half, err = stats.THalf(stats.SD(e.values), n, confidence); err != nil {
			return 0, nil, err
		}
		if !known {
			return half * math.Sqrt(1+float64(n)/float64(m)), []string{fmt.Sprintf("%d seeds beside %d", n, m)}, nil
		}
		other, err := stats.THalf(e.spread, m, confidence)
		return math.Hypot(half, other), []string{fmt.Sprintf("%d seeds beside %d with printed spread", n, m)}, err
	}
	if known && m >= 3 {
		half, err = stats.THalf(e.spread, m, confidence)
		return half * math.Sqrt(1+float64(m)/float64(n)),
			[]string{fmt.Sprintf("%s beside %d with printed spread", plural(n, "seed"), m)}, err
	}
	part := seedShare
	if e.noisy || !e.authors && math.IsNaN(e.users) {
		part = wideShare
	}
	return part * math.Abs(e.printed),
		[]string{fmt.Sprintf("%s: %.0f %% of the printed number", plural(n, "seed"), 100*part)}, nil
}

// judge decides the status of a cell. It leaves the cell without one, and says why, where nothing
// can be said.
func (g *Grid) judge(c *Cell, s *summary, metric int) error {
	if c.Why = s.silent(c); c.Why != "" {
		return nil
	}
	if g.Unit == count { // there is no chance in counts
		c.Basis, c.Margin, c.Status = "the digits printed", pointer(0.5*math.Pow10(-digitsAfter(*c.Printed))), Differs
		if equals(*c.Ours, *c.Printed) {
			c.Status = Match
		}
		return nil
	}
	e := evidence{
		ours: *c.Ours, printed: *c.Printed, rounding: g.rounding(metric), theirs: g.Place.Seeds, spread: math.NaN(),
		users: math.NaN(), authors: s.level == dataset.LevelA, noisy: s.noisy(), gap: g.gap(s.entry.row, metric),
	}
	for _, v := range s.columns[metric].values {
		e.values = append(e.values, *g.inUnit(v))
	}
	if spread := s.entry.row.Spread; len(spread) > 0 && spread[metric] != nil {
		e.spread = *spread[metric]
	}
	if !e.authors {
		of, err := g.users(s)
		if err != nil {
			return err
		}
		if u := of[metric]; !math.IsNaN(u.lo) {
			e.users = *g.inUnit((u.hi - u.lo) / 2)
		}
	}
	status, margin, basis, err := e.judge()
	if err != nil {
		return fmt.Errorf("%s: %w", s.entry.row.Label(), err)
	}
	c.Status, c.Margin, c.Basis = status, pointer(margin), basis
	return nil
}

// silent says why nothing can be said of a cell, and "" where something can.
func (s *summary) silent(c *Cell) string {
	switch {
	case c.Printed == nil:
		return "the paper prints none"
	case c.StandIn:
		return "stand-in: generated data in place of the paper's"
	case len(s.results) == 0:
		for _, r := range s.runs {
			if r.Status == c.State && r.Problem != "" {
				return fmt.Sprintf("%s: %s", c.State, r.Problem)
			}
		}
		if c.State == ToDo {
			return "not run"
		}
		return string(c.State)
	case c.Ours == nil:
		return notInData
	case !c.comparable():
		return fmt.Sprintf("level %s: %s", c.Level, s.level.Meaning())
	case s.short() != "":
		return "cut short: " + s.short()
	}
	return ""
}

// noisy reports whether some run of the row draws noise for privacy.
func (s *summary) noisy() bool {
	return slices.ContainsFunc(s.results,
		func(r *result) bool { return r.account != nil && r.account.Noise != "" && r.account.Noise != "none" })
}

// rounding returns half a unit of the last digit that the paper prints in the column of a metric,
// that is of the number with the most decimals: files drop zeros at the end.
func (g *Grid) rounding(metric int) float64 {
	decimals := 0
	for i := range g.Rows {
		if p := g.Rows[i].printed(metric); p != nil {
			decimals = max(decimals, digitsAfter(*p))
		}
	}
	return 0.5 * math.Pow10(-decimals)
}

// digitsAfter returns how many digits a printed number has after the point.
func digitsAfter(x float64) int {
	_, after, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	return len(after)
}

// gap returns the difference between the printed number of a row and the nearest other one that is
// printed for another method on the same data. It is NaN where there is none.
func (g *Grid) gap(r *Row, metric int) float64 {
	near := math.NaN()
	for i := range g.Rows {
		o := &g.Rows[i]
		p := o.printed(metric)
		if o.Data != r.Data || o.Method == r.Method || p == nil || *p == *r.printed(metric) {
			continue
		}
		if d := math.Abs(*p - *r.printed(metric)); math.IsNaN(near) || d < near {
			near = d
		}
	}
	return near
}
