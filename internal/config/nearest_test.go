package config

import "testing"

func TestNearest(t *testing.T) {
	known := []string{"attack", "data", "list", "train"}
	for word, want := range map[string]string{
		"trian": "train", "tarin": "train", "rtain": "train", "trai": "train", "atack": "attack", "dta": "data", "lst": "list", "lists": "list",
		"train": "train", "": "", "x": "", "nothing": "", "lightgcn": "",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"ab", "ba", 1}, {"abc", "cab", 2}, {"kitten", "sitting", 3}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance of %q and %q is %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
