package dataset

import (
	"context"
	"slices"
)

// CrossSets lists every cross-domain data set.
func CrossSets() []CrossSet {
	return []CrossSet{
		crossTable("cd-amazon-toy-game", "Amazon toys and video games, shared users (Tri-CDR's preprocessing)",
			[]CrossDomain{{"toys", "A:"}, {"games", "B:"}}, []string{"interactions.tsv"},
			[]Want{
				{Rung: Rung{Name: RungRaw, Users: 7996, Items: 49603, Rows: 197358}, From: "the table's own description"},
				{Rung: Rung{Name: "distinct pairs", Rows: 197358 - 7351}, From: "the table's own description: 7,351 repeated pairs"},
			},
			"not a pair of PriCDSR's paper, whose data are not published; DASL was evaluated on these two domains in another preprocessing"),
		crossTable("cd-amazon-food-kitchen", "Amazon food and kitchen, shared users (ABXI's preprocessing)",
			[]CrossDomain{{"food", "A:"}, {"kitchen", "B:"}}, []string{"interactions.tsv"},
			[]Want{
				{Rung: Rung{Name: RungRaw, Users: 7144, Items: 28095, Rows: 173548}, From: "the table's own description"},
				{Rung: Rung{Name: "food", Items: 11837, Rows: 83663}, From: "the table's own description"},
				{Rung: Rung{Name: "kitchen", Items: 16258, Rows: 89885}, From: "the table's own description"},
			},
			"not a pair of PriCDSR's paper, whose data are not published"),
		amazonCross(),
		{Name: CrossStandIn, Title: "synthetic pair of domains with shared tastes", standIn: true, Domains: []CrossDomain{{Name: "left"}, {Name: "right"}}},
	}
}

// CrossStandIn is the synthetic pair of domains, left and right.
const CrossStandIn = "standin-cross"

// crossTable is a set whose domains lie in one table.
func crossTable(name, title string, domains []CrossDomain, files []string, wants []Want, notes ...string) CrossSet {
	return CrossSet{
		Name: name, Title: title, Domains: domains, wants: wants, notes: notes,
		recipe: Recipe{Name: "pricdsr", About: "the first of a repeated pair", Dedupe: KeepFirst, Split: Split{Kind: SplitLeaveOneOut, Valid: true}},
		sets: []Set{{
			Name: name, Title: title, Address: "https://github.com/ (hulkima/PDRec for toys and games, DiMarzioBian/ABXI for food and kitchen), brought into the form user, timestamp, domain, item",
			Layouts: []Layout{{Files: files, Read: alone(ReadCrossTable)}},
		}},
	}
}

// amazonCross is PriCDSR's three domains: two of them are a pair, but its users are
// those who are left in all three.
func amazonCross() CrossSet {
	s := CrossSet{
		Name: "cd-amazon-movie-cd-book", Title: "Amazon ratings 2014, movies, CDs and books, shared users",
		Domains: []CrossDomain{{Name: "movies"}, {Name: "cds"}, {Name: "books"}},
		wants: []Want{
			{Rung: Rung{Name: "movies", Users: 10929, Items: 59513}, Paper: true, From: "table I"},
			{Rung: Rung{Name: "cds", Users: 10929, Items: 91169}, Paper: true, From: "table I"},
			{Rung: Rung{Name: "books", Users: 10929, Items: 236049}, Paper: true, From: "table I"},
		},
		notes: []string{"the paper does not say whether it takes the release of 2014 or of 2018"},
	}
	for _, category := range []string{"Movies_and_TV", "CDs_and_Vinyl", "Books"} {
		i := slices.IndexFunc(amazonCategories, func(c amazonCategory) bool { return c.name == category })
		set := amazon(amazonCategories[i])
		s.sets, s.recipe = append(s.sets, set), set.Recipes[0]
	}
	s.recipe.Wants = nil // of one category
	return s
}

// ReadCrossTable reads a table with the columns user, timestamp, domain and item, tabs
// between them. An item's id is its domain, a colon and the id that the table has.
func ReadCrossTable(ctx context.Context, path string) (*Log, error) {
	return readFile(ctx, path, parseCrossTable)
}

func parseCrossTable(in *input) (*Log, error) {
	s, names, err := Table{}.open(in)
	if err != nil {
		return nil, err
	}
	columns := []string{"user", "timestamp", "domain", "item"}
	at := make([]int, len(columns))
	for k, name := range columns {
		if at[k] = slices.Index(names, name); at[k] < 0 {
			return nil, in.missingColumn(name, names)
		}
	}
	b := logBuilder{times: []int64{}}
	var id []byte
	err = in.eachRow(s, names, func(v [][]byte) error {
		user, err := in.token("user", v[at[0]])
		if err != nil {
			return err
		}
		time, err := in.timestamp("timestamp", v[at[1]])
		if err != nil {
			return err
		}
		domain, err := in.token("domain", v[at[2]])
		if err != nil {
			return err
		}
		id = append(append(id[:0], domain...), ':')
		item, err := in.token("item", v[at[3]])
		if err != nil {
			return err
		}
		id = append(id, item...)
		b.add(b.users.id(user), b.items.id(id))
		b.times = append(b.times, time)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in.finish(&b)
}
