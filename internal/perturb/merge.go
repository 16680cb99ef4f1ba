package perturb

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/privacy"
	"privrec/internal/run"
)

// Merging says which parts to join.
type Merging struct {
	Out      string // the whole, as it was named to every shard
	From     string // folder with the parts; empty: that of Out
	Force    bool   // replace existing files
	Key      *privacy.Key
	Progress run.Progress // nil: silent
}

// Rebuild returns the report of the whole, as the command makes it, from the data that all parts share and the counts
// of each.
type Rebuild func(f Facts, same json.RawMessage, counts []json.RawMessage) (run.Result, error)

// Whole says how to join the parts of a command: the tables beside its output, and the report.
type Whole struct {
	Beside []Output
	Report Rebuild
	// Join joins the Part.Same of parts that each read a part of the input, and not the whole of it. They are equal
	// except for what was read. nil: the command has no such parts.
	Join func(same []json.RawMessage) (json.RawMessage, error)
	// Release returns the release of the settings in Part.Same and its purpose. Merge fails if the ledger has another
	// release, since the report would state the epsilon of the settings. nil: the settings do not give it.
	Release func(same json.RawMessage) (purpose string, e privacy.Event, err error)
}

// agrees fails if the ledger of the parts lacks the release of their settings.
func (w Whole) agrees(p Part, recorded []privacy.Entry) error {
	if w.Release == nil {
		return nil
	}
	purpose, e, err := w.Release(p.Same)
	if err != nil {
		return err
	}
	want, err := privacy.MarshalEvent(e)
	if err != nil {
		return err
	}
	for _, x := range recorded {
		if b, err := privacy.MarshalEvent(x.Event); err == nil && x.Purpose == purpose && x.Count == 1 &&
			bytes.Equal(b, want) {
			return nil
		}
	}
	return Refuse("make the shards again", "the settings of shard %d of %d of %s are not those that its ledger is of",
		p.Shard, p.Of, p.Out)
}

// Merge writes the output of all parts: the same bytes as the command without shards under the same seed. It fails if a
// part is missing, was made from another input or with other settings, or was changed after it was written. There is
// one report and one ledger. Each user is in one part, so the ledger has the entries of each part once; Merge fails if
// parts recorded different entries. kinds are the commands by name. Memory does not grow with the number of records.
func Merge(ctx context.Context, m Merging, kinds map[string]Whole) (_ run.Result, err error) {
	if m.Progress == nil {
		m.Progress = run.Silent{}
	}
	parts, dir, err := m.find()
	if err != nil {
		return nil, err
	}
	kind, ok := kinds[parts[0].Kind]
	if !ok {
		return nil, Refuse("", "%s: no command perturb %s is known", m.Out, parts[0].Kind)
	}
	set := Outputs{Force: m.Force}
	stem, _ := splitName(m.Out)
	for _, x := range kind.Beside {
		set.Files = append(set.Files, Output{x.Name, stem + x.Path + packing(m.Out)})
	}
	set.Files = append(set.Files, Output{ledgerFile, stem + ".ledger.jsonl"}, Output{textFile, stem + ".report.txt"},
		Output{jsonFile, stem + ".report.json"}, Output{outFile, m.Out})
	for _, p := range parts {
		for _, t := range p.Tables {
			set.Sources = append(set.Sources, filepath.Join(dir, t.Name))
		}
	}
	if err := set.Free(); err != nil {
		return nil, err
	}
	st, err := NewStage(set)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Drop()) }()
	f := Facts{In: parts[0].In, Digest: parts[0].SHA256, Noise: parts[0].Noise, Seed: parts[0].Seed}
	if f.Ledger, err = m.ledger(st, dir, parts, kind); err != nil {
		return nil, err
	}
	names := []string{outFile}
	for _, x := range kind.Beside {
		names = append(names, x.Name)
	}
	for _, p := range parts {
		if len(p.Tables) != len(names)+1 {
			return nil, fmt.Errorf("shard %d of %d has %d tables, want %d", p.Shard, p.Of, len(p.Tables), len(names)+1)
		}
	}
	m.Progress.Phase(fmt.Sprintf("join %d shards to %s", len(parts), m.Out))
	if err := joinTables(ctx, st, names, m.Out, dir, parts); err != nil {
		return nil, err
	}
	var counts []json.RawMessage
	for _, p := range parts {
		counts = append(counts, p.Counts)
	}
	r, err := kind.Report(f, parts[0].Same, counts)
	if err != nil {
		return nil, err
	}
	if err := st.report(r); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return r, st.Commit(m.Progress)
}

// find returns the parts of Out, in their order. It fails if some are missing, or belong to different jobs.
func (m Merging) find() (parts []Part, dir string, err error) {
	if m.Out == "" {
		return nil, "", Refuse("it is the name that every shard was given", "--out is missing")
	}
	if dir = m.From; dir == "" {
		dir = filepath.Dir(m.Out)
	}
	stem, _ := splitName(filepath.Base(m.Out))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, "", err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), stem+".shard-") || !strings.HasSuffix(e.Name(), ".part.json") {
			continue
		}
		p, err := ReadPart(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, "", err
		}
		if p.Out != filepath.Base(m.Out) {
			return nil, "", Refuse("give that as --out", "%s is a part of %s, not of %s", e.Name(), p.Out,
				filepath.Base(m.Out))
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil, "", Refuse("make them with --shard 1/2 and --shard 2/2, and copy them to one folder",
			"no shard of %s is in %s", filepath.Base(m.Out), dir)
	}
	slices.SortFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Of, b.Of),
			cmp.Compare(a.Shard, b.Shard))
	})
	for _, p := range parts[1:] {
		if diff := parts[0].differs(p); diff != "" {
			return nil, "", Refuse("make all shards of one file, with one program and the same flags",
				"shard %d of %d and shard %d of %d of %s differ in %s", parts[0].Shard, parts[0].Of, p.Shard, p.Of,
				p.Out, diff)
		}
	}
	for k, p := range parts[1:] {
		if p.Shard == parts[k].Shard {
			return nil, "", Refuse("keep the files of one of them: a shard that was made twice is two releases, and "+
				"only one may be in the whole", "shard %d of %d of %s is there twice", p.Shard, p.Of, p.Out)
		}
	}
	var missing []string
	for i := 1; i <= parts[0].Of; i++ {
		if !slices.ContainsFunc(parts, func(p Part) bool { return p.Shard == i }) {
			missing = append(missing, fmt.Sprint(i))
		}
	}
	if len(missing) > 0 {
		return nil, "", Refuse("make them, or copy them there", "of %d shards of %s %s has no shard %s", parts[0].Of,
			parts[0].Out, dir, strings.Join(missing, ", "))
	}
	return parts, dir, nil
}

// ReadPart reads the description of a shard's part.
func ReadPart(path string) (p Part, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return p, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	var same bytes.Buffer
	if err := json.Compact(&same, p.Same); err != nil {
		return p, fmt.Errorf("%s: %w", path, err)
	}
	p.Same = same.Bytes()
	switch {
	case p.Version != PartVersion:
		return p, fmt.Errorf("%s: version %d of a shard, this program reads %d", path, p.Version, PartVersion)
	case p.Shard < 1 || p.Shard > p.Of || p.Cells < 1 || len(p.Tables) < 2 || p.Batch < 0:
		return p, fmt.Errorf("%s: not what a shard writes", path)
	}
	for _, t := range p.Tables {
		if t.Name != filepath.Base(t.Name) {
			return p, fmt.Errorf("%s: the table %q is in another folder", path, t.Name)
		}
	}
	return p, nil
}

// differs returns the first property in which two parts show that they belong to different jobs; "" if none.
func (p Part) differs(q Part) string {
	for _, x := range []struct {
		what string
		same bool
	}{
		{"the command", p.Kind == q.Kind}, {"the number of shards", p.Of == q.Of},
		{"the kind of noise", p.Noise == q.Noise},
		{"the seed", p.Seed == q.Seed}, {"the input", p.SHA256 == q.SHA256},
		{"the catalogue or another file", slices.Equal(p.Others, q.Others)},
		{"the form of the output", p.Form == q.Form}, {"the order of the output", p.Ranked == q.Ranked},
	} {
		if !x.same {
			return x.what
		}
	}
	if p.Cells == q.Cells && p.Batch == q.Batch && bytes.Equal(p.Same, q.Same) {
		return ""
	}
	var a, b map[string]json.RawMessage
	if errors.Join(json.Unmarshal(p.Same, &a), json.Unmarshal(q.Same, &b)) == nil {
		var keys []string
		for k := range a {
			if !bytes.Equal(a[k], b[k]) {
				keys = append(keys, k)
			}
		}
		if len(keys) > 0 {
			slices.Sort(keys)
			return strings.Join(keys, ", ")
		}
	}
	return "the settings"
}

// ledger writes the ledger of the whole, with the content of every part's ledger.
func (m Merging) ledger(st *Stage, dir string, parts []Part, kind Whole) (s privacy.Seal, err error) {
	var first *privacy.Ledger
	for _, p := range parts {
		stem, _ := splitName(p.Tables[0].Name)
		path := filepath.Join(dir, stem+".ledger.jsonl")
		l, err := privacy.Reading{Key: m.Key}.File(path)
		if err != nil {
			return s, err
		}
		if seal, closed := l.Seal(); !closed || seal != (privacy.Seal{Entries: p.Entries, Chain: p.Chain}) {
			return s, Refuse("make the shard again", "%s is not the ledger that shard %d of %d ended with", path,
				p.Shard, p.Of)
		}
		if first == nil {
			first = l
		}
		if seal, _ := first.Seal(); seal != (privacy.Seal{Entries: p.Entries, Chain: p.Chain}) {
			return s, Refuse("make all shards of one file, with the same flags",
				"the ledgers of shard %d and shard %d of %d say different things", parts[0].Shard, p.Shard, p.Of)
		}
	}
	if err := kind.agrees(parts[0], first.Entries()); err != nil {
		return s, err
	}
	l, err := privacy.CreateLedger(st.Path(ledgerFile), first.Noise(), m.Key)
	if err != nil {
		return s, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Leave())
		}
	}()
	for _, e := range first.Entries() {
		if err := l.Record(e.Purpose, e.Event, e.Count); err != nil {
			return s, err
		}
	}
	for _, h := range first.Holdings() {
		if err := l.Hold(h); err != nil {
			return s, err
		}
	}
	if err := l.Close(); err != nil {
		return s, err
	}
	s, _ = l.Seal()
	return s, nil
}
