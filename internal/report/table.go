package report

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Table is a grid with a title. A cell is a string, an integer, a float64 (NaN shows as "-"), a
// bool, a Link, a Tag, or nil for an empty cell.
type Table struct {
	Name    string // key in JSON and file name of the CSV
	Title   string
	Columns []Column
	Rows    [][]any
	Notes   []string // below the table, each a sentence
	Sorts   bool     // a page with a script can sort it: no row belongs to the one above
	Files   []Link   // the table in other forms, on a page
}

// Column says how to show one column. Its name must be unique in a table.
type Column struct {
	Name   string
	Format string // of its floats, such as "%.2f"; default "%.4g"
}

// Columns returns columns with these names and one format for their floats.
func Columns(format string, names ...string) []Column {
	out := make([]Column, len(names))
	for i, n := range names {
		out[i] = Column{n, format}
	}
	return out
}

// Add appends a row.
func (t *Table) Add(cells ...any) { t.Rows = append(t.Rows, cells) }

// cell returns a value as text for a reader, and whether it is a number.
func (t *Table) cell(col int, v any) (text string, numeric bool) {
	switch x := v.(type) {
	case nil:
		return "", false
	case string:
		return x, false
	case bool:
		if x {
			return "yes", false
		}
		return "no", false
	case float64:
		switch {
		case math.IsNaN(x):
			return "-", true
		case math.IsInf(x, 1):
			return "infinity", true
		case math.IsInf(x, -1):
			return "-inf", true
		}
		format := "%.4g"
		if col < len(t.Columns) && t.Columns[col].Format != "" {
			format = t.Columns[col].Format
		}
		return unsigned(fmt.Sprintf(format, x)), true
	case int:
		return Group(int64(x)), true
	case int32:
		return Group(int64(x)), true
	case int64:
		return Group(x), true
	}
	return fmt.Sprint(v), false
}

// unsigned removes the sign of a number that is rounded to zero.
func unsigned(s string) string {
	if bare, negative := strings.CutPrefix(s, "-"); negative && !strings.ContainsAny(bare, "123456789") {
		return bare
	}
	return s
}

// Group returns an integer with commas between groups of three digits: 571531 as 571,531.
func Group(x int64) string {
	s := strconv.FormatInt(x, 10)
	start := 0
	if s[0] == '-' {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// grid returns all cells as text; right tells which columns hold numbers.
func (t *Table) grid() (cells [][]string, right []bool) {
	right = make([]bool, len(t.Columns))
	for _, row := range t.Rows {
		line := make([]string, len(t.Columns))
		for c := range line {
			if c < len(row) {
				text, numeric := t.cell(c, row[c])
				line[c] = text
				right[c] = right[c] || numeric
			}
		}
		cells = append(cells, line)
	}
	return cells, right
}

// Text writes the table with aligned columns.
func (t *Table) Text(w io.Writer) error {
	var b strings.Builder
	t.text(&b, 0)
	_, err := io.WriteString(w, b.String())
	return err
}

// text writes the table with lines of at most most runes, if its words can be folded to that; 0: any length.
func (t *Table) text(b *strings.Builder, most int) {
	cells, right := t.grid()
	names := make([]string, len(t.Columns))
	width, least := make([]int, len(t.Columns)), make([]int, len(t.Columns))
	for c, col := range t.Columns {
		names[c] = col.Name
		for _, text := range append([]string{col.Name}, column(cells, c)...) {
			width[c] = max(width[c], utf8.RuneCountInString(text))
			least[c] = max(least[c], longestWord(text))
		}
		if right[c] {
			least[c] = width[c]
		}
	}
	fit(width, least, most)
	if t.Title != "" {
		b.WriteString(t.Title + "\n")
	}
	row := func(row []string) {
		folded, lines := make([][]string, len(row)), 1
		for c, s := range row {
			folded[c] = fold(s, width[c])
			lines = max(lines, len(folded[c]))
		}
		for n := range lines {
			var l strings.Builder
			for c := range row {
				if c > 0 {
					l.WriteString("  ")
				}
				s := ""
				if n < len(folded[c]) {
					s = folded[c][n]
				}
				pad := strings.Repeat(" ", max(0, width[c]-utf8.RuneCountInString(s)))
				if right[c] {
					l.WriteString(pad + s)
				} else {
					l.WriteString(s + pad)
				}
			}
			b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
		}
	}
	row(names)
	rule := make([]string, len(t.Columns))
	for c := range rule {
		rule[c] = strings.Repeat("-", width[c])
	}
	row(rule)
	for _, x := range cells {
		row(x)
	}
	for _, n := range t.Notes {
		hang(b, n, most, 0)
	}
}

// hang writes a line folded to at most most runes; all lines but the first begin with blanks spaces. 0: any length.
func hang(b *strings.Builder, line string, most, blanks int) {
	head, rest := line, ""
	if most > 0 && utf8.RuneCountInString(line) > most && most > 2*blanks {
		at := len(string([]rune(line)[:blanks]))
		head, rest = line[:at], line[at:]
		lines := fold(rest, most-blanks)
		head, rest = head+lines[0], ""
		for _, l := range lines[1:] {
			rest += "\n" + strings.Repeat(" ", blanks) + l
		}
	}
	b.WriteString(head + rest + "\n")
}

// column returns the cells of a column.
func column(cells [][]string, c int) []string {
	out := make([]string, len(cells))
	for i, row := range cells {
		out[i] = row[c]
	}
	return out
}

// longestWord returns the number of runes in the longest word of a text.
func longestWord(text string) (most int) {
	for _, word := range strings.Fields(text) {
		most = max(most, utf8.RuneCountInString(word))
	}
	return most
}

// fit reduces the widest columns, none below its least, until a row has at most most runes; 0: any length.
func fit(width, least []int, most int) {
	if most <= 0 {
		return
	}
	over := 2*(len(width)-1) - most
	for _, n := range width {
		over += n
	}
	for ; over > 0; over-- {
		at := -1
		for c, n := range width {
			if n > least[c] && (at < 0 || n > width[at]) {
				at = c
			}
		}
		if at < 0 {
			return
		}
		width[at]--
	}
}

// fold breaks a text between words into lines of at most width runes.
func fold(text string, width int) (lines []string) {
	if utf8.RuneCountInString(text) <= width {
		return []string{text}
	}
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// Markdown writes the table as a Markdown table.
func (t *Table) Markdown(w io.Writer) error {
	cells, right := t.grid()
	var b strings.Builder
	if t.Title != "" {
		b.WriteString("**" + escapeMarkdown(t.Title) + "**\n\n")
	}
	for _, c := range t.Columns {
		b.WriteString("| " + escapeMarkdown(c.Name) + " ")
	}
	b.WriteString("|\n")
	for c := range t.Columns {
		if right[c] {
			b.WriteString("|---:")
		} else {
			b.WriteString("|---")
		}
	}
	b.WriteString("|\n")
	for r, row := range cells {
		for c, s := range row {
			s = escapeMarkdown(s)
			if c < len(t.Rows[r]) {
				if l, ok := t.Rows[r][c].(Link); ok && l.To != "" && l.To[0] != '#' {
					// a place on the page is none here
					s = "[" + s + "](" + l.To + ")"
				}
			}
			b.WriteString("| " + s + " ")
		}
		b.WriteString("|\n")
	}
	for _, n := range t.Notes {
		b.WriteString("\n" + escapeMarkdown(n) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, "|", `\|`, "*", `\*`, "_", `\_`, "`", "\\`", "<", "&lt;", "[",
	`\[`, "]", `\]`, "\n", " ")

func escapeMarkdown(s string) string { return markdownEscapes.Replace(s) }

// CSV writes header and rows with full precision and without commas in numbers.
func (t *Table) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	line := make([]string, len(t.Columns))
	for i, col := range t.Columns {
		line[i] = col.Name
	}
	if err := c.Write(line); err != nil {
		return err
	}
	for _, row := range t.Rows {
		for i := range line {
			line[i] = ""
			if i < len(row) {
				line[i] = exact(row[i])
			}
		}
		if err := c.Write(line); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}

// exact returns a value as text that reads back as the same value.
func exact(v any) string {
	switch x := v.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// MarshalJSON writes title, notes and rows; a row is an object with the columns as keys. Infinity becomes the string
// "infinity", since JSON has none, and NaN becomes null.
func (t *Table) MarshalJSON() ([]byte, error) {
	rows := make([]rowForm, len(t.Rows))
	for r, row := range t.Rows {
		var b strings.Builder
		b.WriteByte('{')
		for c, col := range t.Columns {
			if c > 0 {
				b.WriteByte(',')
			}
			key, err := json.Marshal(col.Name)
			if err != nil {
				return nil, err
			}
			var v any
			if c < len(row) {
				v = jsonValue(row[c])
			}
			val, err := json.Marshal(v)
			if err != nil {
				return nil, err
			}
			b.Write(key)
			b.WriteByte(':')
			b.Write(val)
		}
		b.WriteByte('}')
		rows[r] = rowForm{json.RawMessage(b.String())}
	}
	return json.Marshal(tableForm{t.Name, t.Title, rows, t.Notes})
}

// tableForm is a table in JSON.
type tableForm struct {
	Name  string    `json:"name"`
	Title string    `json:"title,omitempty"`
	Rows  []rowForm `json:"rows"`
	Notes []string  `json:"notes,omitempty"`
}

// JSONForms returns the types that MarshalJSON writes.
func (t *Table) JSONForms() []any { return []any{tableForm{}} }

// rowForm is a row in JSON: its cells under the names of the columns, in their order.
type rowForm struct{ text json.RawMessage }

// MarshalJSON writes the row.
func (r rowForm) MarshalJSON() ([]byte, error) { return r.text, nil }

// JSONForms returns the types that a row can have.
func (rowForm) JSONForms() []any { return []any{map[string]cellForm{}} }

// cellForm stands for a cell in JSON.
type cellForm struct{}

// JSONForms returns the types that a cell can have, as jsonValue returns them.
func (cellForm) JSONForms() []any { return []any{"", 0.0, false, nil} }

func jsonValue(v any) any {
	switch of := v.(type) {
	case Link:
		return of.Text
	case Tag:
		return of.Text
	}
	x, ok := v.(float64)
	switch {
	case !ok:
		return v
	case math.IsNaN(x):
		return nil
	case math.IsInf(x, 1):
		return "infinity"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return x
}
