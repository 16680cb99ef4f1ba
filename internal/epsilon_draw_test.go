package internal

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
)

// claimRow is a line of the table of claims in docs/results/README.md.
type claimRow struct {
	system, unit, open       string  // open: what has no noise, "nothing" where all has
	claimed, accounted, user float64 // 0: none
}

// TestEpsilonDrawing demands that docs/epsilon.svg shows the table of claims of the page of
// results (make docs).
func TestEpsilonDrawing(t *testing.T) {
	golden(t, "../docs/epsilon.svg", string(drawClaims(claimRows(t))))
}

func claimRows(t *testing.T) (rows []claimRow) {
	t.Helper()
	const path, head = "../docs/results/README.md", "| system | claimed | smallest unit | accounted | one user | without noise |\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), head)
	if !ok {
		t.Fatalf("%s: no table begins with %q", path, head)
	}
	number := func(s string) float64 {
		if s == "" {
			return 0
		}
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || !(x >= 1) || x > maxEpsilon {
			t.Fatalf("%s: %q is no epsilon from 1 to %g", path, s, float64(maxEpsilon))
		}
		return x
	}
	for _, line := range strings.Split(table, "\n")[1:] {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if !strings.HasPrefix(line, "|") {
			break
		}
		if len(cells) != 6 {
			t.Fatalf("%s: %d cells in %q", path, len(cells), line)
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, claimRow{system: cells[0], claimed: number(cells[1]), unit: cells[2],
			accounted: number(cells[3]), user: number(cells[4]), open: cells[5]})
	}
	if len(rows) < 2 {
		t.Fatalf("%s: %d rows in the table of claims", path, len(rows))
	}
	return rows
}

const maxEpsilon = 1e7

// drawClaims draws a band a system on one logarithmic axis: the claim as a ring, what the
// noise amounts to as a dot, that of a whole user as a square, and what has no noise in words.
func drawClaims(rows []claimRow) []byte {
	const width, head, band, left, right = 760, 100, 146, 40.0, 640.0
	at := func(eps float64) float64 { return left + (right-left)*math.Log10(eps)/math.Log10(maxEpsilon) }
	height := head + band*len(rows) + 8

	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="DejaVu Sans, Verdana, sans-serif" font-size="20" fill="#1c2530">`+"\n", width, height)
	b.WriteString("<title>Claimed epsilon, and what the noise of the same runs amounts to</title>\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", width, height)
	ring, dot, square := "#c2570c", "#3a6ea5", "#1c2530"
	mark := func(shape string, x, y float64) {
		switch shape {
		case "ring":
			fmt.Fprintf(&b, `<circle cx="%.0f" cy="%.0f" r="12" fill="none" stroke="%s" stroke-width="4"/>`+"\n", x, y, ring)
		case "dot":
			fmt.Fprintf(&b, `<circle cx="%.0f" cy="%.0f" r="7" fill="%s"/>`+"\n", x, y, dot)
		case "square":
			fmt.Fprintf(&b, `<rect x="%.0f" y="%.0f" width="14" height="14" fill="%s"/>`+"\n", x-7, y-7, square)
		}
	}
	x := 24.0
	for _, k := range []struct{ shape, word string }{{"ring", "claimed"}, {"dot", "what its noise amounts to"}, {"square", "for one user"}} {
		mark(k.shape, x, 26)
		fmt.Fprintf(&b, `<text x="%.0f" y="33">%s</text>`+"\n", x+20, k.word)
		x += 44 + 11.9*float64(len(k.word))
	}
	b.WriteString(`<g font-size="18" fill="#5b6673" text-anchor="middle">` + "\n")
	for i, label := range []string{"1", "10", "100", "1,000", "10,000", "100,000", "a million", ""} {
		x := at(math.Pow(10, float64(i)))
		fmt.Fprintf(&b, `<path d="M%.0f 84V%d" stroke="#dde1e6" stroke-width="1.5"/><text x="%.0f" y="74">%s</text>`+"\n", x, height-8, x, label)
	}
	b.WriteString("</g>\n" + `<g paint-order="stroke" stroke-linejoin="round">` + "\n")
	for i, r := range rows {
		top := float64(head + band*i)
		y := top + 62
		fmt.Fprintf(&b, `<rect x="8" y="%.0f" width="%d" height="34" rx="6" fill="#f3f5f8"/><text x="20" y="%.0f" font-weight="bold">%s</text>`+"\n", top, width-16, top+24, r.system)
		fmt.Fprintf(&b, `<path d="M%.0f %.0fH%.0f" stroke="#9aa5b1" stroke-width="2"/>`+"\n", left, y, right)
		first, last := at(cmp.Or(r.claimed, r.accounted)), at(max(r.user, r.accounted))
		if r.claimed > 0 {
			first += 14 // the ring
		}
		if last > first {
			fmt.Fprintf(&b, `<path d="M%.0f %.0fH%.0f" stroke="#9cc0e2" stroke-width="8"/>`+"\n", first, y, last)
		}
		say := func(eps float64, of string) {
			text := short(eps) + ": " + of
			half := 5.9 * float64(len(text))
			fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" text-anchor="middle" stroke="#ffffff" stroke-width="5">%s</text>`+"\n", min(max(at(eps), 14+half), width-14-half), y+34, text)
		}
		if r.claimed > 0 {
			mark("ring", at(r.claimed), y)
			if r.claimed != r.accounted {
				fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" text-anchor="middle" stroke="#ffffff" stroke-width="5">%s</text>`+"\n", at(r.claimed), y+34, short(r.claimed))
			}
		}
		mark("dot", at(r.accounted), y)
		say(r.accounted, r.unit)
		if r.user > 0 {
			mark("square", at(r.user), y)
			say(r.user, "one user")
		}
		if r.open == "nothing" {
			fmt.Fprintf(&b, `<text x="20" y="%.0f" fill="#00795a" stroke="#ffffff" stroke-width="5">nothing is left without noise</text>`+"\n", y+64)
			continue
		}
		fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" font-size="34" fill="#b3261e" text-anchor="middle">∞</text>`+"\n", right+50, y+11)
		fmt.Fprintf(&b, `<text x="20" y="%.0f" fill="#b3261e" stroke="#ffffff" stroke-width="5">without any noise: %s</text>`+"\n", y+64, r.open)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

// short writes an epsilon in three digits: 735, 103,000, 4.6 million.
func short(eps float64) string {
	switch {
	case eps >= 1e6:
		return strconv.FormatFloat(math.Round(eps/1e5)/10, 'f', -1, 64) + " million"
	case eps >= 1e3:
		unit := math.Pow(10, math.Floor(math.Log10(eps))-2)
		whole := strconv.FormatFloat(math.Round(eps/unit)*unit, 'f', 0, 64)
		return whole[:len(whole)-3] + "," + whole[len(whole)-3:]
	}
	return strconv.FormatFloat(math.Round(eps), 'f', 0, 64)
}
