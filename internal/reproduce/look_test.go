package reproduce

import (
	"context"
	"os"
	"strings"
	"testing"
)

// A table says the same of data that are missing whether its runs were tried, or it is only looked at.
func TestLookWithoutData(t *testing.T) {
	t.Setenv("PRIVREC_DATA", t.TempDir())
	text := strings.ReplaceAll(fakeFigure, "users=400", "users=400, fail=data")
	g, o := mustLoad(t, text, (&fake{}).task()), options(t, "quick")
	made, err := makeTable(context.Background(), g, o)
	if err != nil {
		t.Fatal(err)
	}
	holds(t, markdown(t, made), "data missing: ml-1m: nothing there: files not found; fetch it", "| Twin | ml-1m |  | quick | 1 |  | data missing |")
	was := map[string]string{}
	for _, path := range made.Files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		was[path] = string(b)
	}
	again := func(how string, err error) {
		if err != nil {
			t.Fatal(err)
		}
		for path, want := range was {
			if b, err := os.ReadFile(path); (err != nil || string(b) != want) && !strings.HasSuffix(path, "-runs.json") {
				t.Errorf("%s: %s differs (%v)", how, path, err)
			}
		}
	}
	looked, err := Look(context.Background(), g, o)
	if err == nil {
		err = looked.Write(o.Out)
	}
	again("looked at", err)
}
