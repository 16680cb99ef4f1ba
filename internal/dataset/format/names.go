package format

import (
	"slices"
	"strings"
	"unicode"
)

// Meaning is what a column of a table means. Its text is the usual name of such a column.
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

// names has the names of the columns of a meaning, as bare returns them: usual ones, and names that other programs
// write. Those are RecBole, LensKit, Surprise, Spark, implicit, Elliot, pandas and MovieLens.
var names = map[Meaning]struct{ usual, others []string }{
	User:      {[]string{"userid", "user", "uid"}, []string{"customerid", "customer", "reviewerid", "visitorid", "users"}},
	Item:      {[]string{"itemid", "item", "iid"}, []string{"movieid", "productid", "product", "asin", "parentasin", "isbn", "bookid", "artistid", "trackid", "businessid", "newsid", "articleid", "items", "rec", "recs", "recommendation", "recommendations", "recommendeditem", "recommendeditems"}},
	Rating:    {[]string{"rating"}, []string{"ratings", "stars", "overall", "bookrating", "rui"}},
	Time:      {[]string{"timestamp", "time"}, []string{"ts", "unixtime", "unixtimestamp", "unixreviewtime", "timestamps"}},
	Rank:      {[]string{"rank"}, []string{"position", "pos", "ranking", "place"}},
	Score:     {[]string{"score", "prediction"}, []string{"scores", "predictions", "pred", "preds", "est", "estimate", "predictedrating", "probability", "prob", "rating", "ratings", "yhat", "ypred"}},
	Shown:     {[]string{"shownat", "shown"}, []string{"impressiontime", "impressiontimestamp", "showtime"}},
	Clicked:   {[]string{"clickedat", "clicked"}, []string{"clicktime", "clicktimestamp", "click"}},
	Relevance: {[]string{"relevance"}, []string{"rel", "qrel", "rating", "ratings", "stars", "rui"}},
}

// bare returns a name in lower case, its letters and digits alone, without the type that RecBole adds: that of User-ID,
// userId and user_id:token is userid.
func bare(name string) string {
	name, _, _ = strings.Cut(name, ":")
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// Means reports whether a column of a name can mean something.
func (m Meaning) Means(column string) bool {
	n, is := names[m], bare(column)
	return slices.Contains(n.usual, is) || slices.Contains(n.others, is)
}

// Usual reports whether a column of a name usually means something.
func (m Meaning) Usual(column string) bool { return slices.Contains(names[m].usual, bare(column)) }

// Column returns which column of a header means something; -1: none does. A column with a usual name goes before one
// with another. Where two have the same claim, fail makes the error, which names both.
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

// meanings of columns of rows.
var meanings = []Meaning{User, Item, Rating, Time}

// column returns which column of a header has a name, or where none has and the name is a usual one of something, which
// column means that.
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

// Taken says that a column of an unusual name is read as what it means.
func (m Meaning) Taken(column string) string {
	return "the column " + column + " is read as " + string(m)
}

// Spelled lists names of a column, for a hint.
func (m Meaning) Spelled() string {
	n := names[m]
	return strings.Join(append([]string{string(m)}, slices.DeleteFunc(slices.Concat(n.usual, n.others), func(s string) bool { return s == bare(string(m)) })...), ", ")
}

// Counts reports whether a column of a name counts the rows of its table, as pandas writes it: it means nothing.
func Counts(column string) bool {
	return column == "" || strings.HasPrefix(strings.ToLower(column), "unnamed: ") || slices.Contains([]string{"index", "level_0"}, strings.ToLower(column))
}
