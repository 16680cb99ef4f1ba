package slate

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"privrec/internal/dataset"
)

// mindLogs is two logs of every user: the later one stands first in the file.
func mindLogs(users ...string) string {
	var b strings.Builder
	for i, u := range users {
		fmt.Fprintf(&b, "%d\t%s\t11/12/2019 9:05:58 AM\th1 h2 h3 h4\ts1-0 s2-1 s3-0\n", 2*i, u)
	}
	for i, u := range users {
		fmt.Fprintf(&b, "%d\t%s\t11/11/2019 9:05:58 PM\th1 h2 h3\ts4-0 s5-1\n", 2*i+1, u)
	}
	return b.String()
}

func TestBuildMIND(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		want []string // of user U1
	}{
		{"defaults: history of the last log in the file, items shown in file order, back in the one and forward in the other", Options{T: 3, L: 2},
			[]string{"U1: s1 s2 s3 | h3 h2", "U1: s2 s3 s4 | h2 h1"}},
		{"single clicks end with what was shown", Options{T: 3, L: 1}, []string{"U1: s1 s2 s3 | h3", "U1: s2 s3 s4 | h2", "U1: s3 s4 s5 | h1"}},
		{"at most two", Options{T: 3, L: 1, Most: 2}, []string{"U1: s1 s2 s3 | h3", "U1: s2 s3 s4 | h2"}},
		{"in time order", Options{T: 3, L: 3, Logs: LogsTime}, []string{"U1: s4 s5 s1 | h4 h3 h2", "U1: s5 s1 s2 | h3 h2 h1"}},
		{"a log with its own history", Options{T: 2, L: 3, Pairing: PairLog}, []string{"U1: s1 s2 | h4 h3 h2", "U1: s4 s5 | h3 h2 h1"}},
		{"short logs give none", Options{T: 3, L: 3, Pairing: PairLog}, []string{"U1: s1 s2 s3 | h4 h3 h2"}},
		{"one pair of logs in time order", Options{T: 2, L: 3, Pairing: PairLog, Logs: LogsTime, Most: 1}, []string{"U1: s4 s5 | h3 h2 h1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := ReadMIND(t.Context(), writeFile(t, "behaviors.tsv", mindLogs("U1", "U2", "U3")+"9\tU4\t11/11/2019 9:05:58 PM\t\ts4-0\n"))
			if err != nil {
				t.Fatal(err)
			}
			s, err := BuildMIND(m, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.valid(); err != nil {
				t.Fatal(err)
			}
			got := slices.DeleteFunc(words(s), func(w string) bool { return w[:2] != "U1" })
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			expect(t, s, dataset.Rung{Name: "raw", Users: 4, Items: 9, Rows: 16}, dataset.Rung{Name: "clicked", Users: 3, Items: 2, Rows: 6})
			if c.o.Pairing == "" && c.o.L == 2 {
				logged, clicked := s.spell(s.Logged[0]), s.spell(s.Clicked[0])
				if logged != "h1 h2 h3 s1 s2 s3 s4" || clicked != "s2" {
					t.Errorf("logged %q, clicked in a slate %q", logged, clicked)
				}
				expect(t, s, dataset.Rung{Name: "users of 2 clicks", Users: 3, Rows: 9}, dataset.Rung{Name: "users of 2 clicks and 3 shown items", Users: 3, Rows: 15})
			}
		})
	}
}

// TestMINDDefaults: five pairs a user at most, of nine clicks and fourteen items.
func TestMINDDefaults(t *testing.T) {
	var b strings.Builder
	for u := range 3 {
		fmt.Fprintf(&b, "%d\tU%d\t11/12/2019 9:05:58 AM\t", u, u)
		for i := range 20 {
			fmt.Fprintf(&b, "h%d ", i)
		}
		text := strings.TrimRight(b.String(), " ")
		b.Reset()
		b.WriteString(text + "\ts0-0")
		for i := 1; i < 40; i++ {
			fmt.Fprintf(&b, " s%d-0", i)
		}
		b.WriteByte('\n')
	}
	m, err := ReadMIND(t.Context(), writeFile(t, "behaviors.tsv", b.String()))
	if err != nil {
		t.Fatal(err)
	}
	s, err := BuildMIND(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if s.Train.Len() != 5 || s.Vocab != 4+14+9 {
		t.Errorf("%d pairs and %d tokens", s.Train.Len(), s.Vocab)
	}
	if got := s.spell(s.Train.Slate(4)) + " | " + s.spell(s.Train.Behaviour(4)); got != "s4 s5 s6 s7 s8 s9 s10 s11 s12 s13 | h15 h14 h13 h12 h11" {
		t.Errorf("last pair %q", got)
	}
}

// TestMINDSmallLayout reads train and dev from the folder of the set.
func TestMINDSmallLayout(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"train": mindLogs("U1", "U2"), "dev": mindLogs("U3", "U1")} {
		folder := filepath.Join(dir, "mind-small", name)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "behaviors.tsv"), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Load(t.Context(), "mind-small", dataset.View{}, Options{Dir: dir, T: 3, L: 2, Most: 9})
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Users; !slices.Equal(got, []string{"U1", "U2", "U3"}) || s.Level != dataset.LevelC || len(s.Notes) == 0 {
		t.Errorf("users %v at level %v, notes %q", got, s.Level, s.Notes)
	}
	if err := os.Remove(filepath.Join(dir, "mind-small", "dev", "behaviors.tsv")); err != nil {
		t.Fatal(err)
	}
	if _, err = Load(t.Context(), "mind-small", dataset.View{}, Options{Dir: dir}); err == nil ||
		!strings.Contains(err.Error(), "looked for dev/behaviors.tsv") {
		t.Errorf("without dev: %v", err)
	}
}

// TestRealMINDSample sends 5,000 real logs, rewritten in the official form, through the
// builder; the counts were made apart, by a script over the sample.
func TestRealMINDSample(t *testing.T) {
	f, err := os.Open(filepath.Join(realData(t), "mind-small-sample", "impressions.tsv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows := bufio.NewScanner(z)
	rows.Buffer(nil, 1<<20)
	var b strings.Builder
	for rows.Scan() {
		v := strings.Split(rows.Text(), "\t")
		if v[0] == "impression" {
			continue
		}
		at, err := time.Parse("2006-01-02T15:04:05", v[2])
		if err != nil {
			t.Fatal(err)
		}
		v[2] = at.Format("1/2/2006 3:04:05 PM")
		b.WriteString(strings.Join(v, "\t") + "\n")
	}
	m, err := ReadMIND(t.Context(), writeFile(t, "behaviors.tsv", b.String()))
	if err != nil {
		t.Fatal(err)
	}
	s, err := BuildMIND(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.valid(); err != nil {
		t.Fatal(err)
	}
	expect(t, s, dataset.Rung{Name: "raw", Users: 4637, Items: 22592, Rows: 189359}, dataset.Rung{Name: "clicked", Rows: 7542},
		dataset.Rung{Name: "pairs", Users: 3127, Rows: 13539})
	five, of := 0, map[int32]int{}
	for _, u := range slices.Concat(s.Train.Users, s.Valid.Users, s.Test.Users) {
		if of[u]++; of[u] == 5 {
			five++
		}
	}
	if five != 2349 {
		t.Errorf("%d users have five pairs", five)
	}
	if s, err = BuildMIND(m, Options{Pairing: PairLog}); err != nil {
		t.Fatal(err)
	}
	expect(t, s, dataset.Rung{Name: "pairs", Rows: 3348})
}
