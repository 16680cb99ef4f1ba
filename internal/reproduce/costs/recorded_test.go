package costs

import (
	"strings"
	"testing"
)

// The recorded cost of a run is that of equal steps by their epochs, else the mean of similar runs.
func TestRecordedCosts(t *testing.T) {
	table, err := readCosts(
		strings.NewReader(
			"# 50 billion multiplications a second\n" + strings.Join(
				Columns,
				",",
			) + "\nk,train x,a,2,10,100,20\nl,train x,b,1,8,300,20\nm,train y,a,1,1,50,1\n",
		),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key, task, data string
		epochs          int
		seconds         float64
		how             Basis
	}{
		{"k", "train x", "a", 6, 30, Recorded}, {"?", "train x", "b", 3, 24, Alike},
		{"?", "train x", "z", 1, 6.5, Guessed}, {"?", "train z", "z", 9, 19. / 3, Guessed},
	} {
		if got := table.of(c.key, c.task, c.data, c.epochs); got.Seconds != c.seconds || got.How != c.how {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	for _, bad := range []string{"", "# fast\n", "# 5 billion\nkey\n",
		"# 5 billion\n" + strings.Join(Columns, ",") + "\nk,t,d,1,x,1,1\n"} {
		if _, err := readCosts(strings.NewReader(bad)); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
