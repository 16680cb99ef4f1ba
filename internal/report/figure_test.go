package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// decay is a figure like those of the privacy calculator.
func decay(logX, logY bool) Figure {
	f := Figure{Title: "Privacy loss by delta", X: "delta", Y: "epsilon", LogX: logX, LogY: logY}
	for i, name := range []string{"rdp", "exact", "pld (certified upper end)"} {
		var l Line
		l.Name = name
		for k := range 25 {
			d := math.Pow(10, -9+float64(k)/4)
			l.X, l.Y = append(l.X, d), append(l.Y, (1+0.2*float64(i))*math.Sqrt(-math.Log(d)))
		}
		f.Lines = append(f.Lines, l)
	}
	return f
}

// A file stands alone, is of the size it should be, the same every time, and
// white where nothing is drawn.
func TestImage(t *testing.T) {
	for _, axes := range [][2]bool{{false, false}, {true, false}, {false, true}, {true, true}} {
		f := decay(axes[0], axes[1])
		for _, format := range ImageFormats() {
			a, err := f.Image(format)
			if err != nil {
				t.Fatal(err)
			}
			b, err := f.Image(format)
			if err != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: differs from one drawing to the next (%v)", format, err)
			}
			if dir := os.Getenv("PRIVREC_PAGE_DIR"); dir != "" {
				if err := os.WriteFile(filepath.Join(dir, "figure."+format), a, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if format == "png" {
				img, err := png.Decode(bytes.NewReader(a))
				if err != nil {
					t.Fatal(err)
				}
				if s := img.Bounds().Size(); s.X != 1417 || s.Y != 787 {
					t.Errorf("%v pixels", s)
				}
				if r, g, b, alpha := img.At(2, 2).RGBA(); r != 0xffff || g != 0xffff || b != 0xffff || alpha != 0xffff {
					t.Errorf("the corner is %v", img.At(2, 2))
				}
				continue
			}
			if !bytes.HasPrefix(a, []byte("<?xml")) {
				t.Errorf("an SVG file begins %.20q", a)
			}
			for d := xml.NewDecoder(bytes.NewReader(a)); ; {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("not XML: %v", err)
				}
			}
			for _, want := range []string{f.Title, "delta", "epsilon", "pld (certified upper end)"} {
				if !strings.Contains(string(a), want) {
					t.Errorf("the SVG lacks %q", want)
				}
			}
		}
	}
	if _, err := decay(true, true).Image("gif"); err == nil || !strings.Contains(err.Error(), "svg") {
		t.Errorf("%v", err)
	}
	if _, err := (Figure{}).Image("png"); err == nil {
		t.Error("an empty figure was drawn")
	}
}

// The legend has room of its own: right of the plot nothing is in the colour of a line
// but the legend's own samples, and they end where the text begins.
func TestLegendStandsBeside(t *testing.T) {
	f := decay(true, true)
	b, err := f.Image("png")
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	// Columns that hold the first colour: the curve, then a gap, then the sample.
	var runs int
	was := false
	for x := range img.Bounds().Dx() {
		has := false
		for y := range img.Bounds().Dy() {
			if r, g, b, _ := img.At(x, y).RGBA(); (color.RGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 255}) == palette[0] {
				has = true
			}
		}
		if has && !was {
			runs++
		}
		was = has
	}
	if runs != 2 {
		t.Errorf("the first colour stands in %d separate places, want the line and the legend", runs)
	}
}

func TestLogAxesRefuse(t *testing.T) {
	for _, bad := range []float64{0, -1} {
		x := Figure{LogX: true, Lines: []Line{{Name: "a", X: []float64{1, bad}, Y: []float64{1, 1}}}}
		y := Figure{LogY: true, Lines: []Line{{Name: "a", X: []float64{1, 2}, Y: []float64{1, bad}}}}
		for _, f := range []Figure{x, y} {
			if _, err := f.SVG(); err == nil || !strings.Contains(err.Error(), "logarithmic axis cannot show") {
				t.Errorf("%g: %v", bad, err)
			}
		}
	}
	// What is not finite is left out of any axis; one value alone is a figure too.
	one := Figure{LogX: true, LogY: true, Lines: []Line{{Name: "a", X: []float64{3, math.NaN()}, Y: []float64{2, 1}}}}
	if _, err := one.Image("png"); err != nil {
		t.Error(err)
	}
}

func TestLogTicks(t *testing.T) {
	labels := func(lo, hi float64) (out []string) {
		for _, x := range (logTicks{}).Ticks(lo, hi) {
			if x.Value < lo*(1-1e-9) || x.Value > hi*(1+1e-9) {
				t.Errorf("%g to %g has a mark at %g", lo, hi, x.Value)
			}
			if x.Label != "" {
				out = append(out, x.Label)
			}
		}
		return out
	}
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{1e-9, 1e-3, "1e-9 1e-8 1e-7 1e-6 1e-5 1e-4 0.001"},
		{1, 1000, "1 10 100 1000"},
		{1, 100, "1 2 5 10 20 50 100"},
		{0.3, 7, "0.5 1 2 5"},
		{1, 1e12, "1 100 10000 1e6 1e8 1e10 1e12"},
	} {
		if got := strings.Join(labels(c.lo, c.hi), " "); got != c.want {
			t.Errorf("%g to %g: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
	for _, c := range [][2]float64{{2, 3}, {1.5, 1.6}, {1e-100, 0.9}, {0.02, 0.9}, {1, 5e8}, {3, 4000}, {1e-9, 1e9}} {
		if n := len(labels(c[0], c[1])); n < 2 || n > 12 {
			t.Errorf("%g to %g has %d labels: %v", c[0], c[1], n, labels(c[0], c[1]))
		}
	}
}

func TestPlainTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{1.16, 3.41, "1.5 2 2.5 3"},
		{0, 1, "0 0.2 0.4 0.6 0.8 1"},
		{0.1, 0.35, "0.1 0.15 0.2 0.25 0.3 0.35"},
		{-2, 9, "-2 0 2 4 6 8"},
		{3, 3, "3"},
		{1e-9, 4e-9, "1e-9 1.5e-9 2e-9 2.5e-9 3e-9 3.5e-9 4e-9"},
		{2e6, 9e6, "2e6 3e6 4e6 5e6 6e6 7e6 8e6 9e6"},
	} {
		var got []string
		for _, x := range plainTicks(c.lo, c.hi) {
			got = append(got, x.Label)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%g to %g: %s, want %s", c.lo, c.hi, s, c.want)
		}
	}
}

// A long title goes over several lines, inside the picture.
func TestLongTitle(t *testing.T) {
	f := decay(true, false)
	f.Title = strings.Repeat("a part of a title, ", 12) + "the end"
	b, err := f.Image("svg")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(b), ">a part of a title, "); n < 2 || n > 5 {
		t.Errorf("the title takes %d lines", n)
	}
}
