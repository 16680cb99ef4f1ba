package format

import (
	"slices"
	"strings"
	"unicode"
)

// Meaning is the meaning of a table's column. Its text is the usual name of such a column.
type Meaning string

// The meanings of columns.
const (
	User      Meaning = "user_id"
	Item      Meaning = "item_id"
	Rating    Meaning = "rating"
	Time      Meaning = "timestamp"
	Rank      Meaning = "rank"       // place in a list, the smallest number first
	Score     Meaning = "score"      // the largest number is best
	Relevance Meaning = "relevance"  // above 0: the item is relevant
	Shown     Meaning = "shown_at"   // when an item was shown
	Clicked   Meaning = "clicked_at" // when it was clicked, or whether
)

// names holds the column names of each meaning, in the form of bare: usual ones, and names written by RecBole, LensKit,
// Surprise, Spark, implicit, Elliot, pandas and MovieLens.
var names = map[Meaning]struct{ usual, others []string }{
	User: {[]string{"userid", "user", "uid"}, []string{"customerid", "customer", "reviewerid", "visitorid",
		"users"}},
	Item: {[]string{"itemid", "item", "iid"}, []string{"movieid", "productid", "product", "asin", "parentasin",
		"isbn", "bookid", "artistid", "trackid", "businessid", "newsid", "articleid", "items", "rec", "recs",
		"recommendation", "recommendations", "recommendeditem", "recommendeditems"}},
	Rating: {[]string{"rating"}, []string{"ratings", "stars", "overall", "bookrating", "rui"}},
	Time: {[]string{"timestamp", "time"}, []string{"ts", "unixtime", "unixtimestamp", "unixreviewtime",
		"timestamps"}},
	Rank: {[]string{"rank"}, []string{"position", "pos", "ranking", "place"}},
	Score: {[]string{"score", "prediction"}, []string{"scores", "predictions", "pred", "preds", "est", "estimate",
		"predictedrating", "probability", "prob", "rating", "ratings", "yhat", "ypred"}},
	Shown:     {[]string{"shownat", "shown"}, []string{"impressiontime", "impressiontimestamp", "showtime"}},
	Clicked:   {[]string{"clickedat", "clicked"}, []string{"clicktime", "clicktimestamp", "click"}},
	Relevance: {[]string{"relevance"}, []string{"rel", "qrel", "rating", "ratings", "stars", "rui"}},
}

// bare returns a name in lower case with only its letters and digits, without the type that RecBole adds: userid for
// User-ID, userId and user_id:token.
func bare(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// Means reports whether a column with this name can have the meaning.
func (m Meaning) Means(column string) bool {
	n, is := names[m], bare(column)
	return slices.Contains(n.usual, is) || slices.Contains(n.others, is)
}

// Usual reports whether a column with this name usually has the meaning.
func (m Meaning) Usual(column string) bool { return slices.Contains(names[m].usual, bare(column)) }

// Column returns the index of the header's column with the meaning; -1 if there is none. A usual name takes precedence.
// If two columns have the same claim, fail makes the error, which names both.
func (m Meaning) Column(header []string, fail func(field, msg, hint string) error) (int, error) {
	for _, of := range [][]string{names[m].usual, names[m].others} {
		found := -1
		for i, h := range header {
			switch {
			case !slices.Contains(of, bare(h)):
			case found < 0:
				found = i
			default:
				return -1, fail(string(m), "the columns "+header[found]+" and "+h+" both mean it", "keep one of them")
			}
		}
		if found >= 0 {
			return found, nil
		}
	}
	return -1, nil
}

// meanings lists the meanings of columns of rows.
var meanings = []Meaning{User, Item, Rating, Time}

// column returns the index of the header's column with a name. If there is none and the name is a usual one for a
// meaning, it returns the column with that meaning.
func (in *Input) column(name string, header []string) (int, error) {
	if i := slices.Index(header, name); i >= 0 {
		return i, nil
	}
	for _, m := range meanings {
		if m.Usual(name) {
			if i, err := m.Column(header, in.Fail); i >= 0 || err != nil {
				return i, err
			}
		}
	}
	return -1, in.MissingColumn(name, header)
}

// Taken returns a sentence saying that a column with an unusual name is read with this meaning.
func (m Meaning) Taken(column string) string {
	return "the column " + column + " is read as " + string(m)
}

// Spelled returns a list of names of such a column, for a hint.
func (m Meaning) Spelled() string {
	n := names[m]
	return strings.Join(append([]string{string(m)}, slices.DeleteFunc(slices.Concat(n.usual, n.others),
		func(s string) bool { return s == bare(string(m)) })...), ", ")
}

// Counts reports whether a column name is one that pandas gives to the row numbers of a table, which have no meaning.
func Counts(column string) bool {
	return column == "" || strings.HasPrefix(strings.ToLower(column), "unnamed: ") ||
		slices.Contains([]string{"index", "level_0"}, strings.ToLower(column))
}
