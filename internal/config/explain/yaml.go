package explain

import (
	"fmt"
	"strings"

	"privrec/internal/config"
)

// width is the column at which comments in YAML wrap.
const width = 100

// YAML returns a canonical configuration with the meaning and the allowed values of each key before it. Keys that the
// configuration leaves out appear as comments at the end of their group. The result reads as the same configuration.
func YAML(text []byte, fields []config.Field, limits map[string]string, c Comments) []byte {
	w := writer{limits: limits, comments: c}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	w.group(lines, top(fields), fields, 0)
	return []byte(w.b.String())
}

type writer struct {
	b        strings.Builder
	limits   map[string]string
	comments Comments
}

// top returns the fields that are not below another field.
func top(fields []config.Field) (out []config.Field) {
	for _, f := range fields {
		if !strings.ContainsAny(f.Path, ".[") {
			out = append(out, f)
		}
	}
	return out
}

// below returns the fields one level below a group.
func below(group config.Field, fields []config.Field) (out []config.Field) {
	prefix := group.Path + "."
	if group.List {
		prefix = group.Path + "[]."
	}
	for _, f := range fields {
		if rest, ok := strings.CutPrefix(f.Path, prefix); ok && !strings.ContainsAny(rest, ".[") {
			out = append(out, f)
		}
	}
	return out
}

// key returns the last word of a field's path.
func key(f config.Field) string { return f.Path[strings.LastIndexByte(f.Path, '.')+1:] }

// group writes the lines of a group whose keys stand at an indent.
func (w *writer) group(lines []string, keys, all []config.Field, indent int) {
	pad := strings.Repeat(" ", indent)
	present := map[string]bool{}
	for at := 0; at < len(lines); {
		end := at + 1
		for end < len(lines) && (strings.HasPrefix(lines[end], pad+" ") || strings.HasPrefix(lines[end], pad+"-")) {
			end++
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(lines[at], pad), ":")
		name = strings.Trim(name, `"`) // YAML 1.1 takes on for true
		var f config.Field
		for _, k := range keys {
			if key(k) == name {
				f = k
			}
		}
		present[name] = true
		w.comment(pad, "", w.words(f))
		if f.Group && f.List {
			w.entries(f, all, pad)
		}
		w.b.WriteString(lines[at] + "\n")
		inner := lines[at+1 : end]
		switch {
		case f.Group && !f.List && len(inner) > 0:
			w.group(inner, below(f, all), all, indent+2)
		default:
			for _, l := range inner {
				w.b.WriteString(l + "\n")
			}
		}
		at = end
	}
	for _, f := range keys {
		if !present[key(f)] {
			w.absent(f, all, pad)
		}
	}
}

// words returns the meaning and the allowed values of a key.
func (w *writer) words(f config.Field) string {
	text := w.comments.Of(f)
	if limit := w.limits[f.Path]; limit != "" && limit != "not empty" {
		if text != "" && !strings.HasSuffix(text, ".") {
			text += "."
		}
		text = strings.TrimSpace(text + " Values: " + limit + ".")
	}
	return text
}

// absent writes as comments a key that the configuration leaves out, and those below it.
func (w *writer) absent(f config.Field, all []config.Field, pad string) {
	w.comment(pad, "", w.words(f))
	fmt.Fprintf(&w.b, "%s# %s:\n", pad, key(f))
	w.entries(f, all, pad)
}

// entries writes as comments the meaning of the keys below a group.
func (w *writer) entries(f config.Field, all []config.Field, pad string) {
	for _, k := range below(f, all) {
		w.comment(pad, "  "+key(k)+": ", w.words(k))
	}
}

// comment writes wrapped lines of a comment, the first one after a label.
func (w *writer) comment(pad, label, text string) {
	line := label
	for _, word := range strings.Fields(text) {
		if len(pad)+2+len(line)+len(word) > width && strings.TrimSpace(line) != strings.TrimSpace(label) {
			fmt.Fprintf(&w.b, "%s# %s\n", pad, strings.TrimRight(line, " "))
			line = strings.Repeat(" ", len(label))
		}
		line += word + " "
	}
	if strings.TrimSpace(line) != "" {
		fmt.Fprintf(&w.b, "%s# %s\n", pad, strings.TrimRight(line, " "))
	}
}
