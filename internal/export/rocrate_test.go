package export

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/run"
)

// finishedRun writes a directory as a run leaves it, with a status.
func finishedRun(t *testing.T, status string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"manifest.json": `{"task": "train x", "status": "` + status + `", "seed": 7, "config_sha256": "cc", "data": [{"name": "own-x", "sha256": "0123456789abcdef"}],
			"attempts": [{"started": "2026-01-02T03:04:05Z", "seconds": 10, "status": "interrupted", "build": {"version": "v1"}},
				{"started": "2026-01-02T04:00:00Z", "seconds": 1.5, "status": "done", "build": {"version": "v2"}}]}`,
		"config.yaml": "seed: 7\n", "metrics.json": "{}", "check point/a.bin": "a", ".tmp-x": "half",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The metadata list every file with its size and hash, and each reference is to an entity. The
// action goes from the first attempt's start to the last one's end, with both programs.
func TestCrate(t *testing.T) {
	dir := finishedRun(t, run.StatusDone)
	c, err := Crate(t.Context(), CrateQuestion{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(c.Path)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Graph []map[string]any `json:"@graph"`
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	byID := map[string]map[string]any{}
	files := 0
	for _, e := range doc.Graph {
		id := e["@id"].(string)
		if byID[id] != nil {
			t.Errorf("two entities %s", id)
		}
		byID[id] = e
		if e["@type"] != "File" {
			continue
		}
		files++
		b, err := os.ReadFile(filepath.Join(dir, e["name"].(string)))
		if sum := sha256.Sum256(b); err != nil || e["sha256"] != hex.EncodeToString(sum[:]) || e["contentSize"] != fmt.Sprint(len(b)) {
			t.Errorf("%v: %v", e, err)
		}
	}
	if files != 4 || c.Files != 4 || byID["check%20point/a.bin"] == nil {
		t.Errorf("%d files, said %d: %v", files, c.Files, byID)
	}
	for _, e := range doc.Graph {
		for _, property := range []string{"hasPart", "mentions", "about", "object", "result", "instrument"} {
			refs, ok := e[property].([]any)
			if !ok && e[property] != nil {
				refs = []any{e[property]}
			}
			for _, r := range refs {
				if id := r.(map[string]any)["@id"].(string); byID[id] == nil {
					t.Errorf("%s of %s is %s, which is no entity", property, e["@id"], id)
				}
			}
		}
	}
	action := byID["#run"]
	if action["startTime"] != "2026-01-02T03:04:05Z" || action["endTime"] != "2026-01-02T04:00:01.5Z" || len(action["instrument"].([]any)) != 2 {
		t.Errorf("action %v", action)
	}
	if text, _ := byID["./"]["description"].(string); !strings.Contains(text, "no account of privacy") {
		t.Errorf("a run without an account: %q", text)
	}
	if _, err := Crate(t.Context(), CrateQuestion{Dir: dir}); err == nil {
		t.Error("metadata are replaced unasked")
	}
	if _, err := Crate(t.Context(), CrateQuestion{Dir: dir, Force: true}); err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(c.Path); err != nil || string(again) != string(b) {
		t.Errorf("other bytes the second time, %v", err)
	}
	if _, err := Crate(t.Context(), CrateQuestion{Dir: finishedRun(t, run.StatusFailed)}); err == nil || !strings.Contains(err.Error(), "the run is failed") {
		t.Errorf("a failed run: %v", err)
	}
}
