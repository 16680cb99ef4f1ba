// Command wheel builds Python wheels that hold the program, for all systems, with the Go
// toolchain alone:
//
//	go run ./scripts/wheel -version 0.1.0 -out dist [-only linux/amd64] [-binary bin/privrec]
//
// The same source, version and toolchain give the same bytes, on any machine. -binary puts in a
// file that is there already, which must be that of the one platform that -only names.
//
//	go run ./scripts/wheel -verify [-binary bin/privrec] WHEEL...
//
// compares wheels with what their own RECORD says, and their program with a file.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A platform is a system that Go builds for, and the tags of wheels that run there.
type platform struct {
	os, arch string
	tags     []string // one wheel for each; several tags of one wheel are joined by a point
}

// platforms lists the platforms that get wheels. The binary is static, so the age of glibc and musl do not matter to
// it; the oldest tags that installers know are the widest. Go 1.26 needs macOS 12.
var platforms = []platform{
	{"linux", "amd64", []string{"manylinux_2_17_x86_64.manylinux2014_x86_64", "musllinux_1_1_x86_64"}},
	{"linux", "arm64", []string{"manylinux_2_17_aarch64.manylinux2014_aarch64", "musllinux_1_1_aarch64"}},
	{"darwin", "amd64", []string{"macosx_12_0_x86_64"}},
	{"darwin", "arm64", []string{"macosx_12_0_arm64"}},
	{"windows", "amd64", []string{"win_amd64"}},
	{"windows", "arm64", []string{"win_arm64"}},
}

func (p platform) String() string { return p.os + "/" + p.arch }

func main() {
	version := flag.String("version", "", "version of the wheels, as Python writes versions")
	out := flag.String("out", "dist", "folder for the wheels")
	only := flag.String("only", "", "platform, as linux/amd64; all where it is empty")
	binary := flag.String("binary", "", "the program, built already, for the platform of -only")
	check := flag.Bool("verify", false, "verify wheels instead of building them")
	flag.Parse()
	var err error
	switch {
	case *check && flag.NArg() == 0:
		err = fmt.Errorf("-verify: name the wheels")
	case *check:
		for _, w := range flag.Args() {
			err = errors.Join(err, verify(w, *binary))
		}
	default:
		err = build(*version, *out, *only, *binary, flag.Args())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "wheel:", err)
		os.Exit(1)
	}
}

// build writes the wheels of all platforms, or of one, and prints their paths.
func build(version, out, only, binary string, rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q", rest[0])
	case binary != "" && only == "":
		return fmt.Errorf("-binary needs -only: a binary runs on one platform")
	}
	w, err := newWheel(version)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "privrec-wheel-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	found := false
	for _, p := range platforms {
		if only != "" && only != p.String() {
			continue
		}
		found = true
		path := binary
		if path == "" {
			path = filepath.Join(temp, p.os+"-"+p.arch)
			if err := compile(p, version, path); err != nil {
				return err
			}
		}
		if err := w.program(p, path); err != nil {
			return err
		}
		for _, tag := range p.tags {
			name, body, err := w.pack(tag)
			if err != nil {
				return err
			}
			to := filepath.Join(out, name)
			if err := os.WriteFile(to, body, 0o666); err != nil {
				return err
			}
			fmt.Println(to)
		}
	}
	if !found {
		var names []string
		for _, p := range platforms {
			names = append(names, p.String())
		}
		return fmt.Errorf("no wheel for %q; there are %s", only, strings.Join(names, ", "))
	}
	return nil
}

// compile builds the program for a platform, as make build does for this one, and sets its version.
func compile(p platform, version, to string) error {
	vcs := "-buildvcs=false"
	if exec.Command("git", "rev-parse", "--verify", "-q", "HEAD").Run() == nil {
		vcs = "-buildvcs=true"
	}
	linker := "-s -w -X privrec/internal/run.release=" + version
	c := exec.Command("go", "build", "-tags", "minimal", "-trimpath", vcs, "-ldflags", linker, "-o", to,
		"./cmd/privrec")
	c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
	var said bytes.Buffer
	c.Stdout, c.Stderr = &said, &said
	if err := c.Run(); err != nil {
		return fmt.Errorf("build for %s: %w\n%s", p, err, said.String())
	}
	return nil
}
