package slate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/registry"
	"privrec/internal/rng"
)

// behindLog is a log of 30 users who see the same 120 items once each, in an order of
// their own, 10 apart; a third is clicked, and of every five clicks two have a clock that
// is behind by as much as five shows.
func behindLog() *Log {
	const users, items = 30, 120
	l := &Log{Name: "behind"}
	for i := range items {
		l.ItemIDs = append(l.ItemIDs, fmt.Sprint("i", i))
	}
	clicks := 0
	for u := range users {
		l.UserIDs = append(l.UserIDs, fmt.Sprint("u", u))
		s := rng.Seed(7).Stream("test", uint64(u))
		order := make([]int32, items)
		for i := range order {
			order[i] = int32(i)
		}
		s.Shuffle(items, func(i, j int) { order[i], order[j] = order[j], order[i] })
		for i, x := range order {
			shown, clicked := int64(1000+10*i), int64(0)
			if s.IntN(3) == 0 {
				clicked = shown + 1
				if clicks++; clicks%5 < 2 {
					clicked = shown - 1 - int64(s.IntN(50))
				}
			}
			l.Users, l.Items = append(l.Users, int32(u)), append(l.Items, x)
			l.Shown, l.Clicked = append(l.Shown, shown), append(l.Clicked, clicked)
		}
	}
	return l
}

// TestNoAnswerInItsSlate: with every item shown once to a user, no slate holds an item of
// the behaviour beside it, for any clock of the clicks.
func TestNoAnswerInItsSlate(t *testing.T) {
	for _, clicks := range []string{OrderShown, OrderClicked} {
		for _, early := range []string{EarlyKeep, EarlyDrop} {
			s, err := Build(behindLog(), Options{Clicks: clicks, Early: early})
			if err != nil {
				t.Fatal(err)
			}
			pairs, answers := 0, 0
			for _, p := range []*Pairs{s.Train, s.Valid, s.Test} {
				for i := range p.Len() {
					pairs++
					for _, x := range p.Behaviour(i) {
						if slices.Contains(p.Slate(i), x) {
							answers++
						}
					}
				}
			}
			if answers > 0 || pairs < 300 {
				t.Errorf("clicks %s, early %s: %d clicks stand in the slate after them, of %d pairs", clicks, early, answers, pairs)
			}
		}
	}
}

// TestEarlyClicks: a click before its show is kept, taken back or refused, and counted.
func TestEarlyClicks(t *testing.T) {
	text := strings.ReplaceAll(zhihuLog("1", "2", "3"), "b,20,30", "b,20,19")
	path := writeFile(t, "inter_impression.csv", text)
	l, err := ReadZhihu(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ early, want string }{
		{EarlyKeep, "1: f g | a; 1: c d | b; 1: h i | g"}, // the program has b c | b
		{EarlyDrop, "1: f g | a; 1: h i | g"},
		{EarlyRefuse, path + `:3: field "click timestamp": 3 of 9 clicks come before their item was shown, this one first: user "1" was shown "b" at 20 and clicked at 19`},
	} {
		s, err := Build(l, Options{T: 2, L: 1, Early: c.early})
		if c.early == EarlyRefuse {
			if err == nil || err.Error() != c.want {
				t.Errorf("refuse: %v", err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(words(s), func(w string) bool { return w[0] != '1' })
		if strings.Join(got, "; ") != c.want {
			t.Errorf("%s: %q, want %q", c.early, got, c.want)
		}
		expect(t, s, dataset.Rung{Name: "clicked before it was shown", Users: 3, Items: 1, Rows: 3})
		if want := "3 of 9 clicks (33.3 %) come before their item was shown (option early: " + c.early + ")"; !slices.Contains(s.Notes, want) {
			t.Errorf("notes %q lack %q", s.Notes, want)
		}
	}
}

// TestMostlyEarly: clicks most of which come before their item was shown are no clicks of this log,
// for any choice about single ones.
func TestMostlyEarly(t *testing.T) {
	const head = "user\titem\tshown_at\tclicked_at\n"
	for _, c := range []struct{ name, text, want string }{
		{"a flag", "u\ta\t100\t\nu\tb\t110\t1\nu\tc\t120\t1\n", `:3: field "clicked_at": 2 of 2 clicks come before their item was shown, this one first: user "u" was shown "b" at 110 and clicked at 1`},
		{"shows in milliseconds", "u\ta\t1700000000000\t1700000003\n", `:2: field "clicked_at": 1 of 1 clicks come before their item was shown, this one first: user "u" was shown "a" at 1700000000000 and clicked at 1700000003`},
		{"another clock", "u\ta\t100\t101\nu\tb\t110\t80\nu\tc\t120\t90\n", `:3: field "clicked_at": 2 of 3 clicks come before their item was shown`},
	} {
		for _, early := range []string{EarlyKeep, EarlyDrop, EarlyRefuse} {
			path := writeFile(t, "impressions.tsv", head+c.text)
			l, err := ReadGeneric(t.Context(), path, format.TSV, registry.Columns{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = Build(l, Options{T: 1, L: 1, Early: early})
			e, ok := err.(*dataset.Error)
			if !ok || !strings.HasPrefix(err.Error(), path+c.want) {
				t.Errorf("%s, early %s: %v", c.name, early, err)
				continue
			}
			for _, cause := range []string{"unit", "flag", "clock"} {
				if early != EarlyRefuse && !strings.Contains(e.Hint, cause) {
					t.Errorf("%s: hint %q lacks the cause %q", c.name, e.Hint, cause)
				}
			}
		}
	}
	half := "u,a,100,101\nu,b,110,80\n" // as many: the option decides
	l, err := ReadZhihu(t.Context(), writeFile(t, "inter_impression.csv", half))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Build(l, Options{T: 1, L: 1}); err == nil || strings.Contains(err.Error(), "before their item was shown") {
		t.Errorf("half of the clicks: %v", err)
	}
}

// TestNoPairs: what left none is told by its counts.
func TestNoPairs(t *testing.T) {
	early := strings.NewReplacer("a,10,50", "a,10,9", "g,60,61", "g,60,60")
	late := strings.NewReplacer("a,10,50", "a,10,10001", "b,20,30", "b,20,20001", "g,60,61", "g,60,60001")
	for _, c := range []struct {
		name, text string
		o          Options
		want, hint string
	}{
		{"dropped", early.Replace(zhihuLog("1", "2", "3")), Options{T: 2, L: 3, Early: EarlyDrop},
			"no pair of 3 clicks and 2 items shown after them: none of 3 users has 3 clicks; early: drop took 3 of 9 clicks", "early: keep uses clicks before their show, or choose shorter behaviours"},
		{"few clicks", zhihuLog("1", "2", "3"), Options{T: 2, L: 4},
			"no pair of 4 clicks and 2 items shown after them: none of 3 users has 4 clicks", "choose shorter behaviours"},
		{"short logs", zhihuLog("1", "2", "3"), Options{T: 9, L: 1},
			"no pair of 1 clicks and 9 items shown after them: none of 9 windows of 1 clicks has 9 items shown after it", "choose shorter slates or behaviours"},
		{"clicks in milliseconds", late.Replace(zhihuLog("1", "2", "3")), Options{T: 2, L: 1},
			"no pair of 1 clicks and 2 items shown after them: none of 9 windows of 1 clicks has 2 items shown after it, 9 have none at all", "do the times of shown and clicked items have the same unit and clock? else choose shorter slates or behaviours"},
	} {
		l, err := ReadZhihu(t.Context(), writeFile(t, "inter_impression.csv", c.text))
		if err != nil {
			t.Fatal(err)
		}
		_, err = Build(l, c.o)
		e, ok := err.(*dataset.Error)
		if !ok || e.Msg != c.want || e.Hint != c.hint {
			t.Errorf("%s: %+v", c.name, err)
		}
	}
}
