package train

import "testing"

// A training that a lower cap or an impatient stop ended is short of the one stated; one that
// validation ended as patiently as stated is not.
func TestShort(t *testing.T) {
	for _, c := range []struct {
		name        string
		stated, own Length
		ran         int
		stopped     bool
		want        string
	}{
		{"five of a thousand", Length{1000, 50}, Length{5, 50}, 5, false, "trained for 5 of the 1000 epochs stated, ended by the cap"},
		{"all of them", Length{300, 10}, Length{300, 10}, 300, false, ""},
		{"more of them", Length{300, 10}, Length{400, 10}, 400, false, ""},
		{"stopped by validation", Length{300, 10}, Length{300, 10}, 47, true, ""},
		{"stopped by validation below a lower cap", Length{300, 10}, Length{100, 10}, 47, true, ""},
		{"stopped too soon", Length{1000, 50}, Length{60, 5}, 12, true, "trained for 12 of the 1000 epochs stated, stopped after 5 without gain in place of 50"},
		{"stopped where nothing stops", Length{1000, 0}, Length{1000, 10}, 60, true, "trained for 60 of the 1000 epochs stated, stopped early where nothing stops them"},
		{"nothing stated", Length{}, Length{5, 0}, 5, false, ""},
	} {
		if got := c.stated.Short(c.own, c.ran, c.stopped); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
