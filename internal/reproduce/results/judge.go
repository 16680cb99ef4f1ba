package results

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"privrec/internal/reproduce/phrase"
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

// confidence of the intervals.
const confidence = 0.95

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
			[]string{fmt.Sprintf("%s beside %d with printed spread", phrase.Plural(n, "seed"), m)}, err
	}
	part := seedShare
	if e.noisy || !e.authors && math.IsNaN(e.users) {
		part = wideShare
	}
	return part * math.Abs(e.printed),
		[]string{fmt.Sprintf("%s: %.0f %% of the printed number", phrase.Plural(n, "seed"), 100*part)}, nil
}

// digitsAfter returns how many digits a printed number has after the point.
func digitsAfter(x float64) int {
	_, after, _ := strings.Cut(strconv.FormatFloat(x, 'f', -1, 64), ".")
	return len(after)
}

// equals reports whether x is a printed number to the digits that it is printed with.
func equals(x, printed float64) bool {
	return strconv.FormatFloat(x, 'f', digitsAfter(printed), 64) == strconv.FormatFloat(printed, 'f', -1, 64)
}
