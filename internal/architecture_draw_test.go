package internal

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"
)

// The drawing, in units of which a page shows 760 at its widest.
const (
	houseWidth = 760
	houseEdge  = 20
	boxHeight  = 42
	boxGap     = 10 // between neighbours
	rowGap     = 44 // between rows, where lines run
	bandHead   = 34 // a floor's name
	letter     = 12.6
	nameSize   = 22
)

// node is a room, or the place where a line crosses a row.
type node struct {
	room     *room // nil: a crossing
	row      int
	x, width float64 // centre
	up, down []*node
}

// drawHouse draws rooms as boxes in bands, a band a floor, and a line for every import
// that no other import implies. Lines run downward. Equal trees give equal bytes.
func drawHouse(t *testing.T, list []*room) []byte {
	t.Helper()
	split := map[int]int{} // rows of a floor beyond the first
	grid := layRows(list, split)
	for range 2 * len(list) {
		wide := slices.IndexFunc(grid, func(row []*node) bool { return rowWidth(row) > houseWidth-2*houseEdge })
		if wide < 0 {
			break
		}
		split[firstRoom(grid[wide]).floor]++
		grid = layRows(list, split)
	}
	untangle(grid)
	for range 8 {
		spread(grid)
	}
	for _, row := range grid {
		for i, n := range row {
			if n.x-n.width/2 < houseEdge-1 || n.x+n.width/2 > houseWidth-houseEdge+1 || i > 0 && row[i-1].x+row[i-1].width/2 > n.x-n.width/2 {
				t.Fatalf("floor %d does not fit into the drawing: make it wider, or its names shorter", firstRoom(row).floor)
			}
		}
	}

	top, y, floor := make([]float64, len(grid)), 16.0, -1
	var bands, names bytes.Buffer
	for i, row := range grid {
		r := firstRoom(row)
		if r.floor != floor {
			name, _ := story(t, r.floor)
			floor = r.floor
			rows := 0
			for _, other := range grid {
				if firstRoom(other).floor == floor {
					rows++
				}
			}
			height := float64(bandHead + rows*boxHeight + (rows-1)*rowGap + 12)
			fmt.Fprintf(&bands, `<rect x="8" y="%.0f" width="%d" height="%.0f" rx="8" fill="#f3f5f8"/>`+"\n", y, houseWidth-16, height)
			fmt.Fprintf(&names, `<text x="20" y="%.0f">%d  %s</text>`+"\n", y+24, floor, name)
			y += bandHead
		}
		top[i] = y
		y += boxHeight
		if i+1 < len(grid) {
			if firstRoom(grid[i+1]).floor != floor {
				y += 12 + rowGap
			} else {
				y += rowGap
			}
		}
	}
	height := y + 12 + 16

	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %.0f" font-family="DejaVu Sans, Verdana, sans-serif">`+"\n", houseWidth, height)
	b.WriteString("<title>The packages by floor. A line is an import that no other import implies; all lines run downward.</title>\n")
	fmt.Fprintf(&b, `<rect width="%d" height="%.0f" fill="#ffffff"/>`+"\n", houseWidth, height)
	b.Write(bands.Bytes())
	b.WriteString(`<g fill="none" stroke-width="1.6">` + "\n")
	for i, row := range grid {
		for _, n := range row {
			if n.room == nil {
				continue
			}
			for _, d := range n.down {
				fmt.Fprintf(&b, `<path d="M%.0f %.0f`, n.x, top[i]+boxHeight)
				x, y := n.x, top[i]+boxHeight
				for at := d; ; at = at.down[0] {
					next := top[at.row]
					fmt.Fprintf(&b, "C%.0f %.0f %.0f %.0f %.0f %.0f", x, (y+next)/2, at.x, (y+next)/2, at.x, next)
					if x, y = at.x, next; at.room != nil {
						break
					}
					y += boxHeight
					fmt.Fprintf(&b, "V%.0f", y)
				}
				fmt.Fprintf(&b, `" stroke="%s"/>`+"\n", ink(n.room))
			}
		}
	}
	b.WriteString("</g>\n")
	b.WriteString(`<g font-size="20" fill="#5b6673" stroke="#f3f5f8" stroke-width="6" paint-order="stroke">` + "\n")
	b.Write(names.Bytes())
	b.WriteString("</g>\n")
	fmt.Fprintf(&b, `<g font-size="%d" text-anchor="middle">`+"\n", nameSize)
	for i, row := range grid {
		for _, n := range row {
			if n.room == nil {
				continue
			}
			fmt.Fprintf(&b, `<rect x="%.0f" y="%.0f" width="%.0f" height="%d" rx="6" fill="#ffffff" stroke="%s" stroke-width="2"/>`, n.x-n.width/2, top[i], n.width, boxHeight, ink(n.room))
			fmt.Fprintf(&b, `<text x="%.0f" y="%.0f" fill="#1c2530">%s</text>`+"\n", n.x, top[i]+29, n.room.name())
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

// ink tells the privacy package from the rest.
func ink(r *room) string {
	if within(r.path, "internal/privacy") {
		return "#00795a"
	}
	return "#3a6ea5"
}

// firstRoom returns a room of a row: all of a row are of one floor.
func firstRoom(row []*node) *room {
	for _, n := range row {
		if n.room != nil {
			return n.room
		}
	}
	panic("a row without a room")
}

// layRows puts rooms into rows, the highest floor first, a floor that is too wide into
// several, as many more than one as split says, and joins them by lines that have a crossing
// in every row between.
func layRows(list []*room, split map[int]int) [][]*node {
	var grid [][]*node
	nodes := map[*room]*node{}
	used := map[*room]int{}
	for _, r := range list {
		for _, u := range direct(r) {
			used[u]++
		}
	}
	for lo := 0; lo < len(list); {
		hi := lo
		for hi < len(list) && list[hi].floor == list[lo].floor {
			hi++
		}
		floor := slices.Clone(list[lo:hi])
		lo = hi
		slices.SortStableFunc(floor, func(a, b *room) int { return cmp.Compare(used[b], used[a]) })
		rows := min(1+split[floor[0].floor], len(floor))
		for i := range rows {
			var row []*node
			for _, r := range floor[i*len(floor)/rows : (i+1)*len(floor)/rows] {
				nodes[r] = &node{room: r, row: len(grid), width: boxWidth(r)}
				row = append(row, nodes[r])
			}
			grid = append(grid, row)
		}
	}
	for _, r := range list {
		for _, u := range direct(r) {
			above := nodes[r]
			for row := above.row + 1; row < nodes[u].row; row++ {
				c := &node{row: row, width: 4, up: []*node{above}}
				grid[row] = append(grid[row], c)
				above.down = append(above.down, c)
				above = c
			}
			above.down = append(above.down, nodes[u])
			nodes[u].up = append(nodes[u].up, above)
		}
	}
	return grid
}

// rowWidth returns what the nodes of a row take side by side.
func rowWidth(row []*node) float64 {
	total := -float64(boxGap)
	for _, n := range row {
		total += n.width + boxGap
	}
	return total
}

// boxWidth returns what a room's name takes, with a margin.
func boxWidth(r *room) float64 { return 22 + letter*float64(len(r.name())) }

// untangle orders the nodes of every row by the mean place of what they are joined to, down
// and up again, and keeps the order with the fewest crossings of lines.
func untangle(grid [][]*node) {
	place := func() map[*node]int {
		at := map[*node]int{}
		for _, row := range grid {
			for i, n := range row {
				at[n] = i
			}
		}
		return at
	}
	crossings := func() (count int) {
		at := place()
		for _, row := range grid {
			var ends [][2]int
			for i, n := range row {
				for _, d := range n.down {
					ends = append(ends, [2]int{i, at[d]})
				}
			}
			for i, a := range ends {
				for _, b := range ends[:i] {
					if (a[0]-b[0])*(a[1]-b[1]) < 0 {
						count++
					}
				}
			}
		}
		return count
	}
	best, least := [][]*node(nil), -1
	for sweep := range 60 {
		if c := crossings(); least < 0 || c < least {
			best, least = nil, c
			for _, row := range grid {
				best = append(best, slices.Clone(row))
			}
		}
		for k := range grid {
			i, joined := k, func(n *node) []*node { return n.up }
			if sweep%2 == 1 {
				i, joined = len(grid)-1-k, func(n *node) []*node { return n.down }
			}
			at, mean := place(), map[*node]float64{}
			for j, n := range grid[i] {
				mean[n] = float64(j)
				if others := joined(n); len(others) > 0 {
					sum := 0.0
					for _, o := range others {
						sum += (float64(at[o]) + 0.5) / float64(len(grid[o.row]))
					}
					mean[n] = sum / float64(len(others)) * float64(len(grid[i]))
				}
			}
			slices.SortStableFunc(grid[i], func(a, b *node) int { return cmp.Compare(mean[a], mean[b]) })
		}
	}
	copy(grid, best)
}

// spread gives every node a place: near the mean of what it is joined to, in the order of its
// row, without an overlap and within the page.
func spread(grid [][]*node) {
	const lo, hi = float64(houseEdge), float64(houseWidth - houseEdge)
	for _, row := range grid {
		wanted := make([]float64, len(row))
		even := lo + (hi-lo-rowWidth(row))/2
		for i, n := range row {
			sum, count := 0.0, 0.0
			for _, o := range slices.Concat(n.up, n.down) {
				if o.x > 0 {
					sum, count = sum+o.x, count+1
				}
			}
			if wanted[i] = even + n.width/2; count > 0 {
				wanted[i] = sum / count
			}
			even += n.width + boxGap
		}
		edge := lo
		for i, n := range row {
			n.x = max(wanted[i], edge+n.width/2)
			edge = n.x + n.width/2 + boxGap
		}
		edge = hi
		for i := len(row) - 1; i >= 0; i-- {
			n := row[i]
			n.x = min(n.x, edge-n.width/2)
			edge = n.x - n.width/2 - boxGap
		}
	}
}
