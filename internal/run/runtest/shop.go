package runtest

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
)

// ShopRow is one row of a Shop.
type ShopRow struct {
	User, Item string
	Rating     int
	Time       int64
}

// Shop holds small own data that a test makes and changes by one user or one row.
type Shop struct {
	Rows     []ShopRow           // in the order of the file
	Features map[string][]string // by user: gender, age, occupation
	Listed   []string            // ids of the items of the catalogue, in its order
}

// SmallShop returns 12 users and 14 items with the special cases that a shop may have: a user with one row, an item of
// one user alone, equal times, and ids that are numbers except for one user's and one item's, without which all others
// sort differently. With repeats it has repeated rows too.
func SmallShop(repeats bool) *Shop {
	s := &Shop{Features: map[string][]string{}}
	users := []string{"10", "9", "b", "100", "7", "11", "2", "21", "3", "30", "5", "8"}
	items := []string{"4", "12", "33", "1", "40", "5", "6", "70", "8", "17", "90", "2", "51"}
	for k, u := range users {
		s.Features[u] = []string{[]string{"M", "F"}[k%2], fmt.Sprint(18 + 7*(k%5)),
			[]string{"writer", "artist", "doctor"}[k%3]}
		n := 6 + (5*k)%7
		if u == "5" {
			n = 1
		}
		for j := range n {
			s.Rows = append(s.Rows, ShopRow{u, items[(k*k+(3+k%2)*j)%len(items)], 1 + (k+2*j)%5,
				int64(1000 + 10*j - 10*(j%2))})
		}
	}
	s.Rows = append(s.Rows, ShopRow{"3", "x", 4, 1002})
	if repeats {
		s.Rows = append(s.Rows, ShopRow{"9", "12", 2, 1001}, ShopRow{"9", "12", 5, 1300}, ShopRow{"21", "5", 3, 1015},
			ShopRow{"21", "5", 3, 1016})
	}
	// As a file has them: not by user.
	slices.SortStableFunc(s.Rows, func(a, b ShopRow) int { return int(a.Time%7 - b.Time%7) })
	s.Listed = append(slices.Clone(items), "x")
	return s
}

// Users returns the ids of the users, in the order of data.
func (s *Shop) Users() []string {
	var ids []string
	for _, r := range s.Rows {
		if !slices.Contains(ids, r.User) {
			ids = append(ids, r.User)
		}
	}
	_, sorted := dataset.Ascending(ids)
	return sorted
}

// Without returns the shop without a user.
func (s *Shop) Without(user string) *Shop {
	out := &Shop{Features: map[string][]string{}, Listed: s.Listed}
	for _, r := range s.Rows {
		if r.User != user {
			out.Rows = append(out.Rows, r)
		}
	}
	for u, f := range s.Features {
		if u != user {
			out.Features[u] = f
		}
	}
	return out
}

// Write writes the shop as own data under dir: as own-shop, a log.
func (s *Shop) Write(t testing.TB, dir string) {
	t.Helper()
	var log strings.Builder
	log.WriteString("user_id,item_id,rating,timestamp\n")
	for _, r := range s.Rows {
		fmt.Fprintf(&log, "%s,%s,%d,%d\n", r.User, r.Item, r.Rating, r.Time)
	}
	files := s.features(s.Users())
	files["own-shop.csv"] = log.String()
	writeAll(t, filepath.Join(dir, "own-shop"), files)
	writeAll(t, dir, map[string]string{ItemsName: strings.Join(s.Listed, "\n") + "\n",
		UsersName: strings.Join(s.Users(), "\n") + "\n"})
}

// features returns the files of the features of some users.
func (s *Shop) features(ids []string) map[string]string {
	var users strings.Builder
	users.WriteString("user_id,gender,age,occupation\n")
	for _, u := range ids {
		fmt.Fprintf(&users, "%s,%s\n", u, strings.Join(s.Features[u], ","))
	}
	return map[string]string{"own-shop.users.csv": users.String(),
		"columns.yaml": "features: [gender, age, occupation]\nnumbers: [age]\n"}
}

// WithoutRow returns the shop without a row.
func (s *Shop) WithoutRow(at int) *Shop {
	out := *s
	out.Rows = slices.Delete(slices.Clone(s.Rows), at, at+1)
	return &out
}

// WithItem returns the shop with another item in a row.
func (s *Shop) WithItem(at int, item string) *Shop {
	out := *s
	out.Rows = slices.Clone(s.Rows)
	out.Rows[at].Item = item
	return &out
}

// Numbered returns the shop with ids that are all numbers, in the order of its users and of time.
func (s *Shop) Numbered() *Shop {
	number := func(id string) string {
		switch id {
		case "b":
			return "1"
		case "x":
			return "99"
		}
		return id
	}
	out := &Shop{Features: map[string][]string{}}
	for _, r := range s.Rows {
		r.User, r.Item = number(r.User), number(r.Item)
		out.Rows = append(out.Rows, r)
	}
	for u, f := range s.Features {
		out.Features[number(u)] = f
	}
	for _, i := range s.Listed {
		out.Listed = append(out.Listed, number(i))
	}
	slices.SortStableFunc(out.Rows, func(a, b ShopRow) int {
		return cmp.Or(len(a.User)-len(b.User), strings.Compare(a.User, b.User), int(a.Time-b.Time))
	})
	return out
}

// WriteSplit writes the shop, whose ids are numbers, under dir as own-shop, a published split. test holds the test
// rows, which neighbours share.
func (s *Shop) WriteSplit(t testing.TB, dir string, test []ShopRow) {
	t.Helper()
	lists := func(rows []ShopRow) string {
		var out strings.Builder
		for _, u := range (&Shop{Rows: rows}).Users() {
			out.WriteString(u)
			for _, r := range rows {
				if r.User == u {
					out.WriteString(" " + r.Item)
				}
			}
			out.WriteString("\n")
		}
		return out.String()
	}
	files := s.features((&Shop{Rows: slices.Concat(s.Rows, test)}).Users())
	files["train.txt"], files["test.txt"] = lists(s.Rows), lists(test)
	writeAll(t, filepath.Join(dir, "own-shop"), files)
	writeAll(t, dir, map[string]string{ItemsName: strings.Join(s.Listed, "\n") + "\n",
		UsersName: strings.Join(s.Users(), "\n") + "\n"})
}

// Names of the lists of all items and all users of a shop, beside its folder: one id a line.
const (
	ItemsName = "items.txt"
	UsersName = "users.txt"
)

func writeAll(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
