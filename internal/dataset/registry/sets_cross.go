package registry

import (
	"context"
	"slices"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/standin"
)

// CrossSets returns every cross-domain data set.
func CrossSets() []CrossSet {
	return []CrossSet{
		crossTable(toyGame(), []CrossDomain{{"toys", "A:"}, {"games", "B:"}}),
		crossTable(foodKitchen(), []CrossDomain{{"food", "A:"}, {"kitchen", "B:"}},
			dataset.Want{Rung: dataset.Rung{Name: "food", Items: 11837, Rows: 83663},
				From: "the table's own description"},
			dataset.Want{Rung: dataset.Rung{Name: "kitchen", Items: 16258, Rows: 89885},
				From: "the table's own description"}),
		amazonCross(),
		{Name: standin.CrossName, Title: "synthetic pair of domains with shared tastes", standIn: true,
			Domains: []CrossDomain{{Name: "left"}, {Name: "right"}}},
	}
}

// crossTable returns a set whose domains are in one table. wants are additional expected counts.
func crossTable(set Set, domains []CrossDomain, wants ...dataset.Want) CrossSet {
	r := set.Recipes[0]
	return CrossSet{Name: set.Name, Title: set.Title, Domains: domains, sets: []Set{set}, recipe: r,
		wants: append(slices.Clip(r.Wants), wants...), notes: r.Notes}
}

const crossLicence = "derived from Amazon review ratings, which their owner offers for academic research; no formal " +
	"licence, research only, do not redistribute"

func toyGame() Set {
	return Set{
		Name: "cd-amazon-toy-game", Title: "Amazon toys and video games, shared users",
		Address: "https://github.com/hulkima/PDRec (Dataset/Amazon_toy)", Licence: crossLicence,
		Layouts: []Layout{{Files: []string{"interactions.tsv"}, Read: logOnly(ReadCrossTable)}},
		Recipes: []dataset.Recipe{{
			Name: "pricdsr", About: "PriCDSR's definition 1, both domains in one sequence: the first of a repeated " +
				"pair, the last row test, the one before it validation",
			Dedupe: dataset.KeepFirst, Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true},
			Wants: []dataset.Want{
				{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 7996, Items: 49603, Rows: 197358},
					From: "the table's own description"},
				{Rung: dataset.Rung{Name: "distinct pairs", Rows: 197358 - 7351},
					From: "the table's own description: 7,351 repeated pairs"},
			},
			Notes: []string{"not a pair of PriCDSR's paper, whose data are not published; DASL was evaluated on " +
				"these two domains, preprocessed another way"},
		}},
	}
}

func foodKitchen() Set {
	return Set{
		Name: "cd-amazon-food-kitchen", Title: "Amazon food and kitchen, shared users",
		Address: "https://github.com/DiMarzioBian/ABXI (data/afk)", Licence: crossLicence,
		Layouts: []Layout{{Files: []string{"interactions.tsv"}, Read: logOnly(ReadCrossTable)}},
		Recipes: []dataset.Recipe{{
			Name: "pricdsr", About: "PriCDSR's definition 1, both domains in one sequence: the last row test, the " +
				"one before it validation",
			Dedupe: dataset.KeepFirst, Split: dataset.Split{Kind: dataset.SplitLeaveOneOut, Valid: true},
			Wants: []dataset.Want{
				{Rung: dataset.Rung{Name: dataset.RungRaw, Users: 7144, Items: 28095, Rows: 173548},
					From: "the table's own description"},
			},
			Notes: []string{"not a pair of PriCDSR's paper, whose data are not published"},
		}},
	}
}

// amazonCross returns the set of PriCDSR's three domains. A pair is two of them, but its users are those who remain in
// all three.
func amazonCross() CrossSet {
	s := CrossSet{
		Name: "cd-amazon-movie-cd-book", Title: "Amazon ratings 2014, movies, CDs and books, shared users",
		Domains: []CrossDomain{{Name: "movies"}, {Name: "cds"}, {Name: "books"}},
		wants: []dataset.Want{
			{Rung: dataset.Rung{Name: "movies", Users: 10929, Items: 59513}, Paper: true, From: "table I"},
			{Rung: dataset.Rung{Name: "cds", Users: 10929, Items: 91169}, Paper: true, From: "table I"},
			{Rung: dataset.Rung{Name: "books", Users: 10929, Items: 236049}, Paper: true, From: "table I"},
		},
		notes: []string{"the paper does not say whether it takes the release of 2014 or of 2018"},
	}
	for _, category := range []string{"Movies_and_TV", "CDs_and_Vinyl", "Books"} {
		i := slices.IndexFunc(amazonCategories, func(c amazonCategory) bool { return c.name == category })
		set := amazon(amazonCategories[i])
		s.sets, s.recipe = append(s.sets, set), set.Recipes[0]
	}
	s.recipe.Wants = nil // counts for one category
	return s
}

// ReadCrossTable reads a table with the columns user, timestamp, domain and item, separated by
// tabs. An item's id becomes its domain, a colon and its id in the table.
func ReadCrossTable(ctx context.Context, path string) (*dataset.Log, error) {
	return format.ReadFile(ctx, path, parseCrossTable)
}

func parseCrossTable(in *format.Input) (*dataset.Log, error) {
	s, names, err := format.Table{}.Open(in)
	if err != nil {
		return nil, err
	}
	columns := []string{"user", "timestamp", "domain", "item"}
	at := make([]int, len(columns))
	for k, name := range columns {
		if at[k] = slices.Index(names, name); at[k] < 0 {
			return nil, in.MissingColumn(name, names)
		}
	}
	b := dataset.Builder{Times: []int64{}}
	var id []byte
	err = in.EachRow(s, names, func(v [][]byte) error {
		user, err := in.Token("user", v[at[0]])
		if err != nil {
			return err
		}
		time, err := in.Timestamp("timestamp", v[at[1]])
		if err != nil {
			return err
		}
		domain, err := in.Token("domain", v[at[2]])
		if err != nil {
			return err
		}
		id = append(append(id[:0], domain...), ':')
		item, err := in.Token("item", v[at[3]])
		if err != nil {
			return err
		}
		id = append(id, item...)
		b.Add(b.Users.ID(user), b.Items.ID(id))
		b.Times = append(b.Times, time)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return in.Finish(&b)
}
