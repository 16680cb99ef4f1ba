package reproduce

import (
	"context"
	"math"
	"strings"
	"testing"

	"privrec/internal/reproduce/roster"
)

// gaining is a grid of two rows on which the paper prints an improvement.
var gaining = fakeGrid + `gains:
  - {data: ml-1m, method: Two, over: One, printed: [null, -40]}
`

// A gain is computed from the means of its rows, and stands beside the printed one as they do.
func TestGain(t *testing.T) {
	f := &fake{}
	text := strings.Replace(gaining, "method: Two,", "method: TWO,", 1)
	if _, err := load(t, text, f.task()); err == nil || !strings.Contains(err.Error(), `gains.0.method: no row "Two"`) {
		t.Errorf("got %v", err)
	}
	g, o := mustLoad(t, gaining, f.task()), options(t, "full")
	out, err := makeTable(context.Background(), g, o)
	if err != nil || out.Err() != nil {
		t.Fatal(err, out.Err())
	}
	one, two, gain := out.Cells[1], out.Cells[3], out.Cells[5]
	if gain.Method != "Two over One" || gain.Printed == nil || *gain.Printed != -40 || len(out.Cells) != 6 {
		t.Fatalf("cell %+v", gain)
	}
	want := 100 * (*two.Ours / *one.Ours - 1)
	if math.Abs(*gain.Ours-want) > 1e-9 {
		t.Errorf("gain %v, want %v", *gain.Ours, want)
	}
	holds(t, markdown(t, out), "| Two over One | paper | - | -40.00 |")
	out, err = makeTable(
		context.Background(),
		g,
		roster.Options{Size: "quick", Out: t.TempDir(), NoRun: true, Log: o.Log, Progress: o.Progress},
	)
	if err != nil || out.Cells[5].Ours != nil || *out.Cells[5].Printed != -40 {
		t.Errorf("without results: %v, %+v", err, out.Cells[5])
	}
}
