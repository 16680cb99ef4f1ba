package registry

import (
	"cmp"
	"context"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
)

// titleLists lists the files with the titles of a set's items.
func (s Set) titleLists() []list {
	if IsOwn(s.Name) {
		return []list{{s.Name, "titles.tsv", "item_id"}, {s.Name, "titles.csv", "item_id"}}
	}
	return []list{
		{"ml-1m", "movies.dat", "::"}, {"ml-1m", "items.tsv", "item"},
		{"ml-100k", "u.item", "|"}, {"ml-100k", "items.tsv", "item"},
	}
}

// Titles returns the titles of a data set's items, by id. MovieLens' sets have them in a file of their owners; own data
// in titles.tsv or titles.csv, with the columns item_id and title. It fails on a set whose titles are not there.
func Titles(ctx context.Context, name string, opts Options) (map[string]string, error) {
	set, err := Find(name)
	if err != nil {
		return nil, err
	}
	dir := cmp.Or(opts.Dir, os.Getenv("PRIVREC_DATA"))
	path, column, looked := set.inFolder(dir, set.titleLists())
	if path == "" {
		e := &dataset.Error{File: name, Field: "title", Msg: "privrec knows of no titles of its items",
			Hint: "match by id"}
		if looked != nil {
			e.Err = dataset.ErrNotFound
			e.Msg = "its items have no titles here: looked for " + strings.Join(looked, ", ") + " (plain, .gz or .zst)"
			e.Hint = "put that file into its folder, or match by id"
		}
		return nil, e
	}
	if column == "::" || column == "|" {
		return bareTitles(ctx, path, column)
	}
	form, _ := format.OfInput(path)
	rows, err := format.OpenRows(ctx, path, form)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	id, err := rows.Column(column)
	if err != nil {
		return nil, err
	}
	title, err := rows.Column("title")
	if err != nil {
		return nil, err
	}
	titles := map[string]string{}
	for rows.Next() {
		titles[string(rows.Fields[id])] = string(rows.Fields[title])
	}
	return titles, rows.Err()
}

// bareTitles reads lines that begin with an id and a title.
func bareTitles(ctx context.Context, path, sep string) (map[string]string, error) {
	return format.ReadFile(ctx, path, func(in *format.Input) (map[string]string, error) {
		in.OtherText = true // titles are in Latin-1
		titles, lines := map[string]string{}, &format.Splitter{Sep: "\n"}
		return titles, in.EachRow(lines, []string{"line"}, func(v [][]byte) error {
			fields := strings.SplitN(string(v[0]), sep, 3)
			if len(fields) < 2 {
				return in.Fail("title", "no title after the id", "")
			}
			titles[fields[0]] = fromLatin1(fields[1])
			return nil
		})
	})
}

// fromLatin1 returns a text in UTF-8. A text that already is stays as it is.
func fromLatin1(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for k := range len(s) {
		b.WriteRune(rune(s[k]))
	}
	return b.String()
}

// article matches a title with its article at the end, before anything in brackets: the rest, the article, brackets.
var article = regexp.MustCompile(`^([^(]*), (the|an?|les?|la|las|los|il|el|der|die|das)((?: \(.*)?)$`)

// PlainTitle returns a title in the form in which titles are compared: in lower case, with single spaces, and with an
// article that stands at its end, as in "Usual Suspects, The (1995)", before it. The year stays.
func PlainTitle(title string) string {
	return article.ReplaceAllString(strings.Join(strings.Fields(strings.ToLower(title)), " "), "$2 $1$3")
}
