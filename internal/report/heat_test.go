package report

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// heat is a heat map with every kind of cell.
func heat() Heat {
	return Heat{
		Title: "Attacks on models", Head: "model (defence)", Beside: "accounted epsilon", Columns: []string{"membership of an interaction: AUC", "gender from vectors: AUC <gender>"},
		Above: "leaks", Below: "below the floor", Pale: "not told", Caption: "gains in points", File: "matrix",
		Rows: []HeatRow{
			{"EASE", "infinite; nothing claimed", []HeatCell{{Text: "+29.2 leaks", Under: "+27.8 to +30.5", Shade: 0.6}, {Text: "the model keeps no vectors of users", Empty: true}}},
			{"iALS (DP-ALS)", "1 for one user at delta 1e-06", []HeatCell{{Text: "+0.3 protected", Under: "-0.9 to +1.5"}, {Text: "-4.0 below", Under: "-7.0 to -1.0", Shade: -0.08}}},
		},
	}
}

// A heat map stands alone as a file, is the same every time, and has every word of its cells and of
// its key; a page has the same words as a table.
func TestHeat(t *testing.T) {
	h := heat()
	for _, format := range ImageFormats() {
		a, err := h.Image(format)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := h.Image(format); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: differs from one drawing to the next (%v)", format, err)
		}
		if dir := os.Getenv("PRIVREC_PAGE_DIR"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, "heat."+format), a, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if format == "png" {
			if _, err := png.Decode(bytes.NewReader(a)); err != nil {
				t.Fatal(err)
			}
			continue
		}
		text := words(t, a)
		for _, want := range []string{"EASE", "+29.2 leaks", "+27.8 to +30.5", "-4.0 below", "leaks", "below the floor", "not told", "no number: the words say why", "gains in points"} {
			if !strings.Contains(text, "\n"+want+"\n") {
				t.Errorf("the drawing lacks %q:\n%s", want, text)
			}
		}
	}
	var page, md strings.Builder
	d := Document{Title: "Matrix", Heats: []Heat{h}}
	if err := d.HTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<td style="background:rgba(213,94,0,0.480)">+29.2 leaks<small>+27.8 to +30.5</small></td>`, `<td class="empty">the model keeps no vectors of users</td>`,
		`<td style="background:rgba(0,114,178,0.064)">-4.0 below`, `<td style="background:rgba(213,94,0,0.000)">+0.3 protected`, "AUC &lt;gender&gt;", `<th scope="row">iALS (DP-ALS)</th>`} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %s:\n%s", want, page.String())
		}
	}
	if err := d.Markdown(&md); err != nil || !strings.Contains(md.String(), "![Attacks on models](matrix.svg)\n\ngains in points\n") {
		t.Errorf("%v:\n%s", err, md.String())
	}
}

// What cannot be drawn says which row.
func TestHeatRefuses(t *testing.T) {
	for want, change := range map[string]func(h *Heat){
		"has 0 rows":                         func(h *Heat) { h.Rows = nil },
		`row "EASE" has 1 cells`:             func(h *Heat) { h.Rows[0].Cells = h.Rows[0].Cells[:1] },
		`row "EASE" has a shade of 1.2`:      func(h *Heat) { h.Rows[0].Cells[0].Shade = 1.2 },
		`row "iALS (DP-ALS)" has 0 cells`:    func(h *Heat) { h.Rows[1].Cells = nil },
		`heat map "Attacks on models" has 2`: func(h *Heat) { h.Columns = nil },
	} {
		h := heat()
		change(&h)
		if _, err := h.Image("svg"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
		if err := (&Document{Heats: []Heat{h}}).HTML(new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("page: got %v, want %q", err, want)
		}
	}
}
