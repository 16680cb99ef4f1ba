package inventory

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path"
	"regexp"
	"strings"

	"privrec/internal/dataset/registry"
)

// Croissant is the metadata of a set's files in the format Croissant 1.0 of MLCommons
// (https://docs.mlcommons.org/croissant/docs/croissant-spec.html), as JSON-LD. Text and JSON are
// the same document. Its addresses of files are relative to the folder of the set.
type Croissant struct{ doc croissantDataset }

// Text writes the document.
func (c Croissant) Text(w io.Writer) error {
	b, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		_, err = w.Write(append(b, '\n'))
	}
	return err
}

// MarshalJSON returns the document.
func (c Croissant) MarshalJSON() ([]byte, error) { return json.Marshal(c.doc) }

// The nodes of the document, in the order in which their properties are written.
type (
	croissantDataset struct {
		Context     map[string]any   `json:"@context"`
		Type        string           `json:"@type"`
		ConformsTo  string           `json:"conformsTo"`
		Name        string           `json:"name"`
		Alternate   string           `json:"alternateName"`
		Description string           `json:"description"`
		License     string           `json:"license,omitempty"`
		Cite        string           `json:"citeAs,omitempty"`
		URL         string           `json:"url,omitempty"`
		Identifier  string           `json:"identifier"`
		Counts      []croissantCount `json:"variableMeasured"`
		Files       []croissantFile  `json:"distribution"`
		Records     []croissantRows  `json:"recordSet"`
	}
	croissantCount struct {
		Type  string `json:"@type"`
		Name  string `json:"name"`
		Value int    `json:"value"`
	}
	croissantFile struct {
		Type        string `json:"@type"`
		ID          string `json:"@id"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		ContentURL  string `json:"contentUrl"`
		Size        string `json:"contentSize"`
		Encoding    any    `json:"encodingFormat"` // a string, or two where the file is compressed
		SHA256      string `json:"sha256"`
	}
	croissantRows struct {
		Type        string           `json:"@type"`
		ID          string           `json:"@id"`
		Name        string           `json:"name"`
		Description string           `json:"description"`
		Fields      []croissantField `json:"field"`
	}
	croissantField struct {
		Type        string          `json:"@type"`
		ID          string          `json:"@id"`
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		DataType    string          `json:"dataType"`
		Repeated    bool            `json:"repeated,omitempty"`
		Source      croissantSource `json:"source"`
	}
	croissantSource struct {
		File      croissantRef     `json:"fileObject"`
		Extract   croissantExtract `json:"extract"`
		Transform []croissantStep  `json:"transform,omitempty"`
	}
	croissantRef struct {
		ID string `json:"@id"`
	}
	croissantExtract struct {
		Column   string `json:"column,omitempty"`
		Property string `json:"fileProperty,omitempty"`
	}
	croissantStep struct {
		Regex     string `json:"regex,omitempty"`
		Separator string `json:"separator,omitempty"`
	}
)

// ToCroissant returns the metadata of what was read. What the program does not know, as the
// licence of own data or the date of publication, is left out.
func ToCroissant(d *registry.Description) Croissant {
	c := croissantDataset{
		Context: croissantContext(), Type: "sc:Dataset", ConformsTo: "http://mlcommons.org/croissant/1.0",
		Name: d.Set.Name, Alternate: d.Set.Title, License: d.Set.Licence, Cite: d.Set.Cite,
		Description: fmt.Sprintf("%s: %d interactions of %d users with %d items, as privrec reads them.", d.Set.Title, d.Rows, d.Users, d.Items),
		Identifier:  "privrec:sha256:" + d.Hash,
		Counts: []croissantCount{
			{"sc:PropertyValue", "users", d.Users}, {"sc:PropertyValue", "items", d.Items}, {"sc:PropertyValue", "interactions", d.Rows},
		},
		Files: []croissantFile{}, Records: []croissantRows{},
	}
	if d.StandIn {
		c.Description += " The rows are synthetic."
	}
	if registry.IsOwn(d.Set.Name) {
		c.License = "" // it is the user's own and not known
	}
	if address, _, _ := strings.Cut(d.Set.Address, " "); strings.HasPrefix(address, "http") {
		c.URL = strings.TrimRight(address, ",")
	}
	taken := map[string]bool{}
	for _, f := range d.Files {
		media, packed := mediaType(f)
		file := croissantFile{Type: "cr:FileObject", ID: escape(f.Name), Name: f.Name, ContentURL: escape(f.Name), Size: fmt.Sprintf("%d B", f.Bytes), Encoding: media, SHA256: f.SHA256}
		if packed != "" {
			file.Encoding, file.Description = []string{media, packed}, "compressed"
		}
		c.Files = append(c.Files, file)
		if len(f.Columns) == 0 {
			continue
		}
		c.Records = append(c.Records, recordSet(f, recordName(f, taken), file.ID))
	}
	return Croissant{c}
}

// recordName returns a name for the rows of a file that no other file has.
func recordName(f registry.FileForm, taken map[string]bool) string {
	name := "users"
	for _, c := range f.Columns {
		if c.Role == "item" {
			name = "interactions"
		}
	}
	if taken[name] {
		stem, _, _ := strings.Cut(path.Base(f.Name), ".")
		if dir := path.Dir(f.Name); dir != "." {
			stem = strings.ReplaceAll(dir, "/", "-") + "-" + stem
		}
		name += "-" + stem
	}
	taken[name] = true
	return name
}

// recordSet describes the rows of a file.
func recordSet(f registry.FileForm, name, file string) croissantRows {
	what := map[registry.RowForm]string{
		registry.WithHeader: "a table with a header", registry.Bare: "a table without a header", registry.Objects: "a JSON object a line",
		registry.Histories: "a user and the user's items a line, without a header",
	}
	r := croissantRows{Type: "cr:RecordSet", ID: name, Name: name, Description: "The rows of " + f.Name + ", " + what[f.Rows] + "."}
	types := map[string]string{"text": "sc:Text", "integer": "sc:Integer", "number": "sc:Float"}
	roles := map[string]string{
		"user": "the user", "item": "the item", "rating": "the rating", "time": "the time, in the unit of the file", "feature": "an attribute of the user",
	}
	for i, col := range f.Columns {
		field := croissantField{Type: "cr:Field", ID: name + "/" + escape(col.Name), Name: col.Name, Description: roles[col.Role], DataType: types[col.Type], Repeated: col.List}
		if col.Role == "item" && col.List {
			field.Description = "the items, in the order of the file"
		}
		field.Source.File.ID = file
		switch f.Rows {
		case registry.WithHeader, registry.Objects:
			field.Source.Extract.Column = col.Header
		default:
			field.Source.Extract.Property = "lines"
			field.Source.Transform = append(field.Source.Transform, croissantStep{Regex: linePattern(f, i)})
		}
		if col.List {
			field.Source.Transform = append(field.Source.Transform, croissantStep{Separator: " "})
		}
		r.Fields = append(r.Fields, field)
	}
	return r
}

// linePattern returns a regular expression whose one group is a field of a line.
func linePattern(f registry.FileForm, column int) string {
	if f.Rows == registry.Histories {
		return []string{`^(\S+)`, `^\S+ +(.*?) *$`}[column]
	}
	sep := regexp.QuoteMeta(f.Sep)
	if f.Sep == "\t" {
		sep = `\t`
	}
	skip := ""
	if column > 0 {
		skip = fmt.Sprintf("(?:.*?%s){%d}", sep, column)
	}
	return "^" + skip + "(.*?)(?:" + sep + "|$)"
}

// mediaType returns the type of a file's text, and of its compression or "".
func mediaType(f registry.FileForm) (text, packed string) {
	switch path.Ext(f.Name) {
	case ".gz":
		packed = "application/gzip"
	case ".zst":
		packed = "application/zstd"
	}
	switch {
	case f.Rows == registry.NoRows:
		return "application/yaml", packed
	case f.Rows == registry.Objects:
		return "application/jsonlines", packed
	case f.Rows == registry.WithHeader && f.Sep == ",":
		return "text/csv", packed
	case f.Rows == registry.WithHeader:
		return "text/tab-separated-values", packed
	}
	return "text/plain", packed
}

// escape makes a name fit for an identifier in JSON-LD. Slashes stay.
func escape(name string) string { return (&url.URL{Path: name}).EscapedPath() }

// croissantContext returns the context that the specification asks for.
func croissantContext() map[string]any {
	c := map[string]any{
		"@language": "en", "@vocab": "https://schema.org/", "sc": "https://schema.org/", "cr": "http://mlcommons.org/croissant/",
		"rai": "http://mlcommons.org/croissant/RAI/", "dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo",
		"data":     map[string]string{"@id": "cr:data", "@type": "@json"},
		"dataType": map[string]string{"@id": "cr:dataType", "@type": "@vocab"},
		"examples": map[string]string{"@id": "cr:examples", "@type": "@json"},
	}
	for _, term := range strings.Fields("citeAs column equivalentProperty extract field fileProperty fileObject fileSet format includes isLiveDataset jsonPath key md5 parentField path recordSet references regex repeated replace samplingRate separator source subField transform") {
		c[term] = "cr:" + term
	}
	return c
}
