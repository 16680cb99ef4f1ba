package papers

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"privrec/internal/run"
)

// The tasks that the program names as those that can have secure noise are those that say so
// themselves. All others refuse it before they make a directory, and name them.
func TestSecureTasks(t *testing.T) {
	var named *run.UsageError
	if !errors.As(run.NoSecure("a task", "a reason"), &named) {
		t.Fatal("no usage error refuses secure noise")
	}
	_, list, _ := strings.Cut(named.Fix, "take one of: ")
	want := strings.Split(list, ", ")
	var can []string
	for _, task := range All() {
		if task.Secure {
			can = append(can, task.String())
			continue
		}
		dir := filepath.Join(t.TempDir(), "run")
		_, err := task.Start(t.Context(), run.Options{Sets: []string{"run.secure=true", "run.out=" + dir}, Stdout: io.Discard, Log: slog.New(slog.DiscardHandler), Progress: run.Silent{}})
		var refused *run.UsageError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), run.SecureKey) || refused.Fix != named.Fix {
			t.Errorf("%s: %v", task, err)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s left %s", task, dir)
		}
	}
	slices.Sort(want)
	slices.Sort(can)
	if !slices.Equal(can, want) {
		t.Errorf("secure noise is said of %v, and had by %v", want, can)
	}
}
