package baseline

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"privrec/internal/config"
	"privrec/internal/dataset"
	"privrec/internal/protocol/topn/topntest"
	"privrec/internal/run"
)

// goodTrain and goodTest are a small published split.
const (
	goodTrain = "0 0 1 2\n1 1 3\n2 0 4\n3 2 3 4\n"
	goodTest  = "0 3\n1 0 4\n2 1\n3 0\n"
)

// onPublished trains on a published split of the given lines.
func onPublished(t *testing.T, train, test string, sets ...string) (string, error) {
	t.Helper()
	topntest.Published(t, train, test)
	dir := filepath.Join(t.TempDir(), "run")
	sets = append([]string{"data.name=gowalla", "data.recipe=lightgcn", "train.select=last", "train.patience=0", "eval.k=[2]"}, sets...)
	return dir, try(t.Context(), task(t, "bprmf"), dir, sets, run.Options{})
}

func TestBadFiles(t *testing.T) {
	for _, c := range []struct {
		name, train, test string
		want              []string
	}{
		{"a repeated item", "0 0 1 1\n", goodTest, []string{`user "0"`, `item "1"`, "twice in train"}},
		{"a repeated test item", goodTrain, "0 3 3\n", []string{`item "3"`, "twice in test"}},
		{"a pair in train and in test", goodTrain, "0 1\n", []string{`user "0"`, `item "1"`, "in train and in test"}},
		{"a negative item", "0 0 -1\n", goodTest, []string{"train.txt:1", `field "item"`, "-1"}},
		{"a negative user", "0 0\n-3 1\n", goodTest, []string{"train.txt:2", `field "user"`, "-3"}},
		{"an empty line", "0 0 1\n\n1 1\n", goodTest, []string{"train.txt:2"}},
		{"a word", "0 0 one\n", goodTest, []string{"train.txt:1", `"one"`}},
		{"a second line of a user", "0 0\n0 1\n", goodTest, []string{"train.txt:2", "second line"}},
		{"no test rows", goodTrain, "0\n1\n", []string{"test.txt"}},
		{"a user with every item", "0 0 1 2 3 4\n1 0\n", "1 1\n", []string{`user "0"`, "all 5 items", "no negative"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := onPublished(t, c.train, c.test)
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %q", err, want)
				}
			}
			if bad := (*dataset.Error)(nil); !errors.As(err, &bad) {
				t.Errorf("%T is no error of the data", err)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("the run left a directory")
			}
		})
	}
	t.Run("negatives among all items", func(t *testing.T) {
		if _, err := onPublished(t, "0 0 1 2 3 4\n1 0\n", "1 1\n", "train.negatives=all"); err != nil {
			t.Errorf("a user with every item, though negatives are drawn among all: %v", err)
		}
	})
}

// Ids are names: a gap makes no item. Users and items of test alone are ranked for and
// ranked, and counted.
func TestGapsAndTestAlone(t *testing.T) {
	for _, c := range []struct {
		name, train, test                      string
		users, items, unseenUsers, unseenItems int
	}{
		{"as it is", goodTrain, goodTest, 4, 5, 0, 0},
		{"gaps in ids", "0 0 10 200\n7 10 3000\n90 0 40000\n", "0 3000\n7 0\n", 3, 5, 0, 0},
		{"an item in test alone", goodTrain, "0 3\n1 9\n2 9\n", 4, 6, 0, 1},
		{"a user in test alone", goodTrain, "0 3\n8 2 4\n", 5, 5, 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, err := onPublished(t, c.train, c.test)
			if err != nil {
				t.Fatal(err)
			}
			d := outcome(t, dir).Data
			if d.Users != c.users || d.Items != c.items || d.UnseenUsers != c.unseenUsers || d.UnseenItems != c.unseenItems {
				t.Errorf("%d users, %d items, %d and %d of them without a training row, want %d, %d, %d, %d",
					d.Users, d.Items, d.UnseenUsers, d.UnseenItems, c.users, c.items, c.unseenUsers, c.unseenItems)
			}
			if want := strings.Count(c.test, "\n"); d.TestUsers != want {
				t.Errorf("means over %d users, want %d", d.TestUsers, want)
			}
			text, err := os.ReadFile(filepath.Join(dir, "result.txt"))
			if err != nil {
				t.Fatal(err)
			}
			if want := fmt.Sprintf("%d items and %d users have no training row and are kept", c.unseenItems, c.unseenUsers); !strings.Contains(string(text), want) {
				t.Errorf("the result lacks %q", want)
			}
		})
	}
}

func TestBadSettings(t *testing.T) {
	for _, c := range []struct{ task, set, want string }{
		{"lightgcn", "model.layers=0", "model.layers"},
		{"lightgcn", "model.layers=33", "model.layers"},
		{"lightgcn", "model.norm=row", "model.norm"},
		{"lightgcn", "model.tables=float32", "model.tables"},
		{"ngcf", "model.tables=bfloat16", "model.tables"},
		{"lightgcn", "model.norm=sym-clamp:0", "model.norm"},
		{"lightgcn", "model.init={law: zero, std: 0}", "model.init.law"},
		{"lightgcn", "model.init={law: normal, std: 0}", "model.init.std"},
		{"lightgcn", "model.init={law: xavier, std: 1}", "model.init.std"},
		{"lightgcn", "model.dim=0", "model.dim"},
		{"ngcf", "model.layers=0", "model.layers"},
		{"ngcf", "model.node_dropout=1", "model.node_dropout"},
		{"ngcf", "model.message_dropout=-0.1", "model.message_dropout"},
		{"bprmf", "model.dim=0", "model.dim"},
		{"bprmf", "train.epochs=0", "train.epochs"},
		{"bprmf", "train.batch=0", "train.batch"},
		{"bprmf", "train.rate=0", "train.rate"},
		{"bprmf", "train.l2=-1", "train.l2"},
		{"bprmf", "train.decay=1", "train.decay"},
		{"bprmf", "train.decay=-1e-9", "train.decay"},
		{"bprmf", "train.sampler=shuffle", "train.sampler"},
		{"bprmf", "train.negatives=hard", "train.negatives"},
		{"bprmf", "train.negatives_each=0", "train.negatives_each"},
		{"bprmf", "train.rate_every=-1", "train.rate_every"},
		{"bprmf", "train.rate_by=0.5", "train.rate_by"},
		{"bprmf", "train.warm_up=-1", "train.warm_up"},
		{"bprmf", "train.schedule=small", "train.schedule"},
		{"bprmf", "train={schedule: large, warm_up: 5}", "train.warm_up"},
		{"bprmf", "train.patience=-1", "train.patience"},
		{"bprmf", "train.select=test", "train.select"},
		{"bprmf", "eval.k=[]", "eval.k"},
		{"bprmf", "eval.k=[20, 20]", "eval.k"},
		{"bprmf", "eval.k=[0]", "eval.k"},
		{"bprmf", "eval.candidates=10", "eval.k: cutoff 20 is above the 11 places"},
		{"ease", "eval.candidates=-1", "eval.candidates"},
		{"ials", "model.dim=0", "model.dim"},
		{"ials", "model.rounds=0", "model.rounds"},
		{"ials", "model.unobserved=-0.1", "model.unobserved"},
		{"ials", "model.lambda=0", "model.lambda"},
		{"ials", "model.exponent=-1", "model.exponent"},
		{"ials", "model.std=0", "model.std"},
		{"bprmf", "train.optimizer=lbfgs", "train.optimizer"},
		{"bprmf", "profile=''", "profile"},
		{"bprmf", "protocol=leave-one-out", "protocol"},
		{"bprmf", "data.candidates=train", "data.candidates"},
		{"bprmf", "train.validation=0.1", "train.validation"},
		{"bprmf", "train.refit=true", "train.refit"},
		{"bprmf", "data.name=''", "data.name"},
		{"bprmf", "data.recipe=''", "data.recipe"},
	} {
		err := task(t, c.task).Check("", []string{c.set})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v, want an error about %s", c.task, c.set, err, c.want)
		} else if !config.Is(err) {
			t.Errorf("%s %s: %T is no error of the configuration", c.task, c.set, err)
		}
	}
}

// What only the data tell is the user's to mend, and says how.
func TestSettingsThatTheDataRefuse(t *testing.T) {
	topntest.Published(t, goodTrain, goodTest)
	for _, c := range []struct {
		name string
		sets []string
		want string
	}{
		{"no validation rows to select on", []string{"train.patience=0"}, "train.select"},
		{"no validation rows to watch", []string{"train.select=last"}, "train.patience"},
		{"a cutoff above the items", []string{"train.select=last", "train.patience=0", "eval.k=[6]"}, "eval.k: cutoff 6"},
	} {
		sets := append([]string{"data.name=gowalla", "data.recipe=lightgcn", "eval.k=[2]"}, c.sets...)
		err := try(t.Context(), task(t, "bprmf"), filepath.Join(t.TempDir(), "run"), sets, run.Options{})
		usage := (*run.UsageError)(nil)
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) || usage.Fix == "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, set := range []string{"data.name=nowhere", "data.recipe=none"} {
		if err := try(t.Context(), task(t, "bprmf"), filepath.Join(t.TempDir(), "run"), []string{set}, run.Options{}); err == nil {
			t.Errorf("%s: no error", set)
		}
	}
}
