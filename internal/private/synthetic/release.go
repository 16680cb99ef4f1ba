package synthetic

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"privrec/internal/dataset"
	"privrec/internal/dataset/format"
	"privrec/internal/dataset/registry"
	"privrec/internal/experiment"
	"privrec/internal/export"
	"privrec/internal/perturb"
	"privrec/internal/private/gram"
	"privrec/internal/rng"
	"privrec/internal/run"
	"privrec/internal/system"
)

// Request says which synthetic users are written where.
type Request struct {
	Run   string // directory of the finished run
	Out   string // folder of the data set; its name is that of the set and begins with own-
	Users int    // 0: usersPerUser for every user that the released counts tell of
	Seed  uint64
	Force bool // replace files that are there
}

// usersPerUser is the default number of synthetic users for a user of the data. Further ones cost no epsilon, and leave
// less chance in the counts of pairs.
const usersPerUser = 5

// MostUsers bounds Request.Users.
const MostUsers = 100_000_000

// Release draws users and writes them as a data set of your own, with its card. All files appear or none. p may be nil.
func Release(ctx context.Context, q Request, p run.Progress) (*Card, error) {
	name := filepath.Base(filepath.Clean(q.Out))
	switch {
	case q.Out == "":
		return nil, run.Usagef("give --out data/own-synthetic", "no folder to write to is named")
	case !registry.IsOwn(name):
		return nil, run.Usagef("as in "+filepath.Join(q.Out, registry.OwnPrefix+"synthetic"),
			"%s: a data set is found by the name of its folder, which begins with %s", q.Out, registry.OwnPrefix)
	case q.Users < 0 || q.Users > MostUsers:
		return nil, run.Usagef("0 takes the number that suits the release", "%d users, want 0 to %d", q.Users,
			MostUsers)
	}
	set := perturb.Outputs{Force: q.Force}
	names := []string{ledgerFile, titlesFile, configFile, cardText, cardJSON, name + ".standin", name + ".inter"}
	for _, n := range names {
		set.Files = append(set.Files, perturb.Output{Name: n, Path: filepath.Join(q.Out, n)})
	}
	if err := set.Free(); err != nil {
		return nil, err
	}
	k, err := gram.OpenKept(ctx, q.Run)
	if err != nil {
		return nil, err
	}
	defer k.Close()
	m, err := NewModel(ctx, k)
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	c, err := newCard(q, k, m)
	if err != nil {
		return nil, err
	}
	c.Name = name
	users, err := m.Users(ctx, rng.Seed(q.Seed), c.Users)
	if err != nil {
		return nil, run.Interrupted(ctx, err)
	}
	for _, items := range users {
		c.Rows += len(items)
		if len(items) > 0 {
			c.Shown++
		}
	}
	titles, err := titlesOf(ctx, k)
	if err != nil {
		return nil, err
	}
	if titles == nil {
		at := slices.IndexFunc(set.Files, func(o perturb.Output) bool { return o.Name == titlesFile })
		set.Files = slices.Delete(set.Files, at, at+1)
	}
	for _, o := range set.Files {
		c.Files = append(c.Files, o.Name)
	}
	write := map[string]func(w io.Writer) error{
		titlesFile: func(w io.Writer) error { return writeTitles(w, k.IDs, titles) },
		ledgerFile: func(w io.Writer) error { return copyFile(w, filepath.Join(q.Run, run.LedgerName)) },
		configFile: c.configuration, cardText: c.Markdown, cardJSON: c.JSON,
		name + ".standin": c.standIn,
		name + ".inter":   func(w io.Writer) error { return writeRows(w, k.IDs, users) },
	}
	return c, commit(set, write, p)
}

// drawnUsers returns the number of users that are drawn of a release if none is asked for.
func drawnUsers(k *gram.Kept) int { return int(math.Min(MostUsers, math.Round(usersPerUser*k.Users))) }

// Files beside the rows.
const (
	ledgerFile = "ledger.jsonl"
	titlesFile = "titles.tsv"
	configFile = "ease.yaml"
	cardText   = "card.md"
	cardJSON   = "card.json"
)

// newCard returns the card of rows that are not drawn yet.
func newCard(q Request, k *gram.Kept, m *Model) (*Card, error) {
	of, err := experiment.ReadOutcome(q.Run)
	if err != nil {
		return nil, err
	}
	c := &Card{Seed: q.Seed, Users: q.Users, Items: len(m.Items), Listed: len(k.IDs), Factors: m.Factors, Mean: m.Mean,
		Run: Origin{Task: k.Manifest.Task, Method: of.Method, Data: of.Data.Source.Title,
			Config: k.Manifest.ConfigHash, Seal: k.Manifest.Ledger}}
	if c.Users == 0 {
		c.Users = drawnUsers(k)
	}
	if c.Privacy, err = export.Covered(q.Run, k.Manifest); err != nil {
		return nil, err
	}
	ledger, err := system.ReadFile(filepath.Join(q.Run, run.LedgerName), system.MostOfRun)
	if err != nil {
		return nil, fmt.Errorf("read the ledger of the run: %w", err)
	}
	sum := sha256.Sum256(ledger)
	c.Run.Ledger = hex.EncodeToString(sum[:])
	c.texts()
	return c, nil
}

// titlesOf returns the titles of the items, by id; nil if none are known.
func titlesOf(ctx context.Context, k *gram.Kept) (map[string]string, error) {
	titles, err := registry.Titles(ctx, k.Data, registry.Options{})
	if bad := (*dataset.Error)(nil); errors.As(err, &bad) && bad.File == k.Data && bad.Field == "title" {
		return nil, nil
	}
	return titles, err
}

// commit writes all files and gives them their names at once.
func commit(set perturb.Outputs, write map[string]func(w io.Writer) error, p run.Progress) (err error) {
	if err := os.MkdirAll(filepath.Dir(set.Files[0].Path), 0o755); err != nil {
		return err
	}
	stage, err := perturb.NewStage(set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stage.Drop()) }()
	for _, o := range set.Files {
		if err := system.WriteFile(stage.Path(o.Name), func(w io.Writer) error {
			b := bufio.NewWriterSize(w, 1<<16)
			return errors.Join(write[o.Name](b), b.Flush())
		}); err != nil {
			return &format.WriteError{File: o.Path, Err: err}
		}
	}
	return stage.Commit(p)
}

// writeRows writes the rows as an atomic file of RecBole.
func writeRows(w io.Writer, ids []string, users [][]int32) error {
	_, err := io.WriteString(w, "user_id:token\titem_id:token\n")
	for u, items := range users {
		for _, i := range items {
			if err == nil {
				_, err = fmt.Fprintf(w, "s%d\t%s\n", u+1, ids[i])
			}
		}
	}
	return err
}

// writeTitles writes the titles of all items that have one.
func writeTitles(w io.Writer, ids []string, titles map[string]string) error {
	_, err := io.WriteString(w, "item_id\ttitle\n")
	for _, id := range ids {
		if t := titles[id]; err == nil && t != "" && !strings.ContainsAny(t, "\t\n\r") {
			_, err = fmt.Fprintf(w, "%s\t%s\n", id, t)
		}
	}
	return err
}

// copyFile copies a file of a run.
func copyFile(w io.Writer, path string) error {
	b, err := system.ReadFile(path, system.MostOfRun)
	if err == nil {
		_, err = w.Write(b)
	}
	return err
}

// configuration writes a configuration that trains EASE on the rows. Its penalty is the mean of their Gram matrix's
// diagonal, as DP-EASE has it.
func (c *Card) configuration(w io.Writer) error {
	lambda := math.Max(1, math.Round(float64(c.Rows)/float64(c.Items)))
	_, err := fmt.Fprintf(w, `# EASE of the synthetic users of %[1]s. PRIVREC_DATA is the folder above this one.
#   privrec run %[1]s/ease.yaml
task: train ease
profile: synthetic
run: {seed: 1}
data: {name: %[1]s, recipe: ratio}
model: {lambda: %[2]g, memory_mb: 8192}
eval: {k: [20], every: false, sigmoid: false}
`, c.Name, lambda)
	return err
}

// standIn writes the card that makes results on the rows evidence of level D.
func (c *Card) standIn(w io.Writer) error {
	_, err := fmt.Fprintf(w, "Synthetic rows of %s: %s.\ncard.md beside this file says what covers them, what they "+
		"keep and what they do not.\n\n%s", c.Name, c.What, format.CardLevel)
	return err
}
