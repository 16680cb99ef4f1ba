package system_test

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"privrec/internal/system"
)

// TestMain is also the other process of the tests: it takes the lock that its environment names,
// says how that went, and keeps it until its standard input ends.
func TestMain(m *testing.M) {
	file, folder := os.Getenv("PRIVREC_TEST_FILE"), os.Getenv("PRIVREC_TEST_FOLDER")
	var err error
	switch {
	case file != "":
		_, err = system.TakeFile(file)
	case folder != "":
		_, err = system.TakeFolder(folder)
	default:
		os.Exit(m.Run())
	}
	switch {
	case errors.Is(err, system.ErrBusy):
		os.Stdout.WriteString("busy\n")
	case err != nil:
		os.Stdout.WriteString(err.Error() + "\n")
	default:
		os.Stdout.WriteString("taken\n")
	}
	io.Copy(io.Discard, os.Stdin)
}

// other starts a process that takes a lock, and returns what it says and how to end it.
func other(t *testing.T, kind, path string) (said string, pid int, end func(kill bool)) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), kind+"="+path)
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	said, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return said[:len(said)-1], c.Process.Pid, func(kill bool) {
		if kill {
			c.Process.Kill()
		}
		in.Close()
		c.Wait() // its exit status is not of interest
	}
}

func TestFileLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	f, err := system.TakeFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("held"); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "held" {
		t.Errorf("what a lock file says cannot be read while it is held: %q, %v", b, err)
	}
	said, _, end := other(t, "PRIVREC_TEST_FILE", path)
	if end(false); said != "busy" {
		t.Errorf("a second process: %s, want busy", said)
	}
	if g, err := system.TakeFile(path); !errors.Is(err, system.ErrBusy) || system.CannotLock(err) {
		t.Errorf("a second time in this process: %v", err)
	} else {
		g.Close()
	}
	// The holder removes its file and then closes it; the name is free at once.
	if err := errors.Join(os.Remove(path), f.Close()); err != nil {
		t.Fatal(err)
	}
	said, _, end = other(t, "PRIVREC_TEST_FILE", path)
	if said != "taken" {
		t.Errorf("after the holder removed it: %s, want taken", said)
	}
	if g, err := system.TakeFile(path); !errors.Is(err, system.ErrBusy) {
		t.Errorf("the other process has it: %v", err)
	} else {
		g.Close()
	}
	end(true)
	if f, err = system.TakeFile(path); err != nil {
		t.Fatalf("after the holder was killed: %v", err)
	}
	f.Close()
}

func TestFolderLock(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "stage")
	if _, err := system.TakeFolder(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	said, _, end := other(t, "PRIVREC_TEST_FOLDER", dir)
	if said != "taken" {
		t.Errorf("a free folder: %s, want taken", said)
	}
	if _, err := system.TakeFolder(dir); !errors.Is(err, system.ErrBusy) {
		t.Errorf("the other process has it: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "a"), []byte("b"), 0o666); err != nil {
		t.Errorf("a file in a folder that is held: %v", err)
	}
	end(true)
	l, err := system.TakeFolder(dir)
	if err != nil {
		t.Fatalf("after the holder was killed: %v", err)
	}
	if err := errors.Join(os.RemoveAll(dir), l.Free()); err != nil {
		t.Errorf("remove a held folder, and free it: %v", err)
	}
	left, err := os.ReadDir(filepath.Dir(dir))
	if err != nil || len(left) != 0 {
		t.Errorf("beside the folder is left %v, %v", left, err)
	}
	if err := (*system.Folder)(nil).Free(); err != nil {
		t.Errorf("free what was not locked: %v", err)
	}
}

func TestSharedLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "budget")
	open := func() *os.File {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	a, b, c := open(), open(), open()
	if err := errors.Join(system.Share(a), system.Share(b)); err != nil {
		t.Fatalf("two readers: %v", err)
	}
	if err := system.TryLock(c); !errors.Is(err, system.ErrBusy) {
		t.Errorf("a writer beside readers: %v", err)
	}
	a.Close()
	b.Close()
	if err := system.Lock(c); err != nil {
		t.Errorf("a writer after the readers: %v", err)
	}
}

func TestAlive(t *testing.T) {
	_, pid, end := other(t, "PRIVREC_TEST_FILE", filepath.Join(t.TempDir(), "lock"))
	if !system.Alive(pid) || !system.Alive(os.Getpid()) {
		t.Error("a living process is said to be dead")
	}
	end(true)
	if system.Alive(pid) {
		t.Error("a dead process is said to be alive")
	}
}

func TestResources(t *testing.T) {
	sum := 0.0
	for range 1000 {
		for i := range 100_000 {
			sum += float64(i)
		}
		if system.CPUSeconds() > 0 {
			break
		}
	}
	if system.CPUSeconds() <= 0 {
		t.Error("no processor time", sum)
	}
	if m := system.PeakMemory(); m < 1<<20 || m > 1<<40 {
		t.Errorf("peak of memory: %d bytes", m)
	}
	if n := system.FreeSpace(t.TempDir()); n <= 0 {
		t.Errorf("free space: %d bytes", n)
	}
	if err := system.SyncDir(t.TempDir()); err != nil {
		t.Errorf("make names durable: %v", err)
	}
	if err := system.SyncDir(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("make names durable in no folder: %v", err)
	}
}

func TestErrorsOfTheSystem(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	_, err = w.WriteString("anyone?")
	if w.Close(); !system.ReaderGone(err) || system.DiskFull(err) {
		t.Errorf("a pipe without a reader: %v", err)
	}
}
