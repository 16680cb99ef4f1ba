package record

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
)

// origin is where a number of a page comes from.
type origin struct {
	where string // docs/results/records/dipsgnn.json, record bprmf, field Recall@10
	text  string // what it reads on the page
}

// number is a value on its way to a page.
type number struct {
	Value
	from []string // where, of every record in it
}

// filler fills one page.
type filler struct {
	records  map[string]*File
	printed  papers
	used     map[string]bool // file/record, of all pages
	origins  []origin
	decimals int
}

// Marks around a filled text, while a page is made. No page has these characters.
const begin, middle, end = "\x01", "\x02", "\x03"

// mark remembers where a text comes from.
func (f *filler) mark(text string, n number) string {
	f.origins = append(f.origins, origin{strings.Join(n.from, " and "), text})
	return begin + strconv.Itoa(len(f.origins)-1) + middle + text + end
}

// get finds a number: ref is FILE/RECORD, or FILE/RECORD#N for the first N seeds of it.
func (f *filler) get(ref, field string) (number, error) {
	ref, first, some := strings.Cut(ref, "#")
	file, name, ok := strings.Cut(ref, "/")
	all := f.records[file]
	switch {
	case !ok:
		return number{}, fmt.Errorf("%q is no FILE/RECORD", ref)
	case all == nil:
		return number{}, fmt.Errorf("docs/results/records/%s.json is gone", file)
	}
	r := all.Find(name)
	if r == nil {
		return number{}, fmt.Errorf("docs/results/records/%s.json has no record %s", file, name)
	}
	f.used[ref] = true
	if some {
		n, err := strconv.Atoi(first)
		if err != nil || n < 1 || n > len(r.Runs) {
			return number{}, fmt.Errorf("docs/results/records/%s.json, record %s has %d seeds, not %q", file, name, len(r.Runs), first)
		}
		r = &Record{Name: r.Name, Runs: r.Runs[:n]}
	}
	v, err := r.Value(field)
	if err != nil {
		return number{}, fmt.Errorf("docs/results/records/%s.json: %w", file, err)
	}
	return number{v, []string{fmt.Sprintf("docs/results/records/%s.json, record %s, field %s", file, name, field)}}, nil
}

var formatForm = regexp.MustCompile(`^([+,m%]*)([0-9]?)$`)

// show writes a number in a format: signs as of Value.Format, then the number of decimals.
// Without a format a number that a paper printed is written as it was printed.
func (f *filler) show(format string, n number) (string, error) {
	m := formatForm.FindStringSubmatch(format)
	if m == nil {
		return "", fmt.Errorf("format %q: want signs of +,m and a number of decimals", format)
	}
	decimals := f.decimals
	if m[2] != "" {
		decimals = int(m[2][0] - '0')
	} else if n.Text != "" {
		if m[1] == "" {
			return f.mark(n.Text, n), nil
		}
		decimals = n.Decimals
	}
	text, err := n.Format(decimals, m[1])
	if err != nil {
		return "", err
	}
	return f.mark(text, n), nil
}

// several shows fields of a record, "FIELD:FORMAT; FIELD", with a separator between them.
func (f *filler) several(separator, ref, fields string) (string, error) {
	return f.each(separator, fields, f.get, ref)
}

// cells shows fields of a measured record in the columns of a table; one that it lacks is a dash.
func (f *filler) cells(ref, fields string) (string, error) {
	file, name, _ := strings.Cut(ref, "/")
	var out []string
	for field := range strings.SplitSeq(fields, ";") {
		field = strings.TrimSpace(field)
		if all := f.records[file]; all != nil {
			if r := all.Find(name); r != nil && r.Measured != nil {
				if _, there := r.Measured.Values[strings.Split(field, ":")[0]]; !there {
					out = append(out, "-")
					continue
				}
			}
		}
		s, err := f.several("", ref, field)
		if err != nil {
			return "", err
		}
		out = append(out, s)
	}
	return strings.Join(out, " | "), nil
}

// each shows what get finds of a reference.
func (f *filler) each(separator, fields string, get func(ref, field string) (number, error), ref string) (string, error) {
	var out []string
	for field := range strings.SplitSeq(fields, ";") {
		name, format, _ := strings.Cut(strings.TrimSpace(field), ":")
		n, err := get(ref, name)
		if err != nil {
			return "", err
		}
		s, err := f.show(format, n)
		if err != nil {
			return "", fmt.Errorf("%s: %w", ref, err)
		}
		out = append(out, s)
	}
	return strings.Join(out, separator), nil
}

// seed shows a field of one run of a record.
func (f *filler) seed(seed uint64, ref, field string) (string, error) {
	n, err := f.get(ref, field)
	if err != nil {
		return "", err
	}
	file, name, _ := strings.Cut(ref, "/")
	for _, r := range f.records[file].Find(name).Runs {
		if r.Seed == seed {
			if n.Mean, err = r.value(field); err != nil {
				return "", err
			}
			n.SD = math.NaN()
			return f.show("", n)
		}
	}
	return "", fmt.Errorf("docs/results/records/%s.json, record %s has no seed %d", file, name, seed)
}

// calc applies an operation to numbers. The result has no deviation, and the decimals of the
// least exact of them.
func calc(op func(a, b float64) float64) func(first number, rest ...number) number {
	return func(n number, rest ...number) number {
		n.from = slices.Clone(n.from)
		for _, r := range rest {
			n.Mean = op(n.Mean, r.Mean)
			n.from = append(n.from, r.from...)
			if r.Text != "" && (n.Text == "" || r.Decimals < n.Decimals) {
				n.Text, n.Decimals = r.Text, r.Decimals
			}
		}
		n.SD = math.NaN()
		return n
	}
}

// sweep writes the rows of a table: label and ref with * in the place of a column's value. The
// best of every column is bold.
func (f *filler) sweep(columns, field string, labelled ...string) (string, error) {
	at := strings.Fields(columns)
	rows := make([][]number, len(labelled)/2)
	for i := range rows {
		for _, c := range at {
			n, err := f.get(strings.ReplaceAll(labelled[2*i+1], "*", c), field)
			if err != nil {
				return "", err
			}
			rows[i] = append(rows[i], n)
		}
	}
	var lines []string
	for i, row := range rows {
		line := "| " + labelled[2*i]
		for k, n := range row {
			text, err := f.show("", n)
			if err != nil {
				return "", err
			}
			best := true
			for _, other := range rows {
				best = best && other[k].Mean <= n.Mean
			}
			if best {
				mean, rest, _ := strings.Cut(text[strings.Index(text, middle)+1:], " ")
				mean, closed := strings.CutSuffix(mean, end)
				if rest = strings.TrimSuffix(" "+rest, " "); closed {
					rest = end
				}
				text = text[:strings.Index(text, middle)+1] + "**" + mean + "**" + rest
			}
			line += " | " + text
		}
		lines = append(lines, line+" |")
	}
	return strings.Join(lines, "\n"), nil
}

// functions are what a page can use.
func (f *filler) functions() template.FuncMap {
	return template.FuncMap{
		"get":         f.get,
		"show":        f.show,
		"v":           func(ref, field string) (string, error) { return f.several("", ref, field) },
		"row":         func(ref, fields string) (string, error) { return f.several(" | ", ref, fields) },
		"cells":       f.cells,
		"list":        func(ref, fields string) (string, error) { return f.several(", ", ref, fields) },
		"printed":     func(ref, columns string) (string, error) { return f.each(", ", columns, f.printed.get, ref) },
		"getPrinted":  f.printed.get,
		"meanPrinted": f.printed.mean,
		"sweep":       f.sweep,
		"digits":      func(n int) string { f.decimals = n; return "" },
		"sub":         calc(func(a, b float64) float64 { return a - b }),
		"div":         calc(func(a, b float64) float64 { return a / b }),
		"least":       calc(math.Min),
		"most":        calc(math.Max),
		"share":       calc(func(a, b float64) float64 { return 100 * (1 - a/b) }), // by which a is below b, in percent
		"seed":        f.seed,
		"round": func(to float64, n number) number {
			n.Mean, n.SD = to*math.Round(n.Mean/to), math.NaN()
			return n
		},
		"plain": func(x float64) number { return number{Value: Value{Mean: x, SD: math.NaN()}} },
	}
}

// filled is a page with what is known of its text.
type filled struct {
	text  string
	spans []span // in order
}

// span is a filled piece of a page, as bytes of its text.
type span struct {
	from, to int
	origin
}

// fill makes a page of its source.
func (f *filler) fill(path, source string) (*filled, error) {
	f.origins, f.decimals = nil, 2
	t, err := template.New(path).Funcs(f.functions()).Option("missingkey=error").Parse(source)
	if err != nil {
		return nil, err
	}
	var b strings.Builder
	if err := t.Execute(&b, nil); err != nil {
		return nil, err
	}
	out := &filled{}
	var plain strings.Builder
	for i, piece := range strings.Split(b.String(), begin) {
		if i > 0 {
			id, rest, _ := strings.Cut(piece, middle)
			inner, after, _ := strings.Cut(rest, end)
			k, err := strconv.Atoi(id)
			if err != nil {
				return nil, err
			}
			out.spans = append(out.spans, span{plain.Len(), plain.Len() + len(inner), f.origins[k]})
			plain.WriteString(inner)
			piece = after
		}
		plain.WriteString(piece)
	}
	out.text = plain.String()
	return out, nil
}

// differences says where a page is not what its source and the records make of it: file and
// line, and for a filled number its record and field.
func (p *filled) differences(path, got string) (out []string) {
	want, have := strings.SplitAfter(p.text, "\n"), strings.SplitAfter(got, "\n")
	start := 0
	for i := range max(len(want), len(have)) {
		var w, h string
		if i < len(want) {
			w = want[i]
		}
		if i < len(have) {
			h = have[i]
		}
		if w != h {
			at := 0
			for at < len(w) && at < len(h) && w[at] == h[at] {
				at++
			}
			out = append(out, fmt.Sprintf("%s:%d: %s", path, i+1, p.blame(start, start+at, start+len(w), strings.TrimSpace(w), strings.TrimSpace(h))))
		}
		start += len(w)
		if len(out) == 20 {
			return append(out, path+": and more")
		}
	}
	return out
}

// blame says what the first difference of a line, at a byte of the page, is about.
func (p *filled) blame(line, at, next int, want, got string) string {
	for _, s := range p.spans {
		if s.from <= at && at <= s.to && s.from < next && s.from >= line {
			return fmt.Sprintf("the page and its record differ: want %q, from %s; the line is %q", s.text, s.where, got)
		}
	}
	return fmt.Sprintf("the page and its source differ: want %q, the line is %q", want, got)
}
