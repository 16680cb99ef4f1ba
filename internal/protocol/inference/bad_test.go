package inference

import (
	"errors"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

const (
	goodLists = "user\trank\titem\nu1\t1\ta\nu1\t2\tb\nu2\t1\tb\nu2\t2\tc\nu3\t1\ta\nu3\t2\tc\nu4\t1\tb\nu4\t2\ta\nu5\t1\ta\nu5\t2\tb\nu6\t1\tc\nu6\t2\ta\n"
	goodHad   = "user,item\nu1,d\nu2,e\nu3,d\nu4,e\nu5,d\nu6,e\n"
	goodTable = "user_id\tgender\tage\nu1\tM\t20\nu2\tF\t40\nu3\tM\t50\nu4\tF\t20\nu5\tM\t20\nu6\tF\t50\n"
)

// What cannot be attacked is named by file, line and field.
func TestBadInput(t *testing.T) {
	for name, c := range map[string]struct {
		lists, had, table string // empty: the good one
		set               string
		want              string // FILE stands for the path
	}{
		"no column of users": {table: "who\tgender\nu1\tM\n", want: `table.tsv:1: field "user": `},
		"missing attribute":  {set: "attributes=[{name: shoe}]", want: `table.tsv:1: field "shoe": `},
		"undeclared value":   {set: "attributes=[{name: gender, values: [M, X]}]", want: `table.tsv:3: field "gender": value "F" of user "u2" is none of the declared M, X`},
		"missing value":      {table: strings.Replace(goodTable, "u3\tM", "u3\t", 1), want: `table.tsv:4: field "gender": user "u3" has no value`},
		"no number in bands": {set: "attributes=[{name: gender, bands: [1, 2]}]", want: `table.tsv:2: field "gender": `},
		"one class":          {table: strings.ReplaceAll(goodTable, "F", "M"), want: `table.tsv: field "gender": all 6 users have the value "M": there is one class only`},
		"one class of bands": {set: "attributes=[{name: age, bands: [90, 99]}]", want: `table.tsv: field "age": all 6 users have the value "<90"`},
		"user twice":         {table: goodTable + "u2\tF\t40\n", want: `table.tsv:8: field "user_id": user "u2" has a second line`},
		"user without list":  {lists: strings.Replace(goodLists, "u2\t1\tb\nu2\t2\tc\n", "", 1), want: `table.tsv:3: field "user": user "u2" has no recommendations in lists`},
		"user without rows":  {had: strings.Replace(goodHad, "u4,e\n", "", 1), want: `table.tsv:5: field "user": user "u4", one of 1, has no interactions in lists`},
		"other users":        {table: strings.ReplaceAll(goodTable, "\nu", "\nv"), want: `table.tsv: field "user": none of its 6 users is a user of lists`},
		"short list":         {set: "attack.k=[2, 3]", want: `table.tsv:2: field "user": user "u1" is recommended 2 items in lists, and attack.k asks for 3`},
		"rank skipped":       {lists: "user\trank\titem\nu1\t1\ta\nu1\t3\tb\n", want: `lists.tsv:3: field "rank": user "u1" has rank 3 after 1 items`},
		"rank no number":     {lists: "user\trank\titem\nu1\tfirst\ta\n", want: `lists.tsv:2: field "rank": `},
		"item twice":         {lists: "user\trank\titem\nu1\t1\ta\nu1\t2\ta\n", want: `lists.tsv:3: field "item": user "u1" is recommended item "a" twice`},
		"empty item":         {lists: "user\trank\titem\nu1\t1\t\n", want: `lists.tsv:2: field "item": is empty`},
		"lists without rank": {lists: "user\titem\nu1\ta\n", want: `lists.tsv:1: field "rank": `},
		"lists without rows": {lists: "user\trank\titem\n", want: `lists.tsv: no rows`},
		"rows without items": {had: "user,thing\nu1,d\n", want: `had.csv:1: field "item": `},
		"all users train":    {set: "attack.share=0.01", want: "attack.share: 0.01, for attribute gender: "},
		"vectors of a file":  {set: "attack.sees=[vectors]", want: "attack.sees: vectors: a file of lists has no user vectors"},
	} {
		t.Run(name, func(t *testing.T) {
			pick := func(own, good string) string {
				if own == "" {
					return good
				}
				return own
			}
			sets := []string{"files.lists=" + written(t, "lists.tsv", pick(c.lists, goodLists)), "files.interactions=" + written(t, "had.csv", pick(c.had, goodHad)),
				"files.attributes=" + written(t, "table.tsv", pick(c.table, goodTable)), "attributes=[{name: gender}]", "attack.k=[2]", "attack.attackers=[naive-bayes-bernoulli]", "attack.repeats=1"}
			if c.set != "" {
				sets = append(sets, c.set)
			}
			_, _, err := attack(t, sets...)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
			if e := (*dataset.Error)(nil); strings.Contains(c.want, ".tsv:") && !errors.As(err, &e) {
				t.Errorf("the error is a %T", err)
			}
		})
	}
}

// What is missing of a target is a matter of use, with what to do.
func TestLacking(t *testing.T) {
	lists := "files.lists=" + written(t, "lists.tsv", goodLists)
	table := "files.attributes=" + written(t, "table.tsv", goodTable)
	for name, c := range map[string]struct {
		sets []string
		want string
	}{
		"nothing":            {nil, "nothing to attack is named"},
		"no interactions":    {[]string{lists, table}, "attack.sees: interactions+lists: there are no interactions: name a file of them with --interactions"},
		"no attributes":      {[]string{lists, "attack.sees=[lists]"}, "files.attributes: is empty"},
		"no lists":           {[]string{"data.name=standin-tiny", "data.recipe=rdpgcf"}, "attack.sees: interactions+lists: there are no lists"},
		"no vectors":         {[]string{"data.name=standin-tiny", "data.recipe=rdpgcf", "attack.sees=[vectors]"}, "attack.sees: vectors: there are no vectors of users"},
		"number as classes":  {[]string{"data.name=standin-tiny", "data.recipe=rdpgcf", "attack.sees=[interactions]", "attributes=[{name: shoe}]"}, `field "shoe": no such attribute of users; there are `},
		"file without a tab": {[]string{"files.lists=" + written(t, "lists.doc", goodLists), table}, "lists.doc: not the name of a table"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := attack(t, c.sets...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		})
	}
}

// Settings that cannot be run are named by their keys.
func TestCheck(t *testing.T) {
	for set, want := range map[string]string{
		"attack.share=0":                                        "attack.share: must lie in (0,1), got 0",
		"attack.share=1":                                        "attack.share: must lie in (0,1), got 1",
		"attack.repeats=0":                                      "attack.repeats: must lie in 1..1000, got 0",
		"attack.attackers=[oracle]":                             `attack.attackers: must be one of`,
		"attack.attackers=[]":                                   "attack.attackers: must name at least one of",
		"attack.k=[0]":                                          "attack.k: must lie in 1..1000, got 0",
		"attack.sees=[everything]":                              "attack.sees: must be one of",
		"attributes=[]":                                         "attributes: must name at least one",
		"attributes=[{name: ''}]":                               "attributes.0.name: must not be empty",
		"attributes=[{name: a/b}]":                              "attributes.0.name: must not have",
		"eval.confidence=1":                                     "eval.confidence: must lie in (0,1), got 1",
		"files.interactions=x.tsv":                              "files.interactions: is read with files.lists only",
		"on.runs=[a, ./a/]":                                     `on.runs: names "./a/" twice`,
		"on.beside=true":                                        "on.beside: is read with on.runs only",
		"on.release=noisy":                                      "on.release: is read with on.runs only",
		"data.recipe=gerai":                                     "data.recipe: needs data.name beside it",
		"attributes=[{name: a}, {name: a}]":                     `attributes.1.name: names "a" twice`,
		"attributes=[{name: a, values: [M]}]":                   `attributes.0.values: has one class only, "M"`,
		"attributes=[{name: a, values: [M, M]}]":                `attributes.0.values: names "M" twice`,
		"attributes=[{name: a, bands: [2, 1]}]":                 "attributes.0.bands: must be finite and ascend",
		"attributes=[{name: a, bands: [1]}]":                    "attributes.0.bands: must name at least two borders",
		"attributes=[{name: a, bands: [1, 2], values: [M, F]}]": "attributes.0.bands: are not used with values",
	} {
		if err := task().Check("", []string{set}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", set, err, want)
		}
	}
}
