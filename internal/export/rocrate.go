package export

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"privrec/internal/dataset/format"
	"privrec/internal/privacy"
	"privrec/internal/report"
	"privrec/internal/run"
	"privrec/internal/system"
)

// CrateName is the file that makes a folder an RO-Crate, as the specification names it.
const CrateName = "ro-crate-metadata.json"

// CrateQuestion asks for the metadata of a finished run.
type CrateQuestion struct {
	Dir   string
	Force bool // replace metadata that are there
}

// Crated says what was written.
type Crated struct {
	Path     string // of the metadata
	Files    int
	Bytes    int64
	Warnings []string // of what the account of the run does not cover
}

// entity is a node of the metadata. JSON writes its properties in the order of their names.
type entity map[string]any

func ref(id string) entity { return entity{"@id": id} }

// Crate writes the metadata of a finished run in the format RO-Crate 1.1
// (https://www.researchobject.org/ro-crate/specification/1.1/) into the run's directory: its files
// with sizes and hashes, its data by their hash, and the run as an action of this program with
// start and end. The same run has the same bytes. A licence is not stated, since it is the
// user's to choose.
func Crate(ctx context.Context, q CrateQuestion) (*Crated, error) {
	m, err := run.ReadManifest(q.Dir)
	if err != nil {
		return nil, err
	}
	if m.Status != run.StatusDone || len(m.Attempts) == 0 {
		return nil, run.WithHint(fmt.Errorf("%s: the run is %s, and metadata are of finished runs", q.Dir, m.Status), fmt.Sprintf("finish it first: privrec %s --config %s --out %s --resume", m.Task, filepath.Join(q.Dir, "config.yaml"), q.Dir))
	}
	to := filepath.Join(q.Dir, CrateName)
	if _, err := os.Lstat(to); !q.Force && !errors.Is(err, fs.ErrNotExist) {
		return nil, run.WithHint(fmt.Errorf("%s is there already", to), "--force replaces it")
	}
	cover, err := covered(q.Dir, m)
	if err != nil {
		return nil, err
	}
	c := &Crated{Path: to, Warnings: cover.Warnings}
	files, err := c.files(ctx, q.Dir, cover)
	if err != nil {
		return nil, err
	}
	graph := crateGraph(m, cover, files)
	err = system.WriteFile(to, func(w io.Writer) error {
		enc := json.NewEncoder(w)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return enc.Encode(entity{
			"@context": []any{"https://w3id.org/ro/crate/1.1/context", map[string]string{"sha256": "https://schema.org/sha256"}},
			"@graph":   graph,
		})
	})
	return c, err
}

// files describes the files of a run in the order of their names, and counts them.
func (c *Crated) files(ctx context.Context, dir string, cover Cover) (out []entity, err error) {
	about := map[string]string{
		"config.yaml": "the configuration", "metrics.json": "the results", "manifest.json": "what produced the run: program, machine, attempts",
		"privacy.json": "the privacy account. " + cover.Conclusion, "ledger.jsonl": "what the run opened and released, in order",
	}
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error { // in the order of names
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() || name == CrateName || strings.HasPrefix(path.Base(name), ".") { // hidden files were being written
			return nil
		}
		if path.Base(name) == run.NoiseFile { // it is no part of what is given away
			return nil
		}
		h, err := format.HashFile(ctx, filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		e := entity{"@id": crateID(name), "@type": "File", "name": name, "contentSize": fmt.Sprint(h.Bytes), "sha256": h.SHA256, "encodingFormat": crateMedia(name)}
		if about[name] != "" {
			e["description"] = about[name]
		}
		out = append(out, e)
		c.Files++
		c.Bytes += h.Bytes
		return nil
	})
	return out, err
}

// crateGraph returns all entities: the metadata themselves, the run's directory, its files, the
// action that made them, programs and data.
func crateGraph(m run.Manifest, cover Cover, files []entity) []entity {
	first, last := m.Attempts[0], m.Attempts[len(m.Attempts)-1]
	end := last.Started.Add(time.Duration(last.Seconds * float64(time.Second))).UTC()
	var parts, results, programs, objects []entity
	for _, f := range files {
		parts = append(parts, ref(f["@id"].(string)))
		if f["@id"] == "config.yaml" {
			objects = append(objects, ref("config.yaml"))
		} else {
			results = append(results, ref(f["@id"].(string)))
		}
	}
	var more []entity
	for _, d := range m.Data {
		id := "#data-" + crateID(d.Name) + "-" + d.SHA256[:min(12, len(d.SHA256))]
		objects = append(objects, ref(id))
		more = append(more, entity{"@id": id, "@type": "Dataset", "name": d.Name, "identifier": "sha256:" + d.SHA256, "sha256": d.SHA256,
			"description": "the data of the run, which are not in this folder; known by the hash of their files"})
	}
	for _, a := range m.Attempts { // a run that went on after a stop may have had several programs
		id := "#privrec-" + crateID(strings.Join([]string{a.Build.Version, cmp.Or(a.Build.Commit, "unknown"), a.Build.OS, a.Build.Arch, a.Build.Float}, "-"))
		if slices.ContainsFunc(programs, func(p entity) bool { return p["@id"] == id }) {
			continue
		}
		programs = append(programs, ref(id))
		program := entity{"@id": id, "@type": "SoftwareApplication", "name": "privrec", "softwareVersion": a.Build.Version,
			"operatingSystem": a.Build.OS, "processorRequirements": a.Build.Arch, "softwareRequirements": a.Build.Go + ", " + a.Build.Float}
		if a.Build.Commit != "" {
			program["identifier"] = a.Build.Commit
		}
		more = append(more, program)
	}
	seed := entity{"@id": "#seed", "@type": "PropertyValue", "name": "seed", "value": fmt.Sprint(m.Seed)}
	if cover.Noise == string(privacy.Secure) {
		seed["description"] = "of what is public; the noise is from cryptographic bits and has no seed"
	}
	action := entity{"@id": "#run", "@type": "CreateAction", "name": "privrec " + m.Task, "instrument": programs, "object": append(objects, ref("#seed")), "result": results,
		"startTime": first.Started.UTC().Format(time.RFC3339Nano), "endTime": end.Format(time.RFC3339Nano), "actionStatus": ref("http://schema.org/CompletedActionStatus")}
	root := entity{"@id": "./", "@type": "Dataset", "name": "privrec " + m.Task, "datePublished": end.Format(time.DateOnly), "hasPart": parts, "mentions": ref("#run"),
		"identifier":  "privrec:config:sha256:" + m.ConfigHash,
		"description": strings.Join(append([]string{"A run of privrec " + m.Task + ". Privacy: " + cover.Conclusion}, cover.Warnings...), ". ") + "."}
	if m.Cite != "" {
		root["citation"] = m.Cite
	}
	graph := []entity{
		{"@id": CrateName, "@type": "CreativeWork", "conformsTo": ref("https://w3id.org/ro/crate/1.1"), "about": ref("./")},
		root,
	}
	return append(append(append(graph, files...), action, seed), more...)
}

// crateID makes a name fit for an identifier. Slashes stay.
func crateID(name string) string { return (&url.URL{Path: name}).EscapedPath() }

// crateMedia returns the media type of a file by its name.
func crateMedia(name string) string {
	switch path.Ext(name) {
	case ".yaml":
		return "application/yaml"
	case ".jsonl":
		return "application/jsonlines"
	case ".json":
		return "application/json"
	case ".txt", ".log":
		return "text/plain"
	case ".html":
		return "text/html"
	case ".svg":
		return "image/svg+xml"
	case ".png":
		return "image/png"
	case ".gz":
		return "application/gzip"
	}
	return "application/octet-stream"
}

// Document lays out what was written.
func (c *Crated) Document() *report.Document {
	return &report.Document{Title: "RO-Crate 1.1", Facts: []report.Fact{
		{Label: "written", Value: c.Path}, {Label: "files", Value: fmt.Sprint(c.Files)}, {Label: "bytes", Value: fmt.Sprint(c.Bytes)},
	}, Notes: c.Warnings}
}

// Text implements run.Result.
func (c *Crated) Text(w io.Writer) error { return c.Document().Text(w) }

// MarshalJSON implements run.Result.
func (c *Crated) MarshalJSON() ([]byte, error) { return c.Document().MarshalJSON() }
