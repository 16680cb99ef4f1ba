package cli

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// byFirst returns the lines of a file by their first field, without the header.
func byFirst(t *testing.T, path string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for i, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		if user, _, _ := strings.Cut(line, "\t"); i > 0 {
			out[user] += line + "\n"
		}
	}
	return out
}

// A user who is left out moves no other user's rows, nor the ledger: each draw is about a user, by the user's id.
func TestPerturbWithoutAUser(t *testing.T) {
	const users = 40
	job := []string{"artist", "doctor", "student"}
	history := func(u int) (s string) {
		for i := range 1 + u%9 {
			s += fmt.Sprintf("u%d\t%d\t%d\n", u, 1+(u*i+i)%12, 100+i)
		}
		return s
	}
	for name, c := range map[string]struct {
		head string
		rows func(u int) string
		args []string
	}{
		"pricdsr":               {"user_id\titem_id\ttimestamp\n", history, []string{"--epsilon", "1", "--items", "12", "--length", "9"}},
		"pricdsr of whole rows": {"user_id\titem_id\ttimestamp\n", history, []string{"--epsilon", "1", "--items", "12", "--length", "9", "--mechanism", "sdp-user"}},
		"features": {"user_id\tage\tjob\n", func(u int) string { return fmt.Sprintf("u%d\t%d\t%s\n", u, 20+u, job[u%3]) },
			[]string{"--epsilon", "1", "--number", "age=0..99", "--category", "job=artist,doctor,student"}},
	} {
		t.Run(name, func(t *testing.T) {
			kind, _, _ := strings.Cut(name, " ")
			dir := t.TempDir()
			perturb := func(as string, rows func(u int) string) (map[string]string, string) {
				in, out := filepath.Join(dir, as+".in.tsv"), filepath.Join(dir, as+".tsv")
				text := c.head
				for u := range users {
					text += rows(u)
				}
				if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				flag := "--in"
				if name == "features" {
					flag = "--attributes"
				}
				perturbed(t, kind, append([]string{flag, in, "--out", out, "--seed", "3", "--force"}, c.args...)...)
				ledger, err := os.ReadFile(filepath.Join(dir, as+".ledger.jsonl"))
				if err != nil {
					t.Fatal(err)
				}
				return byFirst(t, out), string(ledger)
			}
			whole, ledger := perturb("whole", c.rows)
			if len(whole) != users {
				t.Fatalf("%d users in the output, want %d", len(whole), users)
			}
			for gone := range users {
				less, same := perturb("less", func(u int) string {
					if u == gone {
						return ""
					}
					return c.rows(u)
				})
				want := maps.Clone(whole)
				delete(want, fmt.Sprintf("u%d", gone))
				if !maps.Equal(less, want) {
					t.Errorf("without user u%d other users have other rows", gone)
				}
				if same != ledger {
					t.Errorf("without user u%d the ledger is\n%s, it was\n%s", gone, same, ledger)
				}
			}
		})
	}
}
